//! JSON, JSON with comments and TOML, by their parsers.

use serde::de::IgnoredAny;

use super::Fault;
use crate::diagnose::lines::Lines;

const BOM: char = '\u{feff}';

/// JSON as it is defined.
pub(super) fn json(text: &str) -> Vec<Fault> {
    parse(text).into_iter().collect()
}

/// Whether a file that should be JSON holds comments or trailing commas and is whole otherwise: some tools read theirs
/// so.
pub(super) fn is_really_jsonc(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| parse(text).is_some() && jsonc(text).is_empty())
}

/// JSON with comments and trailing commas.
pub(super) fn jsonc(text: &str) -> Vec<Fault> {
    parse(&plain_json(text)).into_iter().collect()
}

fn parse(text: &str) -> Option<Fault> {
    // The values are not wanted, so nothing is built and no depth is too deep.
    let error = serde_json::from_str::<IgnoredAny>(text.strip_prefix(BOM).unwrap_or(text)).err()?;
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    // A word that the end of its line cuts short is placed at the beginning of the next.
    let line = error.line().saturating_sub(if error.column() == 0 { 2 } else { 1 });
    Some(Fault { lines: line..line + 1, column: error.column().saturating_sub(1), message: message.to_owned() })
}

/// The text with comments and trailing commas replaced by spaces, so that every place stays what it is.
fn plain_json(text: &str) -> String {
    let mut out = text.as_bytes().to_vec();
    let mut comma = None;
    let mut at = 0;
    while at < out.len() {
        match (out[at], out.get(at + 1)) {
            (b'"', _) => {
                comma = None;
                at = string_end(&out, at);
            }
            (b'/', Some(b'/')) => {
                let end = memchr::memchr(b'\n', &out[at..]).map_or(out.len(), |len| at + len);
                at = blank(&mut out, at, end);
            }
            (b'/', Some(b'*')) => match memchr::memmem::find(&out[at + 2..], b"*/") {
                Some(len) => at = blank(&mut out, at, at + len + 4),
                // Never closed: left for the parser to stumble over.
                None => break,
            },
            (byte, _) => {
                match (byte, comma) {
                    (b',', _) => comma = Some(at),
                    (b'}' | b']', Some(comma)) => out[comma] = b' ',
                    _ => {}
                }
                if !byte.is_ascii_whitespace() && byte != b',' {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole comments and commas were replaced, so this is still UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Where the string that begins at `at` ends: after its closing quote.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut next = at + 1;
    while let Some(&byte) = bytes.get(next) {
        match byte {
            b'"' => return next + 1,
            b'\\' => next += 2,
            _ => next += 1,
        }
    }
    bytes.len()
}

fn blank(bytes: &mut [u8], start: usize, end: usize) -> usize {
    bytes[start..end].iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    end
}

/// TOML; its parser goes on after an error, so all of them are found.
pub(super) fn toml(text: &str) -> Vec<Fault> {
    let (_, errors) = toml::de::DeTable::parse_recoverable(text);
    let lines = Lines::new(text.as_bytes());
    let found = errors.iter().map(|error| {
        let span = error.span().unwrap_or(text.len()..text.len());
        let (line, column) = lines.place(span.start);
        let (end, _) = lines.place(span.end);
        Fault {
            lines: line..end.max(line) + 1,
            column,
            message: error.message().lines().collect::<Vec<_>>().join(", "),
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_with_comments_keeps_its_places() {
        let text = "{ // a \"b\n \"k\": \"//no\", /* x\n */ \"l\": [1, 2,],\n}";
        let plain = plain_json(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.replace(' ', ""), "{\n\"k\":\"//no\",\n\"l\":[1,2]\n}");
        assert!(jsonc(text).is_empty());
        assert!(!jsonc("{ /* never closed").is_empty());
        assert!(!jsonc("[1,,]").is_empty(), "two commas are one too many");
    }

    #[test]
    fn each_has_its_first_place() {
        type Case = (fn(&str) -> Vec<Fault>, &'static str, Option<usize>);
        let cases: &[Case] = &[
            (json, "{\"a\": 1}\n", None),
            (json, "\u{feff}{\"a\": 1}\n", None),
            (json, "{\"a\": 1,\n}\n", Some(1)),
            (json, "{\n\"a\": 1 // why\n}\n", Some(1)),
            (jsonc, "{\n\"a\": 1 // why\n}\n", None),
            (jsonc, "{\n\"a\": 1 // why\n\"b\": 2}\n", Some(2)),
            (json, "", Some(0)),
            (toml, "a = 1\n", None),
            (toml, "a = 1\nb = \n", Some(1)),
            (toml, "a = 1\na = 2\n", Some(1)),
        ];
        for (parse, text, want) in cases {
            assert_eq!(parse(text).first().map(|fault| fault.lines.start), *want, "{text:?}");
        }
    }

    #[test]
    fn deep_nesting_is_no_error_and_no_overflow() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(json(&deep).is_empty());
    }
}
