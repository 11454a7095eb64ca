//! A patch planned while it is still being written.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::OnceLock;

use super::{ApplyError, ApplyOptions};
use crate::patch::{Event, FileOp, Hunk, Note, ParseError, Parser};
use crate::plan::{Early, Failure, FailureKind, HunkPlacer, Plan, Planner};
use crate::report::{LiveEvent, Report};
use crate::workspace::{Bytes, Source, Workspace};

/// The contents in which a [`LiveApply`] places hunks; it must live longer. Contents are shared with the plan, not copied.
#[derive(Debug, Default)]
pub struct LiveFiles {
    first: OnceLock<Box<Node>>,
}

/// How many hunks of a file are expected for each that has come. Nobody knows how many follow; from eight on a large file is
/// searched as for many, which is when single searches have cost about as much as that.
const FOLLOW: usize = 4;

/// One content and the next one: a list that grows at its end, so that what is in it can stay borrowed.
#[derive(Debug)]
struct Node {
    bytes: Arc<Bytes>,
    next: OnceLock<Box<Node>>,
}

impl LiveFiles {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Drop for LiveFiles {
    fn drop(&mut self) {
        // One after the other: a long list must not take a stack frame a node.
        let mut next = self.first.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

/// The operation whose hunks are arriving.
struct Open<'w> {
    base: Arc<Bytes>,
    placer: HunkPlacer<'w>,
}

/// Applies a patch that arrives piece by piece: each hunk is looked for in the files as soon as it is complete, so that one
/// that will not fit is known at once. Nothing is written before [`LiveApply::finish`].
///
/// Events and errors are those that [`ApplyOptions::apply`] would come to; only that two hunks overlap is found when their
/// operation is complete. Pieces may end anywhere.
///
/// # Complexity
/// Linear in the bytes and the files, as when the patch is applied at once, and at the same cost when many hunks come in a
/// piece (64 KiB, say). Of a large file whose hunks come one by one, the first eight are looked for on their own, each by a
/// pass over the file, since nobody knows how many will follow. Memory holds the files named, what replaces
/// them, and the operation that is being read.
///
/// ```
/// use restitch::{ApplyOptions, LiveApply, LiveEvent, LiveFiles, MemSource};
///
/// let tree = MemSource::new().file("tide.log", "low\nhigh\n");
/// let (files, options) = (LiveFiles::new(), ApplyOptions::default());
/// let mut live = LiveApply::new(&tree, &files, &options);
/// live.feed(b"*** Begin Patch\n*** Update File: tide.log\n@@\n-ebb\n+flood\n@@\n");
/// assert!(matches!(live.next_event(), Ok(Some(LiveEvent::Opened { op: 0, .. }))));
/// assert!(matches!(live.next_event(), Ok(Some(LiveEvent::Misfit { op: 0, .. }))), "no line says ebb");
/// ```
pub struct LiveApply<'w, S: ?Sized = Workspace> {
    source: &'w S,
    options: &'w ApplyOptions,
    parser: Parser,
    planner: Planner<'w, S>,
    open: Option<Open<'w>>,
    /// Where the next content is kept.
    end: &'w OnceLock<Box<Node>>,
    /// Hunks of the operation in hand (from 1; 0 for the operation as a whole) whose failure was told already; there are few,
    /// since after 20 misfits hunks are only counted.
    told: Vec<usize>,
    /// The operation in hand is refused as a whole, which was told if there was something to tell.
    refused: bool,
    /// What is to be told next.
    waiting: VecDeque<LiveEvent>,
}

impl<'w, S: Source + ?Sized> LiveApply<'w, S> {
    /// Makes ready to apply a patch to the tree behind `source`.
    #[must_use]
    pub fn new(source: &'w S, files: &'w LiveFiles, options: &'w ApplyOptions) -> Self {
        LiveApply {
            source,
            options,
            parser: Parser::new(&options.parse),
            planner: Planner::new(source, &options.plan),
            open: None,
            end: end_of(files),
            told: Vec::new(),
            refused: false,
            waiting: VecDeque::new(),
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.parser.feed(bytes);
    }

    /// Says that no more bytes follow. [`LiveApply::next_event`] then gives the rest.
    pub fn end(&mut self) {
        self.parser.end();
    }

    /// The next thing that has become certain; `None` means that more bytes are needed.
    ///
    /// # Errors
    /// The text cannot be a patch, whatever follows.
    pub fn next_event(&mut self) -> Result<Option<LiveEvent>, ParseError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            let completed = match self.parser.next_event()? {
                None => return Ok(None),
                Some(Event::Opened { op, line, path, action }) => {
                    let path = String::from_utf8_lossy(path).into_owned();
                    return Ok(Some(LiveEvent::Opened { op, line, path, action }));
                }
                Some(Event::Hunk { op, head, hunk, .. }) => {
                    let mut work = Work {
                        planner: &mut self.planner,
                        open: &mut self.open,
                        end: &mut self.end,
                        options: self.options,
                        refused: &mut self.refused,
                    };
                    let event = work.hunk(op, head.0, hunk);
                    if let Some(LiveEvent::Misfit { failure, .. }) = &event {
                        self.told.push(hunk_of(failure).unwrap_or(0));
                    }
                    self.waiting.extend(event);
                    continue;
                }
                Some(Event::Complete { op, .. }) => op,
            };
            self.complete(completed);
        }
    }

