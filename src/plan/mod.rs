//! The plan: the net effect of a patch on a tree, worked out without writing.
//!
//! Each path that the patch touches has exactly one [`Step`], which says what is there now and what shall be there.
//! Steps carry their expectation, so the commit can check it once more.

mod between;
mod build;
mod error;
mod expect;
pub(crate) mod hunks;
mod near;
mod overlay;
mod protect;
mod reverse;
#[cfg(test)]
mod tests;
mod texts;

use std::sync::Arc;

use crate::path::RelPath;
use crate::text::Spliced;
use crate::workspace::{Bytes, FileData};

pub use self::between::{BetweenError, Unsayable};
pub use self::build::PlanOptions;
pub(crate) use self::build::{Early, Planner};
pub use self::error::{Failure, FailureKind, PlanError};
pub use self::expect::{Expectations, Stale};
pub use self::hunks::{
    CutLine, Difference, Excerpt, FailureKind as HunkFailureKind, FoundAt, HunkFailure, HunkPlacer, Placed, PlacedNote,
    UpdateError, Updated, update,
};
pub use self::protect::GENERATED;

/// The net effect of a patch on a tree, ready to be prepared. Made by [`Plan::new`].
#[derive(Clone, Debug)]
#[must_use = "a plan changes nothing until it is prepared and committed"]
pub struct Plan {
    steps: Vec<Step>,
    changes: Vec<FileChange>,
}

impl Plan {
    /// The steps, one for each path that will not be what it was.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What each operation does, in the order of the patch.
    #[must_use]
    pub fn changes(&self) -> &[FileChange] {
        &self.changes
    }
}

/// What an operation does to its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Makes it.
    Add,
    /// Edits or moves it.
    Update,
    /// Removes it.
    Delete,
}

/// One operation of the patch as it was planned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileChange {
    /// What it does.
    pub change: Change,
    /// The path as the patch wrote it, with bytes that are not UTF-8 replaced.
    pub path: String,
    /// Where the file moves to, as the patch wrote it.
    pub moved_to: Option<String>,
    /// The file it was copied from, as the patch wrote it.
    pub copied_from: Option<String>,
    /// A Move led to the path itself and was taken as a plain update.
    pub moved_onto_itself: bool,
    /// Whether the patch makes the file executable, or takes that away.
    pub executable: Option<bool>,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Where each hunk went.
    pub placed: Vec<Placed>,
}

impl FileChange {
    fn new(change: Change, path: &[u8]) -> Self {
        FileChange {
            change,
            path: String::from_utf8_lossy(path).into_owned(),
            moved_to: None,
            copied_from: None,
            executable: None,
            moved_onto_itself: false,
            added: 0,
            removed: 0,
            placed: Vec::new(),
        }
    }
}

/// One path's change.
#[derive(Clone, Debug)]
pub struct Step {
    /// The path, links in its directories resolved.
    pub path: RelPath,
    /// What stood there when the plan was made.
    pub before: Before,
    /// What shall stand there.
    pub after: After,
}

/// What stood at a path when the plan was made.
#[derive(Clone, Debug)]
pub enum Before {
    /// Nothing.
    Absent,
    /// A regular file with this content and identity.
    File(Arc<FileData>),
    /// A symbolic link holding these bytes.
    Link(Vec<u8>),
}

/// Permission bits that a file is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NewMode {
    /// Exactly these.
    Exactly(u32),
    /// These less the umask's share, as for any new file: what a git diff means that makes one.
    LessUmask(u32),
}

impl NewMode {
    /// The bits, before the umask takes its share.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            NewMode::Exactly(bits) | NewMode::LessUmask(bits) => bits,
        }
    }
}

/// What shall stand at a path.
#[derive(Clone, Debug)]
pub enum After {
    /// Nothing: what was there is deleted, or moved to the path of another step.
    Absent,
    /// A regular file with a new content.
    Content {
        /// The content.
        content: NewContent,
        /// The path (before the patch) whose file gives mode, owner and attributes: this one for an edit, the source for
        /// an edit with a move, `None` for a new file.
        like: Option<RelPath>,
        /// Permission bits to set instead of those of `like` (git's mode change, undo). Without both, the umask has its say
        /// alone.
        mode: Option<NewMode>,
    },
    /// A symbolic link.
    Link {
        /// The bytes it holds.
        target: Vec<u8>,
    },
    /// The very file or link that stood at another path before the patch, unchanged: a rename. That path has a step
    /// of its own.
    Moved {
        /// The path it stood at.
        from: RelPath,
    },
}

/// A content and the bytes it shares.
#[derive(Clone, Debug, Default)]
pub struct NewContent {
    /// The old content that [`NewContent::spliced`] points into; empty for a new file.
    pub base: Arc<Bytes>,
    /// The stretches.
    pub spliced: Spliced,
}

impl NewContent {
    /// A content that shares nothing.
    pub(crate) fn fresh(bytes: Vec<u8>) -> Self {
        NewContent { base: Arc::default(), spliced: Spliced::from_fresh(bytes) }
    }

    /// The content's stretches in order.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.spliced.slices(&self.base)
    }

    /// Whether the content equals `other`, byte for byte. Stretches shared with `other` are not compared.
    #[must_use]
    pub fn equals(&self, other: &[u8]) -> bool {
        let mut rest = other;
        self.spliced.len() == other.len()
            && self.slices().all(|slice| {
                let (head, tail) = rest.split_at(slice.len());
                rest = tail;
                std::ptr::eq(head, slice) || head == slice
            })
    }

    /// Copies the content into one buffer.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.spliced.to_vec(&self.base)
    }
}
