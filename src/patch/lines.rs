//! Bytes in at any boundary, lines out.
//!
//! A line ends in LF or CRLF. Each byte is searched for a line feed once and copied at most once, however small the
//! pieces are: what is already known to hold no line feed is not looked at again.

use std::ops::Range;

use crate::text::Trimmed as _;

/// Bytes that are kept unseen until somebody asks or this many have come together, so that a tiny piece costs no more
/// than its copy.
const STAGE: usize = 8 * 1024;

/// How much of a line an error may quote, in bytes.
pub(super) const EXCERPT: usize = 160;

/// One line of the patch text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Where it begins in the patch text.
    pub(super) start: u64,
    /// The line with its ending, if it has one.
    pub(super) raw: &'a [u8],
    /// The line without.
    pub(super) text: &'a [u8],
}

impl<'a> Line<'a> {
    pub(super) fn new(number: u64, start: u64, raw: &'a [u8]) -> Self {
        let text = raw.strip_suffix(b"\n").unwrap_or(raw);
        Line { number, start, raw, text: text.strip_suffix(b"\r").unwrap_or(text) }
    }

    /// The line and its ending, if that is a bare line feed: what can be copied in one go.
    pub(super) fn whole(&self) -> Option<&'a [u8]> {
        (self.raw.len() == self.text.len() + 1 && self.raw.ends_with(b"\n")).then_some(self.raw)
    }

    pub(super) fn is_blank(&self) -> bool {
        match self.text.iter().find(|byte| **byte != b' ') {
            None => true,
            Some(b'!'..=b'~') => false,
            Some(_) => self.text.trimmed().is_empty(),
        }
    }
}

/// A line that is remembered after its bytes are gone: where it was and how it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) number: u64,
    pub(super) span: Range<u64>,
    /// Its first bytes, one more than [`EXCERPT`] at most, so that it can be seen that it goes on.
    pub(super) excerpt: Vec<u8>,
}

impl Place {
    fn set(&mut self, line: &Line<'_>) {
        self.number = line.number;
        self.span = line.start..line.start + line.text.len() as u64;
        self.excerpt.clear();
        self.excerpt.extend_from_slice(&line.text[..line.text.len().min(EXCERPT + 1)]);
    }
}

impl Place {
    /// Remembers the whole line, with its ending.
    pub(super) fn whole(line: Line<'_>) -> Self {
        let mut place = Place::from(line);
        place.excerpt = line.raw.to_vec();
        place
    }

    /// The line that [`Place::whole`] remembers.
    pub(super) fn line(&self) -> Line<'_> {
        Line::new(self.number, self.span.start, &self.excerpt)
    }
}

impl From<Line<'_>> for Place {
    fn from(line: Line<'_>) -> Self {
        let mut place = Place::default();
        place.set(&line);
        place
    }
}

/// The splitter.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Bytes that came in. The first `given` were given out as lines and are dropped when enough of them have come together.
    held: Vec<u8>,
    given: usize,
    /// How many of `held`, from the front, need not be searched for a line feed any more.
    scanned: usize,
    /// Lines given out.
    count: u64,
    /// Where the next line begins in the patch text.
    start: u64,
    /// The last line given out that is not blank.
    last: Place,
    /// Bytes searched and bytes copied, for the proof that work is linear.
    #[cfg(test)]
    pub(super) steps: usize,
}

impl Lines {
    /// Keeps a small piece for later. Says `false` when the piece must go through [`Lines::feed`].
    #[inline]
    pub(super) fn stage(&mut self, bytes: &[u8]) -> bool {
        let fits = self.held.len() - self.scanned + bytes.len() <= STAGE;
        if fits {
            self.step(bytes.len());
            self.held.extend_from_slice(bytes);
        }
        fits
    }

    /// Whether a line is complete that was not given out.
    #[inline]
    pub(super) fn has_line(&mut self) -> bool {
        let unseen = &self.held[self.scanned..];
        if unseen.first() == Some(&b'\n') {
            // It was found when somebody asked before.
            return true;
        }
        let (looked, found) = (unseen.len(), memchr::memchr(b'\n', unseen));
        self.scanned += found.unwrap_or(looked);
        self.step(looked);
        found.is_some()
    }

