//! One pass over the operations: each is judged on the tree as those above it left it. Here are paths, batches and
//! failures; what each operation does is in [`ops`].

mod files;
mod ops;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::patch::{FileOp, OpKind, Patch};
use crate::path::{PathError, RelPath};
use crate::plan::error::{Failure, FailureKind, PlanError};
use crate::plan::expect::{Expectations, Resolved, Stale};
use crate::plan::hunks::HunkPlacer;
use crate::plan::near;
use crate::plan::overlay::{Found, Now, Overlay};
use crate::plan::protect::Protected;
use crate::plan::{Before, FileChange, Plan};
use crate::policy::{HardLinks, Policy, Symlinks};
use crate::workspace::{Bytes, Digest, Source, SourceError};
use files::exists;

/// How a patch is planned. Costs nothing by itself.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    policy: Policy,
    expectations: Expectations,
}

impl PlanOptions {
    /// Sets the policy. Default: [`Policy::default`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The policy, for those who place hunks themselves.
    pub(crate) fn policy_ref(&self) -> &Policy {
        &self.policy
    }

    /// Sets what the caller read. Each file named costs one hash of its content. Default: nothing.
    #[must_use]
    pub fn expectations(mut self, expectations: Expectations) -> Self {
        self.expectations = expectations;
        self
    }
}

impl Plan {
    /// Works out the net effect of `patch` on the tree behind `source`. Reads each file named once; writes nothing.
    ///
    /// # Errors
    /// [`PlanError`] holds every failure of every file; the tree is as it was.
    ///
    /// # Complexity
    /// Linear in the patch and the files it names.
    pub fn new<S: Source + ?Sized>(patch: Patch, source: &S, options: &PlanOptions) -> Result<Plan, PlanError> {
        let mut planner = Planner::new(source, options);
        for (number, op) in patch.ops.into_iter().enumerate() {
            planner.op(number, op);
        }
        planner.finish()
    }
}

/// The state of planning: feed it operations in order, then [`Planner::finish`].
pub(crate) struct Planner<'s, S: ?Sized> {
    overlay: Overlay<'s, S>,
    options: &'s PlanOptions,
    protected: Protected,
    expectations: Resolved<'s>,
    changes: Vec<FileChange>,
    failures: Vec<Failure>,
    /// The batch that is on; 0 for none.
    batch: u32,
    /// Slots whose file or link the batch must still take away.
    displaced: BTreeMap<usize, Displaced>,
    /// The slot that the operation in hand will take its file away from.
    leaving: Option<usize>,
    /// Number and line of the operation in hand.
    current: (usize, u64),
    /// How many more missing paths get near names.
    near_left: usize,
}

/// Missing paths that get near names: more are not shown, and each costs a listing.
pub(super) const MOST_NEAR: usize = 20;

/// What stands where the batch has put something else.
struct Displaced {
    /// What is wrong if it stays.
    failure: Failure,
    /// The new thing stands at the same path, not below it.
    covered: bool,
}

/// A file's content and its hunks, placed as they arrived.
pub(crate) struct Early<'a> {
    pub(crate) base: Arc<Bytes>,
    pub(crate) placer: HunkPlacer<'a>,
}

/// What every operation says of itself.
pub(super) struct About<'p> {
    line: u64,
    path: &'p [u8],
    executable: Option<bool>,
    expected: Option<[u8; 16]>,
}

impl<'p> About<'p> {
    fn of(op: &'p FileOp) -> Self {
        About { line: op.line, path: &op.path, executable: op.executable, expected: op.expected }
    }
}

type Step<T = ()> = Result<T, Vec<FailureKind>>;

impl From<FailureKind> for Vec<FailureKind> {
    fn from(kind: FailureKind) -> Self {
        vec![kind]
    }
}

impl<'s, S: Source + ?Sized> Planner<'s, S> {
    pub(crate) fn new(source: &'s S, options: &'s PlanOptions) -> Self {
        let mut failures = Vec::new();
        let protected = Protected::new(&options.policy.protected).unwrap_or_else(|kind| {
            failures.push(Failure { op: 0, line: 0, path: String::new(), kind });
            Protected::none()
        });
        Planner {
            overlay: Overlay::new(source),
            options,
            protected,
            expectations: options.expectations.resolve(source),
            changes: Vec::new(),
            failures,
            batch: 0,
            displaced: BTreeMap::new(),
            leaving: None,
            current: (0, 0),
            near_left: MOST_NEAR,
        }
    }

