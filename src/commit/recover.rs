//! Bringing a tree to entirely before or entirely after a commit whose process died.
//!
//! [`prepare`](super::prepare) does it by itself when nothing stands in the way. Where someone has changed a file since, it
//! touches nothing and says so: [`recover`] then puts back all that is untouched, leaves alone what was changed, and
//! keeps each old content that has no place any more under a lasting name.
//!
//! # Guarantees
//! - Without the mark `done` in the journal the tree goes back, with it forward (what is left then is only to remove).
//! - It may be killed at any moment and started again: every move leads from one state of the way back to the next.
//! - It replaces nothing, and removes nothing but what the journal or the name of the file proves to be the commit's own.
//! - The journal goes last.
//!
//! # Limitations
//! Only the journal of this very root is found, not that of a root above or below it.

use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Duration;

use super::dirs::split;
use super::error::{CommitError, CommitErrorKind, DiskState, Leftover, LeftoverKind, io_kind};
use super::journal::{self, Journal, Read, sync_dir};
use super::litter;
use super::lock::Lock;
use super::mover::Mover;
use super::place::{self, Kept, Place};
use super::survey::Survey;
use super::{CommitNote, CommitOptions};
use crate::path::RelPath;
use crate::workspace::Workspace;
use crate::workspace::ops::{self, Answer, Errno, How};

/// How to recover.
#[derive(Clone, Debug)]
pub struct RecoverOptions {
    wait: Duration,
    check: bool,
}

impl Default for RecoverOptions {
    fn default() -> Self {
        RecoverOptions { wait: Duration::from_secs(10), check: false }
    }
}

impl RecoverOptions {
    /// Sets how long to wait for another process that is at work in the tree. Default: 10 seconds.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets whether only to look and say what would be done. Default: `false`.
    #[must_use]
    pub fn check(mut self, check: bool) -> Self {
        self.check = check;
        self
    }
}

/// Where a tree was brought to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To what it was before the commit.
    Before,
    /// To what the commit wanted.
    After,
}

/// One commit that a dead process left unfinished.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// The process that died.
    pub pid: u32,
    /// Where its journal is, or was.
    pub journal: PathBuf,
    /// Where the tree was brought to (or would be).
    pub direction: Direction,
    /// The paths of the commit.
    pub paths: Vec<RelPath>,
    /// How many changes of the disk it took (or would take); zero when the process died before its first.
    pub moves: usize,
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (done, state) = match self.direction {
            Direction::Before => ("undone", "before it"),
            Direction::After => ("finished", "it wanted"),
        };
        let (pid, paths) = (self.pid, self.paths.len());
        let paths = if paths == 1 { "1 path is".to_owned() } else { format!("{paths} paths are") };
        write!(f, "an interrupted commit of process {pid} was {done}: {paths} as {state}")
    }
}

/// What [`recover`] found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// Nothing was changed, only looked at.
    pub checked: bool,
    /// Unfinished commits; at most one for each place a journal can be in.
    pub commits: Vec<Recovered>,
    /// Temporary files of commits that had no journal, which are removed (or would be).
    pub temporaries: Vec<RelPath>,
    /// What could not be put back, or is left for a person to look at.
    pub left: Vec<Leftover>,
    /// Directories that could not be searched for temporary files.
    pub unreadable: Vec<RelPath>,
    /// The tree is too large to be searched as a whole.
    pub cut: bool,
}

impl RecoveryReport {
    /// Whether nothing was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.commits.is_empty() && self.temporaries.is_empty() && self.left.is_empty()
    }
}

