//! What the verbs of a commit work on: one value, from the lock to the last removed file.

use std::collections::{HashMap, HashSet};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use super::attributes::Extras;
use super::dirs::Dirs;
use super::error::{Failure, Leftover, LeftoverKind};
use super::journal::JournalFile;
use super::lock::Lock;
use super::schedule::{Layout, Schedule};
use super::temp::Names;
use super::{CommitNote, CommitOptions};
use crate::path::RelPath;
use crate::plan::{After, Step};
use crate::workspace::ops::{self, Answer, Errno};
use crate::workspace::{Stamp, Workspace};

/// How much of a file is read at a time: large enough to make calls rare, small enough to stay in the cache.
pub(super) const WINDOW: usize = 256 << 10;

/// A commit on its way.
pub(super) struct Transaction<'w> {
    pub workspace: &'w Workspace,
    pub steps: &'w [Step],
    pub options: CommitOptions,
    pub names: Names,
    pub dirs: Dirs<'w>,
    /// What was found at each step's path when it was checked.
    pub seen: Vec<Seen>,
    pub layout: Layout,
    pub schedule: Schedule,
    /// Indexes of the actions that were done, in order.
    pub done: Vec<usize>,
    /// The step whose content is being written in place.
    pub half_written: Option<usize>,
    /// Names of files that have another one, where they should be, and what the system said.
    pub second_names: Vec<(RelPath, Errno)>,
    /// Staged or set-aside files that must not be removed: the only copies of an old content.
    pub kept: HashSet<RelPath>,
    pub notes: Vec<CommitNote>,
    pub abilities: Abilities,
    /// What is staged belongs to steps below this one.
    pub staged_until: usize,
    /// The journal, while there is one.
    pub journal: Option<JournalFile>,
    /// Reused for every file that is read.
    pub window: Vec<u8>,
    /// Nothing is left to clean up.
    pub finished: bool,
    /// Freed last.
    pub lock: Lock,
}

/// What the file system can do, as far as it has not refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Abilities {
    pub exchange: bool,
    pub rename_new: bool,
    pub link: bool,
    pub attributes: bool,
}

/// What was found at a path.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Its identity; of no meaning when nothing was there.
    pub stamp: Stamp,
    /// It changed so recently that one more change might leave the same times.
    pub young: bool,
    /// Its content has to be written in place.
    pub in_place: bool,
    /// Attributes to carry over.
    pub extras: Option<Box<Extras>>,
}

impl<'w> Transaction<'w> {
    pub(super) fn new(workspace: &'w Workspace, steps: &'w [Step], options: &CommitOptions, lock: Lock) -> Self {
        let abilities = options.abilities;
        let notes = if lock.locked { Vec::new() } else { vec![CommitNote::NotLocked] };
        Transaction {
            workspace,
            steps,
            options: options.clone(),
            names: Names::new(),
            dirs: Dirs::new(workspace),
            seen: Vec::with_capacity(steps.len()),
            layout: Layout { staged: vec![None; steps.len()], ..Layout::default() },
            schedule: Schedule::default(),
            done: Vec::new(),
            half_written: None,
            second_names: Vec::new(),
            kept: HashSet::new(),
            notes,
            abilities,
            staged_until: 0,
            journal: None,
            window: Vec::new(),
            finished: false,
            lock,
        }
    }

