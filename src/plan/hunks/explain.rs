//! From a miss to a failure that says what to do: the nearest place, what differs there, what stands there now.

use crate::matching::{Miss, Pattern, Placer, Query, most_alike, nearest};
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
        Miss::NotFound => match already_applied(placer, rows) {
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
            let anchor = hunk.anchors.get(anchor).map_or(&[][..], Vec::as_slice);
            let nearest = most_alike(placer.text(), anchor);
            failure.excerpt = nearest.map(|line| excerpt(placer.text(), line));
            let nearest = nearest.map(|line| line + 1);
            failure.kind = FailureKind::AnchorNotFound { anchor: CutLine::new(anchor).bytes, nearest };
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
        let cursor = placer.cursor();
        let text = placer.text();
        let Some(place) = nearest(text, query.old, cursor) else { return };
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
}

/// Where the new lines of a hunk already stand, when that says something: it adds a line with a letter or digit in it,
/// or it removes lines between context.
fn already_applied(placer: &mut Placer<'_>, rows: &[Row<'_>]) -> Option<(Tier, usize)> {
    let adds = rows.iter().any(|row| row.sign == Sign::Add && row.text.iter().any(u8::is_ascii_alphanumeric));
    let first_and_last = [rows.first()?.sign, rows.last()?.sign];
    if !adds && first_and_last != [Sign::Context, Sign::Context] {
        return None;
    }
    let new = rows::new_lines(rows);
    placer.searcher().first_hit(&mut Pattern::new(&new), 0)
}

fn found_at(candidates: &Candidates) -> FoundAt {
    FoundAt { lines: candidates.lines().iter().map(|line| line + 1).collect(), more: candidates.has_more() }
}

/// The file round a line.
fn excerpt(text: &LineIndex<'_>, line: usize) -> Excerpt {
    let first = line.saturating_sub(LEAD);
    Excerpt { first_line: first + 1, lines: text.lines_from(first).take(EXCERPT_LINES).map(CutLine::new).collect() }
}
