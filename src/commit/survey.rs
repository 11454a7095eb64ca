//! What a dead commit has done so far, seen on the disk, and what has to be done to take it back: looks only.
//!
//! The actions are gone through in reverse. Each moved a thing from one name to another; where the thing is now tells
//! whether the action was done, once the later ones are thought undone. So nothing depends on marks, on the order in which a
//! loss of power let changes through, or on how far an earlier recovery came.

use std::collections::HashMap;
use std::os::fd::AsFd as _;

use super::dirs::Dirs;
use super::error::{Leftover, LeftoverKind};
use super::journal::{Journal, New, Old};
use super::schedule::{Action, Thing};
use super::temp::{self, Role};
use crate::path::RelPath;
use crate::workspace::ops::{self, Answer, Errno, How, Kind};
use crate::workspace::{Digest, Stamp, Workspace};

/// One change on the way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Renames to a name that is free.
    Rename { from: RelPath, to: RelPath },
    /// Swaps two names; afterwards `ours` is at `a`, or someone has slipped in.
    Exchange { a: RelPath, b: RelPath, ours: Thing, number: usize },
    /// Removes a directory, if it is empty.
    RemoveDir(RelPath),
    /// Writes the old content of a step, in place.
    WriteBack(usize),
    /// Keeps the old content of a step that cannot be written back.
    Save { step: usize, to: RelPath },
    /// Removes a file that is of no use any more.
    Remove(RelPath),
}

/// A look at what a dead commit left.
pub(super) struct Survey<'j, 'w> {
    workspace: &'w Workspace,
    pub journal: &'j Journal<'j>,
    dirs: Dirs<'w>,
    /// What stands at a name once the moves so far are made; names not in it are as on the disk.
    then: HashMap<RelPath, Option<Thing>>,
    /// What to do, in order.
    pub moves: Vec<Move>,
    /// What cannot be put back because someone has changed it since.
    pub left: Vec<Leftover>,
}

impl<'j, 'w> Survey<'j, 'w> {
    /// Finds out what takes the tree back to before the commit.
    pub(super) fn back(workspace: &'w Workspace, journal: &'j Journal<'j>) -> Answer<Self> {
        let mut survey = Survey::new(workspace, journal);
        for (number, action) in journal.actions.iter().enumerate().rev() {
            match action {
                Action::MakeDir(dir) => survey.take_back_dir(dir)?,
                Action::Rename { thing, from, to } => survey.take_back_rename(*thing, from, to)?,
                Action::Exchange { a, b, at_a, at_b } => survey.take_back_exchange(number, a, b, *at_a, *at_b)?,
                Action::Overwrite(step) => survey.take_back_overwrite(*step)?,
            }
        }
        for step in &journal.steps {
            if let Some(staged) = step.staged.as_deref()
                && survey.is_taken(staged)?
            {
                survey.moves.push(Move::Remove(staged.clone()));
            }
        }
        Ok(survey)
    }

    /// Finds out what is left to do of a commit that is marked as done.
    pub(super) fn forward(workspace: &'w Workspace, journal: &'j Journal<'j>) -> Answer<Self> {
        let mut survey = Survey::new(workspace, journal);
        for (path, _) in journal.discard.iter() {
            if survey.is_taken(path)? {
                survey.moves.push(Move::Remove(path.clone()));
            }
        }
        Ok(survey)
    }

    fn new(workspace: &'w Workspace, journal: &'j Journal<'j>) -> Self {
        let dirs = Dirs::new(workspace);
        Survey { workspace, journal, dirs, then: HashMap::new(), moves: Vec::new(), left: Vec::new() }
    }

