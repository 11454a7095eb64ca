//! What comes out of the files, before it is known which of it is shown.

use std::sync::Arc;

use super::budget;
use super::form::AnswerForm;

/// A path below the root, as bytes.
pub(super) type PathBytes = Arc<[u8]>;

/// What a row of an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RowKind {
    /// A file with a match.
    File,
    /// A file and the number of its hits.
    Count,
    /// A line with a match.
    Match,
    /// A line near a match.
    Context,
}

/// One line, or the part of it that is kept.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) kind: RowKind,
    /// The window of the line that is kept, without its ending.
    pub(super) text: Box<[u8]>,
    /// Where in `text` the first match begins.
    pub(super) at: u32,
    /// Something is missing before and after the window.
    pub(super) cut: (bool, bool),
}

impl Line {
    /// Keeps at most `most` bytes of `line`, whose first match begins at `at`.
    pub(super) fn new(number: u64, kind: RowKind, line: &[u8], at: usize, most: usize) -> Self {
        let window = budget::window(line, at, most);
        Line {
            number,
            kind,
            text: line[window.clone()].into(),
            at: u32::try_from(at.saturating_sub(window.start)).unwrap_or(u32::MAX),
            cut: (window.start > 0, window.end < line.len()),
        }
    }

    /// Cuts what is kept to at most `most` bytes, as they count in `form`.
    pub(super) fn shorten(&mut self, most: usize, form: AnswerForm) {
        let mut length = most;
        loop {
            if self.text.len() > length {
                let (before, after) = self.cut;
                let shorter = Line::new(self.number, self.kind, &self.text, self.at as usize, length);
                *self = Line { cut: (shorter.cut.0 || before, shorter.cut.1 || after), ..shorter };
            }
            let cost = form.text(&self.text);
            if cost <= most {
                return;
            }
            // Some of its characters count for more than their bytes.
            length = self.text.len() * most / cost;
        }
    }
}

/// The hits of one file.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBytes,
    /// Lines that are kept, in order: those after the first `skipped` matches, as many as were asked for.
    pub(super) lines: Vec<Line>,
    /// Matching lines that were passed over.
    pub(super) skipped: u64,
    /// Matching lines (or matches, when those are counted): all there are if `exact`.
    pub(super) count: u64,
    pub(super) exact: bool,
}

/// Something about one path that the answer may have to tell.
#[derive(Debug)]
pub(super) enum Event {
    /// It has hits.
    Found(Found),
    /// It is binary and has a hit, which is not shown.
    Binary(PathBytes),
    /// It must not be shown and has a hit.
    Denied(PathBytes),
    /// It could not be read.
    Unreadable(PathBytes, String),
    /// It is larger than a multi-line search takes, by its size.
    TooLarge(PathBytes, u64),
    /// It has a line so long that it was searched in pieces.
    InPieces(PathBytes),
}

/// Counts of what was done and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) ignored_files: u64,
    pub(super) ignored_dirs: u64,
    /// Ignore files whose rules left something out, the first few.
    pub(super) ignored_by: Vec<PathBytes>,
    /// Files that fit no glob or type.
    pub(super) unfit: u64,
    /// Binary files, with or without a hit.
    pub(super) binary: u64,
    pub(super) special: u64,
    /// Links that were not followed, or could not be.
    pub(super) links: u64,
}

/// How many ignore files are named.
const MOST_NAMED: usize = 3;

impl Tally {
    pub(super) fn add(&mut self, other: Tally) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.ignored_files += other.ignored_files;
        self.ignored_dirs += other.ignored_dirs;
        self.unfit += other.unfit;
        self.binary += other.binary;
        self.special += other.special;
        self.links += other.links;
        for path in other.ignored_by {
            self.name_ignore_file(&path);
        }
    }

    /// Remembers an ignore file whose rule left something out.
    pub(super) fn name_ignore_file(&mut self, path: &[u8]) {
        if self.ignored_by.len() < MOST_NAMED && !self.ignored_by.iter().any(|known| **known == *path) {
            self.ignored_by.push(path.into());
        }
    }
}

/// The output of one piece of work.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) tally: Tally,
    /// The deadline or a cancellation ended it early.
    pub(super) interrupted: bool,
}

/// So many bytes take as long to search as a small file takes to open.
const BYTES_AS_A_FILE: u64 = 16 << 10;

impl Batch {
    /// What it took to make, in small files.
    pub(super) fn effort(&self) -> u64 {
        self.tally.files.max(1) + self.tally.bytes / BYTES_AS_A_FILE
    }

    /// Bytes it holds, about.
    pub(super) fn weight(&self) -> usize {
        self.events.iter().map(Event::weight).sum()
    }
}

impl Event {
    pub(super) fn weight(&self) -> usize {
        match self {
            Event::Found(found) => {
                let lines = found.lines.iter().map(|line| size_of::<Line>() + line.text.len());
                size_of::<Event>() + found.path.len() + lines.sum::<usize>()
            }
            Event::Unreadable(path, message) => size_of::<Event>() + path.len() + message.len(),
            Event::Binary(path) | Event::Denied(path) | Event::TooLarge(path, _) | Event::InPieces(path) => {
                size_of::<Event>() + path.len()
            }
        }
    }
}