    /// Judges one operation.
    pub(crate) fn op(&mut self, number: usize, op: FileOp) {
        self.op_early(number, op, None);
    }

    /// As [`Planner::op`], with the hunks placed already in the file that [`Planner::peek`] gave.
    pub(crate) fn op_early(&mut self, number: usize, op: FileOp, early: Option<Early<'_>>) {
        self.begin(number, &op);
        let FileOp { line, path, kind, executable, expected, .. } = op;
        let about = About { line, path: &path, executable, expected };
        let done = match kind {
            OpKind::Add { content } => self.add(&about, content),
            OpKind::Delete { hunks } => self.delete(&about, &hunks, early),
            OpKind::Update { move_to, hunks } => self.update(&about, move_to.as_deref(), &hunks, early),
            OpKind::Copy { to, hunks } => self.copy(&about, &to, &hunks, early),
            OpKind::Edit { edits } => self.edit(&about, &edits),
            OpKind::Append { content } => self.append(&about, content),
            OpKind::Write { content } => self.write(&about, content),
        };
        match done {
            Ok(Some(change)) => self.changes.push(change),
            Ok(None) => {}
            Err(kinds) => {
                let failures = kinds.into_iter().map(|kind| self.failure(&path, kind)).collect::<Vec<_>>();
                self.failures.extend(failures);
            }
        }
    }

    /// Begins an operation, and its batch if it is the first of one.
    fn begin(&mut self, number: usize, op: &FileOp) {
        if op.batch != self.batch {
            self.end_batch();
            self.batch = op.batch;
            self.overlay.begin_batch(op.batch != 0);
        }
        self.current = (number, op.line);
    }

    /// Ends the batch: what it has put where something else stands must have been taken away by now.
    fn end_batch(&mut self) {
        let left = std::mem::take(&mut self.displaced);
        self.failures.extend(left.into_values().map(|displaced| displaced.failure));
    }

    /// The plan, or all failures.
    pub(crate) fn finish(mut self) -> Result<Plan, PlanError> {
        self.end_batch();
        if !self.failures.is_empty() {
            self.failures.sort_by_key(|failure| failure.op);
            return Err(PlanError { failures: self.failures });
        }
        Ok(Plan { steps: self.overlay.into_steps(), changes: self.changes })
    }

    /// The failures so far.
    pub(crate) fn failures(&self) -> &[Failure] {
        &self.failures
    }

