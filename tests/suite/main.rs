//! The integration suite: one binary, one module a theme.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests build trees on the disk and run programs")]

/// The chain as a library: properties over random trees and patches.
mod chain;
/// The programs as a user meets them: flags, exit codes, texts.
mod cli;
/// The programs and the languages of patches: detection, streams, conversion, tool definitions.
mod cli_formats;
/// Several at once: processes that patch, writers that do not ask, links swapped in.
mod concurrency;
/// What the project's own checkers say, before and after.
mod diagnose_checkers;
/// Syntax errors that a patch makes, for each language.
#[cfg(feature = "syntax")]
mod diagnose_syntax;
/// The examples, each run to its end.
mod examples;
/// The examples of the page about the patch language.
mod format_doc;
/// Patches in each language, as files of cases.
mod formats;
/// Diffs of the real git, applied.
mod git;
/// The layers of the crate, read from its sources.
mod layers;
/// What the system has too little of: space, permission, open files, room for a name.
mod limits;
/// The commands in the pages, run.
mod pages;
/// What a dead process left: the program, the next patch, journals that are of no use.
mod recovery;
/// Search, read and glob as a library: which files, which rows, which notices; the same on every run.
mod search;
/// The same trees and questions for ripgrep.
mod search_rg;
/// What helps to set up: doctor, init, completions, man pages.
mod setup;
/// Trees on the disk and programs run in them.
mod support;
/// Undo: the file, the kept records, the program.
mod undo;