    /// Gives a complete operation to the planner.
    fn complete(&mut self, op: usize) {
        let early = self.open.take().map(|Open { base, placer }| Early { base, placer });
        let Some(file) = self.parser.take_complete().next() else { return };
        let before = self.planner.failures().len();
        self.planner.op_early(op, file, early);
        let mut told = std::mem::take(&mut self.told);
        self.refused = false;
        for failure in &self.planner.failures()[before..] {
            let number = hunk_of(failure).unwrap_or(0);
            if let Some(at) = told.iter().position(|told| *told == number) {
                told.swap_remove(at);
            } else {
                self.waiting.push_back(LiveEvent::Misfit { op, failure: Box::new(failure.clone()) });
            }
        }
        self.waiting.push_back(LiveEvent::Complete { op });
    }

    /// Ends the text and gives the plan with what was accepted besides the grammar.
    ///
    /// # Errors
    /// The text is no patch, or it does not fit the tree.
    pub fn into_plan(mut self) -> Result<(Plan, Vec<Note>), ApplyError> {
        self.end();
        while self.next_event()?.is_some() {}
        let patch = self.parser.finish()?;
        Ok((self.planner.finish()?, patch.notes))
    }
}

impl LiveApply<'_, Workspace> {
    /// Ends the text and applies the patch: all of it, or nothing.
    ///
    /// # Errors
    /// As [`ApplyOptions::apply`].
    pub fn finish(self) -> Result<Report, ApplyError> {
        let (workspace, options) = (self.source, self.options);
        let (plan, notes) = self.into_plan()?;
        options.conclude(workspace, plan, notes, Vec::new())
    }
}

impl<S: ?Sized> std::fmt::Debug for LiveApply<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveApply").field("waiting", &self.waiting).finish_non_exhaustive()
    }
}

/// What placing a hunk needs, while the parser is borrowed.
struct Work<'l, 'w, S: ?Sized> {
    planner: &'l mut Planner<'w, S>,
    open: &'l mut Option<Open<'w>>,
    end: &'l mut &'w OnceLock<Box<Node>>,
    options: &'w ApplyOptions,
    refused: &'l mut bool,
}

impl<'w, S: Source + ?Sized> Work<'_, 'w, S> {
    fn hunk(&mut self, op: usize, file: &FileOp, hunk: &Hunk) -> Option<LiveEvent> {
        if *self.refused {
            return None;
        }
        if self.open.is_none()
            && let Err(failure) = self.open(op, file)
        {
            *self.refused = true;
            return failure.map(|failure| LiveEvent::Misfit { op, failure: Box::new(failure) });
        }
        let placer = &mut self.open.as_mut()?.placer;
        placer.expect(file.kind.hunks().len().saturating_mul(FOLLOW));
        match placer.place(hunk) {
            Ok(Some(placed)) => Some(LiveEvent::Placed { op, placed: placed.clone() }),
            Ok(None) => None,
            Err(failure) => {
                let kind = FailureKind::Hunk(Box::new(failure.clone()));
                let path = String::from_utf8_lossy(&file.path).into_owned();
                let failure = Failure { op, line: file.line, path, kind };
                Some(LiveEvent::Misfit { op, failure: Box::new(failure) })
            }
        }
    }

    /// Opens the file that the hunks of an operation go into. Without a failure to tell, the end will tell it.
    fn open(&mut self, op: usize, file: &FileOp) -> Result<(), Option<Failure>> {
        let Some(base) = self.planner.peek(op, file).map_err(Some)? else { return Err(None) };
        let node = self.end.get_or_init(|| Box::new(Node { bytes: Arc::clone(&base), next: OnceLock::new() }));
        *self.end = &node.next;
        let placer = HunkPlacer::new(&node.bytes, self.options.plan.policy_ref()).map_err(|_| None)?;
        *self.open = Some(Open { base, placer });
        Ok(())
    }
}

/// The hunk that a failure is about, from 1.
fn hunk_of(failure: &Failure) -> Option<usize> {
    match &failure.kind {
        FailureKind::Hunk(failed) => Some(failed.hunk),
        _ => None,
    }
}

/// The end of the list.
fn end_of(files: &LiveFiles) -> &OnceLock<Box<Node>> {
    let mut end = &files.first;
    while let Some(node) = end.get() {
        end = &node.next;
    }
    end
}

#[cfg(test)]
mod tests;
