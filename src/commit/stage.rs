//! New contents go to temporary files beside their targets, whole and with their mode, before anything changes.

use std::collections::{HashMap, HashSet};
use std::io::IoSlice;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use super::attributes::{self, Model, Owner};
use super::dirs::split;
use super::error::{CommitErrorKind, Failure};
use super::temp::Role;
use super::transaction::Transaction;
use crate::path::RelPath;
use crate::plan::{After, Before, NewContent};
use crate::workspace::ops::{self, Answer, Errno, Kind};

/// How many stretches one call may write, on every system.
const MOST_STRETCHES: usize = 1024;

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
    mode: Option<u32>,
}

impl Wanted<'_> {
    /// The permission bits to end with; `None` for the default of a new file.
    fn bits(&self) -> Option<u32> {
        let like = self.like.as_ref().map(|like| like.stamp.mode);
        self.mode.or(like).map(|mode| mode & 0o7777)
    }
}

/// What staging knows about directories.
#[derive(Default)]
struct Ground {
    /// For each missing directory the nearest one that is there.
    nearest: HashMap<Box<str>, Box<str>>,
    /// Steps that stand where a directory must be.
    in_the_way: HashSet<usize>,
    /// The directory looked at last, and whether it gives new files an access list.
    inherits: Option<(Box<str>, bool)>,
}

impl<'w> Transaction<'w> {
    /// Stages every new content.
    ///
    /// Costs four calls for an edited file (open, stat, write, close), three for a new one.
    pub(super) fn stage(&mut self) -> Result<(), Failure> {
        let steps = self.steps;
        let references = self.cross_references();
        let mut ground = Ground::default();
        for (at, step) in steps.iter().enumerate() {
            let dir = match step.after {
                After::Absent => continue,
                After::Content { .. } if self.seen[at].in_place => continue,
                _ => self.nearest_dir(&step.path, &references, &mut ground)?,
            };
            let (filling, like, mode) = match &step.after {
                After::Absent => continue,
                After::Content { content, like, mode } => (Filling::New(content), like.as_ref(), *mode),
                After::Moved { from } => {
                    let Some(filling) = self.copy_across_mounts(from, &dir, &references)? else { continue };
                    let like = if matches!(filling, Filling::Link(_)) { None } else { Some(from) };
                    (filling, like, None)
                }
            };
            let wanted = Wanted { filling, like: self.model(like, at, &references)?, mode };
            let place = self.names.path(&dir, Role::New, at);
            self.stage_one(at, place, &wanted, &mut ground)
                .map_err(|error| Failure::io("cannot stage its new content", error, &step.path))?;
        }
        self.layout.in_the_way = ground.in_the_way.into_iter().collect();
        self.layout.in_the_way.sort_unstable();
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

    /// The nearest directory above `path` that is there; what is missing, and what stands in its place, is remembered.
    fn nearest_dir(
        &mut self,
        path: &RelPath,
        references: &HashMap<&str, usize>,
        ground: &mut Ground,
    ) -> Result<Box<str>, Failure> {
        let wanted = split(path).0;
        let mut dir = wanted;
        let mut missing = Vec::new();
        let nearest = loop {
            if let Some(nearest) = ground.nearest.get(dir) {
                break nearest.clone();
            }
            match self.dirs.get(dir) {
                Ok(_) => break dir.into(),
                Err(Errno::NOENT) => missing.push((dir, false)),
                Err(Errno::NOTDIR | Errno::LOOP) => missing.push((dir, true)),
                Err(error) => return Err(Failure::io("cannot open its directory", error, path)),
            }
            dir = dir.rsplit_once('/').map_or("", |(above, _)| above);
        };
        let mut blocked = false;
        for (dir, no_dir) in missing.into_iter().rev() {
            // Only the outermost thing that is no directory stands in the way; below it there is nothing.
            if no_dir && !blocked {
                blocked = true;
                let step = self
                    .step_that_clears(dir, references)
                    .ok_or_else(|| Failure::new(CommitErrorKind::NotADirectory, path))?;
                ground.in_the_way.insert(step);
            }
            ground.nearest.insert(dir.into(), nearest.clone());
            self.layout.missing.push(RelPath::below("", dir));
        }
        Ok(nearest)
    }

    /// The step that takes away what stands at `path`.
    fn step_that_clears(&self, path: &str, references: &HashMap<&str, usize>) -> Option<usize> {
        let at = match references.get(path) {
            Some(at) => *at,
            None => self.steps.iter().position(|step| step.path.as_str() == path)?,
        };
        let step = &self.steps[at];
        (!matches!(step.before, Before::Absent) && matches!(step.after, After::Absent)).then_some(at)
    }

    /// What to stage for a move that no rename can do, because it leads to another mount.
    fn copy_across_mounts(
        &mut self,
        from: &RelPath,
        dir: &str,
        references: &HashMap<&str, usize>,
    ) -> Result<Option<Filling<'w>>, Failure> {
        let source_dir = split(from).0;
        if source_dir == dir {
            return Ok(None);
        }
        let mut mount = |dir: &str| -> Answer<u64> { ops::mount_of(self.dirs.get(dir)?.as_fd()) };
        let same = mount(source_dir).and_then(|source| Ok(source == mount(dir)?));
        if same.map_err(|error| Failure::io("cannot look at its directory", error, from))? {
            return Ok(None);
        }
        let steps = self.steps;
        match references.get(from.as_str()).map(|at| &steps[*at].before) {
            Some(Before::File(data)) => Ok(Some(Filling::Copy(&data.bytes))),
            Some(Before::Link(target)) => Ok(Some(Filling::Link(target))),
            _ => Err(Failure::new(CommitErrorKind::BadPlan("a move from a path where nothing is"), from)),
        }
    }

