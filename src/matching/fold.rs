//! What of a line counts at each tier, without allocating while nothing changes.
//!
//! White space is what Unicode calls so, and the separators U+001C to U+001F. Bytes that are not UTF-8 are neither white
//! space nor folded: they stand for themselves, and text on either side of one is folded apart.

use bstr::ByteSlice as _;
use unicode_normalization::UnicodeNormalization as _;

use crate::policy::Tier;

/// A line without white space at its end.
pub(crate) fn trim_end(line: &[u8]) -> &[u8] {
    let mut line = line;
    while let Some(&last) = line.last() {
        if last < 0x80 {
            if !is_ascii_space(last) {
                break;
            }
            line = &line[..line.len() - 1];
        } else {
            let (c, len) = bstr::decode_last_utf8(line);
            if !c.is_some_and(char::is_whitespace) {
                break;
            }
            line = &line[..line.len() - len];
        }
    }
    line
}

/// The white space at the beginning of a line.
pub(crate) fn indentation(line: &[u8]) -> &[u8] {
    let mut at = 0;
    while let Some(&next) = line.get(at) {
        if next < 0x80 {
            if !is_ascii_space(next) {
                break;
            }
            at += 1;
        } else {
            let (c, len) = bstr::decode_utf8(&line[at..]);
            if !c.is_some_and(char::is_whitespace) {
                break;
            }
            at += len;
        }
    }
    &line[..at]
}

/// How many characters of white space a line begins with.
pub(crate) fn depth(line: &[u8]) -> usize {
    let space = indentation(line);
    if space.is_ascii() { space.len() } else { space.chars().count() }
}

/// A line without white space at either end.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    let line = trim_end(line);
    &line[indentation(line).len()..]
}

/// Whether a line has nothing but white space.
pub(crate) fn is_blank(line: &[u8]) -> bool {
    indentation(line).len() == line.len()
}

fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, 0x09..=0x0d | 0x1c..=0x20)
}

/// What of `line` counts at a tier. `buffer` is overwritten when the view is no part of the line itself.
pub(crate) fn view<'v>(tier: Tier, line: &'v [u8], buffer: &'v mut Vec<u8>) -> &'v [u8] {
    match plain_view(tier, line) {
        Some(view) => view,
        None => {
            fold_into(line, buffer);
            trim(buffer)
        }
    }
}

/// Whether a line begins with a text, as a tier sees both.
pub(crate) fn begins_with(tier: Tier, line: &[u8], text: &[u8]) -> bool {
    view(tier, line, &mut Vec::new()).starts_with(view(tier, text, &mut Vec::new()))
}

/// The view when it is a part of the line, `None` when the line has to be folded.
pub(crate) fn plain_view(tier: Tier, line: &[u8]) -> Option<&[u8]> {
    match tier {
        Tier::Exact => Some(line),
        Tier::TrimEnd => Some(trim_end(line)),
        Tier::Trim => Some(trim(line)),
        Tier::Unicode => {
            let line = trim(line);
            line.is_ascii().then_some(line)
        }
    }
}

/// Writes a line with its typographic characters folded, normalised to NFKC, and folded again.
fn fold_into(line: &[u8], buffer: &mut Vec<u8>) {
    buffer.clear();
    let mut utf8 = [0; 4];
    for chunk in line.utf8_chunks() {
        let folded = chunk.valid().chars().flat_map(fold_char);
        for c in folded.nfkc().flat_map(fold_char) {
            buffer.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
        }
        buffer.extend_from_slice(chunk.invalid());
    }
}

/// What a character counts as: nothing, itself or an ASCII stand-in.
fn fold_char(c: char) -> impl Iterator<Item = char> {
    let (c, times) = match c {
        '\u{200b}' | '\u{2060}' | '\u{feff}' => (c, 0),
        '\u{2010}'..='\u{2015}' | '\u{2212}' => ('-', 1),
        '\u{2018}'..='\u{201b}' => ('\'', 1),
        '\u{201c}'..='\u{201f}' => ('"', 1),
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => (' ', 1),
        '\u{2026}' => ('.', 3),
        _ => (c, 1),
    };
    std::iter::repeat_n(c, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(line: &[u8]) -> Vec<Vec<u8>> {
        Tier::ALL.iter().map(|&tier| view(tier, line, &mut Vec::new()).to_vec()).collect()
    }

    #[test]
    fn each_tier_sees_less_of_a_line() {
        let table: &[(&str, &str, &str, &str)] = &[
            // line, trim-end, trim, unicode
            ("", "", "", ""),
            (" \t ", "", "", ""),
            ("  a b \t", "  a b", "a b", "a b"),
            ("a\u{a0}", "a", "a", "a"),
            ("\u{3000}a\u{2003}\u{85}", "\u{3000}a", "a", "a"),
            ("\u{1c}a\u{1f}", "\u{1c}a", "a", "a"),
            ("a\u{a0}b", "a\u{a0}b", "a\u{a0}b", "a b"),
            ("\u{200b}a", "\u{200b}a", "\u{200b}a", "a"),
            ("\u{200b} a \u{feff}", "\u{200b} a \u{feff}", "\u{200b} a \u{feff}", "a"),
            ("“x” – ‘y’…", "“x” – ‘y’…", "“x” – ‘y’…", "\"x\" - 'y'..."),
            ("ｆｏｏ", "ｆｏｏ", "ｆｏｏ", "foo"),
            ("e\u{301}", "e\u{301}", "e\u{301}", "é"),
            ("ﬁ\u{2011}\u{2212}", "ﬁ\u{2011}\u{2212}", "ﬁ\u{2011}\u{2212}", "fi--"),
            ("\u{2000}a\u{2001}b", "\u{2000}a\u{2001}b", "a\u{2001}b", "a b"),
            ("a\u{180e}", "a\u{180e}", "a\u{180e}", "a\u{180e}"),
        ];
        for (line, end, both, folded) in table {
            let want: Vec<Vec<u8>> = [line, end, both, folded].iter().map(|s| s.as_bytes().to_vec()).collect();
            assert_eq!(views(line.as_bytes()), want, "{line:?}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_stand_for_themselves() {
        assert_eq!(views(b" caf\xe9 "), [&b" caf\xe9 "[..], b" caf\xe9", b"caf\xe9", b"caf\xe9"]);
        assert_eq!(views(b"\xa0a\xa0")[3], b"\xa0a\xa0");
        assert_eq!(views(b"e\xff\xcc\x81")[3], b"e\xff\xcc\x81", "a combining mark does not reach across");
        assert_eq!(views(b"\xe2\x80\x94\xe2\x80")[3], b"-\xe2\x80", "a cut character stays");
    }

    #[test]
    fn depth_counts_characters() {
        for (line, want) in [("a", 0), ("  a", 2), ("\t a", 2), ("\u{3000}\u{a0}a", 2), ("   ", 3)] {
            assert_eq!(depth(line.as_bytes()), want, "{line:?}");
        }
        assert!(is_blank(b" \t") && is_blank(b"") && !is_blank(b" \xff"));
    }
}
