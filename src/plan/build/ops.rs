//! What each operation does to the tree in memory, or why it cannot.

use std::sync::Arc;

use super::{About, Displaced, Early, Planner, Step, Wanted};
use crate::patch::{FileOp, Hunk, OpKind, Sign, TextEdit};
use crate::plan::error::{Failure, FailureKind};
use crate::plan::hunks::{self, UpdateError, Updated};
use crate::plan::overlay::{File, Found, Now};
use crate::plan::texts::{self, TextError};
use crate::plan::{Before, Change, FileChange};
use crate::policy::Overwrite;
use crate::text::Spliced;
use crate::workspace::{Bytes, Source};

/// What becomes of the file that an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// It stays where it is.
    Edited,
    /// It goes elsewhere.
    Moved,
    /// It stays, and another one is made of it.
    Copied,
}

/// What stands where something new shall go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Nothing,
    EmptyFile,
    File,
    Link,
}

impl Stands {
    fn of(now: &Now) -> Self {
        match now {
            Now::Absent => Stands::Nothing,
            Now::File(file) if file.len() == 0 => Stands::EmptyFile,
            Now::File(_) => Stands::File,
            Now::Link { .. } => Stands::Link,
        }
    }
}

/// A file with an edited content, and whether any byte has changed.
struct Edited {
    file: File,
    effect: bool,
}

