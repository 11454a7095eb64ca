//! SEARCH/REPLACE blocks.
//!
//! ```text
//! text    = (skipped | block)*
//! block   = PATH? fence? PATH? open line* "=======" line* close fence?
//! open    = "<<<<<<< SEARCH"   |  "------- SEARCH"
//! close   = ">>>>>>> REPLACE"  |  "+++++++ REPLACE"
//! ```
//!
//! The name of the file stands on the last line above the block, above or below an opening fence; white space, back ticks,
//! `*`, `#` and a colon round it are dropped. A block without a name is for the file of the block before. An empty
//! SEARCH adds its lines at the end of the file, or makes it. Each block is looked for in the whole file. Marks have at
//! least five signs in a row, the divider as many as the mark that opens its block. Text between blocks is skipped and
//! noted.

use bstr::ByteSlice as _;

use super::draft::{Action, Draft};
use super::error::ParseError;
use super::lines::{Line, Place};
use super::{FileOp, Hunk, NoteKind, OpKind};
use crate::text::Trimmed as _;

mod error;

pub(super) use error::Kind;

type Step = Result<(), ParseError>;

/// The fewest signs of a mark.
const SIGNS: usize = 5;

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Outside,
    Search,
    Replace,
}

/// A line that may name the file of the next block.
#[derive(Debug, Default)]
struct Candidate {
    line: u64,
    path: Vec<u8>,
}

/// The state machine.
#[derive(Debug)]
pub(super) struct Blocks {
    state: State,
    /// The last line above that is neither blank nor a fence, if it can be a name.
    name: Option<Candidate>,
    /// The file of the block before.
    path: Vec<u8>,
    /// The line of the open block's first mark.
    opened: u64,
    /// The sign with which it was opened, and how many there were.
    mark: (u8, usize),
    search: Vec<u8>,
    replace: Vec<u8>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Blocks {
            state: State::Outside,
            name: None,
            path: Vec::new(),
            opened: 0,
            mark: (b'<', 7),
            search: Vec::new(),
            replace: Vec::new(),
        }
    }

    /// Takes one line.
    #[inline]
    pub(super) fn line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        match self.state {
            State::Outside => self.outside_line(draft, line),
            State::Search => self.search_line(line),
            State::Replace => self.replace_line(draft, line),
        }
    }

    /// Takes the end of the text.
    pub(super) fn finish(&mut self, draft: &mut Draft, last: Place) -> Step {
        let kind = match self.state {
            State::Search => Kind::NoDivider { opened: self.opened },
            State::Replace => Kind::NoClose { opened: self.opened },
            State::Outside if draft.is_empty() => Kind::NoBlock,
            State::Outside => {
                if let Some(name) = self.name.take() {
                    draft.note(name.line, NoteKind::SkippedText);
                }
                draft.close();
                return Ok(());
            }
        };
        Err(ParseError::from_place(kind, last))
    }

    fn outside_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let text = line.text.trimmed_end();
        if let Some(mark) = opens(text) {
            return self.open(draft, line, mark);
        }
        if line.is_blank() {
            return Ok(());
        }
        if text.starts_with(b"```") || text.starts_with(b"~~~") {
            draft.note(line.number, NoteKind::Fence);
            // Some write the name behind the fence: "```src/main.rs".
            let info = text[3..].trimmed();
            if info.iter().any(|byte| matches!(byte, b'/' | b'.')) && self.name.is_none() {
                self.name = name(info).map(|path| Candidate { line: line.number, path });
            }
            return Ok(());
        }
        if closes(text, b'>') || closes(text, b'+') {
            return Err(ParseError::at(Kind::Stray, line));
        }
        if let Some(skipped) = self.name.take() {
            draft.note(skipped.line, NoteKind::SkippedText);
        }
        match name(text) {
            Some(path) => self.name = Some(Candidate { line: line.number, path }),
            None => draft.note(line.number, NoteKind::SkippedText),
        }
        Ok(())
    }

    /// Opens a block, and the file it is for.
    fn open(&mut self, draft: &mut Draft, line: Line<'_>, mark: (u8, usize)) -> Step {
        if let Some(name) = self.name.take() {
            if name.path != self.path {
                draft.close();
            }
            self.path = name.path;
        }
        if self.path.is_empty() {
            return Err(ParseError::at(Kind::NoName, line));
        }
        (self.state, self.opened, self.mark) = (State::Search, line.number, mark);
        Ok(())
    }

    fn search_line(&mut self, line: Line<'_>) -> Step {
        let text = line.text.trimmed_end();
        if self.is_divider(text) {
            self.state = State::Replace;
            return Ok(());
        }
        if opens(text).is_some() || closes(text, b'>') {
            return Err(ParseError::at(Kind::NoDivider { opened: self.opened }, line));
        }
        push(&mut self.search, line);
        Ok(())
    }

    fn replace_line(&mut self, draft: &mut Draft, line: Line<'_>) -> Step {
        let text = line.text.trimmed_end();
        if closes(text, if self.mark.0 == b'<' { b'>' } else { b'+' }) {
            self.state = State::Outside;
            self.close(draft);
            return Ok(());
        }
        if opens(text).is_some() {
            return Err(ParseError::at(Kind::NoClose { opened: self.opened }, line));
        }
        if self.is_divider(text) {
            return Err(ParseError::at(Kind::TwoDividers { opened: self.opened }, line));
        }
        push(&mut self.replace, line);
        Ok(())
    }

    /// A divider has as many signs as the mark above it, so that a block about such lines can be written with others.
    fn is_divider(&self, text: &[u8]) -> bool {
        text.len() == self.mark.1 && text.iter().all(|byte| *byte == b'=')
    }

    /// Puts the block into the patch.
    fn close(&mut self, draft: &mut Draft) {
        let (search, replace) = (std::mem::take(&mut self.search), std::mem::take(&mut self.replace));
        if search.is_empty() {
            draft.close();
            draft.open_as(FileOp::new(self.opened, &self.path[..], OpKind::Append { content: Vec::new() }));
            draft.content = replace;
            draft.close();
            return;
        }
        if draft.open_op().is_none() {
            draft.open(self.opened, &self.path, Action::Update);
        }
        let mut hunk = Hunk::new(self.opened);
        (hunk.first_row_line, hunk.anywhere) = (self.opened + 1, true);
        hunk.push_replacement(without_last(&search), Some(without_last(&replace)).filter(|_| !replace.is_empty()));
        draft.hunk = hunk;
        draft.finish_hunk();
    }
}

