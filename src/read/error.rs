//! Why a file could not be read.

use crate::path::PathError;
use crate::workspace::SourceError;

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFileError {
    /// Nothing is at the path.
    #[error("`{path}` does not exist{}", near.as_ref().map(|near| format!("; is `{near}` meant?")).unwrap_or_default())]
    NoSuchFile {
        /// The path as received.
        path: String,
        /// A path that may have been meant.
        near: Option<String>,
    },
    /// The path is a directory, a pipe, a socket or a device.
    #[error("`{path}` is {what}, not a file")]
    NotAFile {
        /// The path as received.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// The path lies in a repository's own directory.
    #[error("`{path}` lies inside `.git`, which is never read")]
    Git {
        /// The path as received.
        path: String,
    },
    /// The text is no path below the root.
    #[error("`{path}` cannot be read: {reason}")]
    Path {
        /// The path as received.
        path: String,
        /// What is wrong with it.
        reason: PathError,
    },
    /// The path cannot be reached.
    #[error("`{path}` {reason}")]
    Access {
        /// The path as received.
        path: String,
        /// Why not.
        reason: SourceError,
    },
    /// Reading failed on the way.
    #[error("`{path}` cannot be read: {message}")]
    Io {
        /// The path as received.
        path: String,
        /// The system's words.
        message: String,
    },
    /// The file kept changing while it was read.
    #[error("`{path}` changed each time it was read; read it again when nobody writes to it")]
    Changing {
        /// The path as received.
        path: String,
    },
    /// The time ran out, or the read was cancelled.
    #[error("reading `{path}` took too long and was given up")]
    Stopped {
        /// The path as received.
        path: String,
    },
}
