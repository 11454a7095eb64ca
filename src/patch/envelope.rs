//! The `*** Begin Patch` language.
//!
//! ```text
//! text      = blank* wrapper{0,3} environment? Begin environment? operation+ End closers
//! operation = "*** Add File: PATH"     ("+" TEXT | blank)*
//!           | "*** Delete File: PATH"  blank*
//!           | "*** Update File: PATH"  blank* ("*** Move to: PATH")? hunk*
//! hunk      = at* row+ "*** End of File"?         only the first hunk may lack its at
//! at        = "@@" | "@@ ANCHOR" | "@@ -a,b +c,d @@ HINT"
//! row       = (" " | "-" | "+") TEXT | "" | "\ No newline at end of file"
//! ```
//!
//! One function per state; [`Envelope::line`] picks it. White space round a marker is dropped: at both sides where no
//! line of a hunk can stand, at the end in an Update. There an indented End is context unless it is the last line of
//! the patch, so it is held back until it is known what follows.

use bstr::ByteSlice as _;

use super::detect::begins_json;
use super::draft::{Action, Draft};
use super::error::{ParseError, quote};
use super::lines::{Line, Place};
use super::marker::{
    BEGIN, END, END_OF_FILE, ENVIRONMENT_ID, MOVE_TO, ends_in_end, header, may_end_in_end, with_stars,
};
use super::wrapper::Wrappers;
use super::{NoteKind, OpKind};

mod error;
mod headerless;
mod update;

use crate::text::Trimmed as _;
pub(super) use error::Kind;
pub(super) use headerless::Headerless;
use update::finish_hunk;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

type Step = Result<(), ParseError>;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing but blank lines and wrappers came.
    Start,
    /// An Environment ID came before Begin, which must follow.
    Named,
    /// Begin came; no operation is open yet.
    Begun,
    /// Inside an Add.
    Add,
    /// Inside a Delete.
    Delete,
    /// Inside an Update, above its first hunk.
    Update,
    /// Inside a hunk, with or without rows.
    Hunk,
    /// Below an End of File.
    AfterHunk,
    /// End came; so many wrappers are still open.
    Ended { depth: usize },
}

/// An indented End in an Update and what followed it: the end of the patch, or lines of a hunk.
#[derive(Debug)]
struct Held {
    /// Number and place of the first line held.
    number: u64,
    start: u64,
    /// The lines, with their endings.
    raw: Vec<u8>,
    /// How many wrappers are open if it is the end.
    depth: usize,
}

/// The state machine.
#[derive(Debug)]
pub(super) struct Envelope {
    repeated_add: bool,
    /// The text is the body of one operation.
    headerless: bool,
    state: State,
    wrappers: Wrappers,
    /// Bare blank lines of an Add that are content if a line with `+` follows.
    blanks: usize,
    held: Option<Box<Held>>,
    /// The last line that is not blank, if an End marker stands behind its content.
    glued: Option<Place>,
    /// Lines taken, those held and taken again counted twice: for the proof that work is linear.
    #[cfg(test)]
    pub(super) steps: usize,
}