    /// Steps by path, when some step names another's path; empty when none does.
    pub(super) fn cross_references(&self) -> HashMap<&'w str, usize> {
        let refers = |step: &Step| match &step.after {
            After::Absent | After::Link { .. } => false,
            After::Moved { .. } => true,
            After::Content { like, .. } => like.as_ref().is_some_and(|like| *like != step.path),
        };
        if !self.steps.iter().any(refers) {
            return HashMap::new();
        }
        self.steps.iter().enumerate().map(|(at, step)| (step.path.as_str(), at)).collect()
    }

    /// Identity of what is at `path`.
    pub(super) fn stat(&mut self, path: &RelPath) -> Answer<Stamp> {
        let (dir, name) = self.dirs.of(path)?;
        ops::stat_child(dir.as_fd(), name.as_bytes())
    }

    /// Renames to a free name, in two calls where the file system cannot do it in one.
    pub(super) fn rename_new(&mut self, from: &RelPath, to: &RelPath) -> Answer<()> {
        match self.rename_new_at_once(from, to)? {
            Some(()) => Ok(()),
            None => self.rename_new_in_two(from, to),
        }
    }

    /// Renames to a free name in one call; `None` when the file system cannot.
    pub(super) fn rename_new_at_once(&mut self, from: &RelPath, to: &RelPath) -> Answer<Option<()>> {
        if !self.abilities.rename_new {
            return Ok(None);
        }
        let ((from_dir, from), (to_dir, to)) = (self.dirs.of(from)?, self.dirs.of(to)?);
        match ops::rename_new((from_dir.as_fd(), from), (to_dir.as_fd(), to)) {
            Err(error) if unsupported(error) => {
                self.abilities.rename_new = false;
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    /// Renames to a free name by a second link; where the file system has no links either, by looking first.
    pub(super) fn rename_new_in_two(&mut self, from_path: &RelPath, to_path: &RelPath) -> Answer<()> {
        let ((from_dir, from), (to_dir, to)) = (self.dirs.of(from_path)?, self.dirs.of(to_path)?);
        let (from, to) = ((from_dir.as_fd(), from), (to_dir.as_fd(), to));
        if self.abilities.link {
            match ops::link(from, to) {
                Ok(()) => {
                    return ops::remove(from.0, from.1).inspect_err(|error| {
                        // With both names there it is as if nothing had happened once the second is gone again.
                        if ops::remove(to.0, to.1).is_err() {
                            self.second_names.push((to_path.clone(), *error));
                        }
                    });
                }
                Err(error) if unsupported(error) || error == Errno::PERM => self.abilities.link = false,
                Err(Errno::MLINK) => {}
                Err(error) => return Err(error),
            }
        }
        match ops::stat_child(to.0, to.1.as_bytes()) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => ops::rename(from, to),
            Err(error) => Err(error),
        }
    }

    /// Swaps two names; `None` when the file system cannot.
    pub(super) fn exchange(&mut self, a: &RelPath, b: &RelPath) -> Answer<Option<()>> {
        if !self.abilities.exchange {
            return Ok(None);
        }
        let ((a_dir, a), (b_dir, b)) = (self.dirs.of(a)?, self.dirs.of(b)?);
        match ops::exchange((a_dir.as_fd(), a), (b_dir.as_fd(), b)) {
            Err(error) if unsupported(error) => {
                self.abilities.exchange = false;
                Ok(None)
            }
            answer => answer.map(Some),
        }
    }

    /// Removes what was staged and is still where it was put: what a commit that does not happen leaves behind.
    pub(super) fn discard_staged(&mut self) -> Vec<Leftover> {
        let mut left = Vec::new();
        for at in 0..self.staged_until {
            let Some(place) = self.layout.staged[at].take() else { continue };
            if !self.kept.contains(&place)
                && let Err(error) = self.remove(&place)
                && error != Errno::NOENT
            {
                left.push(Leftover { path: place, what: LeftoverKind::Temporary, kept: None });
            }
        }
        self.finished = true;
        // What was put back may be lost with the power; then the journal is what brings it back again.
        if left.is_empty() && self.journal.is_some() && self.sync_dirs().is_ok() {
            self.end_journal();
        }
        left
    }

    /// Removes the journal: nothing is left to do for anyone who finds it. One that cannot be removed does no harm.
    pub(super) fn end_journal(&mut self) {
        if let Some(journal) = self.journal.take() {
            let _found_later = journal.remove(self.workspace);
        }
    }

    pub(super) fn remove(&mut self, path: &RelPath) -> Answer<()> {
        let (dir, name) = self.dirs.of(path)?;
        ops::remove(dir.as_fd(), name)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.finished {
            self.discard_staged();
        }
    }
}

impl Seen {
    pub(super) fn of(stamp: Stamp) -> Self {
        Seen { stamp, young: young(&stamp), ..Seen::default() }
    }
}

/// Whether a file changed so recently that its times could be the same after one more change: clocks of file
/// systems tick every 10 milliseconds or faster, those that keep whole seconds every two seconds at worst.
fn young(stamp: &Stamp) -> bool {
    let newest = stamp.mtime.max(stamp.ctime);
    let tick = if stamp.mtime % 1_000_000_000 == 0 { 2_000_000_000 } else { 20_000_000 };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_nanos());
    i128::try_from(now).is_ok_and(|now| newest + tick >= now)
}

/// The answers that mean "this file system cannot do that".
pub(super) fn unsupported(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Whether `file` holds exactly `slices`, of `len` bytes in all. Reads it through the window.
pub(super) fn holds<'a>(
    file: BorrowedFd<'_>,
    slices: impl IntoIterator<Item = &'a [u8]>,
    len: usize,
    window: &mut Vec<u8>,
) -> Answer<bool> {
    if window.capacity() <= len.min(WINDOW - 1) {
        *window = Vec::with_capacity((len + 1).min(WINDOW));
    }
    let mut slices = slices.into_iter();
    let mut rest: &[u8] = &[];
    let mut left = len;
    loop {
        window.clear();
        let read = ops::read(file, window)?;
        if read == 0 {
            return Ok(left == 0);
        }
        if read > left {
            return Ok(false);
        }
        let mut found = window.as_slice();
        while !found.is_empty() {
            if rest.is_empty() {
                let Some(next) = slices.next() else { return Ok(false) };
                rest = next;
            }
            let both = found.len().min(rest.len());
            if found[..both] != rest[..both] {
                return Ok(false);
            }
            (found, rest) = (&found[both..], &rest[both..]);
        }
        left -= read;
        // A read that stops short of the window has met the end of the file.
        if left == 0 && read < window.capacity() {
            return Ok(true);
        }
    }
}

/// The error for a step whose file could not be opened as the kind it was.
pub(super) fn open_failure(doing: &'static str, error: Errno, path: &RelPath) -> Failure {
    use super::error::Change;
    match error {
        Errno::NOENT => Failure::stale(Change::Gone, path),
        Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::ISDIR => Failure::stale(Change::Type, path),
        error => Failure::io(doing, error, path),
    }
}
