//! The way back: what was done is undone in reverse, and what someone else has changed since is left alone.

use std::os::fd::AsFd as _;

use super::Durability;
use super::error::{Leftover, LeftoverKind};
use super::publish::rewrite;
use super::schedule::{Action, Thing};
use super::stage::write_slices;
use super::temp::{Names, Role};
use super::transaction::{Transaction, holds};
use crate::path::RelPath;
use crate::plan::{After, Before};
use crate::workspace::ops::{self, Answer, Errno, How};

/// Why one action was not undone.
enum Stuck {
    Foreign,
    Refused(Errno),
}

impl From<Errno> for Stuck {
    fn from(error: Errno) -> Self {
        Stuck::Refused(error)
    }
}

impl Transaction<'_> {
    /// Undoes what was done and removes what was staged. Returns what is not as it was.
    pub(super) fn roll_back(&mut self) -> Vec<Leftover> {
        let mut left = Vec::new();
        for (path, error) in std::mem::take(&mut self.second_names) {
            left.push(Leftover {
                path,
                what: LeftoverKind::Refused(std::io::Error::from(error).to_string()),
                kept: None,
            });
        }
        while let Some(at) = self.done.pop() {
            let action = self.schedule.actions[at].clone();
            match &action {
                Action::MakeDir(dir) => left.extend(self.undo_make_dir(dir)),
                Action::Rename { thing, from, to } => left.extend(self.undo_rename(*thing, from, to)),
                Action::Exchange { a, b, at_a, at_b } => left.extend(self.undo_exchange(a, b, *at_a, *at_b)),
                Action::Overwrite(step) => left.extend(self.undo_overwrite(*step)),
            }
        }
        if left.iter().any(|left| matches!(left.what, LeftoverKind::Refused(_))) {
            // The journal stays where it is, for a recovery to go on.
            self.journal = None;
        }
        if self.journal.is_none() {
            // A disk that does not even sync any more has already made the commit fail.
            let _no_better_way = self.sync_dirs();
        }
        left.extend(self.discard_staged());
        left
    }

    fn undo_make_dir(&mut self, dir: &RelPath) -> Option<Leftover> {
        self.dirs.forget();
        let removed = self.dirs.of(dir).and_then(|(above, name)| ops::remove_dir(above.as_fd(), name));
        match removed {
            Ok(()) | Err(Errno::NOENT) => None,
            Err(_) => Some(Leftover { path: dir.clone(), what: LeftoverKind::Directory, kept: None }),
        }
    }

    fn undo_rename(&mut self, thing: Thing, from: &RelPath, to: &RelPath) -> Option<Leftover> {
        let undone = match self.is_ours(thing, to) {
            Ok(true) => self.rename_new(to, from).map_err(|error| match error {
                Errno::EXIST => Stuck::Foreign,
                error => Stuck::Refused(error),
            }),
            Ok(false) => Err(Stuck::Foreign),
            Err(error) => Err(Stuck::Refused(error)),
        };
        let Err(stuck) = undone else { return None };
        match thing {
            // The old content is still at the other name: that name must stay.
            Thing::Old(step) => Some(self.leftover(from, stuck, Some((to, step)))),
            Thing::New(_) => Some(self.leftover(to, stuck, None)),
        }
    }

    fn undo_exchange(&mut self, a: &RelPath, b: &RelPath, at_a: Thing, at_b: Thing) -> Option<Leftover> {
        let undone = self.exchange_back(a, b, at_a);
        let Err(stuck) = undone else { return None };
        let (Thing::Old(step) | Thing::New(step)) = at_b;
        Some(self.leftover(b, stuck, Some((a, step))))
    }

    fn exchange_back(&mut self, a: &RelPath, b: &RelPath, at_a: Thing) -> Result<(), Stuck> {
        if !self.is_ours(at_a, b)? {
            return Err(Stuck::Foreign);
        }
        self.exchange(a, b)?.ok_or(Stuck::Refused(Errno::NOSYS))?;
        if self.is_ours(at_a, a)? {
            return Ok(());
        }
        // Someone slipped in between the look and the exchange: theirs goes back to where they put it.
        self.exchange(a, b)?.ok_or(Stuck::Refused(Errno::NOSYS))?;
        Err(Stuck::Foreign)
    }

    /// Whether the thing at `place` is the one that was put there: a new one by its content, since it will be thrown
    /// away; an old one by its identity, since it will be kept with whatever is in it.
    fn is_ours(&mut self, thing: Thing, place: &RelPath) -> Answer<bool> {
        let steps = self.steps;
        match thing {
            Thing::Old(step) => match self.stat(place) {
                Ok(now) => {
                    let before = &self.seen[step].stamp;
                    Ok((now.dev, now.ino) == (before.dev, before.ino))
                }
                Err(Errno::NOENT | Errno::NOTDIR) => Ok(false),
                Err(error) => Err(error),
            },
            Thing::New(step) => match (&steps[step].after, &steps[step].before) {
                (After::Content { content, .. }, _) => self.file_holds(place, content.slices(), content.spliced.len()),
                (After::Moved { from }, _) => {
                    let source = steps.iter().find(|step| step.path == *from).map(|step| &step.before);
                    match source {
                        Some(Before::File(data)) => self.file_holds(place, [data.bytes.as_slice()], data.bytes.len()),
                        Some(Before::Link(target)) => self.link_holds(place, target),
                        _ => Ok(false),
                    }
                }
                (After::Link { target }, _) => self.link_holds(place, target),
                (After::Absent, _) => Ok(false),
            },
        }
    }

    fn is_temporary(&self, place: &RelPath) -> bool {
        place.name().starts_with(super::temp::PREFIX)
    }

    fn file_holds<'a>(
        &mut self,
        place: &RelPath,
        slices: impl IntoIterator<Item = &'a [u8]>,
        len: usize,
    ) -> Answer<bool> {
        let (dir, name) = self.dirs.of(place)?;
        match ops::open_child(dir.as_fd(), name.as_bytes(), How::Read) {
            Ok(file) => {
                let stamp = ops::stat(file.as_fd())?;
                let file_of_that_size = ops::kind(stamp.mode) == ops::Kind::File && stamp.size == len as u64;
                Ok(file_of_that_size && holds(file.as_fd(), slices, len, &mut self.window)?)
            }
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn link_holds(&mut self, place: &RelPath, target: &[u8]) -> Answer<bool> {
        let (dir, name) = self.dirs.of(place)?;
        match ops::read_link(dir.as_fd(), name.as_bytes()) {
            Ok(found) => Ok(found == target),
            Err(Errno::NOENT | Errno::INVAL | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn undo_overwrite(&mut self, step: usize) -> Option<Leftover> {
        let path = &self.steps[step].path;
        let (Before::File(data), After::Content { content, .. }) = (&self.steps[step].before, &self.steps[step].after)
        else {
            return None;
        };
        // What was cut off in the middle holds neither content; it cannot be compared, only put right.
        let half = self.half_written == Some(step);
        let ours = if half { Ok(true) } else { self.file_holds(path, content.slices(), content.spliced.len()) };
        let undone = match ours {
            Ok(true) => self.write_back(step, &data.bytes).map_err(Stuck::Refused),
            Ok(false) => Err(Stuck::Foreign),
            Err(error) => Err(Stuck::Refused(error)),
        };
        let Err(stuck) = undone else { return None };
        let mut left = self.leftover(path, stuck, None);
        let saved = self.lasting_names().beside(path, Role::Saved, step);
        left.kept = self.save(&saved, &data.bytes).is_ok().then_some(saved);
        Some(left)
    }

    fn write_back(&mut self, step: usize, bytes: &[u8]) -> Answer<()> {
        let path = &self.steps[step].path;
        let before = self.seen[step].stamp;
        let file = self.workspace.open_resolved(path.as_str(), How::Write)?;
        let now = ops::stat(file.as_fd())?;
        if (now.dev, now.ino) != (before.dev, before.ino) {
            return Err(Errno::STALE);
        }
        rewrite(&file, [bytes], bytes.len(), before.mode & 0o7777, true)?;
        if self.options.durability == Durability::Power { ops::sync(file.as_fd()) } else { Ok(()) }
    }

    fn save(&mut self, place: &RelPath, bytes: &[u8]) -> Answer<()> {
        let (dir, name) = self.dirs.of(place)?;
        let file = ops::create(dir.as_fd(), name, 0o600)?;
        write_slices(file.as_fd(), [bytes])
    }

    /// Names for what shall stay: those of a commit without a journal come again with the next such commit.
    fn lasting_names(&self) -> Names {
        if self.names.is_single() { Names::new() } else { self.names }
    }

    /// What could not be put back, and where its old content (of a step) is; that place gets a name which nobody
    /// takes for a temporary one, if it had such a name.
    fn leftover(&mut self, path: &RelPath, stuck: Stuck, old: Option<(&RelPath, usize)>) -> Leftover {
        let what = match stuck {
            Stuck::Foreign => LeftoverKind::Foreign,
            Stuck::Refused(error) => LeftoverKind::Refused(std::io::Error::from(error).to_string()),
        };
        let kept = old.map(|(place, step)| {
            if self.journal.is_some() && matches!(what, LeftoverKind::Refused(_)) {
                // A recovery looks for it there.
                self.kept.insert(place.clone());
                return place.clone();
            }
            let saved = self.lasting_names().beside(place, Role::Saved, step);
            if self.is_temporary(place) && self.rename_new(place, &saved).is_ok() {
                return saved;
            }
            self.kept.insert(place.clone());
            place.clone()
        });
        Leftover { path: path.clone(), what, kept }
    }
}
