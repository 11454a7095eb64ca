//! Handles of the directories a commit works in: each is resolved once, and only a few are open at a time.

use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::path::{RelPath, split_last};
use crate::workspace::Workspace;
use crate::workspace::ops::{self, Answer, How};

/// How many directories stay open at most: patches are local, but a patch that goes round a hundred directories should
/// not open each of them anew for every file.
const MOST_OPEN: u64 = 128;

/// How many directories stay open without a thought.
const FEW_OPEN: usize = 4;

/// The part of the limit on open files that directories may take.
const SHARE: u64 = 4;

/// Open directories below a root, by path.
pub(super) struct Dirs<'w> {
    workspace: &'w Workspace,
    open: HashMap<Box<str>, Arc<OwnedFd>>,
    /// The one asked for last, which is often asked for next.
    last: Option<(Box<str>, Arc<OwnedFd>)>,
    most: usize,
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
    split_last(path.as_str()).unwrap_or(("", path.as_str()))
}

impl<'w> Dirs<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Dirs { workspace, open: HashMap::new(), last: None, most: 0 }
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
        if let Some((known, handle)) = &self.last
            && **known == *dir
        {
            return Ok(Dir::Below(Arc::clone(handle)));
        }
        let handle = match self.open.get(dir) {
            Some(handle) => Arc::clone(handle),
            None => self.fill(dir)?,
        };
        self.last = Some((dir.into(), Arc::clone(&handle)));
        Ok(Dir::Below(handle))
    }

    fn fill(&mut self, dir: &str) -> Answer<Arc<OwnedFd>> {
        // Few open directories are within any limit; it is asked for only when there are more.
        if self.most == 0 && self.open.len() >= FEW_OPEN {
            let share = ops::open_limit().map_or(MOST_OPEN, |limit| limit / SHARE);
            self.most = share.clamp(1, MOST_OPEN) as usize;
        }
        if self.most > 0 && self.open.len() >= self.most {
            self.forget();
        }
        let handle = Arc::new(self.workspace.open_resolved(dir, How::Dir)?);
        self.open.insert(dir.into(), Arc::clone(&handle));
        Ok(handle)
    }

    /// Closes all, so that every path is resolved anew.
    pub(super) fn forget(&mut self) {
        self.open.clear();
        self.last = None;
    }
}
