//! From the bytes of one file and hunks to its new content, or to all the reasons why not.

mod edits;
mod explain;
mod failure;
mod reindent;
mod rows;
mod strict;

pub use failure::{CutLine, Difference, Excerpt, FailureKind, FoundAt, HunkFailure, UpdateError};

use crate::matching::{Placer, Query, Spot};
use crate::patch::{Hunk, Row, Sign};
use crate::policy::{Policy, Tier};
use crate::text::{LineIndex, Spliced, WideEncoding};

use edits::{Edits, Placing, WriteStyle};
use reindent::{Change, Depths, Reindent};
use strict::Strict;

/// Hunks that may fail before further ones are only counted.
const MISFITS: usize = 20;

/// The new content of a file, and where each hunk went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updated {
    /// The new content, as stretches of the old one and fresh bytes.
    pub spliced: Spliced,
    /// One entry per hunk, in the order of the patch.
    pub placed: Vec<Placed>,
}

/// Where a hunk went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Which hunk of the file's update it is, counted from 1.
    pub hunk: usize,
    /// Its first old line in the file as it was, counted from 1. An insertion without context has the line it goes above,
    /// which is one more than the file has lines when it goes to the end.
    pub line: usize,
    /// How many old lines it covers.
    pub old_lines: usize,
    /// The tier at which it fits.
    pub tier: Tier,
    /// How far below the line number of its header it was found.
    pub offset: Option<i64>,
    /// What was done besides.
    pub notes: Vec<PlacedNote>,
}

/// What was done besides placing a hunk as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PlacedNote {
    /// It was found above the hunk before it.
    OutOfOrder,
    /// Its last old line, which is empty, was dropped.
    DroppedEmptyLine,
    /// Its added lines got the file's indentation.
    Reindented,
    /// Indentation was left as written: the matched lines' differ in more than one way.
    IndentationDisagrees,
    /// Indentation was left as written: an added line could not take the change.
    IndentationCannotChange,
    /// Indentation was left as written: context lost its sign column, and the added lines stand at depths the file has.
    IndentationOfSignColumn,
    /// The lines it adds already stand right where it adds them.
    AlreadyThere,
}

/// Applies hunks to a file.
///
/// # Guarantees
/// Only lines that a hunk removes or adds change; all others keep their bytes, ending included. It is all hunks or none.
///
/// # Errors
/// [`UpdateError`] tells all hunks that fail, or that the file cannot be edited as bytes.
///
/// # Complexity
/// Linear in the file and the hunks, for all hunks together.
pub fn update(base: &[u8], hunks: &[Hunk], policy: &Policy) -> Result<Updated, UpdateError> {
    let mut placer = HunkPlacer::new(base, policy)?;
    placer.expect(hunks.len());
    for hunk in hunks {
        // Failures are kept and told by `finish`, all at once.
        let _placed = placer.place(hunk);
    }
    placer.finish()
}

/// Inserts lines above line `at` (from 0). A CR at the end of a line of `text` is dropped: endings are the file's.
pub(crate) fn insert_lines(text: LineIndex<'_>, at: usize, lines: &[u8], policy: &Policy) -> Spliced {
    let row = |line| Row { sign: Sign::Add, text: line, no_newline: false };
    let lines = lines.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let rows: Vec<Row<'_>> = lines.map(row).collect();
    let mut edits = Edits::default();
    edits.take(&rows, Placing { hunk: 0, at, late: false, append: at == text.len(), change: None }, text.len());
    edits.sort(text.len());
    edits.write(&text, WriteStyle::of(policy))
}

/// Places hunks in a file one after the other, as they arrive.
#[derive(Debug)]
#[must_use = "hunks are applied by `finish`"]
pub struct HunkPlacer<'a> {
    placer: Placer<'a>,
    rules: Rules,
    edits: Edits,
    /// What hunks of a real unified diff say to the byte.
    strict: Strict,
    /// How far below its line number the last such hunk was found: the next one is expected as far off.
    shift: i64,
    depths: Depths,
    hunks: usize,
    /// Patch lines of the hunks, for clashes, which are found last.
    hunk_lines: Vec<u64>,
    placed: Vec<Placed>,
    failures: Vec<HunkFailure>,
    not_searched: usize,
}

/// The knobs of a policy that concern hunks.
#[derive(Clone, Copy, Debug)]
struct Rules {
    reindent: bool,
    shared_context: bool,
    additions_at_end: bool,
    style: WriteStyle,
}

impl<'a> HunkPlacer<'a> {
    /// Makes ready to place hunks in a file with this content.
    ///
    /// # Errors
    /// When the content is UTF-16 or UTF-32, or has more than 4,294,967,295 lines.
    pub fn new(base: &'a [u8], policy: &Policy) -> Result<Self, UpdateError> {
        if let Some(encoding) = WideEncoding::detect(base) {
            return Err(UpdateError::Encoding(encoding));
        }
        let text = LineIndex::new(base);
        if u32::try_from(text.len()).is_err() {
            return Err(UpdateError::TooManyLines { lines: text.len() });
        }
        let style = WriteStyle::of(policy);
        let Policy { reindent, shared_context, additions_at_end, .. } = *policy;
        Ok(HunkPlacer {
            placer: Placer::new(text, policy),
            rules: Rules { reindent, shared_context, additions_at_end, style },
            edits: Edits::default(),
            strict: Strict::default(),
            shift: 0,
            depths: Depths::default(),
            hunks: 0,
            hunk_lines: Vec::new(),
            placed: Vec::new(),
            failures: Vec::new(),
            not_searched: 0,
        })
    }

