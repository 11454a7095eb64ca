//! The walk of [`super::resolve`] on the disk: one open directory at a time, every step by its handle.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use super::Workspace;
use super::ops::{self, Errno, How, Kind};
use super::resolve::{Look, Steps};
use super::source::SourceError;

/// A walk below the root of a workspace.
pub(super) struct DiskSteps<'w> {
    workspace: &'w Workspace,
    current: Option<OwnedFd>,
}

impl<'w> DiskSteps<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        DiskSteps { workspace, current: None }
    }

    /// The directory the walk is in.
    pub(super) fn current(&self) -> BorrowedFd<'_> {
        self.current.as_ref().map_or(self.workspace.root(), |dir| dir.as_fd())
    }
}

impl Steps for DiskSteps<'_> {
    fn look(&mut self, name: &[u8]) -> Result<Look, SourceError> {
        let stamp = match ops::stat_child(self.current(), name) {
            Ok(stamp) => stamp,
            Err(Errno::NOENT) => return Ok(Look::Absent),
            Err(error) => return Err(error.into()),
        };
        Ok(match ops::kind(stamp.mode) {
            Kind::File => Look::File,
            Kind::Dir => Look::Dir,
            Kind::Link => Look::Link(ops::read_link(self.current(), name)?),
            Kind::Special(name) => Look::Special(name),
        })
    }

    fn enter(&mut self, name: &[u8]) -> Result<(), SourceError> {
        self.current = Some(ops::open_child(self.current(), name, How::Dir)?);
        Ok(())
    }

    fn restart(&mut self, names: &[Vec<u8>]) -> Result<(), SourceError> {
        // By the names again, not by "..": a directory that is moved meanwhile must not lead out of the root.
        self.current = None;
        names.iter().try_for_each(|name| self.enter(name))
    }

    fn below_root<'p>(&self, absolute: &'p [u8]) -> Option<&'p [u8]> {
        self.workspace.below_root(absolute)
    }
}
