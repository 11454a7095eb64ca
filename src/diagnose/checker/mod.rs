//! Programs of the project that judge its files: what they are, how they are run, and what is new in what they say.

mod compare;
mod config;
mod parse;
mod recipes;
mod run;

use std::time::Duration;

use globset::GlobSet;

use super::Severity;
use crate::path::RelPath;

pub(super) use compare::introduced;
pub(super) use config::choose;
pub(super) use run::run;

/// A program and what it is for.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    pub(super) name: String,
    /// The files whose change calls for it.
    pub(super) globs: GlobSet,
    /// Program and arguments; the argument `{files}` stands for the changed files.
    command: Vec<String>,
    format: Format,
    timeout: Option<Duration>,
}

/// The shape of what a checker prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Format {
    /// Lines of JSON as `rustc` and `cargo` print them.
    RustcJson,
    /// `file(line,column): error CODE: message`.
    Tsc,
    /// `file:line:column: message`.
    Gcc,
    /// A JSON list as `ruff` prints it.
    RuffJson,
    /// A JSON list as `eslint` prints it.
    EslintJson,
    /// The Static Analysis Results Interchange Format.
    Sarif,
}

/// One thing a checker says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Finding {
    /// `None`: it is about the project.
    pub(super) path: Option<RelPath>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
    pub(super) severity: Severity,
    pub(super) code: String,
    pub(super) message: String,
}
