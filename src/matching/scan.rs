//! The raw bytes of a text as a filter: only lines that can have a certain view are looked at.
//!
//! A substring search goes through memory many times as fast as a walk from line to line. What a line counts as is a part
//! of it, so a line that has a view holds its bytes; only at the tier that folds can a line with other than ASCII bytes
//! have a view that it does not hold.

use bstr::ByteSlice as _;
use memchr::memmem::Finder;

use crate::policy::Tier;
use crate::text::LineIndex;

/// A needle shorter than this stands in too many lines to be worth a search.
pub(crate) const NEEDLE_MIN: usize = 4;
/// The longest needle that is searched for with vector instructions alone. Of a longer one its end is looked for, which
/// tells lines apart better than their indentation does; who asks for lines compares the whole anyway.
const NEEDLE_MAX: usize = 32;

/// Goes through the lines of a stretch of text that hold a needle, or might when folded.
#[derive(Debug)]
pub(crate) struct Scan<'t, 'a, 'n> {
    text: &'t LineIndex<'a>,
    finder: Option<Finder<'n>>,
    folds: bool,
    /// Where the next line begins that was not looked at, and where to stop.
    at: usize,
    end: usize,
    /// The next bytes at `at` or below that hold the needle, and that are not ASCII; the end when there are none.
    plain: usize,
    odd: usize,
    visited: u64,
}

impl<'t, 'a, 'n> Scan<'t, 'a, 'n> {
    /// A scan of the lines in `at..end`, which are borders of lines. `needle` is a view at `tier` and must not be empty.
    pub(crate) fn new(text: &'t LineIndex<'a>, needle: &'n [u8], tier: Tier, at: usize, end: usize) -> Self {
        let folds = tier == Tier::Unicode;
        // What is not ASCII after folding was not before.
        let part = &needle[needle.len().saturating_sub(NEEDLE_MAX)..];
        let finder = (!folds || needle.is_ascii()).then(|| Finder::new(part));
        let mut scan = Scan { text, finder, folds, at, end, plain: at, odd: at, visited: 0 };
        scan.look();
        scan
    }

    /// Lines looked at so far.
    pub(crate) fn visited(&self) -> u64 {
        self.visited
    }

    /// Finds what is next where it is not known.
    fn look(&mut self) {
        let bytes = &self.text.bytes()[..self.end];
        if self.plain <= self.at {
            let found = self.finder.as_ref().and_then(|finder| finder.find(&bytes[self.at..]));
            self.plain = found.map_or(self.end, |found| self.at + found);
        }
        if self.odd <= self.at {
            let found = if self.folds { bytes[self.at..].find_non_ascii_byte() } else { None };
            self.odd = found.map_or(self.end, |found| self.at + found);
        }
    }
}

impl<'a> Iterator for Scan<'_, 'a, '_> {
    /// Where the line begins, and its text.
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<(usize, &'a [u8])> {
        let offset = self.plain.min(self.odd);
        if offset >= self.end {
            return None;
        }
        let (raw, line) = self.text.line_around(offset);
        self.visited += 1;
        self.at = raw.end.min(self.end);
        // What was found inside this line has been seen.
        self.plain = if self.plain < self.at { self.at } else { self.plain };
        self.odd = if self.odd < self.at { self.at } else { self.odd };
        self.look();
        Some((raw.start, line))
    }
}
