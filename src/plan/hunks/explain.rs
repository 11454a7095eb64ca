//! From a miss to a failure that says what to do: the nearest place, what differs there, what stands there now.

use std::ops::Range;

use crate::matching::{Miss, Pattern, Placer, Query, first_with, likeness, most_alike, nearest};
use crate::patch::{Hunk, Row, Sign};
use crate::policy::Tier;
use crate::text::LineIndex;

use super::failure::{CutLine, Difference, EXCERPT_LINES, Excerpt, FailureKind, FoundAt, HunkFailure};
use super::rows;
use crate::matching::Candidates;

/// Lines shown above the nearest place.
const LEAD: usize = 3;

/// Explains why a hunk with these rows was not placed. `number` counts from 0.
pub(super) fn explain(
    placer: &mut Placer<'_>,
    hunk: &Hunk,
    number: usize,
    rows: &[Row<'_>],
    query: &Query<'_>,
    miss: Miss,
) -> HunkFailure {
    let loosest = placer.searcher().loosest();
    let mut failure = HunkFailure::new(hunk, number, FailureKind::NotFound, loosest);
    match miss {
        Miss::NotFound => match already_applied(placer, rows, query) {
            Some((tier, line)) => {
                failure.kind = FailureKind::AlreadyApplied { line: line + 1 };
                failure.tier = tier;
                failure.excerpt = Some(excerpt(placer.text(), line));
            }
            None => failure.show_nearest(placer, query),
        },
        Miss::Behind { tier, lines } => {
            failure.excerpt = lines.lines().first().map(|&line| excerpt(placer.text(), line));
            (failure.kind, failure.tier) = (FailureKind::OutOfOrder { found: found_at(&lines) }, tier);
        }
        Miss::Ambiguous { tier, lines } => {
            (failure.kind, failure.tier) = (FailureKind::Ambiguous { found: found_at(&lines) }, tier);
        }
        Miss::OutsideAnchor { tier, lines } => {
            failure.excerpt = lines.lines().first().map(|&line| excerpt(placer.text(), line));
            (failure.kind, failure.tier) = (FailureKind::OutsideAnchor { found: found_at(&lines) }, tier);
        }
        Miss::AnchorNotFound { anchor } => {
            let above = anchor.checked_sub(1).and_then(|above| hunk.anchors.get(above));
            let anchor = hunk.anchors.get(anchor).map_or(&[][..], Vec::as_slice);
            let nearest = most_alike(placer.text(), anchor).or_else(|| first_with(placer.text(), anchor));
            failure.excerpt = nearest.map(|line| excerpt(placer.text(), line));
            failure.kind = FailureKind::AnchorNotFound {
                anchor: CutLine::new(anchor).bytes,
                below: above.map(|above| CutLine::new(above).bytes),
                nearest: nearest.map(|line| line + 1),
            };
        }
        Miss::AnchorAmbiguous { lines } => {
            let anchor = hunk.anchors.last().map_or(&[][..], Vec::as_slice);
            failure.kind = FailureKind::AnchorAmbiguous { anchor: CutLine::new(anchor).bytes, found: found_at(&lines) };
        }
    }
    failure
}

impl HunkFailure {
    pub(super) fn new(hunk: &Hunk, number: usize, kind: FailureKind, tier: Tier) -> Self {
        HunkFailure { hunk: number + 1, line: hunk.line, kind, tier, differs: None, excerpt: None }
    }

    fn show_nearest(&mut self, placer: &mut Placer<'_>, query: &Query<'_>) {
        let low = if query.anchors.is_empty() { placer.cursor() } else { placer.anchored_from(query.anchors) };
        let tier = placer.searcher().loosest();
        let text = placer.text();
        let Some(place) = nearest(text, query.old, low, tier) else { return self.show_whole(text, query) };
        let file_line = place.at + place.differs;
        let wanted = query.old[place.differs];
        let found = (file_line < text.len()).then(|| text.line(file_line));
        let (expected, found) = match found {
            Some(line) => {
                let (expected, found) = CutLine::pair(wanted, line);
                (expected, Some(found))
            }
            None => (CutLine::new(wanted), None),
        };
        self.differs = Some(Difference { old_line: place.differs + 1, file_line: file_line + 1, expected, found });
        // The difference is what matters: a long hunk is shown from there.
        let shown = if place.differs + LEAD < EXCERPT_LINES { place.at } else { file_line };
        self.excerpt = Some(excerpt(text, shown));
    }

    /// Nothing in the file is like the hunk: a short file is shown whole, and of an empty one that it ends at once.
    fn show_whole(&mut self, text: &LineIndex<'_>, query: &Query<'_>) {
        match text.len() {
            0 => {
                let expected = CutLine::new(query.old.first().copied().unwrap_or_default());
                self.differs = Some(Difference { old_line: 1, file_line: 1, expected, found: None });
            }
            1..=EXCERPT_LINES => self.excerpt = Some(excerpt(text, 0)),
            _ => {}
        }
    }
}

/// Where the new lines of a hunk already stand, when that says something: it adds a line with a letter or digit in it,
/// or it removes lines between context. Below its anchor, if it has one.
fn already_applied(placer: &mut Placer<'_>, rows: &[Row<'_>], query: &Query<'_>) -> Option<(Tier, usize)> {
    let adds = rows.iter().any(|row| row.sign == Sign::Add && is_telling(row.text));
    let first_and_last = [rows.first()?.sign, rows.last()?.sign];
    if !adds && first_and_last != [Sign::Context, Sign::Context] {
        return None;
    }
    let new = rows::new_lines(rows);
    let from = if query.anchors.is_empty() { 0 } else { placer.anchored_from(query.anchors) };
    let (tier, line) = placer.searcher().first_hit(&mut Pattern::new(&new), from)?;
    let has_context = rows.iter().any(|row| row.sign == Sign::Context && is_telling(row.text));
    (has_context || !is_likelier_elsewhere(placer.text(), query.old, line..line + new.len())).then_some((tier, line))
}

fn is_telling(line: &[u8]) -> bool {
    line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80)
}

/// Whether the longest old line is more like a line elsewhere than like those that are said to be its replacement: then
/// it was misquoted, and that its new text stands somewhere means nothing.
fn is_likelier_elsewhere(text: &LineIndex<'_>, old: &[&[u8]], new: Range<usize>) -> bool {
    let Some(want) = old.iter().max_by_key(|line| line.len()) else { return false };
    let here = text.lines_from(new.start).take(new.len()).map(|line| likeness(want, line)).max();
    most_alike(text, want).is_some_and(|line| Some(likeness(want, text.line(line))) > here)
}

fn found_at(candidates: &Candidates) -> FoundAt {
    FoundAt { lines: candidates.lines().iter().map(|line| line + 1).collect(), more: candidates.has_more() }
}

/// The file round a line.
fn excerpt(text: &LineIndex<'_>, line: usize) -> Excerpt {
    let first = line.saturating_sub(LEAD);
    Excerpt { first_line: first + 1, lines: text.lines_from(first).take(EXCERPT_LINES).map(CutLine::new).collect() }
}
