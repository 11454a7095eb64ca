//! Why a commit failed, and what is true on the disk afterwards.

use std::fmt;
use std::time::Duration;

use crate::path::RelPath;
use crate::workspace::ops::Errno;

/// A commit that did not happen, with the state the disk is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitError {
    kind: CommitErrorKind,
    path: Option<RelPath>,
    state: DiskState,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitErrorKind {
    /// Someone else holds the lock of the root, of a directory above it, or of one below.
    #[error("another process is at work in this tree{}; waited {:.1} s", shown(.holder.as_ref()), .waited.as_secs_f64())]
    Locked {
        /// Who it is, when the system tells.
        holder: Option<Holder>,
        /// How long was waited.
        waited: Duration,
    },
    /// What stands at the path is not what the plan was made from.
    #[error("stale: {0}; read it again and make a new patch")]
    Stale(Change),
    /// The file has several names and the policy forbids to edit such files.
    #[error("has {0} names (hard links), and editing such files is denied")]
    HardLinked(u64),
    /// Two paths with different new contents are names of one file.
    #[error("is the same file as `{0}` (a hard link), and both are given different contents; edit one of them")]
    SameFile(RelPath),
    /// Something on the way to the path is no directory.
    #[error("something on the way to it is no directory")]
    NotADirectory,
    /// The journal of an interrupted commit is of no use, and nothing was done.
    #[error("the journal {} of an interrupted commit cannot be used: {why}", .path.display())]
    Journal {
        /// Where it is.
        path: std::path::PathBuf,
        /// What is the matter with it.
        why: String,
    },
    /// A dead process left the tree between two states, and it is not for a commit to bring it back.
    #[error("an interrupted commit of process {pid} is still in this tree; `restitch recover` brings it back")]
    NotRecovered {
        /// The process that died.
        pid: u32,
    },
    /// The steps contradict each other.
    #[error("BUG: the plan contradicts itself: {0}")]
    BadPlan(&'static str),
    /// The system refused.
    #[error("{doing}: {message}")]
    Io {
        /// What was tried, as `cannot …`.
        doing: &'static str,
        /// What kind of error it was.
        kind: std::io::ErrorKind,
        /// The system's words.
        message: String,
    },
}

/// How a file differs from what the plan was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Nothing is there any more.
    Gone,
    /// Something is there now.
    Appeared,
    /// Its content is another.
    Content,
    /// Its mode or owner is another.
    Attributes,
    /// It is something else than it was: a link, a directory, a special file.
    Type,
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Process number.
    pub pid: u32,
    /// Name of its program; may be empty.
    pub name: String,
    /// How long it has been running; the lock is no older.
    pub running: Option<Duration>,
}

/// What is true on the disk after a commit failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskState {
    /// Nothing was changed at any moment.
    Untouched,
    /// Changes had begun; all of them were put back.
    RolledBack,
    /// Not everything could be put back. Everything that is not listed is as it was.
    Incomplete(Vec<Leftover>),
}

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leftover {
    /// The path.
    pub path: RelPath,
    /// What is the matter with it.
    pub what: LeftoverKind,
    /// Where its old content is kept.
    pub kept: Option<RelPath>,
}

/// Why something could not be put back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftoverKind {
    /// Someone else has changed or removed it since; their version was left alone.
    Foreign,
    /// The system refused.
    Refused(String),
    /// A temporary file that could not be removed.
    Temporary,
    /// A temporary file of a commit whose journal is gone: nobody can tell what it is.
    Unknown,
    /// A directory made by the commit that could not be removed, or in which someone else has put something since.
    Directory,
}

impl CommitError {
    pub(super) fn new(kind: CommitErrorKind, path: Option<RelPath>, state: DiskState) -> Self {
        CommitError { kind, path, state }
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &CommitErrorKind {
        &self.kind
    }

    /// The path it went wrong at.
    #[must_use]
    pub fn path(&self) -> Option<&RelPath> {
        self.path.as_ref()
    }

    /// What is true on the disk now.
    #[must_use]
    pub fn state(&self) -> &DiskState {
        &self.state
    }
}

impl std::error::Error for CommitError {}

impl fmt::Display for CommitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{path}: ")?;
        }
        write!(f, "{}; {}", self.kind, self.state)
    }
}

impl fmt::Display for DiskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiskState::Untouched => f.write_str("nothing was changed"),
            DiskState::RolledBack => f.write_str("everything was put back"),
            DiskState::Incomplete(left) => {
                f.write_str("not everything could be put back: ")?;
                for (at, leftover) in left.iter().take(20).enumerate() {
                    if at > 0 {
                        f.write_str("; ")?;
                    }
                    leftover.fmt(f)?;
                }
                if left.len() > 20 {
                    write!(f, "; and {} more", left.len() - 20)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.what {
            LeftoverKind::Foreign => write!(f, "{path} was changed by someone else meanwhile and left alone"),
            LeftoverKind::Refused(message) => write!(f, "{path} ({message})"),
            LeftoverKind::Temporary => write!(f, "the temporary file {path} could not be removed"),
            LeftoverKind::Unknown => {
                write!(f, "{path} belongs to a commit whose journal is gone; look at it and remove it")
            }
            LeftoverKind::Directory => write!(f, "the new directory {path} could not be removed"),
        }?;
        match &self.kept {
            Some(kept) => write!(f, ", its old content is in {kept}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Change::Gone => "it is not there any more",
            Change::Appeared => "something is there now",
            Change::Content => "its content has changed since it was read",
            Change::Attributes => "its mode or owner has changed since it was read",
            Change::Type => "it is no longer the kind of file it was",
        })
    }
}

fn shown(holder: Option<&Holder>) -> String {
    let Some(Holder { pid, name, running }) = holder else { return String::new() };
    let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
    match running {
        Some(running) => format!(" (process {pid}{name}, running for {:.1} s)", running.as_secs_f64()),
        None => format!(" (process {pid}{name})"),
    }
}

/// What went wrong and where, before it is known what state the disk is in.
#[derive(Debug)]
pub(super) struct Failure {
    pub kind: CommitErrorKind,
    pub path: Option<RelPath>,
}

impl Failure {
    pub(super) fn new(kind: CommitErrorKind, path: &RelPath) -> Self {
        Failure { kind, path: Some(path.clone()) }
    }

    pub(super) fn stale(change: Change, path: &RelPath) -> Self {
        Failure::new(CommitErrorKind::Stale(change), path)
    }

    /// A refusal of the system; `doing` begins with `cannot`.
    pub(super) fn io(doing: &'static str, error: Errno, path: &RelPath) -> Self {
        Failure::new(io_kind(doing, error), path)
    }

    pub(super) fn into_error(self, state: DiskState) -> CommitError {
        CommitError::new(self.kind, self.path, state)
    }
}

pub(super) fn io_kind(doing: &'static str, error: Errno) -> CommitErrorKind {
    let error = std::io::Error::from(error);
    CommitErrorKind::Io { doing, kind: error.kind(), message: error.to_string() }
}