/// Finishes or undoes what a dead process left in the tree, and removes its temporary files.
///
/// What could not be put back is in the report, not an error. Doing it twice changes nothing.
///
/// # Errors
/// [`CommitError`] when the lock cannot be had, a journal is damaged or belongs to another tree, or the system refuses to show
/// what is there.
///
/// # Complexity
/// Linear in the journal and the files it names, and one listing of every directory of the tree.
pub fn recover(workspace: &Workspace, options: &RecoverOptions) -> Result<RecoveryReport, CommitError> {
    let untouched = |kind| CommitError::new(kind, None, DiskState::Untouched);
    let lock = Lock::take(workspace, options.wait).map_err(untouched)?;
    let mode = if options.check { Mode::Look } else { Mode::Force };
    let mut report = journals(workspace, &lock, mode)?;
    if lock.locked {
        let litter = litter::sweep(workspace, options.check);
        report.temporaries = litter.removed;
        report.left.extend(litter.left);
        report.unreadable = litter.unreadable;
        report.cut = litter.cut;
    }
    report.checked = options.check;
    Ok(report)
}

/// How far a recovery may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Only looks.
    Look,
    /// Everything, or nothing when someone has changed a file since.
    Cautious,
    /// As much as can be.
    Force,
}

/// What a dead commit left, when nobody else is in the way: for those who are about to commit. Two calls when there is
/// nothing.
pub(super) fn before_commit(workspace: &Workspace, lock: &Lock) -> Result<Vec<Recovered>, CommitError> {
    let untouched = |kind| CommitError::new(kind, None, DiskState::Untouched);
    let doing = "cannot look for the journal of an interrupted commit";
    if !place::may_have_journal(workspace).map_err(|error| untouched(io_kind(doing, error)))? {
        return Ok(Vec::new());
    }
    Ok(journals(workspace, lock, Mode::Cautious)?.commits)
}

/// As [`before_commit`], for those who are about to read what they will change; takes the lock only if there is something to
/// bring back.
///
/// # Errors
/// As [`recover`]; [`CommitErrorKind::NotRecovered`] when files have changed since, or when nothing may be written.
pub(crate) fn resume(workspace: &Workspace, options: &CommitOptions) -> Result<Vec<CommitNote>, CommitError> {
    with_lock(workspace, options.wait, Mode::Cautious)
}

/// As [`resume`], but nothing is written: an interrupted commit is an error.
///
/// # Errors
/// As [`resume`].
pub(crate) fn refuse_unfinished(workspace: &Workspace, options: &CommitOptions) -> Result<(), CommitError> {
    with_lock(workspace, options.wait, Mode::Look).map(drop)
}

fn with_lock(workspace: &Workspace, wait: Duration, mode: Mode) -> Result<Vec<CommitNote>, CommitError> {
    let untouched = |kind| CommitError::new(kind, None, DiskState::Untouched);
    let doing = "cannot look for the journal of an interrupted commit";
    if !place::may_have_journal(workspace).map_err(|error| untouched(io_kind(doing, error)))? {
        return Ok(Vec::new());
    }
    let lock = Lock::take(workspace, wait).map_err(untouched)?;
    let commits = journals(workspace, &lock, mode)?.commits;
    match commits.first() {
        Some(found) if mode == Mode::Look => Err(untouched(CommitErrorKind::NotRecovered { pid: found.pid })),
        _ => Ok(commits.into_iter().map(CommitNote::Recovered).collect()),
    }
}

/// Removes directories, inner ones first, as far as nothing is in them.
pub(crate) fn remove_empty(workspace: &Workspace, dirs: &[RelPath]) {
    for dir in dirs.iter().rev() {
        let (parent, name) = split(dir);
        let _in_use = match parent {
            "" => ops::remove_dir(workspace.root(), name),
            parent => workspace.open_resolved(parent, How::Dir).and_then(|dir| ops::remove_dir(dir.as_fd(), name)),
        };
    }
}

