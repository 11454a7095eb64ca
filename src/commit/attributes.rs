//! Owner, mode, extended attributes and access lists: what a new file takes over from the one it replaces.

use std::os::fd::BorrowedFd;

use super::CommitNote;
use super::transaction::{Transaction, unsupported};
use crate::path::RelPath;
use crate::workspace::Stamp;
use crate::workspace::ops::{self, Answer, Errno};

/// The attribute that holds an access list.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Extended attributes, name and value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extras(Vec<(Vec<u8>, Vec<u8>)>);

/// The file that a new one shall be like.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Owner, group and permission bits.
    pub stamp: Stamp,
    /// Extended attributes.
    pub extras: Option<Box<Extras>>,
}

/// Reads the attributes of an open file. One call when it has none.
pub(super) fn extras(file: BorrowedFd<'_>) -> Answer<Option<Box<Extras>>> {
    let mut names = Vec::new();
    ops::attribute_names(file, &mut names)?;
    let mut found = Vec::new();
    for name in names.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
        match ops::attribute(file, name) {
            Ok(value) => found.push((name.to_vec(), value)),
            // Gone since it was listed, or not ours to read: then it is not ours to write either.
            Err(Errno::NODATA | Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(if found.is_empty() { None } else { Some(Box::new(Extras(found))) })
}

/// Whether an open file has an access list.
pub(super) fn has_access_list(file: BorrowedFd<'_>) -> Answer<bool> {
    let mut names = Vec::new();
    match ops::attribute_names(file, &mut names) {
        Ok(()) => Ok(names.split(|&byte| byte == 0).any(|name| name == ACCESS_LIST)),
        Err(error) if unsupported(error) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Transaction<'_> {
    /// Gives a staged file, still empty, the owner it shall have, and nobody else the right to read it on the way.
    /// Returns whether mode bits must be set anew.
    pub(super) fn take_owner(
        &mut self,
        file: BorrowedFd<'_>,
        now: &Stamp,
        like: &Stamp,
        path: &RelPath,
    ) -> Answer<Owner> {
        if (now.uid, now.gid) == (like.uid, like.gid) {
            return Ok(Owner::Same);
        }
        ops::set_mode(file, 0o600)?;
        match ops::set_owner(file, Some(like.uid), Some(like.gid)) {
            Ok(()) => return Ok(Owner::Changed),
            Err(Errno::PERM | Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(error),
        }
        // Whoever is in the group may still hand the file to it.
        let group_kept = now.gid == like.gid || ops::set_owner(file, None, Some(like.gid)).is_ok();
        if !group_kept || now.uid != like.uid {
            self.notes.push(CommitNote::OwnerNotKept(path.clone()));
            return Ok(Owner::Lost);
        }
        Ok(Owner::Changed)
    }

    /// Sets the attributes of a staged file; what the system refuses is noted.
    pub(super) fn set_extras(&mut self, file: BorrowedFd<'_>, extras: Option<&Extras>, path: &RelPath) -> Answer<()> {
        for (name, value) in extras.iter().flat_map(|extras| &extras.0) {
            // Labels that the system gives every file are often right already, and not ours to set.
            if ops::attribute(file, name).is_ok_and(|now| now == *value) {
                continue;
            }
            match ops::set_attribute(file, name, value) {
                Ok(()) => {}
                Err(Errno::PERM | Errno::ACCESS | Errno::OPNOTSUPP | Errno::INVAL) => {
                    let name = String::from_utf8_lossy(name).into_owned();
                    self.notes.push(CommitNote::AttributeNotKept(path.clone(), name));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes away an access list that the directory gave a staged file though the one it stands for has none.
    pub(super) fn drop_inherited(&mut self, file: BorrowedFd<'_>, extras: Option<&Extras>) -> Answer<()> {
        let wanted = extras.is_some_and(|extras| extras.0.iter().any(|(name, _)| name == ACCESS_LIST));
        if wanted {
            return Ok(());
        }
        match ops::remove_attribute(file, ACCESS_LIST) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// What became of the owner of a staged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// It was right from the start.
    Same,
    /// It was set.
    Changed,
    /// It could not be set.
    Lost,
}
