//! New contents go to temporary files beside their targets, whole and with their mode, before anything changes.

use std::collections::HashMap;
use std::io::IoSlice;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use super::Durability;
use super::attributes::{self, Model, Owner};
use super::dirs::{Dir, split};
use super::error::{CommitErrorKind, Failure};
use super::litter;
use super::transaction::Transaction;
use crate::path::RelPath;
use crate::plan::{After, Before, NewContent, NewMode};
use crate::workspace::ops::{self, Answer, Errno, Kind};

/// How many stretches one call may write, on every system.
const MOST_STRETCHES: usize = 1024;

/// How many bytes go into one write. For a write of many megabytes the kernel looks for stretches of free memory as long, and
/// where memory is in pieces it may move things for half a second to make some.
const MOST_BYTES: usize = 256 << 10;

/// What a staged file holds.
enum Filling<'s> {
    New(&'s NewContent),
    Copy(&'s [u8]),
    Link(&'s [u8]),
}

/// What shall be staged for a step.
struct Wanted<'s> {
    filling: Filling<'s>,
    like: Option<Model>,
    mode: Option<NewMode>,
}

impl Wanted<'_> {
    /// The permission bits to end with; `None` for the default of a new file.
    fn bits(&self) -> Option<u32> {
        let like = self.like.as_ref().map(|like| like.stamp.mode);
        self.mode.map(NewMode::bits).or(like).map(|mode| mode & 0o7777)
    }
}

/// The directory looked at last, and whether it gives new files an access list.
type Inherits = Option<(Box<str>, bool)>;

impl<'w> Transaction<'w> {
    /// Stages every new content where the layout says.
    ///
    /// Costs four calls for an edited file (open, stat, write, close), three for a new one.
    pub(super) fn stage(&mut self) -> Result<(), Failure> {
        let steps = self.steps;
        let references = self.cross_references();
        let mut inherits = None;
        for (at, step) in steps.iter().enumerate() {
            let Some(place) = self.layout.staged[at].clone() else { continue };
            let (filling, like, mode) = match &step.after {
                After::Absent => continue,
                After::Content { content, like, mode } => (Filling::New(content), like.as_ref(), *mode),
                After::Link { target } => (Filling::Link(target), None, None),
                After::Moved { from } => {
                    let filling = self.copy_of(from, &references)?;
                    let like = if matches!(filling, Filling::Link(_)) { None } else { Some(from) };
                    (filling, like, None)
                }
            };
            let wanted = Wanted { filling, like: self.model(like, at, &references)?, mode };
            self.stage_one(at, &place, &wanted, &mut inherits)
                .map_err(|error| Failure::io("cannot stage its new content", error, &step.path))?;
        }
        Ok(())
    }

    /// Owner, mode and attributes that the new file of step `at` takes over.
    fn model(
        &self,
        like: Option<&RelPath>,
        at: usize,
        references: &HashMap<&str, usize>,
    ) -> Result<Option<Model>, Failure> {
        let Some(like) = like else { return Ok(None) };
        let own = &self.steps[at].path;
        let known = if like == own { Some(at) } else { references.get(like.as_str()).copied() };
        if let Some(known) = known.filter(|known| matches!(self.steps[*known].before, Before::File(_))) {
            let seen = &self.seen[known];
            return Ok(Some(Model { stamp: seen.stamp, extras: seen.extras.clone() }));
        }
        if known.is_some_and(|known| matches!(self.steps[known].before, Before::Link(_))) {
            // What replaces a link is a new file: the link's own mode means nothing.
            return Ok(None);
        }
        match self.workspace.stat(like) {
            Ok(Some(stamp)) if ops::kind(stamp.mode) == Kind::File => Ok(Some(Model { stamp, extras: None })),
            Ok(_) => Err(Failure::new(CommitErrorKind::BadPlan("a file is to be like one that is none"), own)),
            Err(error) => {
                let message = error.to_string();
                let kind = std::io::ErrorKind::Other;
                Err(Failure::new(CommitErrorKind::Io { doing: "cannot look at its source", kind, message }, own))
            }
        }
    }

