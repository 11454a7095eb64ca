//! The integration suite: one binary, one module a theme.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests build trees on the disk and run programs")]

/// The chain as a library: properties over random trees and patches.
mod chain;
/// The programs as a user meets them: flags, exit codes, texts.
mod cli;
/// The programs and the languages of patches: detection, streams, conversion, tool definitions.
mod cli_formats;
/// What the project's own checkers say, before and after.
mod diagnose_checkers;
/// Syntax errors that a patch makes, for each language.
#[cfg(feature = "syntax")]
mod diagnose_syntax;
/// Patches in each language, as files of cases.
mod formats;
/// Diffs of the real git, applied.
mod git;
/// The layers of the crate, read from its sources.
mod layers;
/// The same trees and questions for ripgrep.
mod search_rg;
/// Trees on the disk and programs run in them.
mod support;
