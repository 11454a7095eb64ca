//! From batches in path order to the rows that are shown: paging, the byte budget, and the early end.

use super::budget::{self, LEAST_TEXT, MARK};
use super::form::AnswerForm;
use super::found::{Batch, Event, Found, Line, PathBytes, RowKind, Tally};
use super::job::{Ask, TreeJob};
use super::notices;
use super::options::{Mode, SearchOptions};
use super::order::Gather;

/// One row, as it is kept.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) path: PathBytes,
    pub(super) line: Line,
}

/// Paths that the answer names, the first few, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Named {
    pub(super) first: Vec<String>,
    pub(super) count: u64,
}

/// How many paths are named of each kind.
const MOST_NAMED: usize = 5;

impl Named {
    fn add(&mut self, text: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < MOST_NAMED {
            self.first.push(text());
        }
    }
}

/// What was noticed on the way.
#[derive(Debug, Default)]
pub(super) struct Noticed {
    pub(super) binary: Named,
    pub(super) denied: Named,
    pub(super) unreadable: Named,
    pub(super) too_large: Named,
    pub(super) in_pieces: Named,
}

/// Takes batches and keeps what is shown.
#[derive(Debug)]
pub(super) struct Collector {
    mode: Mode,
    context: (u64, u64),
    limit: u64,
    /// Rows that are passed over.
    offset: u64,
    skip: u64,
    form: AnswerForm,
    /// Bytes for rows.
    room: usize,
    /// Files and directories that are looked at beyond the last row that is shown, so that small trees have an exact
    /// total.
    look_ahead: u64,
    pub(super) rows: Vec<Kept>,
    /// Rows that are shown, context lines aside.
    pub(super) shown: u64,
    /// Rows there are, as far as was looked.
    pub(super) total: u64,
    pub(super) exact: bool,
    /// Bytes that the rows take at their shortest.
    least: usize,
    /// Bytes of texts in `rows`.
    held: usize,
    /// There is no room for a further row.
    pub(super) full: bool,
    /// Files and directories looked at beyond the last row that is shown.
    beyond: Option<u64>,
    pub(super) interrupted: bool,
    pub(super) tally: Tally,
    pub(super) noticed: Noticed,
}

impl Collector {
    pub(super) fn new(options: &SearchOptions, look_ahead: u64) -> Self {
        let context = match options.mode {
            Mode::Content => (options.before as u64, options.after as u64),
            Mode::Files | Mode::Count => (0, 0),
        };
        Collector {
            mode: options.mode,
            context,
            limit: options.limit as u64,
            offset: options.offset as u64,
            skip: options.offset as u64,
            form: options.form,
            room: options.bytes() - notices::share(options.bytes()) - options.form.frame(),
            look_ahead: if options.stats { u64::MAX } else { look_ahead },
            rows: Vec::new(),
            shown: 0,
            total: 0,
            exact: true,
            least: 0,
            held: 0,
            full: false,
            beyond: None,
            interrupted: false,
            tally: Tally::default(),
            noticed: Noticed::default(),
        }
    }

    /// Takes the next batch: whether more is wanted.
    pub(super) fn take(&mut self, batch: Batch) -> bool {
        // What a directory holds of itself is a batch, too.
        let looked_at = batch.tally.files.max(1);
        for event in batch.events {
            self.event(event);
        }
        self.tally.add(batch.tally);
        self.interrupted |= batch.interrupted;
        self.exact &= !batch.interrupted;
        match &mut self.beyond {
            Some(beyond) => *beyond += looked_at,
            None if self.total > self.offset.saturating_add(self.limit) || self.full => self.beyond = Some(0),
            None => {}
        }
        let enough = self.beyond.is_some_and(|beyond| beyond >= self.look_ahead);
        self.exact &= !enough;
        !enough
    }

    fn event(&mut self, event: Event) {
        let noticed = &mut self.noticed;
        match event {
            Event::Found(found) => self.found(found),
            Event::Binary(path) => noticed.binary.add(|| shown(&path)),
            Event::Denied(path) => noticed.denied.add(|| shown(&path)),
            Event::Unreadable(path, why) => noticed.unreadable.add(|| format!("{} ({why})", shown(&path))),
            Event::TooLarge(path, size) => noticed.too_large.add(|| format!("{} ({size} bytes)", shown(&path))),
            Event::InPieces(path) => noticed.in_pieces.add(|| shown(&path)),
        }
    }

