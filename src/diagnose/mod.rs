//! After an edit: what the patch broke, and only that.
//!
//! Each check looks at the tree before the patch and after it and reports the difference. An error that was there
//! before is never blamed on the patch, wherever its line is now.
//!
//! | Check | What it finds | Needs |
//! | --- | --- | --- |
//! | `whitespace` | conflict markers and white-space errors in added lines, as `git diff --check` does | nothing |
//! | `file` | mixed line endings, a lost executable bit, a lost newline at the end | nothing |
//! | `syntax` | JSON, JSONC, TOML, and with the feature `syntax` YAML and thirteen languages | nothing but memory |
//! | a checker | what a program of the project reports: types, lints | to run before and after |
//!
//! [`Diagnose`] has the order of things and what is promised.

mod attributes;
mod builtin;
mod change;
mod checker;
mod lines;
mod options;
mod render;
mod run;
mod syntax;
mod whitespace;
mod wire;

pub use change::{ChangedFile, FileImage};
pub use options::{Checks, DiagnoseOptions};
pub use run::{Baseline, Diagnose};

use crate::path::RelPath;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It is broken.
    Error,
    /// It should not stay so.
    Warning,
}

impl Severity {
    /// The name in reports: `error` or `warning`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One thing that is wrong now and was not before the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The check that found it: `whitespace`, `file`, `syntax` or a checker's name.
    pub check: String,
    /// What kind it is, in the check's own terms (`trailing-whitespace`, `TS2322`); empty when it has none.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it is called after the patch; `None` when it is about the project.
    pub path: Option<RelPath>,
    /// The line in the new content, from 1; `None` when it is about the file.
    pub line: Option<u32>,
    /// The column, from 1, in the check's own unit; `None` when it is about the line.
    pub column: Option<u32>,
    /// What is wrong: one line, bounded.
    pub message: String,
}

/// A check that could not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// The check, with the file if it is about one: `syntax of a.yaml`, `cargo`.
    pub check: String,
    /// Why, as the end of a sentence that begins "skipped, because".
    pub because: String,
}

/// What the checks found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What the patch introduced: errors first, then in the order of path and line; bounded.
    pub findings: Vec<Diagnostic>,
    /// How many more findings there were.
    pub left_out: usize,
    /// What could not be checked.
    pub skipped: Vec<Skipped>,
}

impl Diagnosis {
    /// Whether everything asked for was checked and nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty() && self.skipped.is_empty()
    }
}
