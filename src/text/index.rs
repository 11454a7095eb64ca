//! Where the lines of a content begin: one pass, a few bytes of memory per line or less.

use std::ops::Range;

use super::bom::UTF8_BOM;
use super::ending::LineEnding;

/// Contents longer than this keep one line start of [`STRIDE`], so that the index of a large file costs next to nothing.
const DENSE_LIMIT: usize = 16 << 20;
/// Lines between two starts that a sparse index keeps. A look-up walks fewer than this many lines.
const STRIDE: usize = 64;

/// A content and where its lines begin.
///
/// Lines end in LF or CRLF; a lone CR ends a line only in a content that has no LF at all. Nothing else ends a line. A
/// UTF-8 byte order mark is part of no line. Numbers count from 0.
///
/// # Complexity
/// Building is one pass. Looking up a line is constant for contents of up to 16 MiB; in larger ones it walks
/// fewer than 64 lines. Iterating costs one newline search a line.
#[derive(Clone, Debug)]
pub(crate) struct LineIndex<'a> {
    bytes: &'a [u8],
    body: usize,
    separator: u8,
    starts: Starts,
    len: usize,
}

#[derive(Clone, Debug)]
enum Starts {
    /// The start of every line.
    Dense(Vec<u32>),
    /// The start of every [`STRIDE`]th line.
    Sparse(Vec<usize>),
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of a content.
    #[must_use]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::with_dense_limit(bytes, DENSE_LIMIT)
    }

    fn with_dense_limit(bytes: &'a [u8], dense_limit: usize) -> Self {
        let body = if bytes.starts_with(UTF8_BOM) { UTF8_BOM.len() } else { 0 };
        let has_lf = memchr::memchr(b'\n', &bytes[body..]).is_some();
        let separator = if !has_lf && memchr::memchr(b'\r', &bytes[body..]).is_some() { b'\r' } else { b'\n' };
        let mut index = LineIndex { bytes, body, separator, starts: Starts::Dense(Vec::new()), len: 0 };
        if bytes.len() <= dense_limit.min(u32::MAX as usize) {
            index.fill_dense();
        } else {
            index.fill_sparse();
        }
        index
    }

    fn fill_dense(&mut self) {
        let text = &self.bytes[self.body..];
        // A guess at 32 bytes a line saves most of the growing.
        let mut starts: Vec<u32> = Vec::with_capacity(text.len() / 32 + 1);
        let mut next = self.body as u32;
        for at in memchr::memchr_iter(self.separator, text) {
            starts.push(next);
            next = (self.body + at + 1) as u32;
        }
        if (next as usize) < self.bytes.len() {
            starts.push(next);
        }
        self.len = starts.len();
        self.starts = Starts::Dense(starts);
    }

    fn fill_sparse(&mut self) {
        let text = &self.bytes[self.body..];
        let (mut starts, mut next, mut len) = (Vec::new(), self.body, 0_usize);
        for at in memchr::memchr_iter(self.separator, text) {
            if len.is_multiple_of(STRIDE) {
                starts.push(next);
            }
            len += 1;
            next = self.body + at + 1;
        }
        if next < self.bytes.len() {
            if len.is_multiple_of(STRIDE) {
                starts.push(next);
            }
            len += 1;
        }
        self.len = len;
        self.starts = Starts::Sparse(starts);
    }

    /// The whole content, byte order mark included.
    #[must_use]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many lines there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no line.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Length of the UTF-8 byte order mark in front, 0 or 3.
    #[must_use]
    pub(crate) fn bom_len(&self) -> usize {
        self.body
    }

    /// Whether a lone CR ends the lines.
    #[must_use]
    pub(crate) fn is_cr_only(&self) -> bool {
        self.separator == b'\r'
    }

    /// Byte offset where line `i` begins; the end of the content when there is no such line.
    #[must_use]
    pub(crate) fn start(&self, i: usize) -> usize {
        if i >= self.len {
            return self.bytes.len();
        }
        match &self.starts {
            Starts::Dense(starts) => starts[i] as usize,
            Starts::Sparse(starts) => {
                let near = starts[i / STRIDE];
                match (i % STRIDE).checked_sub(1) {
                    None => near,
                    Some(nth) => {
                        let mut ends = memchr::memchr_iter(self.separator, &self.bytes[near..]);
                        ends.nth(nth).map_or(self.bytes.len(), |at| near + at + 1)
                    }
                }
            }
        }
    }

    /// Byte range of line `i` with its ending.
    #[must_use]
    pub(crate) fn raw(&self, i: usize) -> Range<usize> {
        let start = self.start(i);
        let end = match &self.starts {
            Starts::Dense(_) => self.start(i + 1),
            Starts::Sparse(_) => {
                memchr::memchr(self.separator, &self.bytes[start..]).map_or(self.bytes.len(), |at| start + at + 1)
            }
        };
        start..end
    }

    /// Line `i` without its ending; empty when there is no such line.
    #[must_use]
    pub(crate) fn line(&self, i: usize) -> &'a [u8] {
        self.split_ending(&self.bytes[self.raw(i)]).0
    }

    /// How line `i` ends.
    #[must_use]
    pub(crate) fn ending(&self, i: usize) -> LineEnding {
        self.split_ending(&self.bytes[self.raw(i)]).1
    }

    /// The line (from 0) that holds the byte at `offset`.
    #[must_use]
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        match &self.starts {
            Starts::Dense(starts) => starts.partition_point(|&start| start as usize <= offset).saturating_sub(1),
            Starts::Sparse(starts) => {
                let near = starts.partition_point(|&start| start <= offset).saturating_sub(1);
                let from = starts.get(near).copied().unwrap_or(self.body).min(offset);
                near * STRIDE + memchr::memchr_iter(self.separator, &self.bytes[from..offset]).count()
            }
        }
    }

    /// The lines from line `from` on, without their endings.
    pub(crate) fn lines_from(&self, from: usize) -> Lines<'a> {
        let rest = &self.bytes[self.start(from)..];
        Lines { ends: memchr::memchr_iter(self.separator, rest), rest, at: 0, separator: self.separator }
    }

    fn split_ending(&self, raw: &'a [u8]) -> (&'a [u8], LineEnding) {
        split_ending(raw, self.separator)
    }
}

