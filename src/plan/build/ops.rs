//! What each operation does to the tree in memory, or why it cannot.

use super::files::{Edited, Role, Stands, count_lines, edit_failures, exists, new_like};
use super::{About, Early, Planner, Step, Wanted};
use crate::patch::{Hunk, Sign, TextEdit};
use crate::plan::error::FailureKind;
use crate::plan::overlay::{File, Found, Now};
use crate::plan::texts;
use crate::plan::{Before, Change, FileChange};
use crate::policy::Overwrite;
use crate::text::Spliced;
use crate::workspace::Source;

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
}
