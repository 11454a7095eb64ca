//! Unified diffs, as `diff -u`, `git diff`, `git show`, `git log -p` and `git format-patch` write them, and as models do.
//!
//! ```text
//! text   = (skipped | file)*
//! file   = git? "--- " NAME "+++ " NAME hunk+   |   git
//! git    = "diff --git " NAME " " NAME extended*
//! hunk   = "@@ -a,b +c,d @@ HINT" row+          |   "@@" row+   |   "@@ ANCHOR" row+
//! row    = (" " | "-" | "+") TEXT | "" | "\ No newline at end of file"
//! ```
//!
//! The counts of a hunk's header say where it ends, so that a removed line `-- x` is no header. Where they are wrong the
//! form of the lines decides and a note says so; only at the end of the text lines that are missing mean that it was cut
//! off. Text between files (a mail's header, a commit's message) is skipped and noted. Each mail or commit is a batch.
//!
//! A CR before the LF is part of a row, unless the hunk's header ends in CRLF too.

use super::draft::Draft;
use super::error::{ParseError, quote};
use super::lines::{Line, Place};
use super::{FileOp, Hunk, NoteKind, OpKind, Sign};

mod error;
mod header;
mod hunk;
mod names;
mod range;

use crate::text::Trimmed as _;
pub(super) use error::Kind;
use header::Header;
use names::Name;
use range::{At, at_line};

type Step = Result<(), ParseError>;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Between files.
    Outside,
    /// In a header.
    Header,
    /// In a hunk.
    Hunk,
}

/// The lines that a hunk still has to come, by its header.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    /// Without numbers in the header nobody knows.
    counted: bool,
    old: u64,
    new: u64,
    /// The counts are wrong; it was noted.
    wrong: bool,
}

impl Left {
    fn is_done(&self) -> bool {
        self.old == 0 && self.new == 0
    }
}

/// The state machine.
#[derive(Debug)]
pub(super) struct Unified {
    strip: Option<usize>,
    state: State,
    header: Header,
    left: Left,
    /// Rows go into the content of a new file.
    adds: bool,
    /// The hunk's header ends in CRLF.
    crlf: bool,
    /// A `--- NAME` that is a header if `+++ NAME` follows.
    old_name: Option<Place>,
    /// Rows that look like the names of the next file: how many bytes of rows and how many removed and added lines are above.
    looks_like_names: Option<LooksLikeNames>,
    /// A Markdown fence is open.
    fenced: bool,
    batch: u32,
}

/// Two rows that may be the names of the next file.
#[derive(Debug)]
struct LooksLikeNames {
    old: Place,
    new: Option<Place>,
}

impl Unified {
    pub(super) fn new(strip: Option<usize>) -> Self {
        Unified {
            strip,
            state: State::Outside,
            header: Header::default(),
            left: Left::default(),
            adds: false,
            crlf: false,
            old_name: None,
            looks_like_names: None,
            fenced: false,
            batch: 1,
        }
    }