fn split_ending(raw: &[u8], separator: u8) -> (&[u8], LineEnding) {
    match raw {
        [line @ .., b'\r', b'\n'] if separator == b'\n' => (line, LineEnding::CrLf),
        [line @ .., b'\n'] if separator == b'\n' => (line, LineEnding::Lf),
        [line @ .., b'\r'] if separator == b'\r' => (line, LineEnding::Cr),
        line => (line, LineEnding::None),
    }
}

/// Iterator over lines without their endings.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    ends: memchr::Memchr<'a>,
    rest: &'a [u8],
    at: usize,
    separator: u8,
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.at >= self.rest.len() {
            return None;
        }
        let end = self.ends.next().map_or(self.rest.len(), |end| end + 1);
        let raw = &self.rest[self.at..end];
        self.at = end;
        Some(split_ending(raw, self.separator).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Lines and endings, told in the plainest way.
    fn naive(bytes: &[u8]) -> Vec<(Vec<u8>, LineEnding)> {
        let text = bytes.strip_prefix(UTF8_BOM).unwrap_or(bytes);
        let cr_only = !text.contains(&b'\n');
        let (mut out, mut line) = (Vec::new(), Vec::new());
        for &byte in text {
            match byte {
                b'\n' if line.last() == Some(&b'\r') => {
                    line.pop();
                    out.push((std::mem::take(&mut line), LineEnding::CrLf));
                }
                b'\n' => out.push((std::mem::take(&mut line), LineEnding::Lf)),
                b'\r' if cr_only => out.push((std::mem::take(&mut line), LineEnding::Cr)),
                _ => line.push(byte),
            }
        }
        if !line.is_empty() {
            out.push((line, LineEnding::None));
        }
        out
    }

    fn check(bytes: &[u8], dense_limit: usize) {
        let index = LineIndex::with_dense_limit(bytes, dense_limit);
        let want = naive(bytes);
        let got: Vec<_> = (0..index.len()).map(|i| (index.line(i).to_vec(), index.ending(i))).collect();
        assert_eq!(got, want);
        let walked: Vec<_> = index.lines_from(0).map(<[u8]>::to_vec).collect();
        assert_eq!(walked, want.iter().map(|(line, _)| line.clone()).collect::<Vec<_>>());
        let mut next = index.bom_len();
        for i in 0..index.len() {
            let raw = index.raw(i);
            assert_eq!(raw.start, next);
            assert!(raw.clone().all(|offset| index.line_at(offset) == i));
            next = raw.end;
        }
        assert_eq!(next, bytes.len());
        assert_eq!(index.start(index.len()), bytes.len());
    }

    proptest! {
        #[test]
        fn lines_are_those_of_a_plain_reading(
            bytes in prop::collection::vec(prop::sample::select(b"ab\n\n\r".to_vec()), 0..600),
            bom: bool,
            dense: bool,
        ) {
            let mut text = if bom { UTF8_BOM.to_vec() } else { Vec::new() };
            text.extend(bytes);
            check(&text, if dense { usize::MAX } else { 0 });
        }

        #[test]
        fn a_lone_cr_ends_lines_where_no_lf_is(bytes in prop::collection::vec(prop::sample::select(b"ab\r".to_vec()), 0..40)) {
            check(&bytes, usize::MAX);
            check(&bytes, 0);
        }
    }
}
