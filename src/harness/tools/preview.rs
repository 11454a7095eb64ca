//! Checking a patch against the files while the model still writes it.
//!
//! Only what is certain is told: a text that is no patch whatever follows, a hunk that fits nowhere, an operation that the
//! plan refuses. What comes later cannot mend it, since operations and hunks are judged in order.

use std::sync::Arc;

use super::arguments::Field;
use super::{Call, change};
use crate::{
    ApplyError, Event, FileData, FileOp, Hunk, HunkPlacer, OpKind, ParseOptions, Parser, Patch, Plan, PlanOptions,
    RelPath, Source as _, State,
};

/// After so many checks the rest is left to the tool itself: each looks at all that came before.
const CHECKS: usize = 200;

/// Reads along while a call is written.
pub trait Preview: Send {
    /// Takes the next piece of the call's arguments. Why the call will fail, once that is certain.
    fn feed(&mut self, piece: &str) -> Option<String>;
}

/// Reads along with a call of `apply_patch`.
pub(super) struct PatchPreview {
    call: Call,
    field: Field,
    parser: Parser,
    ops: Vec<FileOp>,
    /// The file of the operation that is being written, unless an earlier operation names it too.
    base: Option<Arc<FileData>>,
    line: u64,
    path: Vec<u8>,
    hunks: Vec<Hunk>,
    checks: usize,
    over: bool,
}

impl PatchPreview {
    pub(super) fn new(call: Call) -> Self {
        let parser = Parser::new(&ParseOptions::default());
        PatchPreview {
            call,
            field: Field::new("patch"),
            parser,
            ops: Vec::new(),
            base: None,
            line: 0,
            path: Vec::new(),
            hunks: Vec::new(),
            checks: 0,
            over: false,
        }
    }

    /// Looks at what has become complete.
    fn look(&mut self) -> Option<String> {
        loop {
            let found = match self.parser.next_event() {
                Ok(None) => return None,
                Err(error) => return Some(ApplyError::Parse(error).explain()),
                Ok(Some(Event::Opened { path, line, .. })) => {
                    (self.path, self.line) = (path.to_vec(), line);
                    self.opened();
                    None
                }
                Ok(Some(Event::Hunk { hunk, .. })) => {
                    let hunk = hunk.clone();
                    self.hunk(hunk)
                }
                Ok(Some(Event::Complete { file, .. })) => {
                    self.ops.push(file.clone());
                    self.refusal(self.ops.clone())
                }
            };
            self.checks += 1;
            if found.is_some() || self.checks > CHECKS {
                return found;
            }
        }
    }

    fn opened(&mut self) {
        self.hunks.clear();
        let (path, workspace) = (self.path.as_slice(), self.call.env.workspace());
        let inside = workspace.strip_root(path).unwrap_or(path);
        let loaded = RelPath::new(inside).ok().and_then(|path| workspace.load(&path).ok());
        self.base = match loaded.map(|loaded| loaded.state) {
            Some(State::File(file)) if self.ops.iter().all(|op| op.path != path) => Some(file),
            _ => None,
        };
    }

    fn hunk(&mut self, hunk: Hunk) -> Option<String> {
        self.hunks.push(hunk);
        let policy = change::policy();
        let mut placer = HunkPlacer::new(&self.base.as_ref()?.bytes, &policy).ok()?;
        let (last, earlier) = self.hunks.split_last()?;
        for hunk in earlier {
            // It fitted, or this would be over.
            let _placed = placer.place(hunk);
        }
        placer.place(last).err()?;
        // The plan says it in the words that the tool itself would use.
        let kind = OpKind::Update { move_to: None, hunks: self.hunks.clone() };
        let op = FileOp::new(self.line, self.path.clone(), kind);
        self.refusal(self.ops.iter().cloned().chain([op]).collect())
    }

    /// Why the plan refuses these operations, if it does.
    fn refusal(&self, ops: Vec<FileOp>) -> Option<String> {
        let patch = Patch { ops, ..Patch::default() };
        let options =
            PlanOptions::default().policy(change::policy()).expectations(change::expectations(&self.call.seen));
        Plan::new(patch, self.call.env.workspace(), &options).err().map(|error| ApplyError::Plan(error).explain())
    }
}

impl Preview for PatchPreview {
    fn feed(&mut self, piece: &str) -> Option<String> {
        if self.over {
            return None;
        }
        let mut text = String::new();
        self.field.feed(piece, &mut text);
        self.parser.feed(text.as_bytes());
        let found = self.look();
        self.over = found.is_some() || self.checks > CHECKS;
        found
    }
}
