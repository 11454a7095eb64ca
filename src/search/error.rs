//! Why a search could not be begun.

use crate::workspace::{PathRefused, meant};

/// Why a search could not be begun. Nothing was searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// No pattern was given.
    #[error("there is no pattern to search for")]
    NoPattern,
    /// A pattern is no regular expression.
    #[error(
        "`{pattern}` is no regular expression: {message} at character {column}; to find the text as it stands, search for it literally (--literal)"
    )]
    Regex {
        /// The pattern as received.
        pattern: String,
        /// What is wrong with it.
        message: String,
        /// Where, counted in characters from 1.
        column: usize,
    },
    /// A pattern names a line end, which a search line by line cannot meet.
    #[error("`{pattern}` has a line end in it, and lines are searched one by one; search with --multiline (-U)")]
    LineEnd {
        /// The pattern, its line ends made visible.
        pattern: String,
    },
    /// A pattern is too large once compiled.
    #[error("the pattern is too large: {message}")]
    TooLarge {
        /// What the engine says.
        message: String,
    },
    /// A glob cannot be read.
    #[error("`{glob}` is no glob: {message}")]
    Glob {
        /// The glob as received.
        glob: String,
        /// What is wrong with it.
        message: String,
    },
    /// There is no such file type.
    #[error("there is no file type `{name}`{}", meant(.near.as_deref()))]
    FileType {
        /// The name as received.
        name: String,
        /// A name that may have been meant.
        near: Option<String>,
    },
    /// The path that was named cannot be looked at.
    #[error(transparent)]
    Refused(#[from] PathRefused),
}
