//! One pass over the operations: each is judged on the tree as those above it left it.

use std::sync::Arc;

use crate::patch::{FileOp, Hunk, OpKind, Patch};
use crate::path::{PathError, RelPath};
use crate::plan::error::{Failure, FailureKind, PlanError};
use crate::plan::expect::Expectations;
use crate::plan::hunks::{self, UpdateError};
use crate::plan::near;
use crate::plan::overlay::{File, Found, Now, Overlay};
use crate::plan::protect::Protected;
use crate::plan::{Before, Change, FileChange, Plan};
use crate::policy::{HardLinks, Overwrite, Policy, Symlinks};
use crate::text::Spliced;
use crate::workspace::{Source, SourceError};

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
    changes: Vec<FileChange>,
    failures: Vec<Failure>,
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
        Planner { overlay: Overlay::new(source), options, protected, changes: Vec::new(), failures }
    }

    /// Judges one operation.
    pub(crate) fn op(&mut self, number: usize, op: FileOp) {
        let FileOp { line, path, kind } = op;
        let done = match kind {
            OpKind::Add { content } => self.add(&path, content),
            OpKind::Delete => self.delete(&path),
            OpKind::Update { move_to, hunks } => self.update(&path, move_to.as_deref(), &hunks),
        };
        match done {
            Ok(Some(change)) => self.changes.push(change),
            Ok(None) => {}
            Err(kinds) => {
                let path = String::from_utf8_lossy(&path).into_owned();
                let failure = |kind| Failure { op: number, line, path: path.clone(), kind };
                self.failures.extend(kinds.into_iter().map(failure));
            }
        }
    }

    /// The plan, or all failures.
    pub(crate) fn finish(self) -> Result<Plan, PlanError> {
        if !self.failures.is_empty() {
            return Err(PlanError { failures: self.failures });
        }
        Ok(Plan { steps: self.overlay.into_steps(), changes: self.changes })
    }

    fn policy(&self) -> &'s Policy {
        &self.options.policy
    }

    fn add(&mut self, path: &[u8], content: Vec<u8>) -> Step<Option<FileChange>> {
        let lines = count_lines(&content);
        let Some(slot) = self.locate(path, Wanted::New)? else { return Ok(None) };
        let allow = self.policy().overwrite == Overwrite::Allow;
        let (slot, file) = match &self.overlay.slot(slot).now {
            Now::Absent => {
                let stood = self.overlay.slot(slot);
                let like = stood.deleted.then(|| stood.path.clone());
                (slot, File { origin: None, like, mode: None, base: Arc::default(), spliced: None })
            }
            Now::File(file) if file.len() == 0 || allow => (slot, file.clone()),
            Now::File(_) => return Err(exists("a file that is not empty").into()),
            Now::Link { .. } => self.empty_file_behind(slot)?,
        };
        self.writable(slot)?;
        self.expected(slot)?;
        let file = File { spliced: Some(Spliced::from_fresh(content)), ..file };
        self.overlay.put(slot, Now::File(file));
        Ok(Some(FileChange { added: lines, ..FileChange::new(Change::Add, path) }))
    }

    /// The file a link leads to, if an Add may write through it: it must be there and be empty.
    fn empty_file_behind(&mut self, link: usize) -> Step<(usize, File)> {
        match self.overlay.follow(link)? {
            Found::Slot(slot) => match &self.overlay.slot(slot).now {
                Now::File(file) if file.len() == 0 => Ok((slot, file.clone())),
                Now::File(_) => Err(exists("a link to a file that is not empty").into()),
                _ => Err(exists("a link that leads nowhere").into()),
            },
            Found::Dir => Err(exists("a link to a directory").into()),
            Found::Special(what) => Err(FailureKind::Special(what).into()),
        }
    }

    fn delete(&mut self, path: &[u8]) -> Step<Option<FileChange>> {
        let Some(slot) = self.locate(path, Wanted::Old { update: false })? else { return Ok(None) };
        self.expected(slot)?;
        let stood = self.overlay.slot_mut(slot);
        let removed = match &stood.now {
            Now::File(file) => count_lines(&file.bytes()),
            _ => 0,
        };
        stood.now = Now::Absent;
        stood.deleted = true;
        Ok(Some(FileChange { removed, ..FileChange::new(Change::Delete, path) }))
    }

    fn update(&mut self, path: &[u8], move_to: Option<&[u8]>, hunks: &[Hunk]) -> Step<Option<FileChange>> {
        let Some(entry) = self.locate(path, Wanted::Old { update: true })? else { return Ok(None) };
        let mut change = FileChange::new(Change::Update, path);
        let edited = self.edit(entry, path, hunks, &mut change);
        let target = move_to.map(|to| self.target(entry, to, hunks.is_empty(), &mut change)).transpose();
        let target = match (&edited, target) {
            (Ok(_), Ok(target)) => target.flatten(),
            (_, target) => {
                self.overlay.slot_mut(entry).poisoned = true;
                let mut kinds = edited.err().unwrap_or_default();
                kinds.extend(target.err());
                return Err(kinds);
            }
        };
        let effect = edited.unwrap_or_default();
        match target {
            Some(target) => {
                let stood = self.overlay.slot_mut(entry);
                let now = std::mem::replace(&mut stood.now, Now::Absent);
                stood.deleted = false;
                self.overlay.put(target, now);
            }
            None if !effect && !self.policy().accept_no_effect => {
                self.overlay.slot_mut(entry).poisoned = true;
                return Err(FailureKind::NoEffect.into());
            }
            None => {}
        }
        Ok(Some(change))
    }

    /// Edits the file at, or behind the link at, `entry`; says whether any byte changes.
    fn edit(&mut self, entry: usize, path: &[u8], hunks: &[Hunk], change: &mut FileChange) -> Step<bool> {
        let slot = match self.overlay.follow(entry)? {
            Found::Slot(slot) => slot,
            Found::Dir => return Err(FailureKind::Directory.into()),
            Found::Special(what) => return Err(FailureKind::Special(what).into()),
        };
        self.expected(slot)?;
        let Now::File(file) = &self.overlay.slot(slot).now else {
            return Err(self.missing(path, true).into());
        };
        if hunks.is_empty() {
            return Ok(false);
        }
        self.writable(slot)?;
        let base = file.bytes();
        let updated = match hunks::update(&base, hunks, self.policy()) {
            Ok(updated) => updated,
            Err(error) => {
                self.overlay.slot_mut(slot).poisoned = true;
                return Err(misfits(error));
            }
        };
        change.removed = hunks.iter().map(|hunk| u64::from(hunk.removed())).sum();
        change.added = hunks.iter().map(|hunk| u64::from(hunk.added())).sum();
        change.placed = updated.placed;
        let effect = !updated.spliced.equals_base(&base);
        if effect {
            let file = File { base, spliced: Some(updated.spliced), ..file.clone() };
            self.overlay.slot_mut(slot).now = Now::File(file);
        }
        Ok(effect)
    }

    /// The slot a Move leads to; `None` when that is the path itself.
    fn target(
        &mut self,
        entry: usize,
        to: &[u8],
        pure: bool,
        change: &mut FileChange,
    ) -> Result<Option<usize>, FailureKind> {
        let text = || Some(String::from_utf8_lossy(to).into_owned());
        let taken = |what| FailureKind::Exists { what, move_target: text() };
        let target = match self.find(to, Wanted::New).map_err(|kind| FailureKind::MoveTarget {
            target: String::from_utf8_lossy(to).into_owned(),
            kind: Box::new(kind),
        })? {
            Found::Slot(slot) => slot,
            Found::Dir => return Err(taken("a directory")),
            Found::Special(what) => return Err(taken(what)),
        };
        if target == entry {
            change.moved_onto_itself = true;
            return if pure { Err(FailureKind::MovesOntoItself) } else { Ok(None) };
        }
        change.moved_to = text();
        match &self.overlay.slot(target).now {
            Now::Absent => Ok(Some(target)),
            Now::File(_) if self.policy().overwrite == Overwrite::Allow => Ok(Some(target)),
            Now::File(_) => Err(taken("another file")),
            Now::Link { .. } => Err(taken("a symbolic link")),
        }
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
                self.options.expectations.check(&[&stood], None).map_err(FailureKind::Stale)?;
                Err(self.missing(path, update))
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
        let found = self.overlay.look(&checked)?;
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

    /// Compares a file that the patch has not changed yet with what the caller read.
    fn expected(&self, slot: usize) -> Result<(), FailureKind> {
        let stood = self.overlay.slot(slot);
        let found = match &stood.before {
            Before::File(data) => Some(data.bytes.as_slice()),
            _ => None,
        };
        self.options.expectations.check(&[&stood.path], found).map_err(FailureKind::Stale)
    }

    fn missing(&self, path: &[u8], update: bool) -> FailureKind {
        let near = RelPath::new(path).map(|path| near::names(self.overlay.source(), &path)).unwrap_or_default();
        if path.contains(&b'\\') {
            return FailureKind::Backslash;
        }
        FailureKind::Missing { update, near }
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

fn misfits(error: UpdateError) -> Vec<FailureKind> {
    match error {
        UpdateError::Hunks { failures, not_searched } => {
            let failed = failures.into_iter().map(|failure| FailureKind::Hunk(Box::new(failure)));
            failed.chain((not_searched > 0).then_some(FailureKind::Unsearched(not_searched))).collect()
        }
        error => vec![FailureKind::Uneditable(error)],
    }
}

fn exists(what: &'static str) -> FailureKind {
    FailureKind::Exists { what, move_target: None }
}

fn count_lines(content: &[u8]) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', content).count() as u64;
    newlines + u64::from(content.last().is_some_and(|last| *last != b'\n'))
}
