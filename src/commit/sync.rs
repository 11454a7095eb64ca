//! `power`: what has to be on the disk before what, so that a loss of power at any moment leaves a tree that recovery
//! can bring to entirely before or entirely after.
//!
//! 1. The journal is written under another name, synced, renamed to its own, and its directory synced: before the first
//!    change the whole plan is on the disk, and a journal under its own name is never half there.
//! 2. Each staged file is synced when it is filled: no new name ever leads to a content that is not on the disk.
//! 3. The actions are played. In whatever order the system writes them, each is one atomic change of names, and recovery
//!    looks where every thing is (see [`super::survey`]), so any selection of them can be taken back: old contents still have a name.
//!    A file written in place is synced after it; its old content is in the journal.
//! 4. The directories of all names that changed are synced: all actions are on the disk.
//! 5. The mark is written and the journal synced. From here on a loss of power leads to after.
//! 6. Only now are old contents removed, and their directories synced, so that no temporary file outlives the journal.
//! 7. The journal is removed. If that is lost, recovery finds the mark and nothing left to do.
//!
//! On the way back the directories are synced before the journal is removed. A commit without a journal is one rename
//! or exchange: its staged file is synced before, its directory after it.

use std::collections::BTreeSet;
use std::os::fd::AsFd as _;

use super::Durability;
use super::dirs::split;
use super::error::{Failure, io_kind};
use super::journal::sync_dir;
use super::schedule::Action;
use super::transaction::Transaction;
use crate::path::RelPath;
use crate::workspace::ops::{self, Answer, Errno, How};

/// The directories whose names these actions change; the root is the empty path.
pub(super) fn dirs_of(actions: &[Action]) -> BTreeSet<String> {
    let mut dirs = BTreeSet::new();
    let mut add = |path: &RelPath| {
        let dir = split(path).0;
        if !dirs.contains(dir) {
            dirs.insert(dir.to_owned());
        }
    };
    for action in actions {
        match action {
            Action::MakeDir(dir) => add(dir),
            Action::Rename { from, to, .. } => {
                add(from);
                add(to);
            }
            Action::Exchange { a, b, .. } => {
                add(a);
                add(b);
            }
            Action::Overwrite(_) => {}
        }
    }
    dirs
}

impl Transaction<'_> {
    /// Syncs every directory whose names were changed, if a loss of power is to be survived.
    pub(super) fn sync_dirs(&mut self) -> Result<(), Failure> {
        if self.options.durability != Durability::Power {
            return Ok(());
        }
        for dir in dirs_of(&self.schedule.actions) {
            self.sync_one(&dir).map_err(|error| Failure {
                kind: io_kind("cannot make a directory safe against a loss of power", error),
                path: RelPath::new(dir.as_bytes()).ok(),
            })?;
        }
        Ok(())
    }

    fn sync_one(&self, dir: &str) -> Answer<()> {
        if dir.is_empty() {
            return sync_dir(self.workspace.root());
        }
        match self.workspace.open_resolved(dir, How::List) {
            Ok(dir) => match ops::sync(dir.as_fd()) {
                Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
                answer => answer,
            },
            // Made by the commit and taken away again.
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
