//! Which lines of the new content are the patch's, and where the others stood before.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use super::change::ChangedFile;
use crate::limits::Deadline;

/// The longest time one comparison of two contents may take before it goes on coarsely.
const MAX_DIFF: Duration = Duration::from_secs(2);

/// A content cut into lines, each with its ending. Lines are counted from 0.
#[derive(Debug)]
pub(super) struct Lines<'b>(Vec<&'b [u8]>);

impl<'b> Lines<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Lines(bytes.split_inclusive(|&byte| byte == b'\n').collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The line with its ending; empty when there is no such line.
    pub(super) fn get(&self, line: usize) -> &'b [u8] {
        self.0.get(line).copied().unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &'b [u8]> {
        self.0.iter().copied()
    }

    /// The line that the byte at `offset` is in, and the byte's place in it; both from 0.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let mut start = 0;
        for (number, line) in self.0.iter().enumerate() {
            if offset < start + line.len() {
                return (number, offset - start);
            }
            start += line.len();
        }
        let last = self.0.len().saturating_sub(1);
        (last, self.get(last).len())
    }
}

/// A stretch of lines that was replaced by another; either may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) before: Range<usize>,
    pub(super) after: Range<usize>,
}

/// An old and a new content, line by line.
#[derive(Debug)]
pub(super) struct Comparison<'b> {
    pub(super) before: Lines<'b>,
    pub(super) after: Lines<'b>,
    pub(super) hunks: Vec<Hunk>,
}

impl<'b> Comparison<'b> {
    /// Compares the two contents of a change. Near-linear for contents that differ little; after two seconds, or at the
    /// deadline, the rest is taken as one stretch that was replaced.
    pub(super) fn of(change: &'b ChangedFile, deadline: Deadline) -> Self {
        let (before, after) = change.contents();
        let (before, after) = (Lines::new(before), Lines::new(after));
        let until = Instant::now() + deadline.left().unwrap_or(MAX_DIFF).min(MAX_DIFF);
        let ops = capture_diff_slices_deadline(Algorithm::Myers, &before.0, &after.0, Some(until));
        let mut hunks: Vec<Hunk> = Vec::new();
        for op in ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
            let hunk = Hunk { before: op.old_range(), after: op.new_range() };
            match hunks.last_mut() {
                Some(last) if last.before.end == hunk.before.start && last.after.end == hunk.after.start => {
                    last.before.end = hunk.before.end;
                    last.after.end = hunk.after.end;
                }
                _ => hunks.push(hunk),
            }
        }
        Comparison { before, after, hunks }
    }

    /// The last hunk that does not begin below `line` of the new content.
    fn hunk_at(&self, line: usize) -> Option<usize> {
        self.hunks.partition_point(|hunk| hunk.after.start <= line).checked_sub(1)
    }

    /// The hunk whose added lines `line` is one of.
    pub(super) fn hunk_adding(&self, line: usize) -> Option<usize> {
        // A hunk without added lines may begin at the same line as the next one.
        self.hunk_at(line).filter(|&at| self.hunks[at].after.contains(&line))
    }

    /// Where `line` of the new content stood in the old one; `None` when it was added.
    pub(super) fn old_line(&self, line: usize) -> Option<usize> {
        match self.hunk_at(line) {
            None => Some(line),
            Some(at) if self.hunks[at].after.contains(&line) => None,
            Some(at) => Some(line - self.hunks[at].after.end + self.hunks[at].before.end),
        }
    }

    /// Whether any of `lines` of the new content was added, or stands where lines were taken out.
    pub(super) fn touches(&self, lines: Range<usize>) -> bool {
        self.first_touched(lines).is_some()
    }

    /// The first of `lines` that was added or stands where lines were taken out.
    pub(super) fn first_touched(&self, lines: Range<usize>) -> Option<usize> {
        let at = self.hunks.partition_point(|hunk| hunk.after.end < lines.start);
        self.hunks[at..]
            .iter()
            .take_while(|hunk| hunk.after.start <= lines.end)
            .filter_map(|hunk| {
                // A gap is between two lines: both stand at it.
                let (start, end) = match hunk.after.is_empty() {
                    true => (hunk.after.start.saturating_sub(1), hunk.after.end + 1),
                    false => (hunk.after.start, hunk.after.end),
                };
                let first = start.max(lines.start);
                (first < end.min(lines.end)).then_some(first)
            })
            .min()
    }

    /// The added lines, in order.
    pub(super) fn added(&self) -> impl Iterator<Item = (usize, &'b [u8])> {
        self.hunks.iter().flat_map(|hunk| hunk.after.clone()).map(|line| (line, self.after.get(line)))
    }

    /// The removed lines, in order.
    pub(super) fn removed(&self) -> impl Iterator<Item = &'b [u8]> {
        self.hunks.iter().flat_map(|hunk| hunk.before.clone()).map(|line| self.before.get(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::FileImage;
    use crate::path::RelPath;

    fn change(before: &str, after: &str) -> ChangedFile {
        ChangedFile::new(RelPath::new(b"f").unwrap(), Some(FileImage::new(before)), Some(FileImage::new(after)))
    }

    #[test]
    fn lines_are_mapped_back() {
        let change = change("a\nb\nc\nd\ne\n", "a\nX\nY\nc\ne\nZ\n");
        let comparison = Comparison::of(&change, Deadline::NONE);
        let olds: Vec<_> = (0..6).map(|line| comparison.old_line(line)).collect();
        assert_eq!(olds, [Some(0), None, None, Some(2), Some(4), None]);
        assert_eq!(comparison.hunk_adding(5), Some(2));
        let touched: Vec<_> = (0..6).map(|line| comparison.touches(line..line + 1)).collect();
        assert_eq!(touched, [false, true, true, true, true, true], "the lines at a gap count as touched");
        assert_eq!(comparison.first_touched(0..6), Some(1));
    }

    #[test]
    fn a_byte_has_its_line() {
        let lines = Lines::new(b"ab\n\ncd");
        let places: Vec<_> = [0, 2, 3, 4, 5, 6, 99].iter().map(|&offset| lines.place(offset)).collect();
        assert_eq!(places, [(0, 0), (0, 2), (1, 0), (2, 0), (2, 1), (2, 2), (2, 2)]);
    }

    proptest::proptest! {
        /// Whatever the diff, kept lines are equal and in order, and each hunk's sides are apart.
        #[test]
        fn kept_lines_are_equal(before in "[ab\n]{0,40}", after in "[ab\n]{0,40}") {
            let change = change(&before, &after);
            let comparison = Comparison::of(&change, Deadline::NONE);
            let mut last = None;
            for line in 0..comparison.after.len() {
                if let Some(old) = comparison.old_line(line) {
                    assert_eq!(comparison.before.get(old), comparison.after.get(line));
                    assert!(last.is_none_or(|last| last < old));
                    last = Some(old);
                } else {
                    assert!(comparison.hunk_adding(line).is_some() && comparison.touches(line..line + 1));
                }
            }
            assert_eq!(comparison.removed().count() + comparison.after.len(), comparison.added().count() + comparison.before.len());
        }
    }
}