    fn found(&mut self, found: Found) {
        if self.mode == Mode::Content {
            self.total += found.count;
            self.exact &= found.exact;
            self.lines(found);
            return;
        }
        self.total += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        let (kind, number) = if self.mode == Mode::Files { (RowKind::File, 0) } else { (RowKind::Count, found.count) };
        let line = Line { number, kind, text: Box::default(), at: 0, cut: (false, false) };
        if self.shown < self.limit && !self.full {
            self.push(&found.path, line);
        }
    }

    /// Takes the lines of a file that are shown.
    fn lines(&mut self, found: Found) {
        let skipped = self.skip.min(found.count);
        self.skip -= skipped;
        if self.skip > 0 || self.shown >= self.limit || self.full {
            return;
        }
        let mut to_pass = skipped.saturating_sub(found.skipped);
        let mut lines = found.lines.into_iter().peekable();
        while to_pass > 0
            && let Some(line) = lines.next()
        {
            to_pass -= u64::from(line.kind == RowKind::Match);
        }
        // Context belongs to a match that is shown; what is left of one that is not goes.
        let mut after_until = 0;
        let mut waiting: Vec<Line> = Vec::new();
        for line in lines {
            if line.kind == RowKind::Context {
                if line.number > after_until {
                    waiting.push(line);
                } else {
                    self.push(&found.path, line);
                }
                continue;
            }
            if self.shown >= self.limit || self.full {
                return;
            }
            let before = self.rows.len();
            for context in waiting.drain(..) {
                if context.number + self.context.0 >= line.number {
                    self.push(&found.path, context);
                }
            }
            after_until = line.number + self.context.1;
            self.push(&found.path, line);
            if self.full {
                self.rows.truncate(before.max(1));
                return;
            }
        }
    }

    /// Adds a row if there is room for it.
    fn push(&mut self, path: &PathBytes, line: Line) {
        if self.full {
            return;
        }
        let cost = self.form.row(path, &line, self.grouped()) + self.least_of(&line);
        // One row is always shown, cut as short as need be.
        if self.least + cost > self.room && !self.rows.is_empty() {
            self.full = true;
            return;
        }
        self.least += cost;
        self.held += line.text.len();
        self.shown += u64::from(line.kind != RowKind::Context);
        self.rows.push(Kept { path: PathBytes::clone(path), line });
        if self.held > self.room.saturating_mul(2) {
            self.shorten();
        }
    }

    /// Whether groups of rows are parted.
    fn grouped(&self) -> bool {
        self.context != (0, 0)
    }

    /// Bytes that the text of a line takes at its shortest.
    fn least_of(&self, line: &Line) -> usize {
        let window = budget::window(&line.text, line.at as usize, LEAST_TEXT);
        let marks = if window.len() < line.text.len() { 2 * MARK.len() } else { self.form.marks(line) };
        self.form.text(&line.text[window]) + marks
    }

    /// Cuts the longest lines until all rows fit.
    pub(super) fn shorten(&mut self) {
        let (form, grouped) = (self.form, self.grouped());
        let fixed = self.rows.iter().map(|row| form.row(&row.path, &row.line, grouped)).sum();
        let marked = |line: &Line| form.text(&line.text) + form.marks(line);
        let lengths: Vec<usize> = self.rows.iter().map(|row| marked(&row.line)).collect();
        let most = budget::fair_length(lengths.clone(), fixed, self.room);
        for (row, _) in self.rows.iter_mut().zip(lengths).filter(|(_, length)| *length > most) {
            row.line.shorten(most, form);
        }
        self.held = self.rows.iter().map(|row| row.line.text.len()).sum();
    }
}

impl Gather<TreeJob<'_>> for Collector {
    fn accept(&mut self, batch: Batch) -> bool {
        self.take(batch)
    }

    fn ask(&self) -> Ask {
        let keep = if self.full { 0 } else { self.limit.saturating_sub(self.shown) };
        Ask { skip: self.skip, keep }
    }
}

/// A path for messages: not too long, without line ends.
fn shown(path: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(path).chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    match text.char_indices().rev().nth(99) {
        Some((from, _)) if from > 0 => format!("…{}", &text[from..]),
        _ => text,
    }
}
