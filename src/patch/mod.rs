//! The patch as data: what every front end produces and the planner consumes.
//!
//! Everything is bytes. Line endings of the patch text are already gone; nothing else is normalised.
//!
//! [`Patch::parse`] takes a text that is in memory, [`Patch::read`] one that is still to be read, and [`Parser`] one
//! that arrives in pieces. All three give the same result for the same bytes.

mod blocks;
mod detect;
mod draft;
mod edits;
mod envelope;
mod error;
#[cfg(feature = "shell")]
mod invocation;
mod lines;
mod marker;
mod op;
mod options;
mod parser;
mod replacement;
mod unified;
mod wrapper;
mod write;

pub use draft::{Action, Event, OpHead};
pub use edits::Call;
pub use error::{ParseError, ReadError};
#[cfg(feature = "shell")]
pub use invocation::{Detected, Invocation};
pub use op::{Count, FileOp, OpKind, TextEdit};
pub use options::{Format, ParseOptions};
pub use parser::Parser;
pub use write::WriteError;
pub(crate) use write::{head as git_head, names as git_names, quoted as git_quoted};

/// A whole patch: operations in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// The operations, in order.
    pub ops: Vec<FileOp>,
    /// What was accepted besides the grammar, in the order it was met; at most [`Patch::MAX_NOTES`].
    pub notes: Vec<Note>,
    /// How many notes more there would be.
    pub notes_left_out: u64,
    /// The value of an `*** Environment ID:` line.
    pub environment_id: Option<String>,
    /// The calls of a model that operations came in; see [`Format::Edits`].
    pub calls: Vec<Call>,
}

impl Patch {
    /// How many notes are kept. A text of a million bare empty lines shall not become a million notes.
    pub const MAX_NOTES: usize = 1000;
}

/// One hunk: where it goes and its rows.
///
/// The rows are kept as they stand in the patch, each a sign byte, its text and a line feed, in one buffer: no
/// allocation per line. [`Hunk::rows`] reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Line of the patch text (from 1) where the hunk begins (its first `@@`, else its first row).
    pub line: u64,
    /// Line of the patch text of the first row.
    pub first_row_line: u64,
    /// Anchor texts, outermost first, as written after `@@` and one space.
    pub anchors: Vec<Vec<u8>>,
    /// The old line number of a unified header (from 1).
    pub old_line: Option<u64>,
    /// The text after a unified header's second `@@`, trimmed.
    pub hint: Option<Vec<u8>>,
    /// Whether the hunk belongs at the end of the file (`*** End of File`).
    pub end_of_file: bool,
    /// Whether the hunk comes from a real unified diff, where the nearest candidate decides and a carriage return at the
    /// end of a row is the line's.
    pub unified: bool,
    /// Whether the hunk is looked for in the whole file, whatever the hunks before it: its language has no order.
    pub anywhere: bool,
    body: Vec<u8>,
    /// Row numbers (from 0) followed by `\ No newline at end of file`.
    no_newline: Vec<u32>,
    removed: u32,
    added: u32,
    context: u32,
}

/// What a row of a hunk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// The line is there before and after.
    Context,
    /// The line is removed.
    Remove,
    /// The line is added.
    Add,
}

impl Sign {
    /// The byte that stands for it in front of a row.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            Sign::Context => b' ',
            Sign::Remove => b'-',
            Sign::Add => b'+',
        }
    }
}

/// One row of a hunk, borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// What the row does.
    pub sign: Sign,
    /// Its text, without sign and ending.
    pub text: &'a [u8],
    /// Whether `\ No newline at end of file` follows it.
    pub no_newline: bool,
}

impl Hunk {
    /// A hunk without rows that begins on this line of the patch text.
    #[must_use]
    pub fn new(line: u64) -> Self {
        Hunk { line, first_row_line: line, ..Hunk::default() }
    }

    /// Appends a row. `text` must hold no line feed.
    pub fn push(&mut self, sign: Sign, text: &[u8]) {
        debug_assert!(memchr::memchr(b'\n', text).is_none(), "BUG: a row is one line");
        self.count(sign);
        self.body.push(sign.byte());
        self.body.extend_from_slice(text);
        self.body.push(b'\n');
    }