    fn policy(&self) -> &'s Policy {
        &self.options.policy
    }

    /// The slot of `path`, ready for the operation; `None` when an earlier failure on it makes judging it moot.
    fn locate(&mut self, path: &[u8], wanted: Wanted) -> Result<Option<usize>, FailureKind> {
        let slot = match self.find(path, wanted)? {
            Found::Slot(slot) => slot,
            Found::Dir if wanted == Wanted::New => return Err(exists("a directory")),
            Found::Dir => return Err(FailureKind::Directory),
            Found::Special(what) => return Err(FailureKind::Special(what)),
        };
        let stood = self.overlay.slot(slot);
        if stood.poisoned {
            return Ok(None);
        }
        match wanted {
            Wanted::Old { update } if matches!(stood.now, Now::Absent) => {
                let stood = stood.path.clone();
                self.expectations.check(&stood, None).map_err(FailureKind::Stale)?;
                Err(self.missing(path, slot, update))
            }
            _ => Ok(Some(slot)),
        }
    }

    /// Checks a path as written and looks it up.
    fn find(&mut self, path: &[u8], wanted: Wanted) -> Result<Found, FailureKind> {
        let relative = match path.first() {
            Some(b'/') => self.overlay.source().strip_root(path).ok_or(PathError::Absolute)?,
            _ => path,
        };
        let checked = RelPath::new(relative)?;
        if checked.enters_git() {
            return Err(FailureKind::Source(SourceError::Git));
        }
        let found = match self.overlay.look(&checked) {
            Err(FailureKind::Source(SourceError::NotADirectory(file))) if wanted == Wanted::New => {
                self.below_file(&checked, file)?
            }
            found => found?,
        };
        let backslash = checked.as_str().contains('\\');
        if let Found::Slot(slot) = found {
            let stood = self.overlay.slot(slot);
            if backslash && matches!(stood.now, Now::Absent) {
                return Err(FailureKind::Backslash);
            }
            let through_link = stood.path != checked || matches!(stood.now, Now::Link { .. });
            if through_link && self.policy().symlinks == Symlinks::Deny {
                return Err(FailureKind::Source(SourceError::LinkDenied));
            }
            self.protected.check(&stood.path)?;
        } else if backslash && wanted == Wanted::New {
            return Err(FailureKind::Backslash);
        }
        Ok(found)
    }

    /// A place below what is a file now: free if the operation in hand takes that file away, or the batch may do so later.
    fn below_file(&mut self, path: &RelPath, file: String) -> Result<Found, FailureKind> {
        let stands = RelPath::new(file.as_bytes()).map(|file| self.overlay.look(&file));
        let failure = || FailureKind::Source(SourceError::NotADirectory(file.clone()));
        let Ok(Ok(Found::Slot(slot))) = stands else { return Err(failure()) };
        if self.leaving != Some(slot) {
            if !self.overlay.in_batch() {
                return Err(failure());
            }
            let displaced = Displaced { failure: self.failure(path.as_str().as_bytes(), failure()), covered: false };
            self.displaced.entry(slot).or_insert(displaced);
        }
        Ok(Found::Slot(self.overlay.absent(path.clone())))
    }

    /// A failure of the operation in hand.
    fn failure(&self, path: &[u8], kind: FailureKind) -> Failure {
        let (op, line) = self.current;
        Failure { op, line, path: String::from_utf8_lossy(path).into_owned(), kind }
    }

    /// Refuses a content change that the policy or another name of the file forbids.
    fn writable(&self, slot: usize) -> Result<(), FailureKind> {
        let stood = self.overlay.slot(slot);
        self.protected.check(&stood.path)?;
        if let Before::File(data) = &stood.before
            && data.stamp.links > 1
            && self.policy().hard_links == HardLinks::Deny
        {
            return Err(FailureKind::HardLinked(data.stamp.links));
        }
        match self.overlay.edited_twin(slot) {
            Some(other) => Err(FailureKind::Twin { other: other.to_string() }),
            None => Ok(()),
        }
    }

    /// Compares a file, as it was before the patch, with what the caller read and what the operation expects.
    fn expected(&self, slot: usize, about: &About<'_>) -> Result<(), FailureKind> {
        let stood = self.overlay.slot(slot);
        let found = match &stood.before {
            Before::File(data) => Some(data.bytes.as_slice()),
            _ => None,
        };
        self.expectations.check(&stood.path, found).map_err(FailureKind::Stale)?;
        let Some(expected) = about.expected.map(Digest::from_bytes) else { return Ok(()) };
        let found = self.overlay.original(slot).map(|data| Digest::of(&data.bytes));
        if found == Some(expected) {
            return Ok(());
        }
        Err(FailureKind::Stale(Box::new(Stale { expected, found, changed: None, lines: Vec::new() })))
    }

    /// Nothing stands at a path, whose slot this is.
    fn missing(&mut self, path: &[u8], slot: usize, update: bool) -> FailureKind {
        if path.contains(&b'\\') {
            return FailureKind::Backslash;
        }
        let taken = !matches!(self.overlay.slot(slot).before, Before::Absent);
        let near = match RelPath::new(path) {
            Ok(path) if !taken && self.near_left > 0 => {
                self.near_left -= 1;
                near::names(self.overlay.source(), &path)
            }
            _ => Vec::new(),
        };
        FailureKind::Missing { update, taken, near }
    }
}

/// What an operation needs at its path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// A place for something new.
    New,
    /// Something that is there.
    Old { update: bool },
}
