//! Which language a text is in.

use bstr::ByteSlice as _;

use super::blocks;
use super::draft::Draft;
use super::error::ParseError;
use super::lines::{Line, Lines, Place};
use super::marker::{BEGIN, ENVIRONMENT_ID, header, with_stars};
use super::options::{Format, ParseOptions};
use super::parser::Machine;
use crate::text::Trimmed as _;

/// Bytes that are looked at before the text is taken for the `*** Begin Patch` language, whose errors say most.
const LOOKED_AT: usize = 256 * 1024;

impl Format {
    /// The language that a text, or the beginning of one, is in; `None` when nothing says so.
    ///
    /// A line `*** Begin Patch`, or another header of that language, decides; so do `diff --git`, `--- ` with `+++ ` below
    /// it, a hunk's header with line numbers, and `<<<<<<< SEARCH`. A text that begins with `{` or `[` is JSON.
    #[must_use]
    pub fn detect(text: &[u8]) -> Option<Format> {
        let (mut lines, mut seen) = (Lines::default(), Seen::default());
        let mut found = None;
        let mut look = |line: Line<'_>| match seen.look(line) {
            Some(format) => {
                found = Some(format);
                Err(())
            }
            None => Ok(()),
        };
        if lines.feed(&text[..text.len().min(LOOKED_AT)], &mut look).is_ok() {
            let _stopped = lines.finish(&mut look);
        }
        found
    }
}

/// What the lines so far have said.
#[derive(Debug, Default)]
struct Seen {
    /// A line that is not blank came, wrappers aside.
    text: bool,
    /// The line above is `--- NAME`.
    old_name: bool,
}

impl Seen {
    fn look(&mut self, line: Line<'_>) -> Option<Format> {
        let text = line.text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line.text);
        let trimmed = text.trimmed();
        let old_name = std::mem::replace(&mut self.old_name, text.starts_with(b"--- "));
        if with_stars(trimmed, BEGIN).is_some() || header(trimmed).is_some() || trimmed.starts_with(ENVIRONMENT_ID) {
            return Some(Format::Envelope);
        }
        if blocks::opens(text.trimmed_end()).is_some() {
            return Some(Format::Blocks);
        }
        let numbers = text.starts_with(b"@@ -") && text[4..].find(b" @@").is_some();
        if text.starts_with(b"diff --git ") || (old_name && text.starts_with(b"+++ ")) || numbers {
            return Some(Format::Unified);
        }
        let first = !self.text && !trimmed.is_empty();
        let wraps = trimmed.starts_with(b"```") || trimmed.starts_with(b"~~~");
        self.text |= first && !wraps;
        (first && begins_json(trimmed)).then_some(Format::Edits)
    }
}

/// Whether a line can be the first of a JSON object or list.
pub(super) fn begins_json(trimmed: &[u8]) -> bool {
    let Some((first, rest)) = trimmed.split_first() else { return false };
    let next = rest.trimmed_start().first();
    match first {
        b'{' => matches!(next, None | Some(b'"' | b'}')),
        b'[' => matches!(next, None | Some(b'"' | b'{' | b'[' | b']')),
        _ => false,
    }
}

/// Holds the text back until it is known which language it is in.
#[derive(Debug)]
pub(super) struct Undecided {
    options: ParseOptions,
    seen: Seen,
    /// The lines so far, with their endings.
    held: Vec<u8>,
    first: Option<(u64, u64)>,
}

impl Undecided {
    pub(super) fn new(options: &ParseOptions) -> Self {
        Undecided { options: options.clone(), seen: Seen::default(), held: Vec::new(), first: None }
    }

    /// Takes one line; gives the machine that takes over, which has been given every line so far.
    pub(super) fn line(&mut self, draft: &mut Draft, line: Line<'_>) -> Result<Option<Machine>, ParseError> {
        self.first.get_or_insert((line.number, line.start));
        self.held.extend_from_slice(line.raw);
        let format = match self.seen.look(line) {
            Some(format) => format,
            None if self.held.len() > LOOKED_AT => Format::Envelope,
            None => return Ok(None),
        };
        self.decide(draft, format).map(Some)
    }

    fn decide(&mut self, draft: &mut Draft, format: Format) -> Result<Machine, ParseError> {
        let mut machine = Machine::new(&self.options.clone().format(format));
        let (mut number, mut start) = self.first.unwrap_or((1, 0));
        for raw in std::mem::take(&mut self.held).lines_with_terminator() {
            machine.line(draft, Line::new(number, start, raw))?;
            (number, start) = (number + 1, start + raw.len() as u64);
        }
        Ok(machine)
    }

    /// Takes the end of a text that was in no known language.
    pub(super) fn finish(&mut self, draft: &mut Draft, last: Place) -> Result<(), ParseError> {
        self.decide(draft, Format::Envelope)?.finish(draft, last)
    }
}