impl Envelope {
    pub(super) fn new(repeated_add: bool) -> Self {
        Envelope {
            repeated_add,
            headerless: false,
            state: State::Start,
            wrappers: Wrappers::default(),
            blanks: 0,
            held: None,
            glued: None,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// Takes one line.
    #[inline]
    pub(super) fn line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        self.step();
        if let Some(held) = self.held.take() {
            return self.held_line(draft, held, line);
        }
        match self.state {
            State::Update | State::Hunk | State::AfterHunk => self.update_line(draft, line),
            State::Add => self.add_line(draft, line),
            State::Delete => self.delete_line(draft, line),
            State::Start | State::Named => self.start_line(draft, line),
            State::Begun => self.begun_line(draft, line),
            State::Ended { depth } => self.ended_line(depth, line),
        }
    }

    /// Takes the end of the text. `last` is its last line that is not blank.
    pub(super) fn finish(&mut self, draft: &mut Draft, last: Place) -> Step {
        if let Some(held) = self.held.take() {
            let first = held.raw.lines_with_terminator().next().unwrap_or_default();
            self.end(draft, Line::new(held.number, held.start, first))?;
            self.state = State::Ended { depth: held.depth };
        }
        match self.state {
            State::Start => Err(ParseError::from_place(Kind::NoText, last)),
            State::Named => Err(ParseError::from_place(Kind::NoBegin, last)),
            State::Ended { depth } => match self.wrappers.heredoc(depth) {
                Some(word) => Err(ParseError::from_place(Kind::HeredocOpen { word: quote(word) }, last)),
                None => Ok(()),
            },
            _ => Err(match self.glued.take() {
                Some(place) => ParseError::from_place(Kind::EndGlued, place),
                None => ParseError::from_place(Kind::NoEnd, last),
            }),
        }
    }

    // ---- round the operations

    fn start_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let text = match line.text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if line.number == 1 || with_stars(rest.trimmed(), BEGIN).is_some() => {
                draft.note(line.number, NoteKind::ByteOrderMark);
                rest
            }
            _ => line.text,
        };
        let trimmed = text.trimmed();
        if trimmed.is_empty() {
            return Ok(());
        }
        if with_stars(trimmed, BEGIN).is_some() {
            note_marker(draft, line, text, BEGIN);
            self.state = State::Begun;
            return Ok(());
        }
        if self.state == State::Start {
            if let Some(note) = self.wrappers.open(text) {
                draft.note(line.number, note);
                return Ok(());
            }
            if trimmed.starts_with(ENVIRONMENT_ID) {
                self.state = State::Named;
                return environment(draft, line, trimmed);
            }
        }
        Err(ParseError::at(if is_json(trimmed) { Kind::Json } else { Kind::NoBegin }, line))
    }

    fn begun_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let trimmed = line.text.trimmed();
        if trimmed.starts_with(ENVIRONMENT_ID) {
            return environment(draft, line, trimmed);
        }
        if trimmed.is_empty() || self.section(draft, line, trimmed)? {
            return Ok(());
        }
        Err(self.stray(line, trimmed, Kind::NoHeader))
    }

    fn ended_line(&mut self, depth: usize, line: Line<'_>) -> Step {
        if line.is_blank() {
            return Ok(());
        }
        if let Some(depth) = self.wrappers.close(depth, line.text) {
            self.state = State::Ended { depth };
            return Ok(());
        }
        let word = self.wrappers.heredoc(depth).filter(|_| !line.text.trimmed().starts_with(b"***"));
        let kind = word.map_or(Kind::AfterEnd, |word| Kind::HeredocWrong { word: quote(word) });
        Err(ParseError::at(kind, line))
    }

    /// A header of an operation or End: takes the line if it is one. `trimmed` is the line as it may be compared here.
    fn section(&mut self, draft: &mut Draft, line: Line<'_>, trimmed: &[u8]) -> Result<bool, ParseError> {
        let ends = with_stars(trimmed, END).is_some();
        if self.headerless && (ends || header(trimmed).is_some()) {
            return Err(ParseError::at(Kind::HeaderInDiff, line));
        }
        if ends {
            self.end(draft, line)?;
            return Ok(true);
        }
        let Some((action, rest)) = header(trimmed) else { return Ok(false) };
        let path = rest.trimmed();
        if path.is_empty() {
            return Err(ParseError::at(Kind::NoPath, line));
        }
        self.refuse_twice(draft, line, action, path)?;
        self.close(draft, line)?;
        note_header(draft, line, rest);
        self.look_for_glue(line);
        draft.open(line.number, path, action);
        self.blanks = 0;
        self.state = match action {
            Action::Add => State::Add,
            Action::Delete => State::Delete,
            Action::Update | Action::Copy | Action::Write => State::Update,
        };
        Ok(true)
    }

    /// Takes End: closes what is open.
    fn end(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        self.close(draft, line)?;
        if draft.is_empty() {
            return Err(ParseError::at(Kind::NoOperation, line));
        }
        note_marker(draft, line, line.text, END);
        self.state = State::Ended { depth: self.wrappers.depth() };
        Ok(())
    }

    /// Closes the open operation, if there is one, because of `line`.
    fn close(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        if self.state == State::Hunk {
            finish_hunk(draft, line)?;
        }
        let Some(op) = draft.open_op() else { return Ok(()) };
        if let OpKind::Update { move_to, hunks } = &op.kind
            && hunks.is_empty()
        {
            let opened = op.line;
            if move_to.is_none() {
                return Err(ParseError::at(Kind::EmptyUpdate { path: quote(&op.path), opened }, line));
            }
            draft.note(opened, NoteKind::PureRename);
        }
        draft.close();
        Ok(())
    }

    /// Refuses a header that repeats the one before it, with nothing in between.
    fn refuse_twice(&self, draft: &mut Draft, line: Line<'_>, action: Action, path: &[u8]) -> Step {
        let untouched = match self.state {
            State::Add => draft.content.is_empty() && !self.repeated_add,
            State::Delete | State::Update => true,
            _ => false,
        };
        let Some(op) = draft.open_op().filter(|op| untouched && op.path == path) else { return Ok(()) };
        let moves = matches!(op.kind, OpKind::Update { move_to: Some(_), .. });
        if op.kind.action() != action || moves {
            return Ok(());
        }
        Err(ParseError::at(Kind::OpenedTwice { path: quote(path), opened: op.line }, line))
    }

    // ---- Add and Delete

    fn add_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        if line.text.first() != Some(&b'+') {
            return self.add_other(draft, line);
        }
        self.look_for_glue(line);
        if self.blanks > 0 {
            self.use_blanks(draft);
        }
        if let Some(raw) = line.whole() {
            draft.content.extend_from_slice(&raw[1..]);
        } else {
            draft.content.extend_from_slice(&line.text[1..]);
            draft.content.push(b'\n');
        }
        Ok(())
    }

    /// Bare blank lines between two lines of content are empty lines; those above the first are nothing.
    fn use_blanks(&mut self, draft: &mut Draft) {
        let blanks = std::mem::take(&mut self.blanks);
        if !draft.content.is_empty() {
            draft.content.resize(draft.content.len() + blanks, b'\n');
        }
    }

    fn add_other(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let trimmed = line.text.trimmed();
        if trimmed.is_empty() {
            draft.note(line.number, NoteKind::BareEmptyLine);
            self.blanks += 1;
            return Ok(());
        }
        if self.section(draft, line, trimmed)? {
            return Ok(());
        }
        Err(self.stray(line, trimmed, Kind::NoPlus { path: open_path(draft) }))
    }

    fn delete_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let trimmed = line.text.trimmed();
        if trimmed.is_empty() {
            draft.note(line.number, NoteKind::BareEmptyLine);
            return Ok(());
        }
        if self.section(draft, line, trimmed)? {
            return Ok(());
        }
        Err(self.stray(line, trimmed, Kind::DeleteWithLines { path: open_path(draft) }))
    }

    #[cfg(test)]
    fn step(&mut self) {
        self.steps += 1;
    }

    #[cfg(not(test))]
    #[inline]
    #[expect(clippy::unused_self, clippy::needless_pass_by_ref_mut, reason = "counts in tests only")]
    fn step(&mut self) {}

    // ---- errors

    /// Remembers the line if an End marker stands behind its content.
    #[inline]
    fn look_for_glue(&mut self, line: Line<'_>) {
        if may_end_in_end(line.text) && ends_in_end(line.text) {
            self.glued = Some(line.into());
        } else if self.glued.is_some() {
            self.glued = None;
        }
    }

    /// The error for a line that fits nowhere: what it seems to be, or else `otherwise`.
    fn stray(&self, line: Line<'_>, trimmed: &[u8], otherwise: Kind) -> ParseError {
        if let Some(place) = &self.glued {
            return ParseError::from_place(Kind::EndGlued, place.clone());
        }
        let kind = if self.wrappers.close(self.wrappers.depth(), line.text).is_some() {
            Kind::WrapperClosed
        } else if with_stars(trimmed, BEGIN).is_some() {
            Kind::SecondBegin
        } else if trimmed.starts_with(MOVE_TO) {
            Kind::MisplacedMove
        } else if trimmed == END_OF_FILE {
            Kind::MisplacedEndOfFile
        } else if trimmed.starts_with(ENVIRONMENT_ID) {
            Kind::MisplacedEnvironment
        } else if trimmed.starts_with(b"***") {
            Kind::UnknownHeader
        } else {
            otherwise
        };
        ParseError::at(kind, line)
    }
}

