//! Why a text is no patch: what was expected, where, what stood there, and what to do.

use std::fmt;
use std::ops::Range;

use super::lines::{EXCERPT, Line, Place};
use super::{blocks, edits, envelope, unified};
use crate::text::visible;

/// How much of a path or a word an error may quote, in bytes.
const QUOTED: usize = 200;

/// A text that is no patch.
///
/// The message names the line, quotes it as it was received (cut if long, invisible characters made visible) and ends
/// with what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(Box<Details>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Details {
    problem: Problem,
    place: Place,
}

/// What is wrong, in each language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Problem {
    #[error(transparent)]
    Envelope(#[from] envelope::Kind),
    #[error(transparent)]
    Unified(#[from] unified::Kind),
    #[error(transparent)]
    Blocks(#[from] blocks::Kind),
    #[error(transparent)]
    Edits(#[from] edits::Kind),
}

/// Takes a method of whichever kind it is.
macro_rules! each {
    ($problem:expr, $kind:ident => $answer:expr) => {
        match $problem {
            Problem::Envelope($kind) => $answer,
            Problem::Unified($kind) => $answer,
            Problem::Blocks($kind) => $answer,
            Problem::Edits($kind) => $answer,
        }
    };
}

impl ParseError {
    pub(super) fn at(problem: impl Into<Problem>, line: Line<'_>) -> Self {
        ParseError::from_place(problem, line.into())
    }

    pub(super) fn from_place(problem: impl Into<Problem>, place: Place) -> Self {
        ParseError(Box::new(Details { problem: problem.into(), place }))
    }

    /// The line of the patch text, from 1; 0 if there was no line at all.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.0.place.number
    }

    /// The bytes of that line, counted from the start of the text.
    #[must_use]
    pub fn span(&self) -> Range<u64> {
        self.0.place.span.clone()
    }

    /// The line as it was received: cut after 160 bytes, invisible characters made visible.
    #[must_use]
    pub fn received(&self) -> String {
        let place = &self.0.place;
        visible(place.line().text, EXCERPT)
    }

    /// What to do about it.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        each!(&self.0.problem, kind => kind.advice(&self.0.place.excerpt))
    }

    /// A short name of what is wrong, for programs; it stays the same between versions.
    #[must_use]
    pub fn code(&self) -> &'static str {
        each!(&self.0.problem, kind => kind.code())
    }

    /// Whether a text that was cut off looks like this: more of it could be a patch.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        each!(&self.0.problem, kind => kind.is_cut_off())
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { problem, place } = &*self.0;
        if place.number > 0 {
            write!(f, "line {}: {problem}: `{}`; {}", place.number, self.received(), self.advice())
        } else {
            write!(f, "{problem}; {}", self.advice())
        }
    }
}

impl std::error::Error for ParseError {}

/// Why [`Patch::read`](super::Patch::read) gave no patch.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The reader failed.
    #[error("cannot read the patch")]
    Io(#[from] std::io::Error),
    /// What was read is no patch.
    #[error(transparent)]
    Parse(#[from] ParseError),
}

/// A path or a word for a message, cut if long.
pub(super) fn quote(bytes: &[u8]) -> String {
    visible(bytes, QUOTED)
}