    fn take_back_dir(&mut self, dir: &RelPath) -> Answer<()> {
        let opened = match self.workspace.open_resolved(dir.as_str(), How::List) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
            Err(error) => return Err(error),
        };
        let gone = |name: Vec<u8>| {
            let path = std::str::from_utf8(&name).ok().map(|name| RelPath::child(Some(dir), name));
            path.is_some_and(|path| self.then.get(&path) == Some(&None))
        };
        if ops::names(opened.as_fd(), usize::MAX)?.into_iter().all(gone) {
            self.moves.push(Move::RemoveDir(dir.clone()));
            self.then.insert(dir.clone(), None);
        } else {
            self.left.push(Leftover { path: dir.clone(), what: LeftoverKind::Directory, kept: None });
        }
        Ok(())
    }

    fn take_back_rename(&mut self, thing: Thing, from: &RelPath, to: &RelPath) -> Answer<()> {
        if self.stands(to, thing)? {
            return self.rename_back(thing, to, from);
        }
        if self.is_taken(from)? {
            // Not done. Whether it is still our thing does not matter: nothing was done to it.
            return Ok(());
        }
        match thing {
            // It is at neither name: someone has moved, removed or edited it at the new one, unless it came to the first
            // only by an earlier action, which then was not done.
            Thing::Old(step) if *self.journal.steps[step].path == *from => {
                let kept = self.saved_before(step, to)?;
                self.foreign(if is_temporary(to) { from } else { to }, kept);
            }
            // What was never staged is nowhere, and then its place is as it was.
            Thing::New(step) if self.is_taken(to)? && !self.stands(to, Thing::Old(step))? => self.foreign(to, None),
            _ => {}
        }
        Ok(())
    }

    fn take_back_exchange(&mut self, number: usize, a: &RelPath, b: &RelPath, at_a: Thing, at_b: Thing) -> Answer<()> {
        // Where names cannot be swapped it was done by three renames over a spare name.
        let spare = self.journal.names.beside(b, Role::Spare, number);
        if self.stands(&spare, at_b)? {
            if self.are_one(&spare, a)? {
                // The last of the three was cut off between its link and its removal.
                self.moves.push(Move::Remove(a.clone()));
                self.then.insert(a.clone(), None);
            }
            if self.stands(b, at_a)? {
                self.rename_back(at_a, b, a)?;
            }
            return self.rename_back(at_b, &spare, b);
        }
        if self.stands(a, at_b)? {
            if self.stands(b, at_a)? {
                self.moves.push(Move::Exchange { a: a.clone(), b: b.clone(), ours: at_a, number });
                self.then.insert(a.clone(), Some(at_a));
                self.then.insert(b.clone(), Some(at_b));
            } else {
                self.keep(at_b, a, b);
            }
            return Ok(());
        }
        if !self.stands(b, at_b)? {
            let (Thing::Old(step) | Thing::New(step)) = at_b;
            let kept = self.saved_before(step, a)?;
            if kept.is_some() || self.stands(b, at_a)? {
                self.foreign(b, kept);
            }
        }
        Ok(())
    }

    /// Where an earlier recovery put the old content of a step that was at `place`.
    fn saved_before(&mut self, step: usize, place: &RelPath) -> Answer<Option<RelPath>> {
        let saved = self.journal.names.beside(place, Role::Saved, step);
        Ok(self.is_taken(&saved)?.then_some(saved))
    }

    fn take_back_overwrite(&mut self, step: usize) -> Answer<()> {
        let entry = &self.journal.steps[step];
        let (New::InPlace { old, new, old_mode, .. }, Some(was)) = (&entry.new, &entry.old) else { return Ok(()) };
        let path: &RelPath = &entry.path;
        let found = match self.stamp(path)? {
            Some(stamp) if stamp.ino == was.ino && ops::kind(stamp.mode) == Kind::File => {
                self.read(path)?.map(|bytes| (stamp, bytes))
            }
            _ => None,
        };
        match found {
            Some((stamp, bytes)) if bytes == **old && stamp.mode & 0o7777 == old_mode & 0o7777 => {}
            Some((_, bytes)) if is_mixture(&bytes, old, new) => self.moves.push(Move::WriteBack(step)),
            _ => {
                let to = self.journal.names.beside(path, Role::Saved, step);
                self.foreign(path, Some(to.clone()));
                self.moves.push(Move::Save { step, to });
            }
        }
        Ok(())
    }

    fn rename_back(&mut self, thing: Thing, now: &RelPath, home: &RelPath) -> Answer<()> {
        if self.is_taken(home)? {
            if self.are_one(now, home)? {
                // A rename made of a second link and a removal, cut off between the two.
                self.moves.push(Move::Remove(now.clone()));
                self.then.insert(now.clone(), None);
            } else {
                self.keep(thing, now, home);
            }
            return Ok(());
        }
        self.moves.push(Move::Rename { from: now.clone(), to: home.clone() });
        self.then.insert(now.clone(), None);
        self.then.insert(home.clone(), Some(thing));
        Ok(())
    }

    /// The thing at `now` cannot go back to `home`, where something else stands: a lasting name for it.
    fn keep(&mut self, thing: Thing, now: &RelPath, home: &RelPath) {
        let (Thing::Old(step) | Thing::New(step)) = thing;
        if !is_temporary(now) {
            self.foreign(home, Some(now.clone()));
            return;
        }
        let saved = self.journal.names.beside(now, Role::Saved, step);
        self.foreign(home, Some(saved.clone()));
        self.moves.push(Move::Rename { from: now.clone(), to: saved.clone() });
        self.then.insert(now.clone(), None);
        self.then.insert(saved, Some(thing));
    }

    fn foreign(&mut self, path: &RelPath, kept: Option<RelPath>) {
        self.left.push(Leftover { path: path.clone(), what: LeftoverKind::Foreign, kept });
    }

    fn stamp(&mut self, path: &RelPath) -> Answer<Option<Stamp>> {
        let found = self.dirs.of(path).and_then(|(dir, name)| ops::stat_child(dir.as_fd(), name.as_bytes()));
        match found {
            Ok(stamp) => Ok(Some(stamp)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether anything stands at a name, once the moves so far are made.
    fn is_taken(&mut self, path: &RelPath) -> Answer<bool> {
        match self.then.get(path) {
            Some(then) => Ok(then.is_some()),
            None => Ok(self.stamp(path)?.is_some()),
        }
    }

    /// Whether two names on the disk stand for one file.
    fn are_one(&mut self, a: &RelPath, b: &RelPath) -> Answer<bool> {
        if self.then.contains_key(a) || self.then.contains_key(b) {
            return Ok(false);
        }
        let (a, b) = (self.stamp(a)?, self.stamp(b)?);
        Ok(matches!((a, b), (Some(a), Some(b)) if (a.dev, a.ino) == (b.dev, b.ino)))
    }

    /// Whether a thing of the commit stands at a name, unchanged, once the moves so far are made.
    fn stands(&mut self, path: &RelPath, thing: Thing) -> Answer<bool> {
        if let Some(then) = self.then.get(path) {
            return Ok(*then == Some(thing));
        }
        let Some(stamp) = self.stamp(path)? else { return Ok(false) };
        self.is(path, &stamp, thing)
    }

    /// Whether what is on the disk at `path` is a thing of the commit.
    pub(super) fn is(&mut self, path: &RelPath, stamp: &Stamp, thing: Thing) -> Answer<bool> {
        let journal = self.journal;
        match thing {
            Thing::Old(step) => Ok(journal.steps[step].old.is_some_and(|old| self.is_old(path, stamp, &old))),
            Thing::New(step) => match &journal.steps[step].new {
                New::Staged { link, size, digest } => self.is_new(path, stamp, *link, *size, *digest),
                _ => Ok(false),
            },
        }
    }

    fn is_old(&self, path: &RelPath, stamp: &Stamp, old: &Old) -> bool {
        let kind = if old.link { Kind::Link } else { Kind::File };
        if stamp.ino != old.ino || ops::kind(stamp.mode) != kind {
            return false;
        }
        // At a temporary name nobody else puts anything; and a file with several names may have been written in place.
        let written = |step: &super::journal::Entry<'_>| {
            matches!(step.new, New::InPlace { .. }) && step.old.is_some_and(|other| other.ino == old.ino)
        };
        is_temporary(path)
            || (stamp.size, nanoseconds(stamp)) == (old.size, old.mtime)
            || self.journal.steps.iter().any(written)
    }

    fn is_new(&mut self, path: &RelPath, stamp: &Stamp, link: bool, size: u64, digest: Digest) -> Answer<bool> {
        let kind = if link { Kind::Link } else { Kind::File };
        if ops::kind(stamp.mode) != kind || (!link && stamp.size != size) {
            return Ok(false);
        }
        let bytes = if link {
            let (dir, name) = self.dirs.of(path)?;
            ops::read_link(dir.as_fd(), name.as_bytes())?
        } else {
            let Some(bytes) = self.read(path)? else { return Ok(false) };
            bytes
        };
        Ok(Digest::of(&bytes) == digest)
    }

    /// The content of a file; `None` when it has gone or is something else.
    fn read(&mut self, path: &RelPath) -> Answer<Option<Vec<u8>>> {
        let (dir, name) = self.dirs.of(path)?;
        let file = match ops::open_child(dir.as_fd(), name.as_bytes(), How::Read) {
            Ok(file) => file,
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(None),
            Err(error) => return Err(error),
        };
        let size = ops::stat(file.as_fd())?.size;
        let mut bytes = Vec::with_capacity(usize::try_from(size).map_err(|_| Errno::FBIG)? + 1);
        while ops::read(file.as_fd(), &mut bytes)? > 0 {
            if bytes.len() == bytes.capacity() {
                bytes.reserve(64 << 10);
            }
        }
        Ok(Some(bytes))
    }

    pub(super) fn workspace(&self) -> &'w Workspace {
        self.workspace
    }
}

