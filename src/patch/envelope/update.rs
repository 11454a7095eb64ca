//! The states inside of an Update: above its first hunk, in a hunk, below an End of File.

use bstr::ByteSlice as _;

use super::Kind;
use super::{Envelope, Held, State, Step, note_header, note_marker, open_path};
use crate::patch::draft::Draft;
use crate::patch::error::ParseError;
use crate::patch::lines::Line;
use crate::patch::marker::{AT, END, END_OF_FILE, MOVE_TO, NO_NEWLINE, may_end_in_end, unified, with_stars};
use crate::patch::{NoteKind, OpKind, Sign};
use crate::text::Trimmed as _;

impl Envelope {
    #[inline]
    pub(super) fn update_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        if may_end_in_end(line.text) && is_indented_end(line.text) {
            self.held = Some(Box::new(Held {
                number: line.number,
                start: line.start,
                raw: line.raw.to_vec(),
                depth: self.wrappers.depth(),
            }));
            return Ok(());
        }
        self.update_body(draft, line)
    }

    /// A line below a held End: more of what may follow End, or the proof that it was none.
    pub(super) fn held_line(&mut self, draft: &mut Draft, mut held: Box<Held>, line: Line<'_>) -> Step {
        if !line.is_blank() {
            let Some(depth) = self.wrappers.close(held.depth, line.text) else {
                self.replay(draft, &held)?;
                return self.line(draft, line);
            };
            held.depth = depth;
        }
        held.raw.extend_from_slice(line.raw);
        self.held = Some(held);
        Ok(())
    }

    /// Takes the lines held as what they are in a hunk. None but the first looks like an End, so none is held again.
    fn replay(&mut self, draft: &mut Draft, held: &Held) -> Step {
        let (mut number, mut start) = (held.number, held.start);
        for raw in held.raw.lines_with_terminator() {
            self.step();
            self.update_body(draft, Line::new(number, start, raw))?;
            (number, start) = (number + 1, start + raw.len() as u64);
        }
        Ok(())
    }

    #[inline]
    fn update_body(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        match line.text.first() {
            Some(b' ') => self.row(draft, line, Sign::Context),
            Some(b'+') => self.row(draft, line, Sign::Add),
            Some(b'-') => self.row(draft, line, Sign::Remove),
            Some(_) => self.update_marker(draft, line),
            None => {
                draft.note(line.number, NoteKind::BareEmptyLine);
                if self.state == State::Hunk {
                    push_row(draft, line, Sign::Context);
                }
                Ok(())
            }
        }
    }

    #[inline]
    fn row(&mut self, draft: &mut Draft, line: Line<'_>, sign: Sign) -> Step {
        if self.state != State::Hunk {
            if self.state == State::AfterHunk {
                return self.after_hunk(draft, line);
            }
            draft.note(line.number, NoteKind::ImplicitHunk);
            self.open_hunk(draft, line);
        }
        self.look_for_glue(line);
        push_row(draft, line, sign);
        Ok(())
    }

    fn update_marker(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let trimmed = line.text.trimmed_end();
        if self.section(draft, line, trimmed)? {
            return Ok(());
        }
        if let Some(rest) = trimmed.strip_prefix(AT) {
            return self.at_line(draft, line, rest);
        }
        match self.state {
            State::Update => self.move_line(draft, line, trimmed),
            State::Hunk => self.hunk_marker(draft, line, trimmed),
            _ => self.after_hunk(draft, line),
        }
    }

    fn at_line(&mut self, draft: &mut Draft, line: Line<'_>, rest: &[u8]) -> Step {
        if self.state != State::Hunk {
            self.open_hunk(draft, line);
        } else if !draft.hunk.is_empty() {
            finish_hunk(draft, line)?;
            self.open_hunk(draft, line);
        }
        self.look_for_glue(line);
        if rest.len() + AT.len() < line.text.len() {
            draft.note(line.number, NoteKind::IndentedMarker);
        }
        let text = rest.strip_prefix(b" ").unwrap_or(rest);
        if text.len() == rest.len() && !rest.is_empty() {
            draft.note(line.number, NoteKind::MissingSpace);
        }
        if let Some(unified) = unified(text) {
            draft.hunk.old_line = Some(unified.old_line);
            draft.hunk.hint = unified.hint.map(<[u8]>::to_vec);
        } else if !text.trimmed().is_empty() {
            draft.hunk.anchors.push(text.to_vec());
        }
        Ok(())
    }

    /// A line without a sign above the first hunk: a Move, or wrong.
    fn move_line(&mut self, draft: &mut Draft, line: Line<'_>, trimmed: &[u8]) -> Step {
        let wrong = Kind::NoSign { path: open_path(draft) };
        let Some(rest) = trimmed.strip_prefix(MOVE_TO) else { return Err(self.stray(line, trimmed, wrong)) };
        let path = rest.trimmed();
        if path.is_empty() {
            return Err(ParseError::at(Kind::NoPath, line));
        }
        let Some(OpKind::Update { move_to: place @ None, .. }) = draft.open_op().map(|op| &mut op.kind) else {
            return Err(self.stray(line, trimmed, wrong));
        };
        *place = Some(path.to_vec());
        note_header(draft, line, rest);
        self.look_for_glue(line);
        Ok(())
    }

    /// A line without a sign in a hunk.
    fn hunk_marker(&mut self, draft: &mut Draft, line: Line<'_>, trimmed: &[u8]) -> Step {
        if trimmed == END_OF_FILE {
            draft.hunk.end_of_file = true;
            finish_hunk(draft, line)?;
            note_marker(draft, line, line.text, END_OF_FILE);
            self.state = State::AfterHunk;
            return Ok(());
        }
        if trimmed != NO_NEWLINE {
            return Err(self.stray(line, trimmed, Kind::NoSign { path: open_path(draft) }));
        }
        if draft.hunk.is_empty() {
            return Err(ParseError::at(Kind::NoNewlineAlone { path: open_path(draft) }, line));
        }
        draft.hunk.mark_no_newline();
        draft.note(line.number, NoteKind::NoNewline);
        Ok(())
    }

    /// A line below End of File: blank, or wrong.
    fn after_hunk(&self, draft: &mut Draft, line: Line<'_>) -> Step {
        let trimmed = line.text.trimmed();
        if trimmed.is_empty() {
            draft.note(line.number, NoteKind::BareEmptyLine);
            return Ok(());
        }
        Err(self.stray(line, trimmed, Kind::AfterEndOfFile { path: open_path(draft) }))
    }

    fn open_hunk(&mut self, draft: &mut Draft, line: Line<'_>) {
        draft.hunk.line = line.number;
        self.state = State::Hunk;
    }
}

/// Completes the hunk that is being filled, because of `line`.
pub(super) fn finish_hunk(draft: &mut Draft, line: Line<'_>) -> Step {
    if draft.hunk.is_empty() {
        let opened = draft.hunk.line;
        return Err(ParseError::at(Kind::EmptyHunk { path: open_path(draft), opened }, line));
    }
    draft.finish_hunk();
    Ok(())
}

/// Puts a line into the hunk. A line without any byte is an empty row.
#[inline]
fn push_row(draft: &mut Draft, line: Line<'_>, sign: Sign) {
    if draft.hunk.is_empty() {
        draft.hunk.first_row_line = line.number;
    }
    match line.whole() {
        Some(raw) if raw.len() > 1 => draft.hunk.push_whole(sign, raw),
        _ => draft.hunk.push(sign, line.text.get(1..).unwrap_or_default()),
    }
}

/// Whether a line that is no marker by itself is an End with white space in front.
fn is_indented_end(text: &[u8]) -> bool {
    !text.starts_with(END) && with_stars(text.trimmed(), END).is_some()
}