    /// Says how many hunks there are, as far as is known: for many it costs less to number the file's lines at once.
    pub(crate) fn expect(&mut self, hunks: usize) {
        self.placer.expect(hunks);
    }

    /// Places the next hunk. `Ok(None)` says that it was not looked for, because 20 hunks before it have failed.
    ///
    /// A failure does not keep later hunks from being placed; [`HunkPlacer::finish`] tells all failures again. That two
    /// hunks overlap is found only there.
    ///
    /// # Errors
    /// The reason why the hunk fits nowhere, or in more than one place.
    pub fn place(&mut self, hunk: &Hunk) -> Result<Option<&Placed>, &HunkFailure> {
        let number = self.hunks;
        self.hunks += 1;
        self.hunk_lines.push(hunk.line);
        if self.failures.len() >= MISFITS {
            self.not_searched += 1;
            return Ok(None);
        }
        match self.place_rows(hunk, number) {
            Ok(placed) => {
                self.strict.take(hunk, self.placer.text(), placed.line - 1);
                self.shift = placed.offset.filter(|_| hunk.unified).unwrap_or(self.shift);
                self.placed.push(placed);
                Ok(self.placed.last())
            }
            Err(failure) => {
                self.failures.push(*failure);
                Err(&self.failures[self.failures.len() - 1])
            }
        }
    }

    /// Ends the update.
    ///
    /// # Errors
    /// When a hunk has failed, or two overlap.
    pub fn finish(mut self) -> Result<Updated, UpdateError> {
        let lines = self.placer.text().len();
        for clash in self.edits.sort(lines) {
            if self.failures.len() >= MISFITS {
                break;
            }
            let kind = FailureKind::Overlap { other: clash.other + 1, line: clash.line + 1 };
            let tier = self.placed.iter().find(|placed| placed.hunk == clash.hunk + 1).map_or(Tier::Exact, |p| p.tier);
            let line = self.hunk_lines[clash.hunk];
            self.failures.push(HunkFailure { hunk: clash.hunk + 1, line, kind, tier, differs: None, excerpt: None });
        }
        if !self.failures.is_empty() {
            self.failures.sort_by_key(|failure| failure.hunk);
            return Err(UpdateError::Hunks { failures: self.failures, not_searched: self.not_searched });
        }
        let text = self.placer.text();
        let spliced = self.strict.write(text).unwrap_or_else(|| self.edits.write(text, self.rules.style));
        Ok(Updated { spliced, placed: self.placed })
    }

