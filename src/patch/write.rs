//! A patch back to text, in the `*** Begin Patch` language; as a git diff in [`git`].

mod git;

pub(crate) use git::{head, names, quoted};

use bstr::ByteSlice as _;

use super::error::quote;
use super::marker::{ADD, AT, BEGIN, DELETE, END, END_OF_FILE, ENVIRONMENT_ID, MOVE_TO, NO_NEWLINE, UPDATE, unified};
use super::{FileOp, Hunk, OpKind, Patch};

/// Why a patch cannot be written in a language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Something that the language has no words for.
    #[error("{what} of `{path}` cannot be said in this language")]
    Unsaid {
        /// The path, cut if long.
        path: String,
        /// What it is: `a copy`, `a change of mode`, ...
        what: &'static str,
    },
    /// Something that needs the file: line numbers, or what the lines round a change are.
    #[error("the change of `{path}` cannot be written without the file itself")]
    NeedsFile {
        /// The path, cut if long.
        path: String,
    },
    /// There is no operation.
    #[error("a patch without operations cannot be written")]
    Empty,
    /// A path, an anchor, a hint or an environment that would be read back as something else: empty, with white space at
    /// its end, with a line feed inside, or of the form of a unified header.
    #[error("`{text}` cannot be written in a header")]
    Header {
        /// The text, cut if long.
        text: String,
    },
    /// A new file whose content has no line feed at its end.
    #[error("the new file `{path}` does not end in a line feed, which `*** Add File` cannot say")]
    NoFinalNewline {
        /// Its path, cut if long.
        path: String,
    },
    /// A hint without a line number.
    #[error("a hunk of `{path}` has a hint but no line number")]
    HintAlone {
        /// The path of its operation, cut if long.
        path: String,
    },
    /// An Update without hunks and without a new path, or a hunk without rows.
    #[error("the update of `{path}` has nothing in it")]
    Nothing {
        /// Its path, cut if long.
        path: String,
    },
    /// Two operations of one kind on one path in a row, the first without content.
    #[error("`{path}` is made twice in a row, first empty")]
    Twice {
        /// Its path, cut if long.
        path: String,
    },
}

impl Patch {
    /// Writes the patch so that [`Patch::parse`] reads the same operations. Line numbers and notes are those of the new
    /// text, and [`Hunk::unified`] is lost: in this language a tie is not broken by the nearest line. Lost too are the
    /// lines that a Delete removes, since it removes whatever there is.
    ///
    /// # Errors
    /// The language cannot say what the patch says; see [`WriteError`].
    pub fn to_envelope(&self) -> Result<Vec<u8>, WriteError> {
        if self.ops.is_empty() {
            return Err(WriteError::Empty);
        }
        let mut out = Vec::new();
        line(&mut out, &[BEGIN]);
        if let Some(name) = &self.environment_id {
            header(&mut out, ENVIRONMENT_ID, name.as_bytes())?;
        }
        for (at, op) in self.ops.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &self.ops[before]);
            if before.is_some_and(|before| is_repeated(before, op)) {
                return Err(WriteError::Twice { path: quote(&op.path) });
            }
            operation(&mut out, op)?;
        }
        line(&mut out, &[END]);
        Ok(out)
    }
}

/// Whether the parser would refuse the second header as a repetition of the first.
fn is_repeated(before: &FileOp, op: &FileOp) -> bool {
    before.path == op.path
        && match (&before.kind, &op.kind) {
            (OpKind::Add { content }, OpKind::Add { .. }) => content.is_empty(),
            (OpKind::Delete { .. }, OpKind::Delete { .. }) => true,
            _ => false,
        }
}

fn operation(out: &mut Vec<u8>, op: &FileOp) -> Result<(), WriteError> {
    let unsaid = |what| WriteError::Unsaid { path: quote(&op.path), what };
    if op.executable == Some(true) || (op.executable.is_some() && !matches!(op.kind, OpKind::Add { .. })) {
        return Err(unsaid("the mode"));
    }
    if op.expected.is_some() {
        return Err(unsaid("the expected content"));
    }
    match &op.kind {
        OpKind::Delete { .. } => header(out, DELETE, &op.path),
        OpKind::Add { content } => {
            header(out, ADD, &op.path)?;
            if !content.is_empty() && !content.ends_with(b"\n") {
                return Err(WriteError::NoFinalNewline { path: quote(&op.path) });
            }
            for text in content.lines_with_terminator() {
                row(out, b'+', text.strip_suffix(b"\n").unwrap_or(text));
            }
            Ok(())
        }
        OpKind::Update { move_to, hunks } => {
            header(out, UPDATE, &op.path)?;
            if let Some(path) = move_to {
                header(out, MOVE_TO, path)?;
            }
            if (hunks.is_empty() && move_to.is_none()) || hunks.iter().any(Hunk::is_empty) {
                return Err(WriteError::Nothing { path: quote(&op.path) });
            }
            hunks.iter().try_for_each(|it| hunk(out, it, &op.path))
        }
        OpKind::Copy { .. } => Err(unsaid("a copy")),
        OpKind::Edit { .. } | OpKind::Append { .. } | OpKind::Write { .. } => {
            Err(WriteError::NeedsFile { path: quote(&op.path) })
        }
    }
}

fn hunk(out: &mut Vec<u8>, hunk: &Hunk, path: &[u8]) -> Result<(), WriteError> {
    match (hunk.old_line, &hunk.hint) {
        (Some(number), hint) => {
            let range = format!(" -{number} +{number} ");
            let hint = hint.as_deref().unwrap_or_default();
            check(hint, hint.trim().len() == hint.len())?;
            line(out, &[AT, range.as_bytes(), AT, if hint.is_empty() { b"" } else { b" " }, hint]);
        }
        (None, Some(_)) => return Err(WriteError::HintAlone { path: quote(path) }),
        (None, None) if hunk.anchors.is_empty() => line(out, &[AT]),
        (None, None) => {}
    }
    for anchor in &hunk.anchors {
        let stands = !anchor.trim().is_empty() && anchor.trim_end().len() == anchor.len() && unified(anchor).is_none();
        check(anchor, stands)?;
        line(out, &[AT, b" ", anchor]);
    }
    // In a real unified diff a CR is half of an ending, which is the file's to choose here.
    let crlf = hunk.unified && hunk.rows().any(|it| it.text.ends_with(b"\r"));
    if crlf && !hunk.rows().all(|it| it.text.ends_with(b"\r")) {
        return Err(WriteError::Unsaid { path: quote(path), what: "a change of line endings" });
    }
    for it in hunk.rows() {
        row(out, it.sign.byte(), if crlf { &it.text[..it.text.len() - 1] } else { it.text });
        if it.no_newline {
            line(out, &[NO_NEWLINE]);
        }
    }
    if hunk.end_of_file {
        line(out, &[END_OF_FILE]);
    }
    Ok(())
}

fn header(out: &mut Vec<u8>, marker: &[u8], value: &[u8]) -> Result<(), WriteError> {
    check(value, !value.is_empty() && value.trim().len() == value.len())?;
    line(out, &[marker, b" ", value]);
    Ok(())
}

fn check(text: &[u8], stands: bool) -> Result<(), WriteError> {
    if stands && !text.contains(&b'\n') { Ok(()) } else { Err(WriteError::Header { text: quote(text) }) }
}

/// A row. Behind a carriage return that belongs to the text the line ends in CRLF, of which the parser drops the CR.
fn row(out: &mut Vec<u8>, sign: u8, text: &[u8]) {
    line(out, &[&[sign], text, if text.ends_with(b"\r") { b"\r" } else { b"" }]);
}

fn line(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests;
