//! The second look at a content: the lines of the window.

use super::decode::Decoder;
use super::scan::{Content, Failed};
use super::view::FileLine;
use crate::text::{UTF8_BOM, WideEncoding};

/// Collects the lines of a window.
#[derive(Debug)]
pub(super) struct Window {
    first: u64,
    most_lines: u64,
    most_bytes: usize,
    most_chars: usize,
    end: u8,
    pub(super) lines: Vec<FileLine>,
    bytes: usize,
    /// The number of the line that is being taken.
    number: u64,
    /// What is kept of that line, in bytes that hold all characters that are shown.
    line: Vec<u8>,
    /// Its characters, kept or not.
    chars: u64,
    /// Something of it was seen.
    begun: bool,
    /// The byte seen last was a CR, of which it is not known yet whether it belongs to the line's end.
    held_cr: bool,
    /// Nothing more is taken.
    full: bool,
}

impl Window {
    pub(super) fn new(first: u64, most_lines: u64, most_bytes: usize, most_chars: usize, end: u8) -> Self {
        Window {
            first,
            most_lines,
            most_bytes,
            most_chars,
            end,
            lines: Vec::new(),
            bytes: 0,
            number: 1,
            line: Vec::new(),
            chars: 0,
            begun: false,
            held_cr: false,
            full: most_lines == 0,
        }
    }

    /// Takes the lines of the window from a content.
    pub(super) fn fill(
        &mut self,
        content: &mut Content,
        encoding: Option<WideEncoding>,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Failed> {
        let mut decoder = Decoder::new(encoding);
        let mut start = true;
        content.pieces(stop, |raw| {
            let text = decoder.decode(raw);
            let text = if std::mem::take(&mut start) { text.strip_prefix(UTF8_BOM).unwrap_or(text) } else { text };
            self.piece(text);
            !self.full
        })?;
        if self.begun && !self.full {
            self.release_cr();
            self.finish();
        }
        Ok(())
    }

    fn piece(&mut self, mut text: &[u8]) {
        while !self.full && !text.is_empty() {
            let (part, ended) = match memchr::memchr(self.end, text) {
                Some(at) => (&text[..at], true),
                None => (text, false),
            };
            self.begun |= !text.is_empty();
            if self.number >= self.first {
                self.take(part, ended);
            }
            if ended {
                self.finish();
                text = &text[part.len() + 1..];
            } else {
                return;
            }
        }
    }

    /// Takes a stretch of the current line.
    fn take(&mut self, part: &[u8], ended: bool) {
        if part.is_empty() {
            // Right at the line's end a held CR is part of that.
            return;
        }
        self.release_cr();
        let part = match part {
            [rest @ .., b'\r'] if self.end == b'\n' => {
                self.held_cr = !ended;
                rest
            }
            part => part,
        };
        self.keep(part);
    }

    fn release_cr(&mut self) {
        if std::mem::take(&mut self.held_cr) {
            self.keep(b"\r");
        }
    }

    fn keep(&mut self, part: &[u8]) {
        self.chars += part.iter().filter(|byte| begins(**byte)).count() as u64;
        // The longest character has four bytes.
        let room = (self.most_chars * 4).saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    /// Ends the current line.
    fn finish(&mut self) {
        if self.number >= self.first {
            self.push();
        }
        self.number += 1;
        self.line.clear();
        self.chars = 0;
        self.begun = false;
        self.held_cr = false;
    }

    fn push(&mut self) {
        // What a line costs besides its text: its number, a tab, the line end, and the mark when it is cut.
        let cost = number_width(self.number) + 2 + "…".len();
        let mut most = self.line.len();
        if self.lines.is_empty() {
            most = most.min(self.most_bytes.saturating_sub(cost));
        } else if self.bytes + cost + prefix(&self.line, most, self.most_chars) > self.most_bytes {
            self.full = true;
            return;
        }
        let end = prefix(&self.line, most, self.most_chars);
        let shown = self.line[..end].iter().filter(|byte| begins(**byte)).count() as u64;
        self.bytes += cost + end;
        self.lines.push(FileLine { number: self.number, text: self.line[..end].into(), cut: self.chars - shown });
        self.full = self.lines.len() as u64 >= self.most_lines;
    }
}

/// The width of a line's number as text.
fn number_width(number: u64) -> usize {
    (number.checked_ilog10().unwrap_or(0) as usize + 1).max(6)
}

/// The length of the longest beginning of `line` with at most so many bytes and characters, all of them whole.
fn prefix(line: &[u8], most_bytes: usize, most_chars: usize) -> usize {
    let mut end = most_bytes.min(line.len());
    if end < line.len() {
        end = (0..=end).rev().take(4).find(|at| begins(line[*at])).unwrap_or(end);
    }
    let mut starts = line[..end].iter().enumerate().filter(|(_, byte)| begins(**byte));
    starts.nth(most_chars).map_or(end, |(at, _)| at)
}

/// Whether a character begins with this byte.
fn begins(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}
