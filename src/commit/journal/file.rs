//! The journal on the disk: written, marked, removed, read.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use super::super::place::{Kept, Place};
use super::super::stage::write_slices;
use super::{DONE, MOST};
use crate::workspace::Workspace;
use crate::workspace::ops::{self, Answer, Errno, How};

/// The journal of the commit that is on its way.
#[derive(Debug)]
pub(crate) struct JournalFile {
    place: Place,
    file: OwnedFd,
    len: u64,
    power: bool,
}

/// Why the mark is not known to be there.
pub(crate) enum Unmarked {
    /// It is not there.
    No(Errno),
    /// It is there, and nobody knows whether it would survive a loss of power.
    Unsynced(Errno),
}

impl JournalFile {
    /// Writes a journal. With `power` it has its name only once it is whole on the disk.
    ///
    /// Costs four calls: the git directory, create, write, and the close that is to come.
    pub(crate) fn write(workspace: &Workspace, bytes: &[u8], power: bool) -> Answer<Self> {
        let kept = if power { Kept::Unsynced } else { Kept::Journal };
        let mut place = Place::find(workspace)?;
        let mut created = create(workspace, &place, kept);
        if let Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) = created
            && let Some(root) = place.other(workspace)
        {
            // Sandboxes often let programs write everywhere but in the git directory.
            place = root;
            created = create(workspace, &place, kept);
        }
        let journal = JournalFile { place, file: created?, len: bytes.len() as u64, power };
        match journal.fill(workspace, bytes) {
            Ok(()) => Ok(journal),
            Err(error) => {
                for kept in [Kept::Unsynced, Kept::Journal].into_iter().filter(|kept| power || *kept == Kept::Journal) {
                    // What is left is cut off or says that nothing was done; whoever finds it removes it.
                    let _found_later = ops::remove(journal.place.dir(workspace), journal.place.name(kept));
                }
                Err(error)
            }
        }
    }

    fn fill(&self, workspace: &Workspace, bytes: &[u8]) -> Answer<()> {
        write_slices(self.file.as_fd(), [bytes])?;
        if !self.power {
            return Ok(());
        }
        ops::sync(self.file.as_fd())?;
        let dir = self.place.dir(workspace);
        ops::rename((dir, self.place.name(Kept::Unsynced)), (dir, self.place.name(Kept::Journal)))?;
        sync_dir(dir)
    }

    /// Marks the commit as done: from here on it is finished, not undone.
    pub(crate) fn mark(&self) -> Result<(), Unmarked> {
        write_slices(self.file.as_fd(), [&DONE[..]]).map_err(Unmarked::No)?;
        if !self.power {
            return Ok(());
        }
        ops::sync(self.file.as_fd()).map_err(|error| {
            // The way back may begin only when the mark is certain to be gone.
            let taken_back = ops::truncate(self.file.as_fd(), self.len).and_then(|()| ops::sync(self.file.as_fd()));
            if taken_back.is_ok() { Unmarked::No(error) } else { Unmarked::Unsynced(error) }
        })
    }

    /// Removes the journal.
    pub(crate) fn remove(self, workspace: &Workspace) -> Answer<()> {
        ops::remove(self.place.dir(workspace), self.place.name(Kept::Journal))
    }
}

fn create(workspace: &Workspace, place: &Place, kept: Kept) -> Answer<OwnedFd> {
    let (dir, name) = (place.dir(workspace), place.name(kept));
    match ops::create(dir, name, 0o600) {
        Err(Errno::EXIST) if kept == Kept::Unsynced => {
            // Of a process that died before it had changed anything.
            ops::remove(dir, name)?;
            ops::create(dir, name, 0o600)
        }
        answer => answer,
    }
}

/// The bytes of the journal in a place, if there is one.
pub(crate) fn load(workspace: &Workspace, place: &Place) -> Answer<Option<Vec<u8>>> {
    let file = match ops::open_child(place.dir(workspace), place.name(Kept::Journal).as_bytes(), How::Read) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error),
    };
    let stamp = ops::stat(file.as_fd())?;
    if ops::kind(stamp.mode) != ops::Kind::File {
        return Err(Errno::INVAL);
    }
    if stamp.size > MOST {
        return Err(Errno::FBIG);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).map_err(|_| Errno::FBIG)? + 1);
    while ops::read(file.as_fd(), &mut bytes)? > 0 {
        if bytes.len() as u64 > MOST {
            return Err(Errno::FBIG);
        }
        if bytes.len() == bytes.capacity() {
            bytes.reserve(64 << 10);
        }
    }
    Ok(Some(bytes))
}

/// Makes the names in a directory safe against a loss of power.
pub(crate) fn sync_dir(dir: BorrowedFd<'_>) -> Answer<()> {
    let listing = ops::open_child(dir, b".", How::List)?;
    match ops::sync(listing.as_fd()) {
        // Some file systems cannot sync a directory; they have nothing better to offer.
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        answer => answer,
    }
}
