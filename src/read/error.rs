//! Why a file could not be read.

use crate::workspace::PathRefused;

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadFileError {
    /// The path that was named cannot be looked at.
    #[error(transparent)]
    Refused(#[from] PathRefused),
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
