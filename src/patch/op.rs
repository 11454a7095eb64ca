//! One operation on one file: what each front end says and the planner does.

use super::{Action, Hunk};

/// One operation on one file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileOp {
    /// Line of the patch text (from 1) where the operation begins.
    pub line: u64,
    /// The path as written, white space round it trimmed.
    pub path: Vec<u8>,
    /// What to do.
    pub kind: OpKind,
    /// Whether the file can be executed afterwards; `None` leaves that as it is.
    pub executable: Option<bool>,
    /// The fingerprint of the content that the file must have before the patch, as `read` gives it.
    pub expected: Option<[u8; 16]>,
    /// In batch 0 each operation sees what those above it did. Operations of one other batch are what a git commit is:
    /// a rename or copy takes its source as it was before the batch, and a place counts as free when the batch frees it.
    pub batch: u32,
}

impl FileOp {
    /// An operation that leaves the mode alone, expects nothing and is of batch 0.
    #[must_use]
    pub fn new(line: u64, path: impl Into<Vec<u8>>, kind: OpKind) -> Self {
        FileOp { line, path: path.into(), kind, executable: None, expected: None, batch: 0 }
    }
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpKind {
    /// Makes a file with this content.
    Add {
        /// The whole content, ready to be written.
        content: Vec<u8>,
    },
    /// Removes a file.
    Delete {
        /// What the file must hold: hunks that remove all of it. Without any, it may hold anything.
        hunks: Vec<Hunk>,
    },
    /// Edits a file, moves it, or both.
    Update {
        /// The new path as written, if the file moves.
        move_to: Option<Vec<u8>>,
        /// The hunks, in order; may be empty for a pure rename or a change of mode.
        hunks: Vec<Hunk>,
    },
    /// Copies a file and edits the copy.
    Copy {
        /// The path of the copy as written.
        to: Vec<u8>,
        /// The hunks, in order; may be empty.
        hunks: Vec<Hunk>,
    },
    /// Replaces and inserts texts, each in the result of the one before.
    Edit {
        /// The edits, in order.
        edits: Vec<TextEdit>,
    },
    /// Adds lines at the end of a file, or makes it.
    Append {
        /// The lines, ready to be written.
        content: Vec<u8>,
    },
    /// Gives a file this content, whether it is there or not.
    Write {
        /// The whole content, ready to be written.
        content: Vec<u8>,
    },
}

impl OpKind {
    /// The kind without its data.
    #[must_use]
    pub fn action(&self) -> Action {
        match self {
            OpKind::Add { .. } => Action::Add,
            OpKind::Delete { .. } => Action::Delete,
            OpKind::Update { .. } | OpKind::Edit { .. } | OpKind::Append { .. } => Action::Update,
            OpKind::Copy { .. } => Action::Copy,
            OpKind::Write { .. } => Action::Write,
        }
    }

    /// The hunks, if operations of this kind have any.
    #[must_use]
    pub fn hunks(&self) -> &[Hunk] {
        match self {
            OpKind::Delete { hunks } | OpKind::Update { hunks, .. } | OpKind::Copy { hunks, .. } => hunks,
            _ => &[],
        }
    }

    pub(super) fn hunks_mut(&mut self) -> Option<&mut Vec<Hunk>> {
        match self {
            OpKind::Delete { hunks } | OpKind::Update { hunks, .. } | OpKind::Copy { hunks, .. } => Some(hunks),
            _ => None,
        }
    }
}

/// One edit of an [`OpKind::Edit`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextEdit {
    /// Replaces a text, which may begin and end inside of lines.
    Replace {
        /// What stands there; not empty.
        old: Vec<u8>,
        /// What shall stand there.
        new: Vec<u8>,
        /// How often.
        count: Count,
    },
    /// Inserts lines.
    Insert {
        /// How many lines of the file stay above; 0 inserts at the top.
        after_line: u64,
        /// The text; a line feed at its end may be missing.
        text: Vec<u8>,
    },
}

/// How often a text must be there to be replaced, and how often it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// It must be there exactly once.
    Once,
    /// It must be there at least once; every one is replaced.
    All,
    /// It must be there exactly so many times; every one is replaced.
    Exactly(u64),
}
