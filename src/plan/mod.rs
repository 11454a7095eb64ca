//! The plan: the net effect of a patch on a tree, worked out without writing.
//!
//! Each path that the patch touches has exactly one [`Step`], which says what is there now and what shall be there.
//! Steps carry their expectation, so the commit can check it once more.

pub mod hunks;

use std::sync::Arc;

use crate::path::RelPath;
use crate::text::Spliced;
use crate::workspace::FileData;

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
        /// Permission bits to set instead of those of `like` (git's mode change, undo).
        mode: Option<u32>,
    },
    /// The very file or link that stood at another path before the patch, unchanged: a rename. That path has a step
    /// of its own.
    Moved {
        /// The path it stood at.
        from: RelPath,
    },
}

/// A content and the bytes it shares.
#[derive(Clone, Debug)]
pub struct NewContent {
    /// The old content that [`NewContent::spliced`] points into; empty for a new file.
    pub base: Arc<Vec<u8>>,
    /// The stretches.
    pub spliced: Spliced,
}

impl NewContent {
    /// The content's stretches in order.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        self.spliced.slices(&self.base)
    }

    /// Copies the content into one buffer.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.spliced.to_vec(&self.base)
    }
}