    /// Takes one line.
    #[inline]
    pub(super) fn line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        if let Some(old) = self.old_name.take() {
            if let Some(name) = line.text.strip_prefix(b"+++ ") {
                return self.names(draft, &old, line, name);
            }
            self.no_names(draft, &old)?;
        }
        match self.state {
            State::Hunk => self.hunk_line(draft, line),
            State::Header => self.header_line(draft, line),
            State::Outside => self.outside_line(draft, line),
        }
    }

    /// Takes the end of the text. `last` is its last line that is not blank.
    pub(super) fn finish(&mut self, draft: &mut Draft, last: Place) -> Step {
        if let Some(old) = self.old_name.take() {
            self.no_names(draft, &old)?;
        }
        match self.state {
            State::Outside => {}
            State::Header => self.end_header(draft, &last)?,
            State::Hunk if self.left.counted && !self.left.is_done() && !self.left.wrong => {
                let Left { old, new, .. } = self.left;
                let kind = Kind::CutOff { path: open_path(draft), old, new };
                return Err(ParseError::from_place(kind, last));
            }
            State::Hunk => self.end_file(draft, &last)?,
        }
        if draft.is_empty() { Err(ParseError::from_place(Kind::NoDiff, last)) } else { Ok(()) }
    }

    // ---- between files

    fn outside_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let text = line.text;
        if let Some(rest) = text.strip_prefix(b"diff --git ") {
            self.header = Header::of_git(line.number, rest);
            self.state = State::Header;
            return Ok(());
        }
        if text.starts_with(b"--- ") && !text[4..].trimmed().is_empty() {
            self.old_name = Some(Place::whole(line));
            return Ok(());
        }
        if is_fence(text) {
            self.fenced = !self.fenced;
            draft.note(line.number, NoteKind::Fence);
            return Ok(());
        }
        self.refuse_other_kinds(line)?;
        if begins_commit(text) && !draft.is_empty() {
            self.batch += 1;
        }
        if !line.is_blank() {
            draft.note(line.number, NoteKind::SkippedText);
        }
        Ok(())
    }

    /// Refuses what is a change, but none that can be taken.
    fn refuse_other_kinds(&self, line: Line<'_>) -> Step {
        let text = line.text;
        let kind = if matches!(at_line(text), Some(At::Numbers { .. })) {
            Kind::NoFile
        } else if text.starts_with(b"diff --cc ") || text.starts_with(b"diff --combined ") || text.starts_with(b"@@@ -")
        {
            Kind::Combined
        } else if text == b"***************" {
            Kind::Context
        } else if text == b"GIT binary patch" || (text.starts_with(b"Binary files ") && text.ends_with(b" differ")) {
            let shown = self.header.shown();
            Kind::Binary { path: if shown.is_empty() { quote(text) } else { shown } }
        } else {
            return Ok(());
        };
        Err(ParseError::at(kind, line))
    }

    // ---- headers

    fn header_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let named = self.header.new.is_some();
        if let Some(at) = at_line(line.text).filter(|_| named) {
            return self.first_hunk(draft, line, at);
        }
        if named {
            match line.text.first() {
                Some(b' ' | b'+' | b'-') => {
                    draft.note(line.number, NoteKind::ImplicitHunk);
                    self.first_hunk(draft, line, At::Text(None))?;
                    return self.hunk_line(draft, line);
                }
                None => {
                    draft.note(line.number, NoteKind::BareEmptyLine);
                    return Ok(());
                }
                Some(_) => {}
            }
        }
        let text = line.text;
        if !named && text.starts_with(b"--- ") {
            self.old_name = Some(Place::whole(line));
            return Ok(());
        }
        if !named && self.header.take(text).map_err(|kind| ParseError::at(kind, line))? {
            return Ok(());
        }
        self.refuse_other_kinds(line)?;
        self.end_header(draft, &line.into())?;
        self.outside_line(draft, line)
    }

    /// `--- OLD` was followed by `+++ NEW`.
    fn names(&mut self, draft: &mut Draft, old: &Place, line: Line<'_>, new: &[u8]) -> Step {
        if self.state == State::Hunk {
            self.end_file(draft, old)?;
        }
        let old_name = Name::read(&old.line().text[4..]).map_err(|kind| ParseError::from_place(kind, old.clone()))?;
        let new_name = Name::read(new).map_err(|kind| ParseError::at(kind, line))?;
        if self.state == State::Header && self.header.is_of_another(&old_name, &new_name, self.strip) {
            self.end_header(draft, old)?;
        }
        if self.state == State::Header {
            (self.header.old, self.header.new) = (Some(old_name), Some(new_name));
        } else {
            self.header = Header::of_names(old.number, old_name, new_name);
            self.state = State::Header;
        }
        Ok(())
    }

    /// `--- OLD` was not followed by `+++ NEW`, so it is something else.
    fn no_names(&mut self, draft: &mut Draft, old: &Place) -> Step {
        match self.state {
            State::Outside => draft.note(old.number, NoteKind::SkippedText),
            State::Header => return Err(ParseError::from_place(Kind::NoNewName, old.clone())),
            State::Hunk => {
                self.row(draft, old.line(), Sign::Remove)?;
            }
        }
        Ok(())
    }

    /// The header ends without a hunk.
    fn end_header(&mut self, draft: &mut Draft, at: &Place) -> Step {
        let kind = if self.header.new.is_some() {
            Kind::NoHunk { path: self.header.shown() }
        } else {
            match self.header.op(self.strip, None, false) {
                Ok(op) => {
                    draft.open_as(self.in_batch(op));
                    draft.close();
                    self.state = State::Outside;
                    return Ok(());
                }
                Err(kind) => kind,
            }
        };
        Err(ParseError::from_place(kind, at.clone()))
    }

    fn in_batch(&self, op: FileOp) -> FileOp {
        FileOp { batch: if self.header.git.is_some() { self.batch } else { 0 }, ..op }
    }

    // ---- hunks

    fn first_hunk(&mut self, draft: &mut Draft, line: Line<'_>, at: At<'_>) -> Step {
        let first_old = match at {
            At::Numbers { old_line, old_count, .. } => Some(if old_count == 0 { old_line } else { old_line.max(1) }),
            At::Text(_) => None,
        };
        let op = self.header.op(self.strip, first_old, true).map_err(|kind| ParseError::at(kind, line))?;
        self.adds = matches!(op.kind, OpKind::Add { .. });
        draft.open_as(self.in_batch(op));
        self.open_hunk(draft, line, at);
        Ok(())
    }

    fn end_hunk(&mut self, draft: &mut Draft, at: &Place) -> Step {
        let empty = if self.adds { draft.content.is_empty() } else { draft.hunk.is_empty() };
        if empty {
            let kind = Kind::EmptyHunk { path: open_path(draft), opened: draft.hunk.line };
            return Err(ParseError::from_place(kind, at.clone()));
        }
        if self.adds {
            draft.hunk = Hunk::default();
        } else {
            draft.finish_hunk();
        }
        Ok(())
    }

    fn end_file(&mut self, draft: &mut Draft, at: &Place) -> Step {
        self.end_hunk(draft, at)?;
        if self.header.deletes_link()
            && let Some(hunks) = draft.open_op().and_then(|op| op.kind.hunks_mut())
        {
            hunks.clear();
        }
        draft.close();
        self.state = State::Outside;
        self.header = Header::default();
        Ok(())
    }
}

/// A line of back ticks or tildes, with or without a word.
fn is_fence(text: &[u8]) -> bool {
    text.starts_with(b"```") || text.starts_with(b"~~~")
}

/// The first line of a mail of `git format-patch`, or of a commit in `git log`.
fn begins_commit(text: &[u8]) -> bool {
    let hash = text.strip_prefix(b"From ").or_else(|| text.strip_prefix(b"commit "));
    hash.and_then(|rest| rest.get(..40)).is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
}

/// The path of the open operation, for a message.
fn open_path(draft: &mut Draft) -> String {
    draft.open_op().map_or_else(String::new, |op| quote(&op.path))
}
