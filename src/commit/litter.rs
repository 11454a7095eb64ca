//! Temporary files of commits that had no journal: a single rename or exchange, cut off before or after it.
//!
//! Their names say what they are about (see [`super::temp`]), so each can be told to be a new content that was never put
//! in place, or an old one that was replaced: both are of no use any more. What cannot be told so is what somebody else
//! wrote at the very moment of the exchange. It is kept, under a name nobody takes for temporary.
//!
//! Everything here is done under the lock of the root: whoever made the file is dead.

use std::os::fd::{AsFd as _, BorrowedFd};

use super::error::{Leftover, LeftoverKind};
use super::temp::{self, HEAD, Names, Role};
use crate::path::RelPath;
use crate::workspace::ops::{self, Answer, Entry, Errno, How, Kind};
use crate::workspace::{Stamp, Workspace};

/// How many names are looked at in all: more than any tree one edits.
const MOST: usize = 20_000_000;

/// What became of a temporary file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// It was of no use and is gone (or would be).
    Removed,
    /// It may hold what somebody else wrote, and was given a lasting name (or would be).
    Saved(Names),
    /// It belongs to a commit whose journal is gone: nobody can tell what it is, so it stays.
    Unknown,
}

/// What a walk through the tree found.
#[derive(Debug, Default)]
pub(super) struct Litter {
    pub removed: Vec<RelPath>,
    pub left: Vec<Leftover>,
    /// Directories that could not be looked into.
    pub unreadable: Vec<RelPath>,
    /// The tree has more names than are looked at.
    pub cut: bool,
}

/// Removes one temporary file in `dir`, or gives it a lasting name; with `only_look` says what it would do.
pub(super) fn settle(dir: BorrowedFd<'_>, name: &[u8], only_look: bool) -> Answer<Settled> {
    let Some((names, role)) = temp::told_by(name) else { return Ok(Settled::Unknown) };
    if !names.is_single() {
        return Ok(Settled::Unknown);
    }
    let text = std::str::from_utf8(name).map_err(|_| Errno::INVAL)?;
    let stamp = ops::stat_child(dir, name)?;
    if matches!(ops::kind(stamp.mode), Kind::Dir | Kind::Special(_)) {
        return Ok(Settled::Unknown);
    }
    if is_of_no_use(dir, name, names, role, &stamp)? {
        if !only_look {
            ops::remove(dir, text)?;
        }
        return Ok(Settled::Removed);
    }
    let fresh = Names::new();
    if !only_look {
        ops::rename_new((dir, text), (dir, fresh.path("", Role::Saved, 0).name()))?;
    }
    Ok(Settled::Saved(fresh))
}

fn is_of_no_use(dir: BorrowedFd<'_>, name: &[u8], names: Names, role: Role, stamp: &Stamp) -> Answer<bool> {
    // The old file, as it was checked: it has been replaced or deleted as the patch wanted.
    if names.means_old(stamp) {
        return Ok(true);
    }
    if role != Role::New {
        return Ok(false);
    }
    // An Add replaces nothing, so what is staged for it is never anything else.
    if names.means_old(&Stamp::default()) {
        return Ok(true);
    }
    let Some(target) = ops::names(dir, MOST)?.into_iter().find(|name| names.means_target(name)) else {
        return holds(dir, name, names);
    };
    match ops::stat_child(dir, &target) {
        // The old file is still there: this one never took its place.
        Ok(there) if names.means_old(&there) => Ok(true),
        // The new content is in place, and this is not the old one that came out for it.
        Ok(_) if holds(dir, &target, names)? => Ok(false),
        Ok(_) | Err(Errno::NOENT) => holds(dir, name, names),
        Err(error) => Err(error),
    }
}

/// Whether a file holds the new content that the name tells of.
fn holds(dir: BorrowedFd<'_>, name: &[u8], names: Names) -> Answer<bool> {
    let file = match ops::open_child(dir, name, How::Read) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Ok(false),
        Err(error) => return Err(error),
    };
    let stamp = ops::stat(file.as_fd())?;
    if ops::kind(stamp.mode) != Kind::File {
        return Ok(false);
    }
    let mut head = Vec::with_capacity(HEAD);
    while head.len() < head.capacity() && ops::read(file.as_fd(), &mut head)? > 0 {}
    head.truncate(HEAD);
    Ok(names.means_content(temp::of_content(stamp.size, [head.as_slice()])))
}

/// Looks for temporary files in the whole tree; `.git` and what links lead to are left out.
///
/// # Complexity
/// One open and one listing a directory; memory for the names of one directory and the paths of those to come.
pub(super) fn sweep(workspace: &Workspace, only_look: bool) -> Litter {
    let mut found = Litter::default();
    let mut todo: Vec<Option<RelPath>> = vec![None];
    let mut seen = 0;
    while let Some(path) = todo.pop() {
        let listed = listing(workspace, path.as_ref(), MOST - seen);
        let Ok((dir, entries)) = listed else {
            found.unreadable.extend(path);
            continue;
        };
        seen += entries.len();
        if seen >= MOST {
            found.cut = true;
            break;
        }
        for Entry { name, kind } in entries {
            let Ok(text) = std::str::from_utf8(&name) else { continue };
            if text.starts_with(temp::PREFIX) && text.ends_with(temp::SUFFIX) {
                one(dir.as_fd(), text, path.as_ref(), only_look, &mut found);
                continue;
            }
            let kind = kind.or_else(|| Some(ops::kind(ops::stat_child(dir.as_fd(), &name).ok()?.mode)));
            if kind == Some(Kind::Dir) && !text.eq_ignore_ascii_case(".git") {
                todo.push(Some(RelPath::child(path.as_ref(), text)));
            }
        }
    }
    found.removed.sort();
    found.left.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

type Listing = (std::os::fd::OwnedFd, Vec<Entry>);

fn listing(workspace: &Workspace, path: Option<&RelPath>, most: usize) -> Answer<Listing> {
    let dir = match path {
        Some(path) => workspace.open_resolved(path.as_str(), How::List)?,
        None => ops::open_child(workspace.root(), b".", How::List)?,
    };
    let entries = ops::entries(dir.as_fd(), most)?;
    Ok((dir, entries))
}

fn one(dir: BorrowedFd<'_>, name: &str, parent: Option<&RelPath>, only_look: bool, found: &mut Litter) {
    let path = RelPath::child(parent, name);
    match settle(dir, name.as_bytes(), only_look) {
        Ok(Settled::Removed) => found.removed.push(path),
        Ok(Settled::Saved(names)) => {
            let kept = names.beside(&path, Role::Saved, 0);
            found.left.push(Leftover { path, what: LeftoverKind::Foreign, kept: Some(kept) });
        }
        Ok(Settled::Unknown) => found.left.push(Leftover { path, what: LeftoverKind::Unknown, kept: None }),
        Err(error) => {
            let what = LeftoverKind::Refused(std::io::Error::from(error).to_string());
            found.left.push(Leftover { path, what, kept: None });
        }
    }
}
