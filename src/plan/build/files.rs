//! What the operations share: finding the file that one works on, its edited content, and the place it goes to.

use std::sync::Arc;

use super::{About, Displaced, Early, Planner, Step, Wanted};
use crate::patch::{FileOp, Hunk, OpKind};
use crate::plan::FileChange;
use crate::plan::error::{Failure, FailureKind};
use crate::plan::hunks::{self, UpdateError, Updated};
use crate::plan::overlay::{File, Found, Now};
use crate::plan::texts::TextError;
use crate::policy::Overwrite;
use crate::workspace::{Bytes, Source};

/// What becomes of the file that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It stays where it is.
    Edited,
    /// It goes elsewhere.
    Moved,
    /// It stays, and another one is made of it.
    Copied,
}

/// What stands where something new shall go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    Nothing,
    EmptyFile,
    File,
    Link,
}

impl Stands {
    pub(super) fn of(now: &Now) -> Self {
        match now {
            Now::Absent => Stands::Nothing,
            Now::File(file) if file.len() == 0 => Stands::EmptyFile,
            Now::File(_) => Stands::File,
            Now::Link { .. } => Stands::Link,
        }
    }
}

/// A file with an edited content, and whether any byte has changed.
pub(super) struct Edited {
    pub(super) file: File,
    pub(super) effect: bool,
}
impl<S: Source + ?Sized> Planner<'_, S> {
    /// The slot of a file to edit.
    pub(super) fn locate_source(&mut self, path: &[u8], role: Role) -> Result<Option<usize>, FailureKind> {
        if self.overlay.in_batch()
            && let Found::Slot(slot) = self.find(path, Wanted::Old { update: true })?
            && !matches!(self.standing(slot, role), Now::Absent)
        {
            return Ok((!self.overlay.slot(slot).poisoned).then_some(slot));
        }
        self.locate(path, Wanted::Old { update: true })
    }

    /// What an operation takes from a slot: for a copy what stood there when the batch began; for a move that too, if the
    /// batch has put something else there; else what stands there now.
    pub(super) fn standing(&self, slot: usize, role: Role) -> &Now {
        let now = &self.overlay.slot(slot).now;
        match role {
            Role::Copied => self.overlay.begun(slot),
            Role::Moved if self.displaced.get(&slot).is_some_and(|displaced| displaced.covered) => {
                self.overlay.begun(slot)
            }
            Role::Edited | Role::Moved => now,
        }
    }

    /// The slot of the file behind a link.
    pub(super) fn behind(&mut self, entry: usize) -> Result<usize, FailureKind> {
        match self.overlay.follow(entry)? {
            Found::Slot(slot) => Ok(slot),
            Found::Dir => Err(FailureKind::Directory),
            Found::Special(what) => Err(FailureKind::Special(what)),
        }
    }

    /// The slot of the file at, or behind the link at, `entry`.
    fn source_slot(&mut self, entry: usize, role: Role) -> Result<usize, FailureKind> {
        match self.standing(entry, role) {
            Now::Link { .. } => self.behind(entry),
            _ => Ok(entry),
        }
    }

    /// The file at, or behind the link at, `entry`, if it is what the caller expects, and its slot.
    fn ready(&mut self, entry: usize, about: &About<'_>, role: Role) -> Result<(usize, File), FailureKind> {
        let slot = self.source_slot(entry, role)?;
        self.expected(slot, about)?;
        match self.standing(slot, role).clone() {
            Now::File(file) => Ok((slot, file)),
            _ => Err(self.nothing_behind(entry, about)),
        }
    }

    /// No file stands at, or behind the link at, `entry`.
    pub(super) fn nothing_behind(&mut self, entry: usize, about: &About<'_>) -> FailureKind {
        match &self.overlay.slot(entry).now {
            Now::Link { target, .. } => FailureKind::Dangling { target: String::from_utf8_lossy(target).into_owned() },
            _ => self.missing(about.path, entry, true),
        }
    }

    /// The content in which the hunks of an operation will be placed; `None` when an earlier failure makes that moot. A
    /// failure is the one that [`Planner::op`] would tell.
    pub(crate) fn peek(&mut self, number: usize, op: &FileOp) -> Result<Option<Arc<Bytes>>, Failure> {
        self.begin(number, op);
        let role = match &op.kind {
            OpKind::Copy { .. } => Role::Copied,
            OpKind::Update { move_to: Some(_), .. } => Role::Moved,
            _ => Role::Edited,
        };
        self.look_ahead(&About::of(op), role).map_err(|kind| self.failure(&op.path, kind))
    }

    fn look_ahead(&mut self, about: &About<'_>, role: Role) -> Result<Option<Arc<Bytes>>, FailureKind> {
        let Some(entry) = self.locate_source(about.path, role)? else { return Ok(None) };
        let (slot, file) = self.ready(entry, about, role)?;
        self.writable(slot)?;
        Ok(Some(file.bytes()))
    }

    /// The file at, or behind the link at, `entry` with its hunks applied, and its slot.
    pub(super) fn edited(
        &mut self,
        entry: usize,
        about: &About<'_>,
        role: Role,
        hunks: &[Hunk],
        early: Option<Early<'_>>,
        change: &mut FileChange,
    ) -> Step<(usize, Edited)> {
        let (slot, file) = self.ready(entry, about, role)?;
        change.executable = about.executable;
        let mode = file.mode;
        let file = self.with_mode(file, about);
        let moded = file.mode != mode;
        if hunks.is_empty() {
            if moded {
                self.writable(slot)?;
            }
            return Ok((slot, Edited { file, effect: moded }));
        }
        self.writable(slot)?;
        match self.placed(file, hunks, early, change) {
            Ok(edited) => Ok((slot, Edited { effect: edited.effect || moded, ..edited })),
            Err(kinds) => Err(self.poison(slot, kinds)),
        }
    }

    /// The file with its hunks applied.
    pub(super) fn placed(
        &self,
        file: File,
        hunks: &[Hunk],
        early: Option<Early<'_>>,
        change: &mut FileChange,
    ) -> Step<Edited> {
        let (base, updated) = match early.filter(|early| early.base.len() == file.len()) {
            Some(early) => (early.base, early.placer.finish()),
            None => {
                let base = file.bytes();
                let updated = hunks::update(&base, hunks, self.policy());
                (base, updated)
            }
        };
        let Updated { spliced, placed } = updated.map_err(misfits)?;
        change.removed = hunks.iter().map(|hunk| u64::from(hunk.removed())).sum();
        change.added = hunks.iter().map(|hunk| u64::from(hunk.added())).sum();
        change.placed = placed;
        let effect = !spliced.equals_base(&base);
        let file = if effect { file.edited(spliced) } else { file };
        Ok(Edited { file, effect })
    }

    /// The file with the permission bits that the operation asks for.
    pub(super) fn with_mode(&self, file: File, about: &About<'_>) -> File {
        let Some(executable) = about.executable else { return file };
        let mode = match (self.overlay.mode(&file), executable) {
            (Some(bits), true) => bits | ((bits & 0o444) >> 2),
            (Some(bits), false) => bits & !0o111,
            (None, true) => 0o777,
            (None, false) => return file,
        };
        if self.overlay.mode(&file) == Some(mode) { file } else { File { mode: Some(mode), ..file } }
    }

    /// The slot a Move or a Copy leads to; `None` when that is the path itself.
    pub(super) fn target(
        &mut self,
        entry: usize,
        about: &About<'_>,
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
        let what = match Stands::of(&self.overlay.slot(target).now) {
            Stands::Nothing => return Ok(Some(target)),
            Stands::Link => "a symbolic link",
            _ if self.policy().overwrite == Overwrite::Allow => return Ok(Some(target)),
            _ => "another file",
        };
        if self.displaces(target, about, || taken(what)) { Ok(Some(target)) } else { Err(taken(what)) }
    }

    /// Whether something may be put over what stands in the slot, because the batch may take that away later. If it does
    /// not, `kind` is what is wrong.
    pub(super) fn displaces(&mut self, slot: usize, about: &About<'_>, kind: impl FnOnce() -> FailureKind) -> bool {
        let free = self.overlay.in_batch() && !self.overlay.filled_by_batch(slot);
        if free {
            let failure = self.failure(about.path, kind());
            self.displaced.insert(slot, Displaced { failure, covered: true });
        }
        free
    }

    /// Marks a slot on which an operation has failed, so that later ones are not judged.
    pub(super) fn poison(&mut self, slot: usize, kinds: Vec<FailureKind>) -> Vec<FailureKind> {
        self.overlay.slot_mut(slot).poisoned = true;
        kinds
    }
}

pub(super) fn new_like(like: Option<crate::path::RelPath>) -> File {
    File { origin: None, like, mode: None, base: Arc::default(), spliced: None }
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

pub(super) fn edit_failures(error: TextError) -> Vec<FailureKind> {
    match error {
        TextError::Update(error) => misfits(error),
        TextError::NoSuchLine { wanted, lines } => FailureKind::NoSuchLine { wanted, lines }.into(),
    }
}

pub(super) fn exists(what: &'static str) -> FailureKind {
    FailureKind::Exists { what, move_target: None }
}

pub(super) fn count_lines(content: &[u8]) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', content).count() as u64;
    newlines + u64::from(content.last().is_some_and(|last| *last != b'\n'))
}
