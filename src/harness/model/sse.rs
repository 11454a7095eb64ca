//! Server-sent events: bytes in any pieces to whole events.
//!
//! Follows the HTML standard's grammar: a line ends with LF, CR or CRLF; a line is `field: value`, a comment
//! (`:` first, servers send them to keep the connection alive) or empty, which ends the event; several `data`
//! lines of one event are joined by LF; one byte order mark before everything is skipped. `id` and `retry`
//! are read over: a model call cannot be resumed.
//!
//! # Complexity
//!
//! Linear in the bytes, whatever the pieces. Memory is one event, bounded by the limit.

use std::collections::VecDeque;

/// One event. Without a name it is a `message` by the standard; nobody here cares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SseEvent {
    /// The `event` field.
    pub(super) name: Vec<u8>,
    /// The `data` lines.
    pub(super) data: Vec<u8>,
}

/// An event or a line larger than the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// The parser; feed it, then take the events.
#[derive(Debug)]
pub(super) struct SseParser {
    limit: usize,
    /// The line being read, without its end.
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was CR: a LF that follows belongs to it.
    after_cr: bool,
    first_line: bool,
    ready: VecDeque<SseEvent>,
}

impl SseParser {
    /// A parser that refuses events of more than `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: SseEvent::default(),
            has_data: false,
            after_cr: false,
            first_line: true,
            ready: VecDeque::new(),
        }
    }

    /// The next whole event.
    pub(super) fn pop(&mut self) -> Option<SseEvent> {
        self.ready.pop_front()
    }

    /// Takes in the next piece.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Result<(), TooLarge> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            self.extend_line(&bytes[..end])?;
            self.end_line()?;
            let cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if cr {
                self.after_cr = bytes.is_empty();
                bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
            }
        }
        self.extend_line(bytes)
    }

    /// The connection ended. The standard throws away an event without its empty line; some servers close
    /// right after the last one, so it is handed on, and what it is cut short of shows in its content.
    pub(super) fn finish(&mut self) -> Result<(), TooLarge> {
        if !self.line.is_empty() {
            self.end_line()?;
        }
        self.dispatch();
        Ok(())
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + bytes.len() > self.limit {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), TooLarge> {
        let line = std::mem::take(&mut self.line);
        let mut rest = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        }
        if rest.is_empty() {
            self.dispatch();
        } else {
            self.field(rest)?;
        }
        // The buffer is kept: a stream is many short lines.
        self.line = line;
        self.line.clear();
        Ok(())
    }

    fn field(&mut self, line: &[u8]) -> Result<(), TooLarge> {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(0) => return Ok(()),
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[..0]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"event" => self.event.name = value.to_vec(),
            b"data" => {
                if self.event.data.len() + value.len() >= self.limit {
                    return Err(TooLarge);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            self.ready.push_back(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut parser = SseParser::new(1 << 20);
        for piece in pieces {
            parser.feed(piece).unwrap();
        }
        parser.finish().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        std::iter::from_fn(|| parser.pop()).map(|event| (text(event.name), text(event.data))).collect()
    }

    #[test]
    fn each_rule_of_the_grammar_holds() {
        let cases: &[(&str, &[(&str, &str)])] = &[
            ("data: a\n\n", &[("", "a")]),
            ("data:a\n\n", &[("", "a")]),
            ("data:  a\n\n", &[("", " a")]),
            ("event: e\ndata: a\n\n", &[("e", "a")]),
            ("data: a\ndata: b\n\n", &[("", "a\nb")]),
            ("data\n\n", &[("", "")]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", &[("", "a"), ("", "b"), ("", "c")]),
            (": keep-alive\n\ndata: a\n\n", &[("", "a")]),
            ("event: lost\n\ndata: a\n\n", &[("", "a")]),
            ("id: 1\nretry: 5\nunknown: x\ndata: a\n\n", &[("", "a")]),
            ("\u{feff}data: a\n\n", &[("", "a")]),
            ("data: a\n\ndata: end", &[("", "a"), ("", "end")]),
            ("\n\n\n", &[]),
            ("", &[]),
        ];
        for (input, expected) in cases {
            let expected: Vec<_> = expected.iter().map(|(n, d)| ((*n).to_owned(), (*d).to_owned())).collect();
            assert_eq!(parse(&[input.as_bytes()]), expected, "{input:?}");
        }
    }

    #[test]
    fn a_line_or_an_event_over_the_limit_is_refused() {
        let mut parser = SseParser::new(8);
        assert_eq!(parser.feed(b"data: 123456789\n"), Err(TooLarge));
        let mut parser = SseParser::new(8);
        parser.feed(b"data:1234\n").and_then(|()| parser.feed(b"data:567")).unwrap_err();
        let mut parser = SseParser::new(9);
        assert_eq!(parser.feed(b"data:1234\ndata:5\n\n").and_then(|()| parser.feed(b":aaaaaaaaaa")), Err(TooLarge));
        let mut endless = SseParser::new(64);
        let grown = (0..100).try_for_each(|_| endless.feed(b"data: 0123456789\n"));
        assert_eq!(grown, Err(TooLarge));
    }

    proptest! {
        #[test]
        fn the_pieces_do_not_matter(
            lines in prop::collection::vec("(data: ?[a-z:\u{e9}]{0,4}|event: x|: c|id: 1|)", 0..12),
            ends in prop::collection::vec(0_usize..3, 12),
            cuts in prop::collection::vec(0_usize..200, 0..8),
        ) {
            let mut input = String::new();
            for (line, end) in lines.iter().zip(&ends) {
                input.push_str(line);
                input.push_str(["\n", "\r", "\r\n"][*end]);
            }
            let bytes = input.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&bytes[from..cut]);
                from = cut;
            }
            pieces.push(&bytes[from..]);
            prop_assert_eq!(parse(&pieces), parse(&[bytes]));
        }
    }
}
