//! A real unified diff that fits to the byte: what it says is then written to the byte, endings and marks included.
//!
//! The rows of such a diff are lines as git and diff see them: they end in LF alone, and a CR or a byte order mark is part
//! of the text. While every hunk of a file fits so, the new content is made of the rows as they stand; the first one that
//! does not leaves the file to the rules for loose texts.

use std::ops::Range;

use crate::patch::{Hunk, Sign};
use crate::text::{LineIndex, Spliced};

/// The exact changes of the hunks so far.
#[derive(Debug, Default)]
pub(super) struct Strict {
    /// Old bytes that are replaced, ascending, each with the end of its new bytes in `fresh`.
    cuts: Vec<(Range<usize>, usize)>,
    fresh: Vec<u8>,
    /// A hunk did not fit to the byte.
    failed: bool,
}

impl Strict {
    /// The line (from 0) that a unified header names, if the hunk's old lines stand there to the byte.
    pub(super) fn at_header(&self, hunk: &Hunk, text: &LineIndex<'_>) -> Option<usize> {
        let line = usize::try_from(hunk.old_line?.checked_sub(1)?).ok()?;
        (hunk.unified && hunk.old_len() > 0 && self.old_end(hunk, text, line).is_some()).then_some(line)
    }

    /// Takes a hunk that was placed at `line`.
    pub(super) fn take(&mut self, hunk: &Hunk, text: &LineIndex<'_>, line: usize) {
        let start = start(text, line).filter(|_| hunk.unified && !self.failed);
        let fits = start.filter(|start| {
            self.cuts.last().is_none_or(|(last, _)| last.end <= *start || self.context_reaches(hunk, last.end, *start))
                && self.old_end(hunk, text, line).is_some()
        });
        match fits {
            Some(start) => self.cut(hunk, start),
            None => self.failed = true,
        }
    }

    /// Whether the hunk quotes as context everything from its start to `changed`.
    fn context_reaches(&self, hunk: &Hunk, changed: usize, start: usize) -> bool {
        let context = hunk.rows().take_while(|row| row.sign == Sign::Context);
        start + context.map(|row| row.text.len() + 1).sum::<usize>() >= changed
    }

    /// Where the old lines end in the content, if they stand at `line` to the byte.
    fn old_end(&self, hunk: &Hunk, text: &LineIndex<'_>, line: usize) -> Option<usize> {
        let mut at = start(text, line)?;
        for row in hunk.rows().filter(|row| row.sign != Sign::Add) {
            let rest = text.bytes()[at..].strip_prefix(row.text)?;
            at += row.text.len();
            if row.no_newline {
                return rest.is_empty().then_some(at);
            }
            (rest.first() == Some(&b'\n')).then_some(())?;
            at += 1;
        }
        Some(at)
    }

    fn cut(&mut self, hunk: &Hunk, start: usize) {
        let mut at = start;
        for row in hunk.rows() {
            let len = row.text.len() + usize::from(!row.no_newline);
            if row.sign == Sign::Context {
                at += len;
                continue;
            }
            let removed = if row.sign == Sign::Remove { len } else { 0 };
            if row.sign == Sign::Add {
                self.fresh.extend_from_slice(row.text);
                if !row.no_newline {
                    self.fresh.push(b'\n');
                }
            }
            match self.cuts.last_mut() {
                Some((last, fresh)) if last.end == at => {
                    last.end += removed;
                    *fresh = self.fresh.len();
                }
                _ => self.cuts.push((at..at + removed, self.fresh.len())),
            }
            at += removed;
        }
    }

    /// The new content, if every hunk fits to the byte.
    pub(super) fn write(&self, text: &LineIndex<'_>) -> Option<Spliced> {
        if self.failed || self.cuts.is_empty() {
            return None;
        }
        let (mut out, mut at, mut fresh) = (Spliced::default(), 0, 0);
        for (cut, end) in &self.cuts {
            out.keep(at..cut.start);
            out.add(&self.fresh[fresh..*end]);
            (at, fresh) = (cut.end, *end);
        }
        out.keep(at..text.bytes().len());
        Some(out)
    }
}

/// Where a line (from 0) that ends in LF begins; `None` below the end.
fn start(text: &LineIndex<'_>, line: usize) -> Option<usize> {
    match line {
        0 => Some(0),
        _ if text.is_cr_only() || line >= text.len() => None,
        _ => Some(text.start(line)),
    }
}