/// An Environment ID, wherever it may stand.
fn environment(draft: &mut Draft, line: Line<'_>, trimmed: &[u8]) -> Step {
    let rest = &trimmed[ENVIRONMENT_ID.len()..];
    if draft.environment_id.is_some() {
        return Err(ParseError::at(Kind::TwoEnvironments, line));
    }
    match str::from_utf8(rest.trimmed()) {
        Ok(name) if !name.is_empty() => draft.environment_id = Some(name.to_owned()),
        _ => return Err(ParseError::at(Kind::NoEnvironment, line)),
    }
    draft.note(line.number, NoteKind::EnvironmentId);
    note_header(draft, line, rest);
    Ok(())
}

/// Notes white space round a marker, and stars behind it.
fn note_marker(draft: &mut Draft, line: Line<'_>, text: &[u8], marker: &[u8]) {
    let trimmed = text.trimmed();
    if trimmed.len() < text.len() {
        draft.note(line.number, NoteKind::IndentedMarker);
    }
    if trimmed.len() > marker.len() {
        draft.note(line.number, NoteKind::MarkerStars);
    }
}

/// Notes white space round a header, and a missing or a further space behind its colon. `rest` is what follows that.
fn note_header(draft: &mut Draft, line: Line<'_>, rest: &[u8]) {
    let value = rest.trimmed().len();
    if line.text.trimmed().len() < line.text.len() || rest.trimmed_start().len() > value + 1 || rest.len() > value + 1 {
        draft.note(line.number, NoteKind::IndentedMarker);
    }
    if rest.len() == value {
        draft.note(line.number, NoteKind::MissingSpace);
    }
}

/// Whether a line looks like the beginning of a JSON value that holds a patch.
fn is_json(trimmed: &[u8]) -> bool {
    begins_json(trimmed) || trimmed.strip_prefix(b"\"").is_some_and(|rest| rest.starts_with(BEGIN))
}

/// The path of the open operation, for a message.
fn open_path(draft: &mut Draft) -> String {
    draft.open_op().map_or_else(String::new, |op| quote(&op.path))
}
