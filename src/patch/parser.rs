//! The parser's outside: bytes in at any boundary, events and finally a [`Patch`] out.

use std::io::Read;

use super::blocks::Blocks;
use super::detect::Undecided;
use super::draft::Draft;
use super::edits::Edits;
use super::envelope::Envelope;
use super::lines::{Line, Lines, Place};
use super::unified::Unified;
use super::{Event, FileOp, Format, ParseError, ParseOptions, Patch, ReadError};

/// How much [`Patch::read`] reads at a time.
const READ: usize = 64 * 1024;

/// A parser that is fed piece by piece.
///
/// Pieces may end anywhere, also inside of a character or a CRLF: events, result and errors depend on the bytes alone.
/// Time is linear in the bytes, however small the pieces; a piece costs no allocation of its own. Memory holds what was
/// not taken out with [`Parser::take_complete`], and the line and hunk that are being read.
///
/// ```
/// use restitch::{Event, Parser};
///
/// let mut parser = Parser::default();
/// parser.feed(b"*** Begin Patch\n*** Update File: tide.log\n@@\n-low\n+lo");
/// assert!(matches!(parser.next_event(), Ok(Some(Event::Opened { op: 0, path: b"tide.log", .. }))));
/// assert!(matches!(parser.next_event(), Ok(None)), "the hunk may go on");
/// parser.feed(b"wer\n@@\n");
/// assert!(matches!(parser.next_event(), Ok(Some(Event::Hunk { op: 0, index: 0, .. }))));
/// parser.feed(b"-high\n+higher\n*** End Patch");
/// let patch = parser.finish()?;
/// assert_eq!(patch.ops.len(), 1);
/// # Ok::<(), restitch::ParseError>(())
/// ```
#[derive(Debug)]
pub struct Parser {
    lines: Lines,
    machine: Machine,
    draft: Draft,
    failed: Option<ParseError>,
    ended: bool,
    /// Whether everything was told that the lines taken so far gave.
    told: bool,
}

/// One state machine per language; each takes lines and fills the draft.
#[derive(Debug)]
pub(super) enum Machine {
    Envelope(Envelope),
    Unified(Box<Unified>),
    Blocks(Box<Blocks>),
    Edits(Edits),
    Undecided(Box<Undecided>),
}

impl Machine {
    pub(super) fn new(options: &ParseOptions) -> Self {
        match options.format {
            Format::Envelope => Machine::Envelope(Envelope::new(options.repeated_add)),
            Format::Unified => Machine::Unified(Box::new(Unified::new(options.strip))),
            Format::Blocks => Machine::Blocks(Box::new(Blocks::new())),
            Format::Edits => Machine::Edits(Edits::default()),
            Format::Auto => Machine::Undecided(Box::new(Undecided::new(options))),
        }
    }

    #[inline]
    pub(super) fn line(&mut self, draft: &mut Draft, line: Line<'_>) -> Result<(), ParseError> {
        match self {
            Machine::Envelope(machine) => machine.line(draft, line),
            Machine::Unified(machine) => machine.line(draft, line),
            Machine::Blocks(machine) => machine.line(draft, line),
            Machine::Edits(machine) => {
                machine.line(line);
                Ok(())
            }
            Machine::Undecided(machine) => {
                if let Some(machine) = machine.line(draft, line)? {
                    *self = machine;
                }
                Ok(())
            }
        }
    }

    pub(super) fn finish(&mut self, draft: &mut Draft, last: Place) -> Result<(), ParseError> {
        match self {
            Machine::Envelope(machine) => machine.finish(draft, last),
            Machine::Unified(machine) => machine.finish(draft, last),
            Machine::Blocks(machine) => machine.finish(draft, last),
            Machine::Edits(machine) => machine.finish(draft, last),
            Machine::Undecided(machine) => machine.finish(draft, last),
        }
    }
}

impl Default for Parser {
    fn default() -> Self {
        Parser::new(&ParseOptions::default())
    }
}

