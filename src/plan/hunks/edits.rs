//! The changes of all hunks of a file: collected, checked against each other, written in one pass.

use std::ops::Range;

use crate::patch::{Row, Sign};
use crate::policy::{FinalNewline, Policy};
use crate::text::{LineEnding, LineIndex, Spliced};

use super::reindent::Change;

/// One stretch of old lines that is replaced: a run of removed and added rows.
#[derive(Clone, Debug)]
struct Run {
    /// First old line, and the one after the last; equal for an insertion.
    lines: Range<usize>,
    /// Index of the hunk.
    hunk: usize,
    /// The hunk lies before the cursor.
    late: bool,
    /// Lines without a place of their own, added at the end of the file.
    append: bool,
    /// The added lines, each with a line feed, in [`Edits::added`].
    added: Range<usize>,
}

/// Old lines that a hunk quotes as context.
#[derive(Clone, Debug)]
struct Quote {
    lines: Range<usize>,
    hunk: usize,
}

/// Two hunks that want the same lines or point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// Index of the hunk that came later.
    pub(super) hunk: usize,
    /// Index of the other.
    pub(super) other: usize,
    /// The old line (from 0) where they meet.
    pub(super) line: usize,
}

/// How a hunk's rows go into the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placing<'c> {
    pub(super) hunk: usize,
    pub(super) at: usize,
    pub(super) late: bool,
    pub(super) append: bool,
    pub(super) change: Option<&'c Change<'c>>,
}

/// The changes of a file's hunks.
#[derive(Clone, Debug, Default)]
pub(super) struct Edits {
    runs: Vec<Run>,
    quotes: Vec<Quote>,
    added: Vec<u8>,
    /// What the last `\ No newline at end of file` says about the final newline.
    newline: Option<bool>,
}

impl Edits {
    /// Takes the rows of a hunk that goes to a certain line. Returns the old line after the last change, if any.
    pub(super) fn take(&mut self, rows: &[Row<'_>], place: Placing<'_>, file_lines: usize) -> Option<usize> {
        let mut at = place.at;
        let mut last = None;
        for rows in rows.chunk_by(|a, b| (a.sign == Sign::Context) == (b.sign == Sign::Context)) {
            let start = at;
            if rows[0].sign == Sign::Context {
                at += rows.len();
                self.quotes.push(Quote { lines: start..at, hunk: place.hunk });
                continue;
            }
            let added = self.added.len();
            for row in rows {
                if row.sign == Sign::Remove {
                    at += 1;
                } else {
                    self.add_line(row.text, place.change);
                }
            }
            let Placing { hunk, late, append, .. } = place;
            self.runs.push(Run { lines: start..at, hunk, late, append, added: added..self.added.len() });
            last = Some(at);
        }
        if at == file_lines {
            self.note_newline(rows);
        }
        last
    }

    fn add_line(&mut self, line: &[u8], change: Option<&Change<'_>>) {
        match change {
            Some(change) => change.write_line(line, &mut self.added),
            None => self.added.extend_from_slice(line),
        }
        self.added.push(b'\n');
    }

    /// The note under the new last line takes the final newline away, under the old one alone it adds one.
    fn note_newline(&mut self, rows: &[Row<'_>]) {
        let Some(new) = rows.iter().rfind(|row| row.sign != Sign::Remove) else { return };
        if new.no_newline {
            self.newline = Some(false);
        } else if rows.iter().rfind(|row| row.sign != Sign::Add).is_some_and(|row| row.no_newline) {
            self.newline = Some(true);
        }
    }

    /// Puts the runs in the order of the file and finds hunks that meet, one clash for each later hunk at most.
    ///
    /// # Complexity
    /// That of sorting the runs.
    pub(super) fn sort(&mut self, file_lines: usize) -> Vec<Clash> {
        self.runs.sort_by_key(|run| {
            let at = run.lines.start;
            let last = !run.lines.is_empty() || (run.append && at == file_lines);
            (at, last, run.hunk)
        });
        let mut clashes = self.removed_twice();
        clashes.extend(self.removed_and_quoted());
        clashes.extend(self.inserted_at_one_point());
        clashes.sort_by_key(|clash| (clash.hunk, clash.other));
        clashes.dedup_by_key(|clash| clash.hunk);
        clashes
    }

    /// Lines that two hunks remove, and insertions between lines that another removes.
    fn removed_twice(&self) -> Vec<Clash> {
        let mut clashes = Vec::new();
        let mut removed: Option<&Run> = None;
        for run in &self.runs {
            // Insertions are sorted above the lines they stand next to, so one met here lies between removed lines.
            if let Some(above) = removed.filter(|above| run.lines.start < above.lines.end && above.hunk != run.hunk) {
                clashes.push(Clash::new(above.hunk, run.hunk, run.lines.start));
            }
            if !run.lines.is_empty() && removed.is_none_or(|above| run.lines.end > above.lines.end) {
                removed = Some(run);
            }
        }
        clashes
    }

    /// Lines that one hunk removes and another quotes.
    fn removed_and_quoted(&self) -> Vec<Clash> {
        let removals: Vec<&Run> = self.runs.iter().filter(|run| !run.lines.is_empty()).collect();
        let clash = |quote: &Quote| {
            let first = removals.partition_point(|run| run.lines.end <= quote.lines.start);
            let run = removals[first..].iter().take_while(|run| run.lines.start < quote.lines.end);
            let run = run.into_iter().find(|run| run.hunk != quote.hunk)?;
            Some(Clash::new(run.hunk, quote.hunk, run.lines.start.max(quote.lines.start)))
        };
        self.quotes.iter().filter_map(clash).collect()
    }

    /// Insertions at one point by hunks that are not in the order of the file.
    fn inserted_at_one_point(&self) -> Vec<Clash> {
        let insertions: Vec<&Run> = self.runs.iter().filter(|run| run.lines.is_empty() && !run.append).collect();
        let groups = insertions.chunk_by(|a, b| a.lines.start == b.lines.start);
        let late = groups.filter_map(|group| {
            let first = group.first()?;
            let late = group.iter().find(|run| run.late && run.hunk != first.hunk)?;
            Some(Clash { hunk: late.hunk, other: first.hunk, line: late.lines.start })
        });
        late.collect()
    }

    /// Writes the new content. The runs must be sorted and must not clash.
    pub(super) fn write(&self, text: &LineIndex<'_>, style: WriteStyle) -> Spliced {
        let mut writer = Writer::new(text, style);
        let mut at = 0;
        for run in &self.runs {
            writer.keep(at..run.lines.start);
            writer.add(&self.added[run.added.clone()], &run.lines);
            at = run.lines.end;
        }
        writer.keep(at..text.len());
        let had_newline = text.is_empty() || text.ending_at(text.bytes().len()).is_some();
        writer.finish(self.newline.unwrap_or(had_newline || style.final_newline))
    }
}

impl Clash {
    fn new(a: usize, b: usize, line: usize) -> Self {
        Clash { hunk: a.max(b), other: a.min(b), line }
    }
}

/// How endings are chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteStyle {
    /// Added lines take the file's first ending.
    pub(super) first_ending: bool,
    /// A final newline is written even where the file has none.
    pub(super) final_newline: bool,
}

impl WriteStyle {
    pub(super) fn of(policy: &Policy) -> Self {
        WriteStyle { first_ending: policy.first_ending, final_newline: policy.final_newline == FinalNewline::Always }
    }
}

/// Writes lines one after the other. An ending is held back until it is known that another line follows.
struct Writer<'w, 'a> {
    text: &'w LineIndex<'a>,
    style: WriteStyle,
    out: Spliced,
    held: Held,
    /// Endings of the last line written and of the one above it.
    last: LineEnding,
    above: LineEnding,
    /// The file's first ending.
    first: LineEnding,
}

/// The ending of the last line written.
enum Held {
    /// There is no line yet.
    Nothing,
    /// Bytes of the file.
    Kept(Range<usize>),
    Fresh(LineEnding),
    /// The file's last line, which has none.
    Missing,
}

impl<'w, 'a> Writer<'w, 'a> {
    fn new(text: &'w LineIndex<'a>, style: WriteStyle) -> Self {
        let first = match text.ending(0) {
            LineEnding::None => LineEnding::Lf,
            ending => ending,
        };
        let mut out = Spliced::default();
        out.keep(0..text.bom_len());
        Writer { text, style, out, held: Held::Nothing, last: LineEnding::None, above: LineEnding::None, first }
    }

