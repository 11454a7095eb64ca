//! Why a patch cannot be planned: every failure of every file, as data.

use crate::path::PathError;
use crate::plan::expect::Stale;
use crate::plan::hunks::{HunkFailure, UpdateError};
use crate::workspace::SourceError;

/// All failures of a patch. Nothing was written.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{} of the patch's operations cannot be applied; nothing was changed", .failures.len())]
pub struct PlanError {
    /// The failures, in the order of the patch; at least one.
    pub failures: Vec<Failure>,
}

/// One failure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Number of the operation in the patch (from 0).
    pub op: usize,
    /// Line of the patch text where the operation begins (from 1).
    pub line: u64,
    /// The path as the patch wrote it, with bytes that are not UTF-8 replaced.
    pub path: String,
    /// What is wrong.
    pub kind: FailureKind,
}

/// What is wrong with one operation.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FailureKind {
    /// The path is malformed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A file to be made has a backslash in its name, or a file named with one is not there.
    #[error("the path has a backslash; separate directories with `/`")]
    Backslash,
    /// The tree cannot answer for the path.
    #[error("{0}")]
    Source(SourceError),
    /// There is no such file.
    #[error("there is no such file{}", if *.taken { " any more: this patch deletes or moves it above" } else { "" })]
    Missing {
        /// Whether the operation was an Update (which suggests an Add).
        update: bool,
        /// Whether an operation above has deleted or moved it.
        taken: bool,
        /// Near names that are there.
        near: Vec<String>,
    },
    /// The path is a link, and nothing is where it leads.
    #[error("is a symbolic link to `{target}`, where nothing is")]
    Dangling {
        /// What the link holds, with bytes that are not UTF-8 replaced.
        target: String,
    },
    /// Something is already there.
    #[error("{what} exists already")]
    Exists {
        /// What is there: `a file that is not empty`, `a directory`, ...
        what: &'static str,
        /// Whether it is the target of a Move.
        move_target: Option<String>,
    },
    /// The target of a Move cannot be used.
    #[error("the move target `{target}` cannot be used: {kind}")]
    MoveTarget {
        /// The target as the patch wrote it.
        target: String,
        /// What is wrong with it.
        kind: Box<FailureKind>,
    },
    /// The path is a directory.
    #[error("is a directory, not a file")]
    Directory,
    /// The path is a pipe, socket or device.
    #[error("is {0}, not a file")]
    Special(&'static str),
    /// The policy protects the path.
    #[error("is protected by the rule `{glob}`")]
    Protected {
        /// The glob of the policy.
        glob: String,
        /// What makes the file, where that is known.
        remedy: Option<&'static str>,
    },
    /// A glob of the policy does not parse.
    #[error("the protected-path rule `{glob}` is no glob: {message}")]
    BadGlob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        message: String,
    },
    /// The file is a second name of one that the patch edits already.
    #[error("is the same file as `{other}` (a hard link), which this patch edits already")]
    Twin {
        /// The other name.
        other: String,
    },
    /// The file has several names and the policy denies editing such files.
    #[error("has {0} names (hard links), and editing such files is denied")]
    HardLinked(u64),
    /// The Update changes nothing.
    #[error("the update changes nothing")]
    NoEffect,
    /// The file to delete holds more than the patch removes.
    #[error("holds more than the patch removes: {lines} of its lines would be left")]
    ContentLeft {
        /// How many lines are left over.
        lines: usize,
    },
    /// A line to insert below that the file does not have.
    #[error("has {lines} lines, so nothing can be inserted below line {wanted}")]
    NoSuchLine {
        /// The line asked for.
        wanted: u64,
        /// How many lines the file has.
        lines: usize,
    },
    /// A Move without hunks onto the path itself.
    #[error("the move leads to the path itself and there is nothing to change")]
    MovesOntoItself,
    /// The file is not what the caller read.
    #[error("the file has changed since it was read")]
    Stale(Box<Stale>),
    /// The file cannot be edited as bytes.
    #[error("{0}")]
    Uneditable(UpdateError),
    /// A hunk has no place.
    #[error("hunk {} cannot be placed", .0.hunk)]
    Hunk(Box<HunkFailure>),
    /// Further hunks of the file were not looked for, because too many before them have no place.
    #[error("{0} further hunks were not looked for")]
    Unsearched(usize),
}
