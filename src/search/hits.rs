//! The hits of one file while it is searched: what is kept of them, and when enough is known.

use super::budget::{self, LEAST_TEXT};
use super::form::AnswerForm;
use super::found::{Found, Line, PathBytes, RowKind};

/// The most bytes of one file's lines that are kept while it is not known which of them are shown.
const MOST_AHEAD: usize = 4 << 20;

/// How lines are kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    /// Matching lines to pass over.
    pub(super) skip: u64,
    /// Matching lines to keep after those.
    pub(super) keep: u64,
    /// What precedes this file is not known, so more may be kept than is shown.
    pub(super) ahead: bool,
    /// No line that is kept can be followed by fewer shown bytes than are kept behind it: long ones can be cut early.
    pub(super) shortens: bool,
    /// Bytes of one line.
    pub(super) row_bytes: usize,
    /// Bytes of the whole answer.
    pub(super) bytes: usize,
    /// A streamed file ends after so many matching lines.
    pub(super) enough: u64,
}

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Whether it has a match.
    First,
    /// How many lines match.
    Count,
    /// The lines.
    Lines,
}

/// The hits of one file.
#[derive(Debug)]
pub(super) struct Hits<'k> {
    want: Want,
    keep: &'k mut Keep,
    lines: Vec<Line>,
    /// Bytes of text in `lines`.
    held: usize,
    skipped: u64,
    count: u64,
    /// Everything that is kept is there.
    closed: bool,
    /// The file ends once enough is found, though there may be more.
    bounded: bool,
    exact: bool,
    /// Too much was kept without knowing whether it is shown.
    pub(super) overflow: bool,
    /// The text has a NUL.
    pub(super) binary: bool,
    /// Lines before the text that is searched, when it is a part of its file.
    pub(super) base: u64,
}

impl<'k> Hits<'k> {
    pub(super) fn new(want: Want, keep: &'k mut Keep, bounded: bool) -> Self {
        Hits {
            want,
            keep,
            lines: Vec::new(),
            held: 0,
            skipped: 0,
            count: 0,
            closed: false,
            bounded,
            exact: true,
            overflow: false,
            binary: false,
            base: 0,
        }
    }

    /// Whether only the number of hits matters.
    pub(super) fn needs_no_lines(&self) -> bool {
        self.want != Want::Lines
    }

    /// Whether `line` is longer than what is shown.
    pub(super) fn cuts(&self, line: &[u8]) -> bool {
        line.len() > self.keep.row_bytes
    }

    /// Whether there is any hit.
    pub(super) fn any(&self) -> bool {
        self.count > 0
    }

    /// Whether the search ended because nothing more is wanted.
    pub(super) fn is_full(&self) -> bool {
        !self.exact || self.overflow || (self.want == Want::First && self.count > 0)
    }

    /// Counts hits: whether to go on.
    pub(super) fn count(&mut self, hits: u64) -> bool {
        let first = self.want == Want::First;
        self.count += if first { 1 } else { hits };
        !first
    }

    /// Takes a matching line: whether to go on.
    pub(super) fn matched(&mut self, number: u64, line: &[u8], at: usize) -> bool {
        self.matched_part(number, line, at, (false, false))
    }

    /// Takes a matching line of which only `part` is at hand, `open` telling on which sides it goes on.
    pub(super) fn matched_part(&mut self, number: u64, part: &[u8], at: usize, open: (bool, bool)) -> bool {
        self.count += 1;
        if self.keep.skip > 0 {
            self.keep.skip -= 1;
            self.skipped += 1;
        } else if self.keep.keep > 0 && !self.closed {
            self.keep.keep -= 1;
            let line = Line::new(self.base + number, RowKind::Match, part, at, self.keep.row_bytes);
            self.push(Line { cut: (line.cut.0 || open.0, line.cut.1 || open.1), ..line });
        } else {
            self.closed = true;
        }
        if self.bounded && self.count >= self.keep.enough {
            self.exact = false;
            return false;
        }
        !self.overflow
    }

    /// Takes a line near a match.
    pub(super) fn context(&mut self, number: u64, line: &[u8]) {
        if self.keep.skip == 0 && !self.closed {
            self.push(Line::new(self.base + number, RowKind::Context, line, 0, self.keep.row_bytes));
        }
    }

    /// Gives up what was kept: nothing of this file is shown.
    pub(super) fn give_back(self, start: Keep) {
        *self.keep = start;
    }

    fn push(&mut self, line: Line) {
        self.held += line.text.len();
        self.lines.push(line);
        if self.keep.shortens && self.held > self.keep.bytes.saturating_mul(2) {
            self.shorten();
        }
        self.overflow |= self.keep.ahead && self.held + self.lines.len() * size_of::<Line>() > MOST_AHEAD;
    }

    /// Cuts lines to what the answer could have room for if nothing else were in it.
    fn shorten(&mut self) {
        let lengths = self.lines.iter().map(|line| line.text.len()).collect();
        let most = budget::fair_length(lengths, 0, self.keep.bytes).max(LEAST_TEXT);
        self.lines.iter_mut().for_each(|line| line.shorten(most, AnswerForm::Text));
        self.held = self.lines.iter().map(|line| line.text.len()).sum();
        if self.held > self.keep.bytes {
            // Even with all of them at their shortest there is no room for more.
            self.closed = true;
            self.keep.keep = 0;
        }
    }

    /// The hits, for the file at `path`; `None` when there are none.
    pub(super) fn found(self, path: impl FnOnce() -> PathBytes) -> Option<Found> {
        (self.count > 0).then(|| Found {
            path: path(),
            lines: self.lines,
            skipped: self.skipped,
            count: self.count,
            exact: self.exact,
        })
    }
}
