//! Structured edits: JSON that names files and says what becomes of them.
//!
//! The text is one object, or a list of objects; an object with `edits`, `operations` or `calls` and without a path holds
//! such a list. Each object is one of these, `path` may be spelled `file_path`:
//!
//! ```json
//! {"path": "a", "old_string": "x", "new_string": "y", "replace_all": false, "expected_replacements": 1}
//! {"path": "a", "edits": [{"old_string": "x", "new_string": "y"}, {"insert_line": 3, "text": "z"}]}
//! {"path": "a", "insert_line": 3, "text": "z"}
//! {"path": "a", "content": "the whole file\n"}
//! {"type": "create_file", "path": "a", "diff": "+x"}
//! {"type": "update_file", "path": "a", "diff": "@@\n-x\n+y"}
//! {"type": "delete_file", "path": "a"}
//! {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file", "path": "a"}}
//! ```
//!
//! `old_str`, `new_str`, `file_text`, `insert_text` and `new_str` of an insertion are other spellings; so is `command` with
//! `str_replace`, `create`, `insert`. Every object may have `expected_hash`, the content hash that `read` gave. An empty
//! `old_string` makes a new file. Edits of one object apply one after the other, each to the result of the one before.
//! A key that is not known is refused: what it says would be lost.

use serde::Deserialize as _;
use serde_json::value::RawValue;

use super::draft::Draft;
use super::error::{ParseError, quote};
use super::lines::{Line, Place};

mod calls;
mod error;
mod object;

pub use calls::Call;
pub(super) use error::Kind;
use object::{Entry, Object};

type Step = Result<(), ParseError>;

/// How many objects may stand one inside the other.
const DEEPEST: usize = 4;

/// Collects the text, which is read as a whole at its end.
#[derive(Debug, Default)]
pub(super) struct Edits {
    text: Vec<u8>,
}

impl Edits {
    /// Takes one line.
    pub(super) fn line(&mut self, line: Line<'_>) {
        self.text.extend_from_slice(line.raw);
    }

    /// Takes the end of the text.
    pub(super) fn finish(&mut self, draft: &mut Draft, last: Place) -> Step {
        let text = std::mem::take(&mut self.text);
        let fail = |kind: Kind| ParseError::from_place(kind, last.clone());
        let whole = str::from_utf8(&text).map_err(|_| fail(Kind::NotUtf8))?;
        let (text, first) = without_fence(whole);
        let base = text.as_ptr() as usize - whole.as_ptr() as usize;
        let raw: &RawValue = serde_json::from_str(text).map_err(|error| fail(Kind::json(&error)))?;
        let mut reader = Reader { text, base, line: first, at: 0, number: 0, calls: Vec::new() };
        reader.value(draft, raw, 0).map_err(|problem| ParseError::from_place(problem.kind, problem.place))?;
        draft.calls = reader.calls;
        if draft.is_empty() { Err(fail(Kind::Nothing)) } else { Ok(()) }
    }
}

/// The text inside a Markdown fence, if one is round it, and the number of its first line.
fn without_fence(text: &str) -> (&str, u64) {
    let trimmed = text.trim_start_matches('\u{feff}').trim_start();
    let line = |part: &str| text[..text.len() - part.len()].matches('\n').count() as u64 + 1;
    let Some(body) = trimmed.strip_prefix("```") else { return (trimmed, line(trimmed)) };
    let Some((_, body)) = body.split_once('\n') else { return (trimmed, line(trimmed)) };
    let first = line(body);
    let end = body.trim_end();
    (end.strip_suffix("```").unwrap_or(end), first)
}

/// What is wrong and where.
struct Problem {
    kind: Kind,
    place: Place,
}

/// Goes through the values in the order of the text.
struct Reader<'t> {
    text: &'t str,
    /// Where it begins in the whole text.
    base: usize,
    /// The line of the byte `at` of the text.
    line: u64,
    at: usize,
    /// Operations so far.
    number: usize,
    calls: Vec<Call>,
}

impl<'t> Reader<'t> {
    fn value(&mut self, draft: &mut Draft, raw: &'t RawValue, depth: usize) -> Result<(), Problem> {
        let place = self.place(raw);
        let fail = |kind| Problem { kind, place: place.clone() };
        if depth == DEEPEST {
            return Err(fail(Kind::TooDeep));
        }
        if raw.get().starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).map_err(|error| fail(Kind::json(&error)))?;
            return items.into_iter().try_for_each(|item| self.value(draft, item, depth + 1));
        }
        let mut deserializer = serde_json::Deserializer::from_str(raw.get());
        let object = Object::deserialize(&mut deserializer).map_err(|error| fail(Kind::object(raw.get(), &error)))?;
        match object.entry().map_err(fail)? {
            Entry::List(items) => items.into_iter().try_for_each(|item| self.value(draft, item, depth + 1)),
            Entry::Call { id, operation } => {
                let first = self.number;
                self.value(draft, operation, depth + 1)?;
                self.calls.push(Call { id, ops: first..self.number });
                Ok(())
            }
            Entry::Op(op) => {
                self.number += 1;
                op.write(draft, place.number, self.number).map_err(fail)
            }
        }
    }

    /// Where a value stands, and how it begins. Values must be asked for in the order of the text.
    fn place(&mut self, raw: &RawValue) -> Place {
        let from = raw.get().as_ptr() as usize;
        let at = from.checked_sub(self.text.as_ptr() as usize).filter(|at| *at >= self.at && *at < self.text.len());
        if let Some(at) = at {
            self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[self.at..at]).count() as u64;
            self.at = at;
        }
        Place::from(Line::new(self.line, (self.base + self.at) as u64, raw.get().as_bytes()))
    }
}

/// A path for a message.
fn shown(path: &str) -> String {
    quote(path.as_bytes())
}

#[cfg(test)]
mod tests;
