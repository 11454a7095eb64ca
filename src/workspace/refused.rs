//! Why a path that a caller named outright cannot be looked at: the same for reading a file and for searching.

use std::fmt;

use super::SourceError;
use crate::path::PathError;

/// Why a path that was named cannot be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathRefused {
    path: String,
    purpose: Purpose,
    reason: RefusedReason,
}

/// What a path was named for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Read,
    Search,
}

/// What is wrong with a path that was named.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusedReason {
    /// Nothing is there; a path that may have been meant.
    Absent(Option<String>),
    /// It is something else than what is wanted: a directory, a pipe, a socket or a device.
    NotThat(&'static str),
    /// It lies in a repository's own directory.
    Git,
    /// The text is no path below the root.
    NoPath(PathError),
    /// It cannot be reached or read.
    Access(SourceError),
}

impl Purpose {
    /// Refuses `path` for this purpose.
    pub(crate) fn refuse(self, path: &str, reason: RefusedReason) -> PathRefused {
        let reason = match reason {
            RefusedReason::Access(SourceError::Git) => RefusedReason::Git,
            reason => reason,
        };
        PathRefused { path: path.to_owned(), purpose: self, reason }
    }

    fn done(self) -> &'static str {
        match self {
            Purpose::Read => "read",
            Purpose::Search => "searched",
        }
    }
}

impl PathRefused {
    /// The path as received.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn reason(&self) -> &RefusedReason {
        &self.reason
    }
}

impl fmt::Display for PathRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PathRefused { path, purpose, reason } = self;
        let done = purpose.done();
        write!(f, "`{path}` ")?;
        match (reason, purpose) {
            (RefusedReason::Absent(near), _) => write!(f, "does not exist{}", meant(near.as_deref())),
            (RefusedReason::NotThat(what), Purpose::Read) => write!(f, "is {what}, not a file"),
            (RefusedReason::NotThat(what), Purpose::Search) => write!(f, "is {what}, which cannot be searched"),
            (RefusedReason::Git, _) => write!(f, "lies inside `.git`, which is never {done}"),
            (RefusedReason::NoPath(reason), _) => write!(f, "cannot be {done}: {reason}"),
            // What is about a part of the path, and no sentence with the path in front.
            (RefusedReason::Access(reason @ (SourceError::LinkLoop | SourceError::NotADirectory(_))), _) => {
                write!(f, "cannot be {done}: {reason}")
            }
            (RefusedReason::Access(reason), _) => reason.fmt(f),
        }
    }
}

impl std::error::Error for PathRefused {}

/// Asks whether another name was meant.
pub(crate) fn meant(near: Option<&str>) -> String {
    near.map(|near| format!("; is `{near}` meant?")).unwrap_or_default()
}