    /// Appends a row that already has its sign in front and its line feed behind.
    fn push_whole(&mut self, sign: Sign, row: &[u8]) {
        debug_assert!(row.first() == Some(&sign.byte()) && memchr::memchr(b'\n', row) == Some(row.len() - 1));
        self.count(sign);
        self.body.extend_from_slice(row);
    }

    fn count(&mut self, sign: Sign) {
        *match sign {
            Sign::Context => &mut self.context,
            Sign::Remove => &mut self.removed,
            Sign::Add => &mut self.added,
        } += 1;
    }

    /// Takes the last row away again. It must not be followed by `\ No newline at end of file`.
    fn pop(&mut self) {
        let Some(body) = self.body.strip_suffix(b"\n") else { return };
        let start = memchr::memrchr(b'\n', body).map_or(0, |at| at + 1);
        match self.body[start] {
            b'-' => self.removed -= 1,
            b'+' => self.added -= 1,
            _ => self.context -= 1,
        }
        self.body.truncate(start);
    }

    /// Notes that `\ No newline at end of file` follows the last row pushed. Saying it twice is saying it once.
    pub fn mark_no_newline(&mut self) {
        if let Some(row) = self.len().checked_sub(1)
            && self.no_newline.last() != Some(&row)
        {
            self.no_newline.push(row);
        }
    }

    /// The rows in order. Costs one newline search a row and no allocation.
    pub fn rows(&self) -> Rows<'_> {
        Rows { rest: &self.body, row: 0, no_newline: &self.no_newline }
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.context + self.removed + self.added
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// How many lines the hunk removes.
    #[must_use]
    pub fn removed(&self) -> u32 {
        self.removed
    }

    /// How many lines the hunk adds.
    #[must_use]
    pub fn added(&self) -> u32 {
        self.added
    }

    /// How many old lines the hunk quotes: context and removed.
    #[must_use]
    pub fn old_len(&self) -> u32 {
        self.context + self.removed
    }

    /// The bytes of all rows, signs and line feeds included.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// Iterator over the rows of a [`Hunk`].
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    rest: &'a [u8],
    row: u32,
    no_newline: &'a [u32],
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let (&sign, rest) = self.rest.split_first()?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.rest = rest.get(end + 1..).unwrap_or_default();
        let sign = match sign {
            b'-' => Sign::Remove,
            b'+' => Sign::Add,
            _ => Sign::Context,
        };
        let no_newline = self.no_newline.first() == Some(&self.row);
        if no_newline {
            self.no_newline = &self.no_newline[1..];
        }
        self.row += 1;
        Some(Row { sign, text: &rest[..end], no_newline })
    }
}

/// Something accepted that the grammar does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Line of the patch text (from 1).
    pub line: u64,
    /// How many lines in a row, that one included.
    pub lines: u64,
    /// What it was.
    pub kind: NoteKind,
}

/// What was accepted besides the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// White space round a marker.
    IndentedMarker,
    /// `*** Begin Patch ***` or `*** End Patch ***`.
    MarkerStars,
    /// No space after a header's colon or after `@@`.
    MissingSpace,
    /// The first hunk of an Update without `@@`.
    ImplicitHunk,
    /// A UTF-8 byte order mark before Begin.
    ByteOrderMark,
    /// A Markdown fence round the patch.
    Fence,
    /// A shell heredoc round the patch.
    Heredoc,
    /// An `*** Environment ID:` line.
    EnvironmentId,
    /// An Update with Move and no hunks.
    PureRename,
    /// `\ No newline at end of file` in a hunk.
    NoNewline,
    /// A bare empty line taken as empty context, or as nothing.
    BareEmptyLine,
    /// Text that belongs to no change: a mail's header, a commit's message, prose between blocks.
    SkippedText,
    /// The counts in a unified header are not those of the lines below it.
    WrongCount,
    /// A header of a unified hunk without line numbers.
    NoNumbers,
    /// Lines of a unified diff that all end in CRLF, which was dropped.
    CarriageReturns,
}

impl NoteKind {
    /// Whether several lines of it in a row make one note.
    fn runs(self) -> bool {
        matches!(self, NoteKind::BareEmptyLine | NoteKind::SkippedText)
    }
}
