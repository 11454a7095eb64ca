//! The moment of change: the schedule is played, and after each action a look is taken at what came out.

use std::os::fd::AsFd as _;

use super::check::change;
use super::error::{Change, Failure};
use super::schedule::{Action, Thing, without_exchanges};
use super::stage::write_slices;
use super::transaction::{Transaction, holds, open_failure};
use super::{CommitNote, Durability};
use crate::path::RelPath;
use crate::plan::{After, Before, NewMode};
use crate::workspace::Stamp;
use crate::workspace::ops::{self, Answer, Errno, How};

impl Transaction<'_> {
    /// Plays the schedule. On an error `done` tells what must be undone.
    pub(super) fn publish(&mut self) -> Result<(), Failure> {
        let mut from = 0;
        loop {
            let actions = std::mem::take(&mut self.schedule.actions);
            let played = self.play(&actions, from);
            self.schedule.actions = actions;
            let Some((at, needs)) = played? else { return Ok(()) };
            // In the middle of several calls there is something to tell.
            self.write_journal()?;
            if needs == Performed::NeedsRenames {
                // The file system cannot exchange: the rest of the schedule has to do without.
                let actions = std::mem::take(&mut self.schedule.actions);
                self.schedule.actions = without_exchanges(actions, at, self.names);
            }
            from = at;
        }
    }

    /// Plays the actions from `from` on; tells the first that needs something more, and what.
    fn play(&mut self, actions: &[Action], from: usize) -> Result<Option<(usize, Performed)>, Failure> {
        for (at, action) in actions.iter().enumerate().skip(from) {
            let performed = self.perform(at, action)?;
            if performed != Performed::Done {
                return Ok(Some((at, performed)));
            }
        }
        Ok(None)
    }

    fn perform(&mut self, at: usize, action: &Action) -> Result<Performed, Failure> {
        match action {
            Action::MakeDir(dir) => match self.make_dir(dir) {
                Ok(()) => self.done.push(at),
                // Someone else has just made it: good for us, and not ours to remove.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(Failure::io("cannot make the directory", error, dir)),
            },
            Action::Rename { thing, from, to } => {
                let renamed = self.rename(*thing, from, to)?;
                if renamed != Performed::Done {
                    return Ok(renamed);
                }
                self.done.push(at);
                self.look(*thing, to)?;
            }
            Action::Exchange { a, b, at_a, at_b } => {
                match self.exchange(a, b) {
                    Ok(Some(())) => self.done.push(at),
                    Ok(None) => return Ok(Performed::NeedsRenames),
                    Err(error) => return Err(self.rename_failure(*at_b, error)),
                }
                self.look(*at_b, a)?;
                self.look(*at_a, b)?;
            }
            Action::Overwrite(step) => self.overwrite(at, *step)?,
        }
        Ok(Performed::Done)
    }

    fn rename(&mut self, thing: Thing, from: &RelPath, to: &RelPath) -> Result<Performed, Failure> {
        let renamed = match self.rename_new_at_once(from, to) {
            Ok(None) if self.journal.is_none() => return Ok(Performed::NeedsJournal),
            Ok(None) => self.rename_new_in_two(from, to),
            answer => answer.map(drop),
        };
        renamed.map_err(|error| self.rename_failure(thing, error)).map(|()| Performed::Done)
    }

    fn make_dir(&mut self, dir: &RelPath) -> Answer<()> {
        let (above, name) = self.dirs.of(dir)?;
        ops::make_dir(above.as_fd(), name)
    }

    fn rename_failure(&self, thing: Thing, error: Errno) -> Failure {
        let (Thing::Old(step) | Thing::New(step)) = thing;
        let path = &self.steps[step].path;
        match (error, thing) {
            (Errno::EXIST, Thing::New(_)) => Failure::stale(Change::Appeared, path),
            (Errno::NOENT, Thing::Old(_)) => Failure::stale(Change::Gone, path),
            (error, Thing::New(_)) => Failure::io("cannot put its new content in place", error, path),
            (error, Thing::Old(_)) => Failure::io("cannot rename it", error, path),
        }
    }

    /// Whether the old thing that is now at `place` is the one that was checked, unchanged.
    fn look(&mut self, thing: Thing, place: &RelPath) -> Result<(), Failure> {
        let Thing::Old(step) = thing else { return Ok(()) };
        let path = &self.steps[step].path;
        let now = self.stat(place).map_err(|error| open_failure("cannot look at what came out", error, path))?;
        let before = self.seen[step].stamp;
        // A rename changes the status time, and a write through another of its names is our own.
        let written = self.written_in_place(&before);
        let same = |stamp: &Stamp| (stamp.dev, stamp.ino, if written { (0, 0) } else { (stamp.size, stamp.mtime) });
        if same(&before) != same(&now) {
            // Someone else's thing came out. It is what the way back has to put where it was.
            self.seen[step].stamp = now;
            return Err(Failure::stale(change(&before, &now), path));
        }
        if self.seen[step].young && !written {
            return self.look_inside(step, place);
        }
        Ok(())
    }

    fn look_inside(&mut self, step: usize, place: &RelPath) -> Result<(), Failure> {
        let path = &self.steps[step].path;
        let Before::File(data) = &self.steps[step].before else { return Ok(()) };
        let doing = "cannot read what came out";
        let (dir, name) = self.dirs.of(place).map_err(|error| open_failure(doing, error, path))?;
        let file = ops::open_child(dir.as_fd(), name.as_bytes(), How::Read)
            .map_err(|error| open_failure(doing, error, path))?;
        match holds(file.as_fd(), [data.bytes.as_slice()], data.bytes.len(), &mut self.window) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Failure::stale(Change::Content, path)),
            Err(error) => Err(Failure::io(doing, error, path)),
        }
    }

    fn written_in_place(&self, stamp: &Stamp) -> bool {
        let same = |seen: &super::transaction::Seen| (seen.stamp.dev, seen.stamp.ino) == (stamp.dev, stamp.ino);
        stamp.links > 1 && self.seen.iter().any(|seen| seen.in_place && same(seen))
    }

    /// Writes the new content of a step over the old one.
    fn overwrite(&mut self, at: usize, step: usize) -> Result<(), Failure> {
        let path = &self.steps[step].path;
        let After::Content { content, mode, .. } = &self.steps[step].after else { return Ok(()) };
        let doing = "cannot write it in place";
        let file = self
            .workspace
            .open_resolved(path.as_str(), How::Write)
            .map_err(|error| open_failure(doing, error, path))?;
        let now = ops::stat(file.as_fd()).map_err(|error| Failure::io(doing, error, path))?;
        let before = self.seen[step].stamp;
        if (now.dev, now.ino) != (before.dev, before.ino) {
            return Err(Failure::stale(change(&before, &now), path));
        }
        self.done.push(at);
        self.half_written = Some(step);
        let bits = mode.map_or(before.mode, NewMode::bits) & 0o7777;
        rewrite(&file, content.slices(), content.spliced.len(), bits, bits != before.mode & 0o7777)
            .map_err(|error| Failure::io(doing, error, path))?;
        if self.options.durability == Durability::Power {
            ops::sync(file.as_fd()).map_err(|error| Failure::io(doing, error, path))?;
        }
        self.half_written = None;
        self.notes.push(CommitNote::WrittenInPlace(path.clone()));
        Ok(())
    }
}

/// Replaces the content of an open file. `bits` are set when they must change, or when the write has cleared some.
pub(super) fn rewrite<'a>(
    file: &std::os::fd::OwnedFd,
    slices: impl IntoIterator<Item = &'a [u8]>,
    len: usize,
    bits: u32,
    set: bool,
) -> Answer<()> {
    write_slices(file.as_fd(), slices)?;
    ops::truncate(file.as_fd(), len as u64)?;
    if set || bits & 0o6000 != 0 {
        ops::set_mode(file.as_fd(), bits)?;
    }
    Ok(())
}

/// What became of an action.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Performed {
    Done,
    /// The file system cannot exchange.
    NeedsRenames,
    /// The file system needs several calls for it, and there is no journal yet.
    NeedsJournal,
}