    fn release(&mut self) {
        match std::mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => {}
            Held::Kept(range) => self.out.keep(range),
            Held::Fresh(ending) => self.out.add(ending.as_bytes()),
            Held::Missing => self.out.add(if self.above.is_some() { self.above } else { self.first }.as_bytes()),
        }
    }

    /// Keeps old lines.
    fn keep(&mut self, lines: Range<usize>) {
        if lines.is_empty() {
            return;
        }
        self.release();
        let raw = self.text.raw(lines.end - 1);
        let ending = self.text.ending_at(raw.end);
        let text_end = raw.end - ending.as_bytes().len();
        self.out.keep(self.text.start(lines.start)..text_end);
        self.held = if ending.is_some() { Held::Kept(text_end..raw.end) } else { Held::Missing };
        self.above = if lines.len() > 1 { self.text.ending_at(raw.start) } else { self.last };
        self.last = ending;
    }

    /// Adds lines, each with a line feed in `lines`, where old lines are replaced.
    fn add(&mut self, lines: &[u8], replaced: &Range<usize>) {
        let Some(body) = lines.strip_suffix(b"\n") else { return };
        let ending = self.ending_for(replaced);
        self.release();
        self.above = self.last;
        if ending == LineEnding::Lf {
            self.out.add(body);
            if body.contains(&b'\n') {
                self.above = ending;
            }
        } else {
            for (nth, line) in body.split(|&byte| byte == b'\n').enumerate() {
                if nth > 0 {
                    self.out.add(ending.as_bytes());
                    self.above = ending;
                }
                self.out.add(line);
            }
        }
        self.held = Held::Fresh(ending);
        self.last = ending;
    }

    /// The ending of added lines: that of the first line they replace, else of the line above, else below, else the first.
    fn ending_for(&self, replaced: &Range<usize>) -> LineEnding {
        if self.style.first_ending {
            return self.first;
        }
        let of_replaced = if replaced.is_empty() { LineEnding::None } else { self.text.ending(replaced.start) };
        let below = if replaced.end < self.text.len() { self.text.ending(replaced.end) } else { LineEnding::None };
        [of_replaced, self.last, below].into_iter().find(|ending| ending.is_some()).unwrap_or(self.first)
    }

    fn finish(mut self, newline: bool) -> Spliced {
        if newline {
            self.release();
        }
        self.out
    }
}