fn push(text: &mut Vec<u8>, line: Line<'_>) {
    text.extend_from_slice(line.text);
    text.push(b'\n');
}

fn without_last(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

/// The sign of a line that opens a block, and how many there are.
pub(super) fn opens(text: &[u8]) -> Option<(u8, usize)> {
    let mark = *text.first().filter(|byte| matches!(byte, b'<' | b'-'))?;
    let signs = text.iter().take_while(|byte| **byte == mark).count();
    let word = text[signs..].trimmed();
    (signs >= SIGNS && word.strip_suffix(b">").unwrap_or(word) == b"SEARCH").then_some((mark, signs))
}

fn closes(text: &[u8], mark: u8) -> bool {
    let signs = text.iter().take_while(|byte| **byte == mark).count();
    let word = text[signs..].trimmed();
    signs >= SIGNS && (word == b"REPLACE" || word == b"REPLACE>")
}

/// The path that a line may name.
fn name(text: &[u8]) -> Option<Vec<u8>> {
    let marks = |c: char| matches!(c, '`' | '*' | '#' | ':' | '"' | '\'') || c.is_whitespace();
    let label = |text: &'_ [u8]| -> usize {
        [&b"File:"[..], b"file:", b"Path:", b"path:", b"filename:", b"Filename:"]
            .iter()
            .find(|label| text.starts_with(label))
            .map_or(0, |label| label.len())
    };
    let text = text.trim_start_with(marks);
    let text = text[label(text)..].trim_with(marks);
    let words = text.fields().count();
    // A sentence is no path; a path with spaces has a slash or a dot in its last word.
    let last_is_path = text
        .fields()
        .last()
        .is_some_and(|word| word.contains(&b'/') || word.find_byte(b'.').is_some_and(|at| at + 1 < word.len()));
    (words == 1 || (words > 1 && words < 6 && last_is_path)).then(|| text.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_may_be_a_path_is_told_from_a_sentence() {
        let table = [
            ("src/main.rs", Some("src/main.rs")),
            ("`src/main.rs`:", Some("src/main.rs")),
            ("**src/main.rs**", Some("src/main.rs")),
            ("### src/main.rs", Some("src/main.rs")),
            ("File: src/a.py", Some("src/a.py")),
            ("Makefile", Some("Makefile")),
            ("my notes/todo list.txt", Some("my notes/todo list.txt")),
            ("Here is the change:", None),
            ("I changed two lines.", None),
            ("```", None),
        ];
        for (text, want) in table {
            let got = name(text.as_bytes()).filter(|name| !name.is_empty());
            assert_eq!(got.map(|it| String::from_utf8(it).unwrap()).as_deref(), want, "{text:?}");
        }
    }

    #[test]
    fn marks_have_five_signs_or_more() {
        for (text, want) in [
            ("<<<<<<< SEARCH", Some((b'<', 7))),
            ("<<<<< SEARCH", Some((b'<', 5))),
            ("------- SEARCH", Some((b'-', 7))),
            ("<<<<<<< SEARCH>", Some((b'<', 7))),
            ("<<<< SEARCH", None),
            ("<<<<<<< HEAD", None),
            ("<<<<<<<", None),
            (" <<<<<<< SEARCH", None),
        ] {
            assert_eq!(opens(text.as_bytes()), want, "{text:?}");
        }
    }
}
