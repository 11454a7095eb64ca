//! The answer of a search: rows, how many there are in all, and what the reader should know besides.

use std::path::Path;

use super::collect::{Collector, Kept};
use super::found::RowKind;
use super::listing::as_path;
use super::notices;
use super::options::{Mode, SearchOptions};
use crate::limits::Cause;

/// How many rows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// The number; at least so many when it is not exact.
    pub value: u64,
    /// Whether everything was looked at.
    pub exact: bool,
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoticeCode {
    /// Nothing was found.
    NoMatch,
    /// There are rows, but none at this offset.
    NoMore,
    /// There are more rows than are shown.
    Truncated,
    /// The deadline ended the search.
    Timeout,
    /// Someone cancelled the search.
    Cancelled,
    /// Lines were cut.
    Cut,
    /// Binary files match and are not shown.
    Binary,
    /// Files that must not be shown match.
    Denied,
    /// Something could not be read.
    Unreadable,
    /// Files are too large for a multi-line search.
    TooLarge,
    /// Files have lines so long that they were searched in pieces.
    InPieces,
    /// Nothing was found, and ignore rules left files out.
    Ignored,
    /// Nothing was found, and no file fits the globs and types.
    NoFiles,
    /// Nothing was found, and links were not followed.
    Links,
    /// Nothing was found, and pipes, sockets or devices were left out.
    Special,
    /// What was searched, when that was asked for.
    Stats,
}

impl NoticeCode {
    /// The name used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            NoticeCode::NoMatch => "no_match",
            NoticeCode::NoMore => "no_more",
            NoticeCode::Truncated => "truncated",
            NoticeCode::Timeout => "timeout",
            NoticeCode::Cancelled => "cancelled",
            NoticeCode::Cut => "cut",
            NoticeCode::Binary => "binary",
            NoticeCode::Denied => "denied",
            NoticeCode::Unreadable => "unreadable",
            NoticeCode::TooLarge => "too_large",
            NoticeCode::InPieces => "in_pieces",
            NoticeCode::Ignored => "ignored",
            NoticeCode::NoFiles => "no_files",
            NoticeCode::Links => "links",
            NoticeCode::Special => "special",
            NoticeCode::Stats => "stats",
        }
    }
}

/// Something the reader of an answer should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub(super) code: NoticeCode,
    pub(super) message: String,
}

impl Notice {
    /// What it is about.
    #[must_use]
    pub fn code(&self) -> NoticeCode {
        self.code
    }

    /// One sentence for people and models.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// One row of an answer.
#[derive(Clone, Debug)]
pub struct SearchRow(pub(super) Kept);

impl SearchRow {
    /// The file, relative to the root.
    #[must_use]
    pub fn path(&self) -> &Path {
        as_path(&self.0.path)
    }

    /// What the row is.
    #[must_use]
    pub fn kind(&self) -> RowKind {
        self.0.line.kind
    }

    /// The number of the line, from 1, in a row that is a line.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        matches!(self.kind(), RowKind::Match | RowKind::Context).then_some(self.0.line.number)
    }

    /// The number of hits, in a row that counts them.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        (self.kind() == RowKind::Count).then_some(self.0.line.number)
    }

    /// The line without its ending, or the part of it that is shown; empty in rows that are no lines. The bytes of the
    /// file, as UTF-8 if that was UTF-16.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.0.line.text
    }

    /// Whether something of the line is missing before and after [`SearchRow::text`].
    #[must_use]
    pub fn cut(&self) -> (bool, bool) {
        self.0.line.cut
    }
}

/// The answer of a search.
#[derive(Clone, Debug)]
#[must_use = "an answer is all that a search does"]
pub struct Answer {
    pub(super) mode: Mode,
    pub(super) rows: Vec<SearchRow>,
    pub(super) shown: u64,
    pub(super) total: Total,
    pub(super) truncated: bool,
    pub(super) next_offset: Option<u64>,
    pub(super) notices: Vec<Notice>,
    pub(super) context: bool,
}

impl Answer {
    /// What the rows are.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The rows, in path order: paths are compared component by component, bytes by bytes.
    #[must_use]
    pub fn rows(&self) -> &[SearchRow] {
        &self.rows
    }

    /// How many rows are shown; context lines do not count.
    #[must_use]
    pub fn shown(&self) -> u64 {
        self.shown
    }

    /// How many rows there are in all, those before the offset among them.
    #[must_use]
    pub fn total(&self) -> Total {
        self.total
    }

    /// Whether there are rows after the last one shown, or may be because the search was ended early.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// The offset that goes on where this answer ends, if there is more.
    #[must_use]
    pub fn next_offset(&self) -> Option<u64> {
        self.next_offset
    }

    /// What the reader should know besides.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// The same answer with its notices left out, for callers that show those elsewhere.
    pub fn without_notices(mut self) -> Self {
        self.notices.clear();
        self
    }

    /// Makes the answer of what was collected. `asked` names what was searched for and where.
    pub(super) fn new(mut kept: Collector, options: &SearchOptions, cause: Option<Cause>, asked: &Asked<'_>) -> Self {
        kept.shorten();
        let total = Total { value: kept.total, exact: kept.exact };
        let end = options.offset as u64 + kept.shown;
        let more = kept.total > end && (kept.shown > 0 || options.limit == 0);
        let truncated = more || kept.interrupted;
        let notices = notices::of(&kept, options, cause, asked, total);
        Answer {
            mode: options.mode,
            shown: kept.shown,
            total,
            truncated,
            next_offset: (more && !kept.interrupted).then_some(end),
            notices,
            context: options.mode == Mode::Content && (options.before, options.after) != (0, 0),
            rows: kept.rows.into_iter().map(SearchRow).collect(),
        }
    }
}

impl IntoIterator for Answer {
    type Item = SearchRow;
    type IntoIter = std::vec::IntoIter<SearchRow>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl<'a> IntoIterator for &'a Answer {
    type Item = &'a SearchRow;
    type IntoIter = std::slice::Iter<'a, SearchRow>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

/// What was asked, for messages.
pub(super) struct Asked<'a> {
    pub(super) patterns: &'a [String],
    pub(super) path: &'a str,
    /// The patterns are globs, and what is looked for is names.
    pub(super) names: bool,
}
