//! The patch while it is being made, and what can be told of it so far.
//!
//! Every format machine writes into a [`Draft`]: it opens operations, fills a hunk or a content, closes them. What is
//! complete is told once, in order, by [`Draft::next_event`], and can then be taken out.

use std::collections::VecDeque;

use super::{Call, FileOp, Hunk, Note, NoteKind, OpKind, Patch};

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
    /// A hunk is complete; no later byte can change it.
    Hunk {
        /// The number of its operation, from 0.
        op: usize,
        /// What is known of its operation: all but further hunks.
        head: OpHead<'a>,
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

/// An operation without its hunks, of which more may follow.
#[derive(Clone, Copy)]
pub struct OpHead<'a>(pub(crate) &'a FileOp);

impl<'a> OpHead<'a> {
    /// Line of the patch text where the operation begins.
    #[must_use]
    pub fn line(self) -> u64 {
        self.0.line
    }

    /// The path as written.
    #[must_use]
    pub fn path(self) -> &'a [u8] {
        &self.0.path
    }

    /// The new path of a file that moves, or the path of the copy.
    #[must_use]
    pub fn to(self) -> Option<&'a [u8]> {
        match &self.0.kind {
            OpKind::Update { move_to, .. } => move_to.as_deref(),
            OpKind::Copy { to, .. } => Some(to),
            _ => None,
        }
    }

    /// What kind of operation it is.
    #[must_use]
    pub fn action(self) -> Action {
        self.0.kind.action()
    }
}

impl PartialEq for OpHead<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.line(), self.path(), self.to(), self.action()) == (other.line(), other.path(), other.to(), other.action())
    }
}

impl Eq for OpHead<'_> {}

impl std::fmt::Debug for OpHead<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("OpHead");
        out.field("line", &self.line()).field("path", &self.path()).field("to", &self.to());
        out.field("action", &self.action()).finish()
    }
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
    /// Copies a file.
    Copy,
    /// Gives a file a content, whether it is there or not.
    Write,
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
    pub(super) calls: Vec<Call>,
}

impl Draft {
    pub(super) fn note(&mut self, line: u64, kind: NoteKind) {
        if let Some(last) = self.notes.last_mut().filter(|last| kind.runs() && last.kind == kind)
            && last.line + last.lines == line
        {
            last.lines += 1;
        } else if self.notes.len() < Patch::MAX_NOTES {
            self.notes.push(Note { line, lines: 1, kind });
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
        let kind = match action {
            Action::Add => OpKind::Add { content: Vec::new() },
            Action::Delete => OpKind::Delete { hunks: Vec::new() },
            Action::Update => OpKind::Update { move_to: None, hunks: Vec::new() },
            Action::Copy => OpKind::Copy { to: Vec::new(), hunks: Vec::new() },
            Action::Write => OpKind::Write { content: Vec::new() },
        };
        self.open_as(FileOp::new(line, path, kind));
    }

    /// Opens an operation that is partly known. The one before must be closed.
    pub(super) fn open_as(&mut self, op: FileOp) {
        debug_assert!(self.open_op().is_none(), "BUG: one operation is open at a time");
        self.ops.push_back(op);
    }

    /// Puts in an operation that is complete.
    pub(super) fn push(&mut self, op: FileOp) {
        self.open_as(op);
        self.complete += 1;
    }

    /// Puts the hunk that is being filled into the open operation and starts an empty one.
    pub(super) fn finish_hunk(&mut self) {
        let body = settle(&mut self.hunk.body);
        let buffer = std::mem::take(&mut self.hunk.body);
        let hunk = std::mem::replace(&mut self.hunk, Hunk { body: buffer, ..Hunk::default() });
        if let Some(hunks) = self.open_op().and_then(|op| op.kind.hunks_mut()) {
            hunks.push(Hunk { body, ..hunk });
        }
    }

    /// Closes the open operation: nothing can change it any more.
    pub(super) fn close(&mut self) {
        let content = settle(&mut self.content);
        let Some(op) = self.open_op() else { return };
        match &mut op.kind {
            OpKind::Add { content: place } | OpKind::Append { content: place } => *place = content,
            kind => {
                if let Some(hunks) = kind.hunks_mut() {
                    hunks.shrink_to_fit();
                }
            }
        }
        self.complete += 1;
    }

    /// Whether [`Draft::next_event`] has something to tell.
    pub(super) fn has_event(&self) -> bool {
        self.ops.get(self.told.done).is_some_and(|op| {
            !self.told.opened || self.told.hunks < op.kind.hunks().len() || self.told.done < self.complete
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
        if let Some(hunk) = file.kind.hunks().get(self.told.hunks) {
            self.told.hunks += 1;
            return Some(Event::Hunk { op, head: OpHead(file), index: self.told.hunks - 1, hunk });
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
            calls: self.calls,
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