    fn stage_one(&mut self, at: usize, place: RelPath, wanted: &Wanted<'_>, ground: &mut Ground) -> Answer<()> {
        let (dir, name) = self.dirs.of(&place)?;
        if let Filling::Link(target) = wanted.filling {
            ops::make_link(target, dir.as_fd(), name)?;
            self.layout.staged[at] = Some(place);
            return Ok(());
        }
        let file = ops::create(dir.as_fd(), name, wanted.bits().map_or(0o666, |bits| bits & 0o777))?;
        let in_dir = split(&place).0;
        let result = self.fill(&file, at, in_dir, wanted, ground);
        // A file that cannot be written whole goes at once: it may be what fills the disk.
        if result.is_ok() || ops::remove(dir.as_fd(), name).is_err() {
            self.layout.staged[at] = Some(place);
        }
        result
    }

    /// Writes a staged file and gives it owner, mode and attributes, in an order in which nobody ever can read it who
    /// could not read the one it is like.
    fn fill(&mut self, file: &OwnedFd, at: usize, dir: &str, wanted: &Wanted<'_>, ground: &mut Ground) -> Answer<()> {
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
        if wanted.like.is_some() && self.inherits(file, dir, ground)? {
            self.drop_inherited(file, extras)?;
        }
        if let Some((bits, now)) = bits {
            // Without its owner a file must not act with anyone's rights.
            let bits = if owner == Owner::Lost { bits & 0o777 } else { bits };
            if owner != Owner::Same || now.mode & 0o7777 != bits {
                ops::set_mode(file, bits)?;
            }
        }
        self.set_extras(file, extras, path)
    }

    /// Whether the directory gives its new files an access list: looked at once a directory, on the first file.
    fn inherits(&mut self, file: BorrowedFd<'_>, dir: &str, ground: &mut Ground) -> Answer<bool> {
        if !self.abilities.attributes {
            return Ok(false);
        }
        if let Some((known, inherits)) = &ground.inherits
            && **known == *dir
        {
            return Ok(*inherits);
        }
        let inherits = attributes::has_access_list(file)?;
        ground.inherits = Some((dir.into(), inherits));
        Ok(inherits)
    }
}

/// Writes stretches in order with as few calls as can be.
pub(super) fn write_slices<'a>(file: BorrowedFd<'_>, slices: impl IntoIterator<Item = &'a [u8]>) -> Answer<()> {
    let mut slices = slices.into_iter().filter(|slice| !slice.is_empty());
    let mut batch: Vec<IoSlice<'_>> = Vec::new();
    loop {
        batch.clear();
        batch.extend(slices.by_ref().take(MOST_STRETCHES).map(IoSlice::new));
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