fn journals(workspace: &Workspace, lock: &Lock, mode: Mode) -> Result<RecoveryReport, CommitError> {
    let untouched = |kind| CommitError::new(kind, None, DiskState::Untouched);
    let doing = "cannot look for the journal of an interrupted commit";
    let mut report = RecoveryReport::default();
    for place in Place::all(workspace).map_err(|error| untouched(io_kind(doing, error)))? {
        let path = place.path(Kept::Journal);
        if mode != Mode::Look {
            // Cut off before anything was changed; nobody will ask for it.
            let _not_there = ops::remove(place.dir(workspace), place.name(Kept::Unsynced));
        }
        let bytes = journal::load(workspace, &place).map_err(|error| untouched(io_kind(doing, error)))?;
        let Some(bytes) = bytes else { continue };
        let unusable = |why: String| untouched(CommitErrorKind::Journal { path: path.clone(), why });
        match journal::decode(&bytes).map_err(|error| unusable(error.to_string()))? {
            Read::CutOff if mode == Mode::Look => {}
            Read::CutOff => ops::remove(place.dir(workspace), place.name(Kept::Journal))
                .map_err(|error| untouched(io_kind("cannot remove a journal that was cut off", error)))?,
            Read::Whole { journal, done } => {
                let why = why_unusable(workspace, lock, &journal);
                if let Some(why) = why.map_err(|error| untouched(io_kind("cannot look at the root", error)))? {
                    return Err(unusable(why));
                }
                settle(workspace, &place, &journal, done, mode, &mut report)?;
            }
        }
    }
    Ok(report)
}

/// Why a journal may not be acted upon, if so.
fn why_unusable(workspace: &Workspace, lock: &Lock, journal: &Journal<'_>) -> Answer<Option<String>> {
    if ops::stat(workspace.root())?.ino != journal.root {
        return Ok(Some("it was made for another directory; if the tree was copied, remove it".to_owned()));
    }
    let pid = journal.pid;
    if !lock.locked && pid != std::process::id() && ops::is_running(pid) {
        return Ok(Some(format!("this file system knows no locks, and process {pid}, which wrote it, may be alive")));
    }
    Ok(None)
}

fn settle(
    workspace: &Workspace,
    place: &Place,
    journal: &Journal<'_>,
    done: bool,
    mode: Mode,
    report: &mut RecoveryReport,
) -> Result<(), CommitError> {
    let untouched = |kind| CommitError::new(kind, None, DiskState::Untouched);
    let looked = if done { Survey::forward(workspace, journal) } else { Survey::back(workspace, journal) };
    let mut survey =
        looked.map_err(|error| untouched(io_kind("cannot look at what an interrupted commit left", error)))?;
    let moves = std::mem::take(&mut survey.moves);
    let mut left = std::mem::take(&mut survey.left);
    report.commits.push(Recovered {
        pid: journal.pid,
        journal: place.path(Kept::Journal),
        direction: if done { Direction::After } else { Direction::Before },
        paths: journal.steps.iter().map(|step| (*step.path).clone()).collect(),
        moves: moves.len(),
    });
    // A directory that somebody has put something in since stays, and no harm is done.
    let in_the_way = left.iter().any(|left| left.what != LeftoverKind::Directory);
    if mode == Mode::Cautious && in_the_way {
        let kind = CommitErrorKind::NotRecovered { pid: journal.pid };
        return Err(CommitError::new(kind, None, DiskState::Incomplete(left)));
    }
    if mode != Mode::Look {
        let failed = Mover { survey }.make(&moves, &mut left);
        let finished = !failed
            && synced(workspace, journal)
            && ops::remove(place.dir(workspace), place.name(Kept::Journal)).is_ok();
        if !finished {
            let state = DiskState::Incomplete(left);
            return Err(CommitError::new(CommitErrorKind::NotRecovered { pid: journal.pid }, None, state));
        }
    }
    report.left.extend(left);
    Ok(())
}

/// Makes the way back safe against a loss of power, if the commit was to be.
fn synced(workspace: &Workspace, journal: &Journal<'_>) -> bool {
    if !journal.power {
        return true;
    }
    let dirs = super::sync::dirs_of(&journal.actions);
    dirs.iter().all(|dir| {
        let opened = match dir.as_str() {
            "" => ops::open_child(workspace.root(), b".", How::List),
            dir => workspace.open_resolved(dir, How::List),
        };
        match opened {
            Ok(opened) => sync_dir(opened.as_fd()).is_ok(),
            Err(error) => matches!(error, Errno::NOENT | Errno::NOTDIR),
        }
    })
}
