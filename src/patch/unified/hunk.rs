//! The rows of a hunk, and where it ends.

use super::range::{At, at_line};
use super::{Kind, Left, LooksLikeNames, State, Step, Unified, begins_commit, is_fence, open_path};
use crate::patch::draft::Draft;
use crate::patch::error::ParseError;
use crate::patch::lines::{Line, Place};
use crate::patch::{Hunk, NoteKind, Sign};

impl Unified {
    pub(super) fn open_hunk(&mut self, draft: &mut Draft, line: Line<'_>, at: At<'_>) {
        self.state = State::Hunk;
        self.looks_like_names = None;
        let crlf = line.raw.ends_with(b"\r\n");
        if crlf && !self.crlf {
            draft.note(line.number, NoteKind::CarriageReturns);
        }
        self.crlf = crlf;
        draft.hunk =
            Hunk { body: std::mem::take(&mut draft.hunk.body), line: line.number, unified: true, ..Hunk::default() };
        match at {
            At::Numbers { old_line, old_count, new_count, hint } => {
                self.left = Left { counted: true, old: old_count, new: new_count, wrong: false };
                draft.hunk.old_line = Some(old_line);
                draft.hunk.hint = hint.map(<[u8]>::to_vec);
            }
            At::Text(text) => {
                self.left = Left::default();
                draft.note(line.number, NoteKind::NoNumbers);
                draft.hunk.anchors.extend(text.map(<[u8]>::to_vec));
            }
        }
    }

    #[inline]
    pub(super) fn hunk_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let done = self.left.counted && self.left.is_done();
        match line.text.first() {
            Some(b' ') if !done => self.row(draft, line, Sign::Context),
            Some(b'+') if !done => self.row(draft, line, Sign::Add),
            Some(b'-') if !done && (self.left.counted || !line.text.starts_with(b"--- ")) => {
                self.row(draft, line, Sign::Remove)
            }
            None if !done => self.blank(draft, line),
            Some(b'\\') => self.no_newline(draft, line),
            _ => self.below_hunk(draft, line, done),
        }
    }

    /// An empty line in a hunk: an empty line of context whose space was lost, or what follows a hunk without counts.
    fn blank(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        draft.note(line.number, NoteKind::BareEmptyLine);
        self.row(draft, line, Sign::Context)
    }

    /// A line that can be no row by the counts, or that has no sign.
    fn below_hunk(&mut self, draft: &mut Draft, line: Line<'_>, done: bool) -> Step {
        let text = line.text;
        if let Some(at) = at_line(text) {
            if !done {
                if let Some(LooksLikeNames { old, new: Some(new) }) = self.looks_like_names.take() {
                    return self.names_after_all(draft, &old, &new, line, at);
                }
                self.note_wrong(draft);
            }
            self.end_hunk(draft, &line.into())?;
            if self.adds {
                return Err(ParseError::at(Kind::NotNew { path: open_path(draft) }, line));
            }
            self.open_hunk(draft, line, at);
            return Ok(());
        }
        if text.starts_with(b"--- ") {
            self.old_name = Some(Place::whole(line));
            return Ok(());
        }
        let signature = text == b"-- " || text == b"--";
        match text.first().filter(|_| done && !signature) {
            Some(b' ') => return self.row(draft, line, Sign::Context),
            Some(b'+') => return self.row(draft, line, Sign::Add),
            Some(b'-') => return self.row(draft, line, Sign::Remove),
            _ => {}
        }
        let closes = self.fenced && is_fence(text);
        if self.left.counted && !done && !closes && !text.starts_with(b"diff ") && !begins_commit(text) {
            return Err(ParseError::at(Kind::NoSign { path: open_path(draft) }, line));
        }
        if self.left.counted && !done {
            self.note_wrong(draft);
        }
        self.end_file(draft, &line.into())?;
        self.outside_line(draft, line)
    }

    /// The last two rows were the names of the next file: the counts of this hunk are too high.
    fn names_after_all(&mut self, draft: &mut Draft, old: &Place, new: &Place, line: Line<'_>, at: At<'_>) -> Step {
        draft.hunk.pop();
        draft.hunk.pop();
        self.note_wrong(draft);
        self.end_file(draft, old)?;
        let new = new.line();
        self.names(draft, old, new, &new.text[4..])?;
        self.first_hunk(draft, line, at)
    }

    fn note_wrong(&mut self, draft: &mut Draft) {
        if !std::mem::replace(&mut self.left.wrong, true) {
            draft.note(draft.hunk.line, NoteKind::WrongCount);
        }
    }

    #[inline]
    pub(super) fn row(&mut self, draft: &mut Draft, line: Line<'_>, sign: Sign) -> Step {
        self.count(draft, sign);
        if draft.hunk.first_row_line == 0 {
            draft.hunk.first_row_line = line.number;
        }
        if self.adds {
            if sign != Sign::Add {
                return Err(ParseError::at(Kind::NotNew { path: open_path(draft) }, line));
            }
            draft.content.extend_from_slice(&self.text(line)[1..]);
            draft.content.push(b'\n');
            return Ok(());
        }
        let text = self.text(line);
        match line.raw.strip_suffix(b"\n") {
            // Nothing but an ending: a row whose sign was lost.
            _ if line.text.is_empty() => draft.hunk.push(sign, text),
            Some(whole) if whole.len() == text.len() => draft.hunk.push_whole(sign, line.raw),
            _ => draft.hunk.push(sign, text.get(1..).unwrap_or_default()),
        }
        self.look_for_names(line, sign);
        Ok(())
    }

    /// The line as a row: without its LF, and without the CR if that belongs to the patch.
    fn text<'l>(&self, line: Line<'l>) -> &'l [u8] {
        if self.crlf { line.text } else { line.raw.strip_suffix(b"\n").unwrap_or(line.raw) }
    }

    #[inline]
    fn count(&mut self, draft: &mut Draft, sign: Sign) {
        let Left { counted, old, new, .. } = &mut self.left;
        if !*counted {
            return;
        }
        let (takes_old, takes_new) = (sign != Sign::Add, sign != Sign::Remove);
        let wrong = (takes_old && *old == 0) || (takes_new && *new == 0);
        *old = old.saturating_sub(u64::from(takes_old));
        *new = new.saturating_sub(u64::from(takes_new));
        if wrong {
            self.note_wrong(draft);
        }
    }

    #[inline]
    fn look_for_names(&mut self, line: Line<'_>, sign: Sign) {
        if sign == Sign::Remove && line.text.starts_with(b"--- ") {
            self.looks_like_names = Some(LooksLikeNames { old: Place::whole(line), new: None });
        } else if let Some(names) = &mut self.looks_like_names {
            match &mut names.new {
                new @ None if line.text.starts_with(b"+++ ") => *new = Some(Place::whole(line)),
                _ => self.looks_like_names = None,
            }
        }
    }

    /// `\ No newline at end of file`, in whatever language.
    fn no_newline(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        if self.adds {
            if draft.content.pop().is_none() {
                return Err(ParseError::at(Kind::NoNewlineAlone { path: open_path(draft) }, line));
            }
            return Ok(());
        }
        if draft.hunk.is_empty() {
            return Err(ParseError::at(Kind::NoNewlineAlone { path: open_path(draft) }, line));
        }
        draft.hunk.mark_no_newline();
        Ok(())
    }
}