impl<S: Source + ?Sized> Planner<'_, S> {
    // ---- operations that give a whole content

    pub(super) fn add(&mut self, about: &About<'_>, content: Vec<u8>) -> Step<Option<FileChange>> {
        let lines = count_lines(&content);
        let Some(slot) = self.locate(about.path, Wanted::New)? else { return Ok(None) };
        let allow = self.policy().overwrite == Overwrite::Allow;
        let stands = Stands::of(&self.overlay.slot(slot).now);
        let full = stands != Stands::Nothing && stands != Stands::EmptyFile;
        let displaces = full && self.displaces(slot, about, || exists("a file that is not empty"));
        let (slot, file) = match &self.overlay.slot(slot).now {
            Now::Absent => (slot, self.new_file(slot)),
            _ if displaces => (slot, new_like(None)),
            Now::File(file) if file.len() == 0 || allow => (slot, file.clone()),
            Now::File(_) => return Err(exists("a file that is not empty").into()),
            Now::Link { .. } => self.empty_file_behind(slot)?,
        };
        self.writable(slot)?;
        self.expected(slot, about)?;
        let file = File { spliced: Some(Spliced::from_fresh(content)), ..file };
        let file = self.with_mode(file, about);
        self.overlay.put(slot, Now::File(file));
        let change = FileChange { executable: about.executable, ..FileChange::new(Change::Add, about.path) };
        Ok(Some(FileChange { added: lines, ..change }))
    }

    /// A file that takes the place of nothing, or of one that the patch has deleted.
    fn new_file(&self, slot: usize) -> File {
        let stood = self.overlay.slot(slot);
        let replaces = stood.deleted && matches!(stood.before, Before::File(_));
        new_like(replaces.then(|| stood.path.clone()))
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

    pub(super) fn write(&mut self, about: &About<'_>, content: Vec<u8>) -> Step<Option<FileChange>> {
        let Some(entry) = self.locate(about.path, Wanted::New)? else { return Ok(None) };
        let slot = self.behind(entry)?;
        if let Now::Absent = self.overlay.slot(slot).now {
            if slot != entry {
                return Err(exists("a link that leads nowhere").into());
            }
            return self.add(about, content);
        }
        self.writable(slot)?;
        self.expected(slot, about)?;
        let Now::File(file) = self.overlay.slot(slot).now.clone() else { return Err(FailureKind::Directory.into()) };
        let mut change = FileChange { executable: about.executable, ..FileChange::new(Change::Update, about.path) };
        (change.added, change.removed) = (count_lines(&content), count_lines(&file.bytes()));
        let file = File { spliced: Some(Spliced::from_fresh(content)), ..file };
        let file = self.with_mode(file, about);
        self.overlay.set(slot, Now::File(file));
        Ok(Some(change))
    }

    pub(super) fn append(&mut self, about: &About<'_>, content: Vec<u8>) -> Step<Option<FileChange>> {
        let Some(slot) = self.locate(about.path, Wanted::New)? else { return Ok(None) };
        if let Now::Absent = self.overlay.slot(slot).now {
            return self.add(about, content);
        }
        let mut hunk = Hunk::new(about.line);
        for line in content.split_inclusive(|byte| *byte == b'\n') {
            hunk.push(Sign::Add, line.strip_suffix(b"\n").unwrap_or(line));
        }
        let hunks = if hunk.is_empty() { Vec::new() } else { vec![hunk] };
        self.update(about, None, &hunks, None)
    }

    // ---- operations on a file that is there

    pub(super) fn delete(
        &mut self,
        about: &About<'_>,
        hunks: &[Hunk],
        early: Option<Early<'_>>,
    ) -> Step<Option<FileChange>> {
        let Some(slot) = self.locate(about.path, Wanted::Old { update: false })? else { return Ok(None) };
        self.expected(slot, about)?;
        let removed = match (self.overlay.slot(slot).now.clone(), hunks) {
            (Now::File(file), []) => count_lines(&file.bytes()),
            (Now::File(file), hunks) => {
                let edited = self.placed(file, hunks, early, &mut FileChange::new(Change::Delete, about.path));
                let left = match edited {
                    Ok(Edited { file, .. }) => count_lines(&file.bytes()),
                    Err(kinds) => return Err(self.poison(slot, kinds)),
                };
                if left > 0 {
                    let lines = usize::try_from(left).unwrap_or(usize::MAX);
                    return Err(self.poison(slot, FailureKind::ContentLeft { lines }.into()));
                }
                hunks.iter().map(|hunk| u64::from(hunk.removed())).sum()
            }
            (_, []) => 0,
            _ => return Err(FailureKind::Special("a symbolic link").into()),
        };
        self.take_away(slot, true);
        Ok(Some(FileChange { removed, ..FileChange::new(Change::Delete, about.path) }))
    }

    /// What stands in a slot goes, unless the batch has already put something else there.
    fn take_away(&mut self, slot: usize, deleted: bool) {
        if !self.displaced.remove(&slot).is_some_and(|displaced| displaced.covered) {
            self.overlay.take(slot);
            self.overlay.slot_mut(slot).deleted = deleted;
        }
    }

    pub(super) fn update(
        &mut self,
        about: &About<'_>,
        move_to: Option<&[u8]>,
        hunks: &[Hunk],
        early: Option<Early<'_>>,
    ) -> Step<Option<FileChange>> {
        let role = if move_to.is_some() { Role::Moved } else { Role::Edited };
        let Some(entry) = self.locate_source(about.path, role)? else { return Ok(None) };
        let mut change = FileChange::new(Change::Update, about.path);
        let link = self.standing(entry, role).clone();
        let edited = self.edited(entry, about, role, hunks, early, &mut change);
        let pure = hunks.is_empty() && about.executable.is_none();
        self.leaving = Some(entry);
        let target = move_to.map(|to| self.target(entry, about, to, pure, &mut change)).transpose();
        self.leaving = None;
        let (edited, target) = match (edited, target) {
            (Ok(edited), Ok(target)) => (edited, target.flatten()),
            (edited, target) => {
                let mut kinds = edited.err().unwrap_or_default();
                kinds.extend(target.err());
                return Err(self.poison(entry, kinds));
            }
        };
        let (slot, Edited { file, effect }) = edited;
        let Some(target) = target else {
            if !effect && !self.policy().accept_no_effect {
                return Err(self.poison(entry, FailureKind::NoEffect.into()));
            }
            if effect {
                self.overlay.set(slot, Now::File(file));
            }
            return Ok(Some(change));
        };
        if slot == entry {
            self.take_away(entry, false);
            self.overlay.put(target, Now::File(file));
        } else {
            // A link moves; the file behind it is edited and stays.
            if effect {
                self.overlay.set(slot, Now::File(file));
            }
            self.take_away(entry, false);
            self.overlay.put(target, link);
        }
        Ok(Some(change))
    }

    pub(super) fn copy(
        &mut self,
        about: &About<'_>,
        to: &[u8],
        hunks: &[Hunk],
        early: Option<Early<'_>>,
    ) -> Step<Option<FileChange>> {
        let Some(entry) = self.locate_source(about.path, Role::Copied)? else { return Ok(None) };
        if let Now::Link { .. } = self.standing(entry, Role::Copied) {
            return Err(FailureKind::Special("a symbolic link").into());
        }
        let mut change = FileChange::new(Change::Add, to);
        let edited = self.edited(entry, about, Role::Copied, hunks, early, &mut change);
        let target = self.target(entry, about, to, true, &mut change);
        let (edited, target) = match (edited, target) {
            (Ok(edited), Ok(Some(target))) => (edited, target),
            (edited, target) => {
                let mut kinds = edited.err().unwrap_or_default();
                kinds.extend(target.err());
                return Err(kinds);
            }
        };
        let (_, Edited { file, .. }) = edited;
        let like = file.origin.clone().or(file.like);
        let file = File { origin: None, like, ..file };
        change.moved_to = None;
        change.copied_from = Some(String::from_utf8_lossy(about.path).into_owned());
        change.added = count_lines(&file.bytes());
        change.removed = 0;
        self.overlay.put(target, Now::File(file));
        Ok(Some(change))
    }

    pub(super) fn edit(&mut self, about: &About<'_>, edits: &[TextEdit]) -> Step<Option<FileChange>> {
        let Some(entry) = self.locate(about.path, Wanted::Old { update: true })? else { return Ok(None) };
        let slot = self.behind(entry)?;
        self.expected(slot, about)?;
        let Now::File(file) = self.overlay.slot(slot).now.clone() else {
            return Err(self.nothing_behind(entry, about).into());
        };
        self.writable(slot)?;
        let done = match texts::edit(&file.bytes(), edits, about.line, self.policy()) {
            Ok(done) => done,
            Err(error) => return Err(self.poison(entry, edit_failures(error))),
        };
        let mut change = FileChange { executable: about.executable, ..FileChange::new(Change::Update, about.path) };
        (change.added, change.removed, change.placed) = (done.added, done.removed, done.placed);
        let moded = self.with_mode(file.clone(), about);
        if !done.effect && moded.mode == file.mode && !self.policy().accept_no_effect {
            return Err(self.poison(entry, FailureKind::NoEffect.into()));
        }
        let file = if done.effect { moded.edited(done.spliced) } else { moded };
        self.overlay.set(slot, Now::File(file));
        Ok(Some(change))
    }

    // ---- what they share

    /// The slot of a file to edit.
    fn locate_source(&mut self, path: &[u8], role: Role) -> Result<Option<usize>, FailureKind> {
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
    fn standing(&self, slot: usize, role: Role) -> &Now {
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
    fn behind(&mut self, entry: usize) -> Result<usize, FailureKind> {
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
    fn nothing_behind(&mut self, entry: usize, about: &About<'_>) -> FailureKind {
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
    fn edited(
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
    fn placed(&self, file: File, hunks: &[Hunk], early: Option<Early<'_>>, change: &mut FileChange) -> Step<Edited> {
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
    fn with_mode(&self, file: File, about: &About<'_>) -> File {
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
    fn target(
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
    fn displaces(&mut self, slot: usize, about: &About<'_>, kind: impl FnOnce() -> FailureKind) -> bool {
        let free = self.overlay.in_batch() && !self.overlay.filled_by_batch(slot);
        if free {
            let failure = self.failure(about.path, kind());
            self.displaced.insert(slot, Displaced { failure, covered: true });
        }
        free
    }

    /// Marks a slot on which an operation has failed, so that later ones are not judged.
    fn poison(&mut self, slot: usize, kinds: Vec<FailureKind>) -> Vec<FailureKind> {
        self.overlay.slot_mut(slot).poisoned = true;
        kinds
    }
}

fn new_like(like: Option<crate::path::RelPath>) -> File {
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

fn edit_failures(error: TextError) -> Vec<FailureKind> {
    match error {
        TextError::Update(error) => misfits(error),
        TextError::NoSuchLine { wanted, lines } => FailureKind::NoSuchLine { wanted, lines }.into(),
    }
}

pub(super) fn exists(what: &'static str) -> FailureKind {
    FailureKind::Exists { what, move_target: None }
}

fn count_lines(content: &[u8]) -> u64 {
    let newlines = memchr::memchr_iter(b'\n', content).count() as u64;
    newlines + u64::from(content.last().is_some_and(|last| *last != b'\n'))
}
