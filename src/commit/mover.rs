//! The way back of a dead commit, made: each move of a survey on the disk.

use std::os::fd::{AsFd as _, BorrowedFd};

use super::dirs::split;
use super::error::{Leftover, LeftoverKind};
use super::journal::New;
use super::publish::rewrite;
use super::schedule::Thing;
use super::stage::write_slices;
use super::survey::{Move, Survey};
use super::temp::Role;
use super::transaction::unsupported;
use crate::path::RelPath;
use crate::workspace::ops::{self, Answer, Errno, How};

/// An open directory and a name in it.
type At<'a> = (BorrowedFd<'a>, &'a str);

/// Makes the moves of a survey.
pub(super) struct Mover<'j, 'w> {
    pub survey: Survey<'j, 'w>,
}

impl Mover<'_, '_> {
    /// Makes the moves; whether the system refused one. Those after it are tried all the same.
    pub(super) fn make(&mut self, moves: &[Move], left: &mut Vec<Leftover>) -> bool {
        let mut failed = false;
        for way in moves {
            let (path, answer) = match way {
                Move::Rename { from, to } => (to, self.rename(from, to)),
                Move::Exchange { a, b, ours, number } => (b, self.exchange(a, b, *ours, *number)),
                Move::RemoveDir(dir) => (dir, self.remove_dir(dir)),
                Move::Remove(path) => (path, self.remove(path)),
                Move::WriteBack(step) => (&*self.survey.journal.steps[*step].path, self.write_back(*step)),
                Move::Save { step, to } => (to, self.save(*step, to)),
            };
            let Err(error) = answer else { continue };
            let what = match (way, error) {
                (Move::RemoveDir(_), Errno::NOTEMPTY | Errno::EXIST) => LeftoverKind::Directory,
                (_, Errno::EXIST | Errno::STALE) => LeftoverKind::Foreign,
                (_, error) => {
                    failed = true;
                    LeftoverKind::Refused(std::io::Error::from(error).to_string())
                }
            };
            left.push(Leftover { path: path.clone(), what, kept: None });
        }
        failed
    }

    fn rename(&self, from: &RelPath, to: &RelPath) -> Answer<()> {
        self.at(from, |from| self.at(to, |to| rename_new(from, to)))
    }

    fn exchange(&mut self, a: &RelPath, b: &RelPath, ours: Thing, number: usize) -> Answer<()> {
        let swapped = self.at(a, |a| self.at(b, |b| ops::exchange(a, b)));
        match swapped {
            Err(error) if unsupported(error) => {
                let spare = self.survey.journal.names.beside(b, Role::Spare, number);
                self.rename(a, &spare)?;
                self.rename(b, a)?;
                return self.rename(&spare, b);
            }
            answer => answer?,
        }
        let stamp = self.at(a, |(dir, name)| ops::stat_child(dir, name.as_bytes()))?;
        if self.survey.is(a, &stamp, ours)? {
            return Ok(());
        }
        // Someone slipped in after the look: theirs goes back to where they put it.
        self.at(a, |a| self.at(b, |b| ops::exchange(a, b)))?;
        Err(Errno::STALE)
    }

    fn remove_dir(&self, dir: &RelPath) -> Answer<()> {
        absent_is_fine(self.at(dir, |(dir, name)| ops::remove_dir(dir, name)))
    }

    fn remove(&self, path: &RelPath) -> Answer<()> {
        absent_is_fine(self.at(path, |(dir, name)| ops::remove(dir, name)))
    }

    fn write_back(&self, step: usize) -> Answer<()> {
        let entry = &self.survey.journal.steps[step];
        let (New::InPlace { old, old_mode, .. }, Some(was)) = (&entry.new, &entry.old) else { return Ok(()) };
        let file = self.survey.workspace().open_resolved(entry.path.as_str(), How::Write)?;
        if ops::stat(file.as_fd())?.ino != was.ino {
            return Err(Errno::STALE);
        }
        rewrite(&file, [&**old], old.len(), old_mode & 0o7777, true)?;
        if self.survey.journal.power { ops::sync(file.as_fd()) } else { Ok(()) }
    }

    fn save(&self, step: usize, to: &RelPath) -> Answer<()> {
        let New::InPlace { old, .. } = &self.survey.journal.steps[step].new else { return Ok(()) };
        self.at(to, |(dir, name)| {
            let file = ops::create(dir, name, 0o600)?;
            write_slices(file.as_fd(), [&**old])
        })
    }

    /// Calls with the open directory of `path`, resolved anew, and the name in it.
    fn at<T>(&self, path: &RelPath, call: impl FnOnce(At<'_>) -> Answer<T>) -> Answer<T> {
        let (dir, name) = split(path);
        if dir.is_empty() {
            return call((self.survey.workspace().root(), name));
        }
        let dir = self.survey.workspace().open_resolved(dir, How::Dir)?;
        call((dir.as_fd(), name))
    }
}

/// Renames to a free name, where the file system cannot do that in one call by looking first.
fn rename_new(from: At<'_>, to: At<'_>) -> Answer<()> {
    match ops::rename_new(from, to) {
        Err(error) if unsupported(error) => match ops::stat_child(to.0, to.1.as_bytes()) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => ops::rename(from, to),
            Err(error) => Err(error),
        },
        answer => answer,
    }
}

fn absent_is_fine(answer: Answer<()>) -> Answer<()> {
    match answer {
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
        answer => answer,
    }
}