/// A modification time as the journal keeps it.
pub(super) fn nanoseconds(stamp: &Stamp) -> i64 {
    // Beyond the year 2262 all times are one; inode and size still tell files apart.
    i64::try_from(stamp.mtime).unwrap_or(i64::MAX)
}

fn is_temporary(path: &RelPath) -> bool {
    temp::told_by(path.name().as_bytes()).is_some()
}

/// Whether `found` can be what is left of writing `new` over `old` (or back) when it is cut off anywhere: every byte is one
/// of the two at its place, or none was written there yet.
fn is_mixture(found: &[u8], old: &[u8], new: &[u8]) -> bool {
    let lengths = old.len().min(new.len())..=old.len().max(new.len());
    lengths.contains(&found.len())
        && found.iter().enumerate().all(|(at, byte)| {
            let unwritten = *byte == 0 && (at >= old.len() || at >= new.len());
            unwritten || old.get(at) == Some(byte) || new.get(at) == Some(byte)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_cut_off_anywhere_is_told_from_a_change_by_others() {
        let (old, new) = (b"abcdef".as_slice(), b"ABCDEFGHI".as_slice());
        for (from, to) in [(old, new), (new, old)] {
            for cut in 0..=to.len() {
                let mut half = to[..cut].to_vec();
                half.extend_from_slice(from.get(cut..).unwrap_or_default());
                assert!(is_mixture(&half, old, new), "{cut}");
            }
        }
        assert!(is_mixture(b"ABCdef\0\0\0", old, new));
        for other in [&b"abc"[..], b"abcdeX", b"ABCDEFGHIJ", b""] {
            assert!(!is_mixture(other, old, new));
        }
    }
}
