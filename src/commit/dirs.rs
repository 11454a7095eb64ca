//! Handles of the directories a commit works in: each is resolved once, and only a few are open at a time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::path::RelPath;
use crate::workspace::Workspace;
use crate::workspace::ops::{Answer, Errno, How};

/// How many directories stay open: enough for the locality of patches, far below any limit on open files.
const MOST_OPEN: usize = 16;

/// Open directories below a root, by path.
pub(super) struct Dirs<'w> {
    workspace: &'w Workspace,
    open: Vec<(Box<str>, Arc<OwnedFd>)>,
    /// The slot found or filled last, which is asked first and never the next to go.
    last: usize,
}

/// The handle of a directory.
#[derive(Clone)]
pub(super) enum Dir<'w> {
    Root(BorrowedFd<'w>),
    Below(Arc<OwnedFd>),
}

impl AsFd for Dir<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Dir::Root(root) => *root,
            Dir::Below(dir) => dir.as_fd(),
        }
    }
}

/// Directory (empty: the root) and name of a path.
pub(super) fn split(path: &RelPath) -> (&str, &str) {
    path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()))
}

impl<'w> Dirs<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Dirs { workspace, open: Vec::new(), last: 0 }
    }

    /// The directory `path` is in, and its name there. No component of the directory may be a link.
    pub(super) fn of<'p>(&mut self, path: &'p RelPath) -> Answer<(Dir<'w>, &'p str)> {
        let (dir, name) = split(path);
        Ok((self.get(dir)?, name))
    }

    /// The directory `dir`; the root when it is empty.
    pub(super) fn get(&mut self, dir: &str) -> Answer<Dir<'w>> {
        if dir.is_empty() {
            return Ok(Dir::Root(self.workspace.root()));
        }
        let hit = |slot: &(Box<str>, Arc<OwnedFd>)| &*slot.0 == dir;
        if !self.open.get(self.last).is_some_and(hit) {
            self.last = match self.open.iter().position(hit) {
                Some(at) => at,
                None => self.fill(dir)?,
            };
        }
        Ok(Dir::Below(Arc::clone(&self.open[self.last].1)))
    }

    /// Opens `dir` and tells its slot.
    fn fill(&mut self, dir: &str) -> Answer<usize> {
        let handle = match self.workspace.open_resolved(dir, How::Dir) {
            Err(Errno::MFILE) if !self.open.is_empty() => {
                self.forget();
                self.workspace.open_resolved(dir, How::Dir)?
            }
            answer => answer?,
        };
        let slot = (dir.into(), Arc::new(handle));
        if self.open.len() < MOST_OPEN {
            self.open.push(slot);
            return Ok(self.open.len() - 1);
        }
        let at = (self.last + 1) % MOST_OPEN;
        self.open[at] = slot;
        Ok(at)
    }

    /// Closes all, so that every path is resolved anew.
    pub(super) fn forget(&mut self) {
        self.open.clear();
        self.last = 0;
    }
}