impl Parser {
    /// A parser that has seen nothing yet.
    #[must_use]
    pub fn new(options: &ParseOptions) -> Self {
        Parser {
            lines: Lines::default(),
            machine: Machine::new(options),
            draft: Draft::default(),
            failed: None,
            ended: false,
            told: true,
        }
    }

    /// Takes the next bytes. Small pieces are only kept; they are looked at when somebody asks, or when enough of them
    /// have come together. After an error, and after [`Parser::end`], bytes are ignored.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) {
        if !self.lines.stage(bytes) {
            self.advance(bytes);
        }
    }

    /// The next thing that has become complete, in the order of the text: each operation when its header has been read,
    /// each hunk and each operation when no later byte can change it. `None` means that more bytes are needed.
    ///
    /// # Errors
    /// The text cannot be a patch, whatever follows. Everything that was complete before is given first; then every call
    /// gives the same error.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, ParseError> {
        if self.told && !self.lines.has_line() { Ok(None) } else { self.tell() }
    }

    fn tell(&mut self) -> Result<Option<Event<'_>>, ParseError> {
        self.advance(&[]);
        if self.draft.has_event() {
            return Ok(self.draft.next_event());
        }
        match &self.failed {
            Some(error) => Err(error.clone()),
            None => {
                self.told = true;
                Ok(None)
            }
        }
    }

    /// Takes out the operations that [`Parser::next_event`] gave as complete, so that memory does not grow with the
    /// text. [`Parser::finish`] then gives a patch without them.
    pub fn take_complete(&mut self) -> impl Iterator<Item = FileOp> {
        self.draft.take_told()
    }

    /// Says that no more bytes follow. [`Parser::next_event`] then gives the rest, an error included.
    pub fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) || self.failed.is_some() {
            return;
        }
        self.told = false;
        let (machine, draft) = (&mut self.machine, &mut self.draft);
        let lines = std::mem::take(&mut self.lines);
        let last = lines.finish(&mut |line| machine.line(draft, line));
        let result = last.and_then(|last| machine.finish(draft, last));
        self.failed = result.err();
    }

    /// Ends the text and gives the patch, without the operations that were taken out.
    ///
    /// # Errors
    /// The text is no patch; see [`ParseError`].
    pub fn finish(mut self) -> Result<Patch, ParseError> {
        self.end();
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.draft.into_patch()),
        }
    }

    fn advance(&mut self, bytes: &[u8]) {
        if self.ended || self.failed.is_some() {
            return;
        }
        self.told = false;
        let (machine, draft) = (&mut self.machine, &mut self.draft);
        self.failed = self.lines.feed(bytes, &mut |line| machine.line(draft, line)).err();
    }
}

impl Patch {
    /// Reads a patch out of a text that is in memory.
    ///
    /// # Errors
    /// The text is no patch; see [`ParseError`].
    pub fn parse(text: &[u8]) -> Result<Patch, ParseError> {
        Patch::parse_with(text, &ParseOptions::default())
    }

    /// [`Patch::parse`] with options.
    ///
    /// # Errors
    /// The text is no patch; see [`ParseError`].
    pub fn parse_with(text: &[u8], options: &ParseOptions) -> Result<Patch, ParseError> {
        let mut parser = Parser::new(options);
        parser.feed(text);
        parser.finish()
    }

    /// Reads a patch from a reader to its end, without ever holding its text as a whole. Stops early if what was read
    /// cannot become a patch.
    ///
    /// # Errors
    /// The reader fails, or the text is no patch; see [`ReadError`].
    pub fn read(mut reader: impl Read, options: &ParseOptions) -> Result<Patch, ReadError> {
        let mut parser = Parser::new(options);
        let mut buffer = vec![0; READ];
        while parser.failed.is_none() {
            match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => parser.advance(&buffer[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(parser.finish()?)
    }
}

#[cfg(test)]
mod tests;
