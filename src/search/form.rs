//! The forms in which an answer is written, and what its parts take in each of them.

use super::budget::MARK;
use super::found::{Line, RowKind};

/// The form in which an answer is going to be written: its bytes are what the budget counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnswerForm {
    /// Rows as text, by [`Answer::write_text`](super::Answer::write_text).
    #[default]
    Text,
    /// One JSON object, by [`Answer::write_json`](super::Answer::write_json).
    Json,
}

impl AnswerForm {
    /// Bytes of an answer without rows and notices.
    pub(super) fn frame(self) -> usize {
        match self {
            AnswerForm::Text => 0,
            // The keys, three numbers and the brackets.
            AnswerForm::Json => 200,
        }
    }

    /// Bytes of a row besides the text of its line; `grouped` when `--` may stand before it.
    pub(super) fn row(self, path: &[u8], line: &Line, grouped: bool) -> usize {
        let digits = line.number.checked_ilog10().unwrap_or(0) as usize + 1;
        let rest = match (self, line.kind) {
            (AnswerForm::Text, RowKind::File) => "\n".len(),
            (AnswerForm::Text, _) => digits + "::\n".len() + if grouped { "--\n".len() } else { 0 },
            (AnswerForm::Json, RowKind::File) => r#"{"path":""},"#.len(),
            (AnswerForm::Json, RowKind::Count) => r#"{"path":"","count":},"#.len() + digits,
            (AnswerForm::Json, RowKind::Match | RowKind::Context) => {
                r#"{"path":"","line":,"text":"","kind":"context","cut":false},"#.len() + digits
            }
        };
        self.text(path) + rest
    }

    /// Bytes of a text.
    pub(super) fn text(self, bytes: &[u8]) -> usize {
        match self {
            AnswerForm::Text => bytes.len(),
            AnswerForm::Json => bytes.utf8_chunks().map(|chunk| in_json(chunk.valid()) + wrong(chunk.invalid())).sum(),
        }
    }

    /// Bytes of the marks of a cut line.
    pub(super) fn marks(self, line: &Line) -> usize {
        match self {
            AnswerForm::Text => MARK.len() * (usize::from(line.cut.0) + usize::from(line.cut.1)),
            AnswerForm::Json => 0,
        }
    }

    /// Bytes of a notice besides its message.
    pub(super) fn notice(self, code: &str) -> usize {
        match self {
            AnswerForm::Text => "\n".len(),
            AnswerForm::Json => r#"{"code":"","message":""},"#.len() + code.len(),
        }
    }
}

/// Bytes of a text in a JSON string.
fn in_json(text: &str) -> usize {
    let extra = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 1,
        0..0x20 => r"\u0000".len() - 1,
        _ => 0,
    };
    text.len() + text.bytes().map(extra).sum::<usize>()
}

/// Bytes of what stands for some that are no UTF-8.
fn wrong(bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { char::REPLACEMENT_CHARACTER.len_utf8() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_text_takes_what_it_takes_once_written(bytes in proptest::collection::vec(any::<u8>(), 0..60), text in "\\PC{0,20}") {
            for bytes in [&bytes[..], text.as_bytes()] {
                let json = serde_json::to_string(&String::from_utf8_lossy(bytes)).unwrap();
                prop_assert_eq!(AnswerForm::Json.text(bytes), json.len() - 2, "{}", json);
                prop_assert_eq!(AnswerForm::Text.text(bytes), bytes.len());
            }
        }
    }
}
