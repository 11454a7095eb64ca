//! The patch while it is being made, and what can be told of it so far.
//!
//! Every format machine writes into a [`Draft`]: it opens operations, fills a hunk or a content, closes them. What is
//! complete is told once, in order, by [`Draft::next_event`], and can then be taken out.

use std::collections::VecDeque;

use super::{FileOp, Hunk, Note, NoteKind, OpKind, Patch};

/// Buffers up to this size are copied out at their exact size and used again; larger ones are handed over and shrunk.
const COPIED: usize = 64 * 1024;

/// What has become complete since the last question. See [`Parser::next_event`](super::Parser::next_event).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An operation began.
    Opened {
        /// Its number in the patch, from 0.
        op: usize,
        /// Line of the patch text where it begins.
        line: u64,
        /// Its path as written.
        path: &'a [u8],
        /// What kind of operation it is.
        action: Action,
    },
    /// A hunk of an Update is complete; no later byte can change it.
    Hunk {
        /// The number of its operation, from 0.
        op: usize,
        /// Its number in the operation, from 0.
        index: usize,
        /// The hunk.
        hunk: &'a Hunk,
    },
    /// An operation is complete; no later byte can change it.
    Complete {
        /// Its number in the patch, from 0.
        op: usize,
        /// The operation.
        file: &'a FileOp,
    },
}

/// The kind of an operation, as its header says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Makes a file.
    Add,
    /// Removes a file.
    Delete,
    /// Edits a file, moves it, or both.
    Update,
}

/// How far the telling has come.
#[derive(Debug, Default)]
struct Told {
    /// Operations told as complete that are still here.
    done: usize,
    /// Whether the next one was told as opened.
    opened: bool,
    /// How many of its hunks were told.
    hunks: usize,
}

/// A patch in the making.
#[derive(Debug, Default)]
pub(super) struct Draft {
    ops: VecDeque<FileOp>,
    /// Operations already taken out.
    taken: usize,
    /// How many of `ops` are complete; at most one more is open.
    complete: usize,
    told: Told,
    /// The hunk that is being filled. Its buffer is used again and again.
    pub(super) hunk: Hunk,
    /// The content that is being filled.
    pub(super) content: Vec<u8>,
    notes: Vec<Note>,
    notes_left_out: u64,
    pub(super) environment_id: Option<String>,
}

impl Draft {
    pub(super) fn note(&mut self, line: u64, kind: NoteKind) {
        if self.notes.len() < Patch::MAX_NOTES {
            self.notes.push(Note { line, kind });
        } else {
            self.notes_left_out += 1;
        }
    }

    /// Whether no operation was ever opened.
    pub(super) fn is_empty(&self) -> bool {
        self.taken + self.ops.len() == 0
    }

    /// The operation that is open.
    pub(super) fn open_op(&mut self) -> Option<&mut FileOp> {
        self.ops.get_mut(self.complete)
    }

    /// Opens an operation. The one before must be closed.
    pub(super) fn open(&mut self, line: u64, path: &[u8], action: Action) {
        debug_assert!(self.open_op().is_none(), "BUG: one operation is open at a time");
        let kind = match action {
            Action::Add => OpKind::Add { content: Vec::new() },
            Action::Delete => OpKind::Delete,
            Action::Update => OpKind::Update { move_to: None, hunks: Vec::new() },
        };
        self.ops.push_back(FileOp { line, path: path.to_vec(), kind });
    }

    /// Puts the hunk that is being filled into the open Update and starts an empty one.
    pub(super) fn finish_hunk(&mut self) {
        let body = settle(&mut self.hunk.body);
        let buffer = std::mem::take(&mut self.hunk.body);
        let hunk = std::mem::replace(&mut self.hunk, Hunk { body: buffer, ..Hunk::default() });
        if let Some(FileOp { kind: OpKind::Update { hunks, .. }, .. }) = self.open_op() {
            hunks.push(Hunk { body, ..hunk });
        }
    }

    /// Closes the open operation: nothing can change it any more.
    pub(super) fn close(&mut self) {
        let content = settle(&mut self.content);
        let Some(op) = self.open_op() else { return };
        match &mut op.kind {
            OpKind::Add { content: place } => *place = content,
            OpKind::Update { hunks, .. } => hunks.shrink_to_fit(),
            OpKind::Delete => {}
        }
        self.complete += 1;
    }

    /// Whether [`Draft::next_event`] has something to tell.
    pub(super) fn has_event(&self) -> bool {
        self.ops.get(self.told.done).is_some_and(|op| {
            let hunks = if let OpKind::Update { hunks, .. } = &op.kind { hunks.len() } else { 0 };
            !self.told.opened || self.told.hunks < hunks || self.told.done < self.complete
        })
    }

    /// The next thing that is complete and was not told yet.
    pub(super) fn next_event(&mut self) -> Option<Event<'_>> {
        let (at, op) = (self.told.done, self.taken + self.told.done);
        let file = self.ops.get(at)?;
        if !self.told.opened {
            self.told.opened = true;
            return Some(Event::Opened { op, line: file.line, path: &file.path, action: file.kind.action() });
        }
        if let OpKind::Update { hunks, .. } = &file.kind
            && let Some(hunk) = hunks.get(self.told.hunks)
        {
            self.told.hunks += 1;
            return Some(Event::Hunk { op, index: self.told.hunks - 1, hunk });
        }
        if at < self.complete {
            self.told = Told { done: at + 1, ..Told::default() };
            return Some(Event::Complete { op, file });
        }
        None
    }

    /// Takes out the operations that were told as complete.
    pub(super) fn take_told(&mut self) -> impl Iterator<Item = FileOp> {
        let count = std::mem::take(&mut self.told.done);
        self.taken += count;
        self.complete -= count;
        self.ops.drain(..count)
    }

    /// What is left, as a patch.
    pub(super) fn into_patch(self) -> Patch {
        Patch {
            ops: self.ops.into(),
            notes: self.notes,
            notes_left_out: self.notes_left_out,
            environment_id: self.environment_id,
        }
    }
}

/// Takes the bytes out of a buffer that is used again, at their exact size.
fn settle(buffer: &mut Vec<u8>) -> Vec<u8> {
    if buffer.len() <= COPIED {
        let exact = buffer.as_slice().to_vec();
        buffer.clear();
        exact
    } else {
        let mut whole = std::mem::take(buffer);
        whole.shrink_to_fit();
        whole
    }
}
