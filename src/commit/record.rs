//! The ends of a commit that the journal knows of: its beginning, the mark, and the cleaning up after it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{Failure, io_kind};
use super::journal::{Entry, Journal, JournalFile, New, Old, Unmarked};
use super::schedule::Action;
use super::survey::nanoseconds;
use super::transaction::{Seen, Transaction};
use super::{CommitNote, Durability};
use crate::path::RelPath;
use crate::plan::{After, Before, NewMode, Step};
use crate::workspace::Digest;
use crate::workspace::ops::{self, Errno};

impl Transaction<'_> {
    /// Whether a process that dies in the middle would leave more to tell than one name tells.
    pub(super) fn needs_journal(&self) -> bool {
        let actions = &self.schedule.actions;
        actions.len() > 1 || actions.iter().any(|action| matches!(action, Action::Overwrite(_)))
    }

    /// Writes the journal, unless it is there.
    pub(super) fn write_journal(&mut self) -> Result<(), Failure> {
        if self.journal.is_some() {
            return Ok(());
        }
        let refused = |error| Failure { kind: io_kind("cannot write the journal", error), path: None };
        let power = self.options.durability == Durability::Power;
        let bytes = self.to_journal(power).map_err(refused)?.encode();
        self.journal = Some(JournalFile::write(self.workspace, &bytes, power).map_err(refused)?);
        Ok(())
    }

    fn to_journal(&self, power: bool) -> Result<Journal<'_>, Errno> {
        let references = self.cross_references();
        let parts = self.steps.iter().zip(&self.seen).zip(&self.layout.staged);
        let steps = parts.map(|((step, seen), staged)| Entry {
            path: Cow::Borrowed(&step.path),
            old: old(step, seen),
            staged: staged.as_ref().map(Cow::Borrowed),
            new: self.new_of(step, seen, staged.is_some(), &references),
        });
        Ok(Journal {
            root: ops::stat(self.workspace.root())?.ino,
            pid: std::process::id(),
            power,
            names: self.names,
            steps: steps.collect(),
            actions: Cow::Borrowed(&self.schedule.actions),
            discard: Cow::Borrowed(&self.schedule.discard),
        })
    }

    fn new_of<'s>(&'s self, step: &'s Step, seen: &Seen, staged: bool, references: &HashMap<&str, usize>) -> New<'s> {
        match (&step.after, &step.before) {
            (After::Content { content, .. }, _) if staged => {
                let size = content.spliced.len() as u64;
                New::Staged { link: false, size, digest: Digest::of_slices(content.slices()) }
            }
            (After::Content { content, mode, .. }, Before::File(data)) => New::InPlace {
                old_mode: seen.stamp.mode,
                new_mode: mode.map_or(seen.stamp.mode, NewMode::bits),
                old: Cow::Borrowed(&data.bytes),
                new: Cow::Owned(content.to_vec()),
            },
            (After::Link { target }, _) if staged => {
                New::Staged { link: true, size: target.len() as u64, digest: Digest::of(target) }
            }
            // A move that is a copy: what it copies stands at another step.
            (After::Moved { from }, _) if staged => {
                match references.get(from.as_str()).map(|at| &self.steps[*at].before) {
                    Some(Before::File(data)) => {
                        New::Staged { link: false, size: data.bytes.len() as u64, digest: Digest::of(&data.bytes) }
                    }
                    Some(Before::Link(target)) => {
                        New::Staged { link: true, size: target.len() as u64, digest: Digest::of(target) }
                    }
                    _ => New::None,
                }
            }
            _ => New::None,
        }
    }

    /// After the last action: what was done is made safe and marked, so that it is not undone any more.
    pub(super) fn seal(&mut self) -> Result<(), Failure> {
        self.sync_dirs()?;
        match self.journal.as_ref().map(JournalFile::mark) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(Unmarked::Unsynced(error))) => {
                // Either end may be on the disk, so what both need stays: the old contents and the journal.
                self.notes.push(CommitNote::NotSynced(std::io::Error::from(error).to_string()));
                let kept = std::mem::take(&mut self.schedule.discard);
                self.notes.extend(kept.into_iter().map(|(place, _)| CommitNote::TemporaryLeft(place)));
                self.journal = None;
                Ok(())
            }
            Some(Err(Unmarked::No(error))) => {
                Err(Failure { kind: io_kind("cannot mark the journal as done", error), path: None })
            }
        }
    }

    /// Removes the old contents and the journal. What cannot be removed is noted, and left to the next recovery.
    pub(super) fn clean_up(&mut self) {
        let mut clean = true;
        for (place, _) in std::mem::take(&mut self.schedule.discard) {
            if self.remove(&place).is_err() {
                self.notes.push(CommitNote::TemporaryLeft(place));
                clean = false;
            }
        }
        if clean && self.journal.is_some() && self.sync_dirs().is_ok() {
            self.end_journal();
        }
    }
}

impl Transaction<'_> {
    /// The directories that the commit made.
    pub(super) fn made_dirs(&self) -> Vec<RelPath> {
        let made = self.done.iter().filter_map(|at| match &self.schedule.actions[*at] {
            Action::MakeDir(dir) => Some(dir.clone()),
            _ => None,
        });
        made.collect()
    }
}

fn old(step: &Step, seen: &Seen) -> Option<Old> {
    let link = match &step.before {
        Before::Absent => return None,
        Before::File(_) => false,
        Before::Link(_) => true,
    };
    let stamp = &seen.stamp;
    Some(Old { link, ino: stamp.ino, size: stamp.size, mtime: nanoseconds(stamp), mode: stamp.mode })
}
