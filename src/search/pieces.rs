//! Files with lines too long to be held: such a line is searched in overlapping pieces, the rest as usual.
//!
//! # Limitations
//! In a long line a match longer than [`OVERLAP`] may be missed. Context lines are shown only from the same piece.

use std::io::{self, Read};

use super::grep::{Engine, LONGEST_LINE};
use super::hits::Hits;

/// How much of a long line is searched again with its next piece.
const OVERLAP: usize = 64 << 10;

/// Where the search of a long line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// Not in one: the buffer begins at the start of a line.
    No,
    /// In one that has not matched yet.
    Unmatched,
    /// In one whose hit is taken.
    Matched,
}

/// Searches `text` to its end or as far as `hits` wants; `buffer` is memory to work in.
///
/// # Errors
/// Those of `text`.
///
/// # Complexity
/// Linear; memory for one piece of [`LONGEST_LINE`] bytes.
pub(super) fn search(
    engine: &mut Engine<'_>,
    text: &mut impl Read,
    buffer: &mut Vec<u8>,
    hits: &mut Hits<'_>,
) -> io::Result<()> {
    let mut pieces = Pieces { engine, hits, line: 1, inside: Inside::No };
    buffer.clear();
    let mut first = true;
    loop {
        let old = buffer.len();
        // `take` keeps the read from growing the buffer beyond one piece.
        let room = LONGEST_LINE.saturating_sub(old);
        buffer.reserve_exact(room);
        let read = text.by_ref().take(room as u64).read_to_end(buffer)?;
        let last = read < room;
        if std::mem::take(&mut first) && buffer.starts_with(b"\xEF\xBB\xBF") {
            buffer.drain(..3);
        }
        if memchr::memchr(0, &buffer[old.min(buffer.len())..]).is_some() {
            pieces.hits.binary = true;
            return Ok(());
        }
        let Some(used) = pieces.search(buffer, last)? else { return Ok(()) };
        if last {
            return Ok(());
        }
        buffer.drain(..used);
    }
}

struct Pieces<'s, 'p, 'h, 'k> {
    engine: &'s mut Engine<'p>,
    hits: &'h mut Hits<'k>,
    /// The number of the line that the buffer begins in.
    line: u64,
    inside: Inside,
}

impl Pieces<'_, '_, '_, '_> {
    /// Searches what is in the buffer: how many bytes are done with, `None` when no more is wanted.
    fn search(&mut self, buffer: &[u8], last: bool) -> io::Result<Option<usize>> {
        let mut done = 0;
        if self.inside != Inside::No {
            let end = memchr::memchr(b'\n', buffer);
            if !self.piece(&buffer[..end.unwrap_or(buffer.len())], last || end.is_some()) {
                return Ok(None);
            }
            let Some(end) = end else { return Ok(Some(self.tail(buffer))) };
            self.inside = Inside::No;
            self.line += 1;
            done = end + 1;
        }
        let lines = match memchr::memrchr(b'\n', &buffer[done..]) {
            _ if last => buffer.len() - done,
            Some(end) => end + 1,
            None => 0,
        };
        if lines > 0 {
            let text = &buffer[done..done + lines];
            self.hits.base = self.line - 1;
            self.engine.slice(text, self.hits)?;
            if self.hits.is_full() {
                return Ok(None);
            }
            self.line += memchr::memchr_iter(b'\n', text).count() as u64;
            done += lines;
        }
        if done == 0 && !last {
            // A whole buffer, and the line has no end yet.
            if !self.piece(buffer, false) {
                return Ok(None);
            }
            return Ok(Some(self.tail(buffer)));
        }
        Ok(Some(done))
    }

    /// Searches a piece of a long line, the first one if none was before: whether to go on.
    fn piece(&mut self, piece: &[u8], last: bool) -> bool {
        let first = self.inside == Inside::No;
        if first {
            self.inside = Inside::Unmatched;
        } else if self.inside == Inside::Matched {
            return true;
        }
        let line = if last { super::grep::trimmed(piece) } else { piece };
        // Where the piece is not the start of its line, its first byte only tells what stands before the rest.
        let Some((start, end)) = self.engine.first_in(line, usize::from(!first)) else { return true };
        if !last && end == line.len() && line.len() - start < OVERLAP {
            // It may go on, or be no match at all: the next piece holds all of it.
            return true;
        }
        self.inside = Inside::Matched;
        self.hits.base = 0;
        if self.hits.needs_no_lines() {
            self.hits.count(1)
        } else {
            self.hits.matched_part(self.line, line, start, (!first, !last))
        }
    }

    /// How much of a buffer that ends inside a long line is done with.
    fn tail(&self, buffer: &[u8]) -> usize {
        if self.inside == Inside::Matched { buffer.len() } else { buffer.len().saturating_sub(OVERLAP) }
    }
}

#[cfg(test)]
mod tests;
