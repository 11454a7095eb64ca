//! Lines of one text that match: ripgrep's searcher and its sink, and nothing outside this file knows them.

use std::io::{self, Read};

use grep_matcher::{LineMatchKind, LineTerminator, Matcher as _};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};

use super::hits::Hits;
use super::matcher::Finds;
use super::options::{Mode, SearchOptions};
use super::pattern::Pattern;

/// The longest line that is searched as a whole, and the most memory a thread spends on one.
pub(super) const LONGEST_LINE: usize = 8 << 20;

/// Searchers with their buffers; each thread has them.
pub(super) struct Engine<'p> {
    pattern: &'p Pattern,
    builder: SearcherBuilder,
    /// For texts in memory; it needs no buffer.
    slices: Searcher,
    /// For texts that are read, made for the first of them.
    streams: Option<Searcher>,
    /// Matches can go over line ends, so that a text must be in memory as a whole.
    pub(super) multiline: bool,
}

impl<'p> Engine<'p> {
    pub(super) fn new(pattern: &'p Pattern, options: &SearchOptions) -> Self {
        let mut builder = SearcherBuilder::new();
        let (before, after) = match options.mode {
            Mode::Content => (options.before, options.after),
            Mode::Files | Mode::Count => (0, 0),
        };
        let line_end = if pattern.crlf { LineTerminator::crlf() } else { LineTerminator::byte(b'\n') };
        builder
            .line_terminator(line_end)
            .line_number(options.mode == Mode::Content)
            .before_context(before)
            .after_context(after)
            .multi_line(options.multiline)
            .bom_sniffing(false)
            .heap_limit(Some(1));
        let slices = builder.build();
        builder.bom_sniffing(true).heap_limit(Some(LONGEST_LINE)).binary_detection(BinaryDetection::quit(0));
        let multiline = slices.multi_line_with_matcher(&pattern.matcher);
        Engine { pattern, builder, slices, streams: None, multiline }
    }

    /// Searches a text that is in memory and is UTF-8 or bytes of some other kind, without a byte order mark.
    pub(super) fn slice(&mut self, text: &[u8], hits: &mut Hits<'_>) -> io::Result<()> {
        let matcher = &self.pattern.matcher;
        if hits.needs_no_lines() && !self.multiline && matcher.line_terminator().is_some() {
            count_lines(matcher, text, hits);
            return Ok(());
        }
        if let Finds::Literal(finder) = matcher
            && finder.find(text).is_none()
        {
            return Ok(());
        }
        let sink = ToHits { hits, pattern: self.pattern, multiline: self.multiline };
        self.slices.search_slice(matcher, text, sink)
    }

    /// The first match in a stretch of one line that begins at `from` or after it.
    pub(super) fn first_in(&self, stretch: &[u8], from: usize) -> Option<(usize, usize)> {
        let from = from.min(stretch.len());
        self.pattern.matcher.find_at(stretch, from).ok().flatten().map(|found| (found.start(), found.end()))
    }

    /// Searches a text that is read piece by piece; its byte order mark says its encoding. A NUL ends it.
    ///
    /// # Errors
    /// Those of `text`, and one of its own when a line is longer than [`LONGEST_LINE`].
    pub(super) fn stream(&mut self, text: impl Read, hits: &mut Hits<'_>) -> io::Result<()> {
        let sink = ToHits { hits, pattern: self.pattern, multiline: self.multiline };
        let searcher = self.streams.get_or_insert_with(|| self.builder.build());
        searcher.search_reader(&self.pattern.matcher, text, sink)
    }
}

/// Counts lines that match, as the searcher does, without looking for where they begin.
fn count_lines(matcher: &Finds, text: &[u8], hits: &mut Hits<'_>) {
    let crlf = matcher.line_terminator().is_some_and(|end| end.is_crlf());
    let mut at = 0;
    while at < text.len() {
        let Ok(Some(found)) = matcher.find_candidate_line(&text[at..]) else { return };
        let (LineMatchKind::Confirmed(inside) | LineMatchKind::Candidate(inside)) = found;
        let inside = at + inside;
        if inside == text.len() && text.ends_with(b"\n") {
            // A match after the last line end is in no line.
            return;
        }
        let end = memchr::memchr(b'\n', &text[inside..]).map_or(text.len(), |end| inside + end + 1);
        let counts = match found {
            LineMatchKind::Confirmed(_) => true,
            LineMatchKind::Candidate(_) => {
                let start = memchr::memrchr(b'\n', &text[at..inside]).map_or(at, |before| at + before + 1);
                let line = &text[start..end];
                let line = if crlf { trimmed(line) } else { line.strip_suffix(b"\n").unwrap_or(line) };
                matcher.is_match(line).unwrap_or(false)
            }
        };
        if counts && !hits.count(1) {
            return;
        }
        at = end;
    }
}

/// Receives what the searcher finds.
struct ToHits<'h, 'o> {
    hits: &'h mut Hits<'o>,
    pattern: &'h Pattern,
    multiline: bool,
}

impl ToHits<'_, '_> {
    /// How many matches begin in a stretch of a text.
    fn matches(&self, found: &SinkMatch<'_>) -> u64 {
        let range = found.bytes_range_in_buffer();
        let mut matches = 0;
        let each = |one: grep_matcher::Match| {
            let inside = one.start() < range.end;
            matches += u64::from(inside);
            inside
        };
        let _never = self.pattern.matcher.find_iter_at(found.buffer(), range.start, each);
        matches
    }

    /// Where the first match in a line begins that is too long to be shown, 0 when it began before.
    fn first_match(&self, found: &SinkMatch<'_>, line: &[u8], start: usize) -> usize {
        if !self.hits.cuts(line) {
            return 0;
        }
        let first = if self.multiline {
            let at = found.bytes_range_in_buffer().start + start;
            self.pattern.matcher.find_at(found.buffer(), at).ok().flatten().map(|one| one.start() - at)
        } else {
            self.pattern.matcher.find(line).ok().flatten().map(|one| one.start())
        };
        first.filter(|at| *at < line.len()).unwrap_or(0)
    }
}

impl Sink for ToHits<'_, '_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.hits.needs_no_lines() {
            let count = if self.multiline { self.matches(found) } else { 1 };
            return Ok(self.hits.count(count));
        }
        let mut start = 0;
        for (number, raw) in (found.line_number().unwrap_or(0)..).zip(found.lines()) {
            let line = trimmed(raw);
            let at = self.first_match(found, line, start);
            if !self.hits.matched(number, line, at) {
                return Ok(false);
            }
            start += raw.len();
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.hits.context(context.line_number().unwrap_or(0), trimmed(context.bytes()));
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.hits.binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

/// A line without its ending.
pub(super) fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests;