    /// Comparisons of lines made so far: what tests measure instead of time.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.placer.steps()
    }

    fn place_rows(&mut self, hunk: &Hunk, number: usize) -> Result<Placed, Box<HunkFailure>> {
        let mut rows = rows::rows_for(hunk, self.placer.text());
        if rows.is_empty() {
            return Err(Box::new(HunkFailure::new(hunk, number, FailureKind::NoRows, Tier::Exact)));
        }
        let old = rows::old_lines(&rows);
        let query = Query {
            old: &old,
            anchors: &hunk.anchors,
            hint: hunk.hint.as_deref(),
            number: self.expected_line(hunk),
            unified: hunk.unified,
            anywhere: hunk.anywhere,
            at_end: hunk.end_of_file || rows.iter().any(|row| row.no_newline),
        };
        if old.is_empty() {
            return self.insert(hunk, number, &rows, &query);
        }
        let spot = match self.at_header(hunk).map_or_else(|| self.placer.find(&query), Ok) {
            Ok(spot) => spot,
            Err(miss) => {
                return Err(Box::new(explain::explain(&mut self.placer, hunk, number, &rows, &query, miss)));
            }
        };
        let mut notes = Vec::new();
        if spot.short {
            rows::drop_last_old(&mut rows);
            notes.push(PlacedNote::DroppedEmptyLine);
        }
        let text = self.placer.text();
        let change = match self.rules.reindent && spot.tier >= Tier::Trim {
            true => change_of(&rows, spot.at, text, &mut self.depths, &mut notes),
            false => None,
        };
        notes.extend(stands_already(&rows, spot.at, text).then_some(PlacedNote::AlreadyThere));
        let old_lines = rows.iter().filter(|row| row.sign != Sign::Add).count();
        let placing = Placing { hunk: number, at: spot.at, late: spot.late, append: false, change: change.as_ref() };
        let last_changed = self.edits.take(&rows, placing, text.len());
        let end = spot.at + old_lines;
        if !hunk.anywhere {
            self.placer.set_cursor(last_changed.filter(|_| self.rules.shared_context).unwrap_or(end));
        }
        Ok(placed(hunk, number, spot, old_lines, notes))
    }

    /// The line (from 1) on which a unified header lets one expect the hunk.
    fn expected_line(&self, hunk: &Hunk) -> Option<usize> {
        let line = hunk.old_line?;
        let line = if hunk.unified { line.saturating_add_signed(self.shift).max(1) } else { line };
        Some(usize::try_from(line).unwrap_or(usize::MAX))
    }

    /// The place that a real unified diff names, if the hunk's old lines stand there to the byte and no hunk before it has
    /// shown that the numbers are off.
    fn at_header(&self, hunk: &Hunk) -> Option<Spot> {
        let at = self.strict.at_header(hunk, self.placer.text())?;
        (self.shift == 0 && at >= self.placer.cursor()).then_some(Spot {
            at,
            tier: Tier::Exact,
            late: false,
            short: false,
        })
    }

    /// Places a hunk that only adds lines: below its anchor, or at the end of the file.
    fn insert(
        &mut self,
        hunk: &Hunk,
        number: usize,
        rows: &[Row<'_>],
        query: &Query<'_>,
    ) -> Result<Placed, Box<HunkFailure>> {
        let lines = self.placer.text().len();
        let is_anchored = !hunk.anchors.is_empty();
        let anywhere = lines == 0 || self.rules.additions_at_end || query.at_end;
        let found = if !anywhere && is_anchored {
            self.placer.find_anchor(&hunk.anchors).map(Some)
        } else if !anywhere && (query.number.is_some() || query.hint.is_some()) {
            return Err(Box::new(HunkFailure::new(hunk, number, FailureKind::OnlyLineNumber, Tier::Exact)));
        } else if self.rules.additions_at_end && is_anchored {
            self.placer.check_anchor(&hunk.anchors).map(|()| None)
        } else {
            Ok(None)
        };
        let found = match found {
            Ok(found) => found,
            Err(miss) => {
                return Err(Box::new(explain::explain(&mut self.placer, hunk, number, rows, query, miss)));
            }
        };
        let at_end = Spot { at: lines, tier: Tier::Exact, late: false, short: false };
        let spot = found.unwrap_or(at_end);
        let placing = Placing { hunk: number, at: spot.at, late: spot.late, append: found.is_none(), change: None };
        self.edits.take(rows, placing, lines);
        if found.is_some() {
            self.placer.set_cursor(spot.at);
        }
        let there = stands_already(rows, spot.at, self.placer.text());
        Ok(placed(hunk, number, spot, 0, there.then_some(PlacedNote::AlreadyThere).into_iter().collect()))
    }
}

fn placed(hunk: &Hunk, number: usize, spot: Spot, old_lines: usize, mut notes: Vec<PlacedNote>) -> Placed {
    if spot.late {
        notes.insert(0, PlacedNote::OutOfOrder);
    }
    let line = spot.at + 1;
    let offset = hunk.old_line.and_then(|old| i64::try_from(line).ok()?.checked_sub_unsigned(old));
    Placed { hunk: number + 1, line, old_lines, tier: spot.tier, offset, notes }
}

/// The change of indentation for a hunk's added lines.
fn change_of<'t>(
    rows: &[Row<'t>],
    at: usize,
    text: &LineIndex<'t>,
    depths: &mut Depths,
    notes: &mut Vec<PlacedNote>,
) -> Option<Change<'t>> {
    let (note, change) = match reindent::reindent(rows, at, text, depths) {
        Reindent::AsWritten => return None,
        Reindent::Change(change) => (PlacedNote::Reindented, Some(change)),
        Reindent::Disagrees => (PlacedNote::IndentationDisagrees, None),
        Reindent::CannotTake => (PlacedNote::IndentationCannotChange, None),
        Reindent::SignColumn => (PlacedNote::IndentationOfSignColumn, None),
    };
    notes.push(note);
    change
}

/// Whether a hunk that adds lines beside context on one side alone adds what already stands there. Such a hunk fits
/// again after it has been applied, so the context cannot tell.
fn stands_already(rows: &[Row<'_>], at: usize, text: &LineIndex<'_>) -> bool {
    let mut groups = rows.chunk_by(|a, b| a.sign == b.sign);
    let (first, second) = (groups.next().unwrap_or_default(), groups.next().unwrap_or_default());
    let sign = |rows: &[Row<'_>]| rows.first().map(|row| row.sign);
    let (added, start) = match (sign(first), sign(second), groups.next()) {
        (Some(Sign::Context), Some(Sign::Add), None) => (second, Some(at + first.len())),
        (Some(Sign::Add), Some(Sign::Context), None) => (first, at.checked_sub(first.len())),
        (Some(Sign::Add), None, None) if at < text.len() => (first, Some(at)),
        (Some(Sign::Add), None, None) => (first, at.checked_sub(first.len())),
        _ => return false,
    };
    let Some(start) = start.filter(|start| start + added.len() <= text.len()) else { return false };
    added.iter().zip(text.lines_from(start)).all(|(row, line)| row.text == line)
}

#[cfg(test)]
mod tests;