    /// What to stage for a move that no rename can do.
    fn copy_of(&self, from: &RelPath, references: &HashMap<&str, usize>) -> Result<Filling<'w>, Failure> {
        let steps = self.steps;
        match references.get(from.as_str()).map(|at| &steps[*at].before) {
            Some(Before::File(data)) => Ok(Filling::Copy(&data.bytes)),
            Some(Before::Link(target)) => Ok(Filling::Link(target)),
            _ => Err(Failure::new(CommitErrorKind::BadPlan("a move from a path where nothing is"), from)),
        }
    }

    fn stage_one(&mut self, at: usize, place: &RelPath, wanted: &Wanted<'_>, inherits: &mut Inherits) -> Answer<()> {
        let (dir, name) = self.dirs.of(place)?;
        if let Filling::Link(target) = wanted.filling {
            ops::make_link(target, dir.as_fd(), name)?;
            self.staged_until = at + 1;
            return Ok(());
        }
        let file = self.create_staged(&dir, place, wanted.bits().map_or(0o666, |bits| bits & 0o777))?;
        self.staged_until = at + 1;
        let result = self.fill(&file, at, split(place).0, wanted, inherits);
        // A file that cannot be written whole goes at once: it may be what fills the disk.
        if result.is_err() && ops::remove(dir.as_fd(), name).is_ok() {
            self.staged_until = at;
        }
        result
    }

    /// Makes the staged file. One that is there already is what a dead process left: its names tell the same story.
    fn create_staged(&mut self, dir: &Dir<'_>, place: &RelPath, mode: u32) -> Answer<OwnedFd> {
        match ops::create(dir.as_fd(), place.name(), mode) {
            Err(Errno::EXIST) if self.names.is_single() && self.lock.locked => {
                litter::settle(dir.as_fd(), place.name().as_bytes(), false)?;
                ops::create(dir.as_fd(), place.name(), mode)
            }
            answer => answer,
        }
    }

    /// Writes a staged file and gives it owner, mode and attributes, in an order in which nobody ever can read it who
    /// could not read the one it is like.
    fn fill(
        &mut self,
        file: &OwnedFd,
        at: usize,
        dir: &str,
        wanted: &Wanted<'_>,
        inherits: &mut Inherits,
    ) -> Answer<()> {
        let file = file.as_fd();
        let path = &self.steps[at].path;
        let bits = match wanted.bits() {
            Some(bits) => Some((bits, ops::stat(file)?)),
            None => None,
        };
        let owner = match (&wanted.like, &bits) {
            (Some(like), Some((_, now))) => self.take_owner(file, now, &like.stamp, path)?,
            _ => Owner::Same,
        };
        match &wanted.filling {
            Filling::New(content) => write_slices(file, content.slices())?,
            Filling::Copy(bytes) => write_slices(file, [*bytes])?,
            Filling::Link(_) => {}
        }
        let extras = wanted.like.as_ref().and_then(|like| like.extras.as_deref());
        if wanted.like.is_some() && self.inherits(file, dir, inherits)? {
            self.drop_inherited(file, extras)?;
        }
        if let Some((bits, now)) = bits {
            // Without its owner a file must not act with anyone's rights.
            let bits = if owner == Owner::Lost { bits & 0o777 } else { bits };
            // Such a file got its bits when it was made.
            let made = wanted.like.is_none() && matches!(wanted.mode, Some(NewMode::LessUmask(_)));
            if !made && (owner != Owner::Same || now.mode & 0o7777 != bits) {
                ops::set_mode(file, bits)?;
            }
        }
        self.set_extras(file, extras, path)?;
        if self.options.durability == Durability::Power { ops::sync(file) } else { Ok(()) }
    }

    /// Whether the directory gives its new files an access list: looked at once a directory, on the first file.
    fn inherits(&mut self, file: BorrowedFd<'_>, dir: &str, known: &mut Inherits) -> Answer<bool> {
        if !self.abilities.attributes {
            return Ok(false);
        }
        if let Some((of, inherits)) = known
            && **of == *dir
        {
            return Ok(*inherits);
        }
        let inherits = attributes::has_access_list(file)?;
        *known = Some((dir.into(), inherits));
        Ok(inherits)
    }
}

/// Writes stretches in order with as few calls as make sense.
pub(super) fn write_slices<'a>(file: BorrowedFd<'_>, slices: impl IntoIterator<Item = &'a [u8]>) -> Answer<()> {
    let mut pieces = slices.into_iter().flat_map(|slice| slice.chunks(MOST_BYTES)).peekable();
    let mut batch: Vec<IoSlice<'_>> = Vec::new();
    loop {
        batch.clear();
        let mut room = MOST_BYTES;
        while batch.len() < MOST_STRETCHES
            && let Some(piece) = pieces.next_if(|piece| piece.len() <= room)
        {
            room -= piece.len();
            batch.push(IoSlice::new(piece));
        }
        let mut rest = batch.as_mut_slice();
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() {
            let written = if rest.len() == 1 { ops::write(file, &rest[0])? } else { ops::write_vectored(file, rest)? };
            if written == 0 {
                return Err(Errno::IO);
            }
            IoSlice::advance_slices(&mut rest, written);
        }
    }
}
