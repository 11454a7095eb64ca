//! Whole trees, read by handles: a directory is listed once, and what it holds is opened by a single name in it.
//!
//! No name is followed through a link here; where links are to be followed, [`Workspace::locate`] says where they lead
//! and the place is opened by its real path.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::disk::DiskSteps;
use super::ops::{self, Answer, Errno, How, Kind};
use super::resolve::{self, Links, Look};
use super::{SourceError, Stamp, Workspace};

/// How many directory handles one walk keeps open; others are opened again by their path.
const MOST_HANDLES: usize = 256;

/// Where a path leads.
pub(crate) struct Place {
    /// The path with all links resolved, `/` between its parts; empty for the root itself.
    pub real: Vec<u8>,
    /// What is there.
    pub what: Thing,
}

/// What stands at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thing {
    Absent,
    Dir,
    File,
    Special(&'static str),
}

/// A directory that can be listed and whose files can be opened.
pub(crate) struct Dir {
    /// `None` when too many are open already.
    handle: Option<Handle>,
    real: Box<[u8]>,
}

struct Handle {
    fd: OwnedFd,
    open: Arc<AtomicUsize>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The walk's view of a workspace: it counts the handles that are open.
pub(crate) struct Tree<'w> {
    workspace: &'w Workspace,
    open: Arc<AtomicUsize>,
}

/// One name in a directory.
pub(crate) struct Named<'a> {
    pub name: &'a [u8],
    pub kind: Kind,
}

impl<'w> Tree<'w> {
    pub(crate) fn new(workspace: &'w Workspace) -> Self {
        Tree { workspace, open: Arc::default() }
    }

    pub(crate) fn workspace(&self) -> &'w Workspace {
        self.workspace
    }

    /// Where `path` leads when every link on it is followed.
    pub(crate) fn locate(&self, path: &[u8]) -> Result<Place, SourceError> {
        let mut steps = DiskSteps::new(self.workspace);
        let walked = resolve::walk(&mut steps, path, self.workspace.links(Links::Follow))?;
        let what = match walked.end {
            Look::Absent => Thing::Absent,
            Look::Dir => Thing::Dir,
            Look::File => Thing::File,
            Look::Special(name) => Thing::Special(name),
            Look::Link(_) => Thing::Special("a symbolic link"),
        };
        Ok(Place { real: walked.names.join(&b'/'), what })
    }

    /// Opens the directory at a path without links, and lists it: each name but `.` and `..` is handed to `each`.
    pub(crate) fn list_at(&self, real: &[u8], scratch: &mut Vec<u8>, each: impl FnMut(Named<'_>)) -> Answer<Dir> {
        let fd = match real {
            [] => ops::open_child(self.workspace.root(), b".", How::List)?,
            real => self.workspace.open_resolved(real, How::List)?,
        };
        self.listed(fd, real.into(), scratch, each)
    }

    /// The same for the directory `name` in `parent`.
    pub(crate) fn list_in(
        &self,
        parent: &Dir,
        name: &[u8],
        scratch: &mut Vec<u8>,
        each: impl FnMut(Named<'_>),
    ) -> Answer<Dir> {
        let real = joined(&parent.real, name);
        match &parent.handle {
            Some(handle) => self.listed(ops::open_child(handle.fd.as_fd(), name, How::List)?, real, scratch, each),
            None => self.list_at(&real, scratch, each),
        }
    }

    fn listed(
        &self,
        fd: OwnedFd,
        real: Box<[u8]>,
        scratch: &mut Vec<u8>,
        mut each: impl FnMut(Named<'_>),
    ) -> Answer<Dir> {
        ops::list(fd.as_fd(), scratch, |name, kind| {
            // Some file systems do not say in the listing what a name is.
            let kind = kind.map_or_else(|| ops::stat_child(fd.as_fd(), name).map(|stamp| ops::kind(stamp.mode)), Ok);
            if let Ok(kind) = kind {
                each(Named { name, kind });
            }
        })?;
        let handle = if self.open.fetch_add(1, Ordering::Relaxed) < MOST_HANDLES {
            Some(Handle { fd, open: Arc::clone(&self.open) })
        } else {
            self.open.fetch_sub(1, Ordering::Relaxed);
            None
        };
        Ok(Dir { handle, real })
    }

    /// Opens the regular file `name` in `dir`.
    pub(crate) fn open_in(&self, dir: &Dir, name: &[u8]) -> Answer<(File, Stamp)> {
        match &dir.handle {
            Some(handle) => regular(ops::open_child(handle.fd.as_fd(), name, How::Read)?),
            None => self.open_at(&joined(&dir.real, name)),
        }
    }

    /// Opens the regular file at a path without links.
    pub(crate) fn open_at(&self, real: &[u8]) -> Answer<(File, Stamp)> {
        regular(self.workspace.open_resolved(real, How::Read)?)
    }

    /// Identity and attributes of `name` in `dir`; a link is not followed.
    pub(crate) fn stat_in(&self, dir: &Dir, name: &[u8]) -> Answer<Stamp> {
        match &dir.handle {
            Some(handle) => ops::stat_child(handle.fd.as_fd(), name),
            None => self.stat_at(&joined(&dir.real, name)),
        }
    }

    /// Identity and attributes of what is at a path without links.
    pub(crate) fn stat_at(&self, real: &[u8]) -> Answer<Stamp> {
        let (parent, name) = match real.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&real[..at], &real[at + 1..]),
            None => (&real[..0], real),
        };
        if parent.is_empty() {
            let name = if name.is_empty() { b".".as_slice() } else { name };
            return ops::stat_child(self.workspace.root(), name);
        }
        ops::stat_child(self.workspace.open_resolved(parent, How::Dir)?.as_fd(), name)
    }
}

impl Dir {
    /// The path of the directory, links resolved.
    pub(crate) fn real(&self) -> &[u8] {
        &self.real
    }
}

/// Puts `name` behind `dir`; an empty `dir` is the root.
pub(crate) fn joined(dir: &[u8], name: &[u8]) -> Box<[u8]> {
    let mut path = Vec::with_capacity(dir.len() + 1 + name.len());
    path.extend_from_slice(dir);
    if !dir.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path.into()
}

/// What was a file in the listing may be something else by now.
fn regular(fd: OwnedFd) -> Answer<(File, Stamp)> {
    let stamp = ops::stat(fd.as_fd())?;
    if ops::kind(stamp.mode) == Kind::File { Ok((fd.into(), stamp)) } else { Err(Errno::INVAL) }
}

/// Reads a file into `buffer`, which is cleared first: whether all of it fits in `most` bytes.
///
/// `size` is what the system said of it: a file that has exactly this size costs one read.
pub(crate) fn read_up_to(file: &File, size: u64, most: usize, buffer: &mut Vec<u8>) -> Answer<bool> {
    buffer.clear();
    let expected = usize::try_from(size).unwrap_or(usize::MAX);
    if expected > most {
        return Ok(false);
    }
    loop {
        if buffer.capacity() - buffer.len() < 2 {
            buffer.reserve((expected + 2).saturating_sub(buffer.len()).max(32 << 10));
        }
        let read = ops::read(file.as_fd(), buffer)?;
        if read == 0 || (buffer.len() == expected && buffer.len() < buffer.capacity()) {
            return Ok(buffer.len() <= most);
        }
        if buffer.len() > most {
            return Ok(false);
        }
    }
}

/// Identity and attributes of an open file.
pub(crate) fn stamp_of(file: &File) -> Answer<Stamp> {
    ops::stat(file.as_fd())
}
