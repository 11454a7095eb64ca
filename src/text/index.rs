//! Where the lines of a content begin: one pass, a few bytes of memory per line or less.

use std::ops::Range;

use super::bom::UTF8_BOM;
use super::ending::LineEnding;

/// Contents longer than this have their lines counted by the block at first. Counting is some ten times as fast as
/// noting every start, and most files are asked for a few lines only.
const DENSE_LIMIT: usize = 4 << 10;
/// Bytes of a block. A look-up reads less than one, line by line, which is why blocks are small; smaller ones would make
/// counting dear.
const BLOCK: usize = 512;

/// A content and where its lines begin.
///
/// Lines end in LF or CRLF; a lone CR ends a line only in a content that has no LF at all. Nothing else ends a line. A
/// UTF-8 byte order mark is part of no line. Numbers count from 0.
///
/// # Complexity
/// Building is one pass. Looking up a line is constant for contents of up to 4 KiB and after [`LineIndex::densify`]; else it
/// reads less than 512 bytes. Iterating costs one newline search a line.
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
    /// For each [`BLOCK`] of bytes, how many lines end before it.
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
        if bytes.len() <= dense_limit {
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
        let mut ended = 0;
        let before = self.bytes.chunks(BLOCK).map(|block| {
            let before = ended;
            ended += memchr::memchr_iter(self.separator, block).count();
            before
        });
        let before = before.collect();
        let unended = self.bytes.len() > self.body && self.bytes.last() != Some(&self.separator);
        self.len = ended + usize::from(unended);
        self.starts = Starts::Sparse(before);
    }

    /// Makes look-ups constant, at the price of one more pass and four bytes a line. For who asks for many lines.
    pub(crate) fn densify(&mut self) {
        if matches!(self.starts, Starts::Sparse(_)) && u32::try_from(self.bytes.len()).is_ok() {
            self.fill_dense();
        }
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
            Starts::Sparse(_) if i == 0 => self.body,
            Starts::Sparse(before) => {
                let block = before.partition_point(|&ended| ended < i) - 1;
                let from = block * BLOCK;
                let mut ends = memchr::memchr_iter(self.separator, &self.bytes[from..]);
                ends.nth(i - before[block] - 1).map_or(self.bytes.len(), |at| from + at + 1)
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
        self.ending_at(self.raw(i).end)
    }

    /// How the line ends that ends at `offset`, ending included. Constant time.
    #[must_use]
    pub(crate) fn ending_at(&self, offset: usize) -> LineEnding {
        self.split_ending(&self.bytes[self.body..offset]).1
    }

    /// The line (from 0) that holds the byte at `offset`.
    #[must_use]
    pub(crate) fn line_at(&self, offset: usize) -> usize {
        match &self.starts {
            Starts::Dense(starts) => starts.partition_point(|&start| start as usize <= offset).saturating_sub(1),
            Starts::Sparse(before) => {
                let block = (offset / BLOCK).min(before.len() - 1);
                let from = block * BLOCK;
                let ended = memchr::memchr_iter(self.separator, &self.bytes[from..offset]).count();
                (before[block] + ended).min(self.len.saturating_sub(1))
            }
        }
    }

    /// The byte range, ending included, and the text of the line that holds the byte at `offset`. Asks for no number.
    #[inline]
    pub(crate) fn line_around(&self, offset: usize) -> (Range<usize>, &'a [u8]) {
        let start = memchr::memrchr(self.separator, &self.bytes[self.body..offset]);
        let start = start.map_or(self.body, |at| self.body + at + 1);
        let end = memchr::memchr(self.separator, &self.bytes[offset..]).map_or(self.bytes.len(), |at| offset + at + 1);
        (start..end, self.split_ending(&self.bytes[start..end]).0)
    }

    /// How many lines end between two offsets.
    pub(crate) fn lines_between(&self, from: usize, to: usize) -> usize {
        memchr::memchr_iter(self.separator, &self.bytes[from..to]).count()
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
        let mut index = LineIndex::with_dense_limit(bytes, dense_limit);
        check_index(&index, bytes);
        index.densify();
        check_index(&index, bytes);
    }

    fn check_index(index: &LineIndex<'_>, bytes: &[u8]) {
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
            assert!(raw.clone().all(|offset| index.line_around(offset) == (raw.clone(), index.line(i))));
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
        fn lines_of_more_than_one_block_are_told(lengths in prop::collection::vec(0_usize..700, 20..60)) {
            let text: Vec<u8> = lengths.iter().flat_map(|&len| [vec![b'x'; len], b"\n".to_vec()].concat()).collect();
            let index = LineIndex::with_dense_limit(&text, 0);
            let mut start = 0;
            for (i, len) in lengths.iter().enumerate() {
                prop_assert_eq!(index.raw(i), start..start + len + 1);
                prop_assert_eq!((index.line_at(start), index.line_at(start + len)), (i, i));
                start += len + 1;
            }
        }

        #[test]
        fn a_lone_cr_ends_lines_where_no_lf_is(bytes in prop::collection::vec(prop::sample::select(b"ab\r".to_vec()), 0..40)) {
            check(&bytes, usize::MAX);
            check(&bytes, 0);
        }
    }
}
