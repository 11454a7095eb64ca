//! Lines for messages: what cannot be seen is spelled out, what is too long is cut.

use bstr::ByteSlice as _;

/// Spells a line out for a message: control characters, odd spaces, zero-width characters and bytes that are not UTF-8
/// become escapes such as `\t`, `\u{a0}` or `\xff`; white space at the end becomes visible (`·` for a space). At most
/// `limit` bytes of the line are spelled; `…` says that it was cut.
///
/// # Complexity
/// Linear in `limit`, whatever the line's length.
#[must_use]
pub(crate) fn visible(line: &[u8], limit: usize) -> String {
    let cut = cut_at(line, limit);
    let shown = &line[..cut];
    let text_end = shown.trim_end_with(|c| c == ' ').len();
    let mut out = String::with_capacity(shown.len() + 8);
    for (start, end, c) in shown.char_indices() {
        match c {
            ' ' if start >= text_end && cut == line.len() => out.push('·'),
            char::REPLACEMENT_CHARACTER if shown[start..end] != *"\u{fffd}".as_bytes() => {
                shown[start..end].iter().for_each(|byte| out.push_str(&format!("\\x{byte:02x}")));
            }
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\n' => out.push_str("\\n"),
            _ if is_invisible(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    if cut < line.len() {
        out.push('…');
    }
    out
}

/// Where to cut a line so that at most `limit` bytes are left and no character is split.
fn cut_at(line: &[u8], limit: usize) -> usize {
    if line.len() <= limit {
        return line.len();
    }
    // A character has at most four bytes, so a border is among the last four positions.
    (limit.saturating_sub(3)..=limit).rev().find(|&at| (line[at] & 0xc0) != 0x80).unwrap_or(limit)
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        let table: &[(&[u8], usize, &str)] = &[
            (b"plain text", 80, "plain text"),
            (b"\ta  b", 80, "\\ta  b"),
            (b"end  ", 80, "end··"),
            (b"   ", 80, "···"),
            ("a\u{a0}b\u{200b}".as_bytes(), 80, "a\\u{a0}b\\u{200b}"),
            (b"cr\r", 80, "cr\\r"),
            (b"latin \xe9!", 80, "latin \\xe9!"),
            ("grün – “ok”".as_bytes(), 80, "grün – “ok”"),
            (b"abcdef", 4, "abcd…"),
            (b"abc def", 4, "abc …"),
            ("aéé".as_bytes(), 2, "a…"),
            ("\u{fffd}".as_bytes(), 80, "\u{fffd}"),
            (b"", 80, ""),
        ];
        for (line, limit, want) in table {
            assert_eq!(visible(line, *limit), *want, "{line:?}");
        }
    }
}
