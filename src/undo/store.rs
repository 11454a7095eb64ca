//! Where undo records are kept: one file each, named by its number, in a directory beside the journal.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::UndoError;
use super::record::{self, Record};
use crate::commit::{Kept, Outcome, Place};
use crate::plan::Plan;
use crate::workspace::Workspace;
use crate::workspace::ops::{self, Answer, Errno, How};

/// How many names are looked at in the directory of records.
const MOST: usize = 100_000;

/// How many numbers are tried when others keep records at the same time.
const TRIES: u64 = 1000;

/// A record that is there.
pub(super) struct Stored {
    pub id: u64,
    dir: OwnedFd,
    path: PathBuf,
}

impl Stored {
    fn name(&self) -> String {
        name(self.id)
    }

    fn failure(&self, doing: &'static str, error: Errno) -> UndoError {
        failure(doing, self.path.clone(), error)
    }

    /// The bytes of the record.
    pub(super) fn read(&self) -> Result<Vec<u8>, UndoError> {
        let doing = "cannot read the undo record";
        self.bytes().map_err(|error| self.failure(doing, error))
    }

    fn bytes(&self) -> Answer<Vec<u8>> {
        let file = ops::open_child(self.dir.as_fd(), self.name().as_bytes(), How::Read)?;
        let size = ops::stat(file.as_fd())?.size;
        let mut bytes = Vec::with_capacity(usize::try_from(size).map_err(|_| Errno::FBIG)? + 1);
        while ops::read(file.as_fd(), &mut bytes)? > 0 {
            if bytes.len() == bytes.capacity() {
                bytes.reserve(64 << 10);
            }
        }
        Ok(bytes)
    }

    /// What the bytes say; `None` when they were cut off.
    pub(super) fn decode<'a>(&self, bytes: &'a [u8]) -> Result<Option<Record<'a>>, UndoError> {
        record::decode(bytes).map_err(|error| UndoError::Store {
            doing: "cannot use the undo record",
            path: self.path.clone(),
            why: format!("{error}; remove it, or undo another one by its number"),
        })
    }

    pub(super) fn remove(&self) -> Result<(), UndoError> {
        match ops::remove(self.dir.as_fd(), &self.name()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failure("the patch is undone, but cannot remove its record", error)),
        }
    }
}

fn failure(doing: &'static str, path: PathBuf, error: Errno) -> UndoError {
    UndoError::Store { doing, path, why: std::io::Error::from(error).to_string() }
}

fn name(id: u64) -> String {
    format!("{id:08}")
}

/// All records, newest first.
pub(super) fn records(workspace: &Workspace) -> Result<Vec<Stored>, UndoError> {
    let doing = "cannot look for undo records in";
    let mut all = Vec::new();
    let places = Place::all(workspace).map_err(|error| failure(doing, workspace.path().to_owned(), error))?;
    for place in places {
        let path = place.path(Kept::Undo);
        let found = in_place(workspace, &place).map_err(|error| failure(doing, path.clone(), error))?;
        let Some((dir, ids)) = found else { continue };
        for id in ids {
            let dir = dir.try_clone().map_err(|error| UndoError::Store {
                doing,
                path: path.clone(),
                why: error.to_string(),
            })?;
            all.push(Stored { id, dir, path: path.join(name(id)) });
        }
    }
    all.sort_by_key(|stored| std::cmp::Reverse(stored.id));
    Ok(all)
}

fn in_place(workspace: &Workspace, place: &Place) -> Answer<Option<(OwnedFd, Vec<u64>)>> {
    match ops::open_child(place.dir(workspace), place.name(Kept::Undo).as_bytes(), How::List) {
        Ok(dir) => {
            let ids = ids(&dir)?;
            Ok(Some((dir, ids)))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The numbers of the records in a directory, in order.
fn ids(dir: &OwnedFd) -> Answer<Vec<u64>> {
    let names = ops::names(dir.as_fd(), MOST)?;
    let mut ids: Vec<u64> = names
        .iter()
        .filter_map(|found| {
            let id = std::str::from_utf8(found).ok()?.parse().ok()?;
            (name(id).as_bytes() == found.as_slice()).then_some(id)
        })
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Keeps what undoes a committed plan, and of all records only the newest `most`.
///
/// # Errors
/// [`UndoError::Store`]; the patch is applied all the same.
pub(crate) fn keep(workspace: &Workspace, plan: &Plan, outcome: &Outcome, most: usize) -> Result<(), UndoError> {
    if most == 0 || plan.steps().is_empty() {
        return Ok(());
    }
    let doing = "the patch is applied, but cannot keep its undo record in";
    let refused = |place: &Place, error| failure(doing, place.path(Kept::Undo), error);
    let mut place = Place::find(workspace).map_err(|error| failure(doing, workspace.path().to_owned(), error))?;
    let mut dir = open_or_make(workspace, &place);
    if let Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) = dir
        && let Some(other) = place.other(workspace)
    {
        place = other;
        dir = open_or_make(workspace, &place);
    }
    let dir = dir.map_err(|error| refused(&place, error))?;
    let when = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let bytes = super::record_of(plan, &outcome.directories, when);
    add(&dir, &bytes, most).map_err(|error| refused(&place, error))
}

fn open_or_make(workspace: &Workspace, place: &Place) -> Answer<OwnedFd> {
    let (parent, name) = (place.dir(workspace), place.name(Kept::Undo));
    match ops::open_child(parent, name.as_bytes(), How::List) {
        Err(Errno::NOENT) => {}
        answer => return answer,
    }
    match ops::make_dir(parent, name) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    let dir = ops::open_child(parent, name.as_bytes(), How::List)?;
    if place.is_in_root() {
        let ignored = ops::create(dir.as_fd(), ".gitignore", 0o644);
        match ignored {
            Ok(file) => write_all(&file, b"*\n")?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(dir)
}

fn add(dir: &OwnedFd, bytes: &[u8], most: usize) -> Answer<()> {
    let known = ids(dir)?;
    let next = known.last().map_or(1, |last| last + 1);
    let mut ids = next..next + TRIES;
    let (id, file) = loop {
        let id = ids.next().ok_or(Errno::EXIST)?;
        match ops::create(dir.as_fd(), &name(id), 0o600) {
            Err(Errno::EXIST) => {}
            made => break (id, made?),
        }
    };
    write_all(&file, bytes).inspect_err(|_| {
        // Cut off, it is of no use to anyone; whoever lists the records passes it over.
        let _passed_over = ops::remove(dir.as_fd(), &name(id));
    })?;
    for old in known.iter().rev().skip(most - 1) {
        match ops::remove(dir.as_fd(), &name(*old)) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> Answer<()> {
    while !bytes.is_empty() {
        let written = ops::write(file.as_fd(), bytes)?;
        bytes = &bytes[written..];
    }
    Ok(())
}