    /// Takes `bytes` in and gives out every line that is complete. After an error the splitter is of no more use.
    pub(super) fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        give: &mut impl FnMut(Line<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.flush(give)?;
        if bytes.is_empty() {
            return Ok(());
        }
        self.drop_given();
        if !self.held.is_empty() {
            self.step(bytes.len());
            let Some(end) = memchr::memchr(b'\n', bytes) else {
                self.keep(bytes);
                return Ok(());
            };
            let (head, rest) = bytes.split_at(end + 1);
            self.keep(head);
            let held = self.take_held();
            self.give(&held, give)?;
            self.given = held.len();
            self.held = held;
            self.drop_given();
            bytes = rest;
        }
        let used = self.run(bytes, give)?;
        self.remember(&bytes[..used]);
        self.keep(&bytes[used..]);
        Ok(())
    }

    /// Gives out the last line, if the text does not end in a line feed, and says where the last line was that is not
    /// blank.
    pub(super) fn finish<E>(mut self, give: &mut impl FnMut(Line<'_>) -> Result<(), E>) -> Result<Place, E> {
        self.flush(give)?;
        self.drop_given();
        let held = self.take_held();
        if !held.is_empty() {
            self.give(&held, give)?;
            self.remember(&held);
        }
        Ok(self.last)
    }

    /// Gives out the complete lines among the bytes held.
    fn flush<E>(&mut self, give: &mut impl FnMut(Line<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.has_line() {
            return Ok(());
        }
        let (begin, end) = (self.given, self.scanned + 1);
        let held = self.take_held();
        self.give(&held[begin..end], give)?;
        self.given = end + self.run(&held[end..], give)?;
        self.scanned = held.len();
        self.held = held;
        if self.given >= STAGE {
            self.drop_given();
        }
        Ok(())
    }

    /// Forgets the bytes that were given out, but for the last line of them.
    fn drop_given(&mut self) {
        if self.given > 0 {
            let given = self.given;
            let mut held = self.take_held();
            self.remember(&held[..given]);
            self.step(held.len() - given);
            held.drain(..given);
            self.scanned = held.len();
            self.held = held;
        }
    }

    /// Gives out the lines of `bytes` and says how many bytes they take.
    fn run<E>(&mut self, bytes: &[u8], give: &mut impl FnMut(Line<'_>) -> Result<(), E>) -> Result<usize, E> {
        self.step(bytes.len());
        let mut begin = 0;
        for at in memchr::memchr_iter(b'\n', bytes) {
            self.give(&bytes[begin..=at], give)?;
            begin = at + 1;
        }
        Ok(begin)
    }

    #[inline]
    fn give<E>(&mut self, raw: &[u8], give: &mut impl FnMut(Line<'_>) -> Result<(), E>) -> Result<(), E> {
        let line = Line::new(self.count + 1, self.start, raw);
        self.count += 1;
        self.start += raw.len() as u64;
        give(line)
    }

    /// Keeps bytes that hold no line feed, or end in the only one.
    fn keep(&mut self, bytes: &[u8]) {
        self.step(bytes.len());
        self.held.extend_from_slice(bytes);
        self.scanned = self.held.len();
    }

    /// Takes the bytes held out; the splitter is as good as new if they are not put back.
    fn take_held(&mut self) -> Vec<u8> {
        (self.given, self.scanned) = (0, 0);
        std::mem::take(&mut self.held)
    }

    /// Remembers the last line of those just given out that is not blank.
    fn remember(&mut self, given: &[u8]) {
        let (mut number, mut end) = (self.count, given.len());
        while end > 0 {
            let begin = memchr::memrchr(b'\n', &given[..end - 1]).map_or(0, |at| at + 1);
            self.step(end - begin);
            let line = Line::new(number, self.start - (given.len() - begin) as u64, &given[begin..end]);
            if !line.is_blank() {
                self.last.set(&line);
                return;
            }
            (number, end) = (number - 1, begin);
        }
    }

    #[cfg(test)]
    fn step(&mut self, bytes: usize) {
        self.steps += bytes;
    }

    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "counts in tests only")]
    fn step(&mut self, _bytes: usize) {}
}
