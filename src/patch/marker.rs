//! The lines that steer: how each marker is spelled and taken apart. No state.

use super::draft::Action;
use crate::text::Trimmed as _;

pub(super) const BEGIN: &[u8] = b"*** Begin Patch";
pub(super) const END: &[u8] = b"*** End Patch";
pub(super) const END_OF_FILE: &[u8] = b"*** End of File";
pub(super) const ADD: &[u8] = b"*** Add File:";
pub(super) const DELETE: &[u8] = b"*** Delete File:";
pub(super) const UPDATE: &[u8] = b"*** Update File:";
pub(super) const MOVE_TO: &[u8] = b"*** Move to:";
pub(super) const ENVIRONMENT_ID: &[u8] = b"*** Environment ID:";
pub(super) const NO_NEWLINE: &[u8] = b"\\ No newline at end of file";
pub(super) const AT: &[u8] = b"@@";
/// What some models put behind Begin and End.
const STARS: &[u8] = b" ***";

/// Whether a trimmed line is `marker`, and if so whether stars follow it.
pub(super) fn with_stars(trimmed: &[u8], marker: &[u8]) -> Option<bool> {
    match trimmed.strip_prefix(marker)? {
        b"" => Some(false),
        rest if rest == STARS => Some(true),
        _ => None,
    }
}

/// Whether a line may end in an End marker: a test of one byte for the lines that carry content.
#[inline]
pub(super) fn may_end_in_end(text: &[u8]) -> bool {
    matches!(text.last(), Some(b'h' | b'*' | ..=b' ' | 0x80..))
}

/// Whether a line ends in an End marker.
pub(super) fn ends_in_end(text: &[u8]) -> bool {
    let text = text.trimmed_end();
    text.strip_suffix(STARS).unwrap_or(text).ends_with(END)
}

/// What follows the colon of an operation's header, untrimmed.
pub(super) fn header(line: &[u8]) -> Option<(Action, &[u8])> {
    [(ADD, Action::Add), (DELETE, Action::Delete), (UPDATE, Action::Update)]
        .into_iter()
        .find_map(|(marker, action)| Some((action, line.strip_prefix(marker)?)))
}

/// The numbers and the hint of a unified header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unified<'a> {
    /// The old line number.
    pub(super) old_line: u64,
    /// The text behind the second `@@`, trimmed; none if blank.
    pub(super) hint: Option<&'a [u8]>,
}

/// Reads what follows the first `@@` as `-a,b +c,d @@ hint`. A number too large to hold counts as the largest.
pub(super) fn unified(text: &[u8]) -> Option<Unified<'_>> {
    let (old_line, _, rest) = range(text.trimmed().strip_prefix(b"-")?)?;
    let (_, _, rest) = range(rest.strip_prefix(b" +")?)?;
    let hint = rest.strip_prefix(b" @@")?.trimmed();
    Some(Unified { old_line, hint: (!hint.is_empty()).then_some(hint) })
}

/// `a` or `a,b`: the line, the count (1 where there is none) and what follows.
pub(super) fn range(text: &[u8]) -> Option<(u64, u64, &[u8])> {
    let (start, rest) = number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => number(rest).map(|(count, rest)| (start, count, rest)),
        None => Some((start, 1, rest)),
    }
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    if digits.is_empty() {
        return None;
    }
    let value = digits.iter().fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unified_header_is_told_from_an_anchor() {
        type Case = (&'static str, Option<(u64, Option<&'static str>)>);
        let cases: &[Case] = &[
            ("-5 +5 @@", Some((5, None))),
            ("-118,8 +118,9 @@ fn name(", Some((118, Some("fn name(")))),
            ("  -1,0 +2 @@   x  ", Some((1, Some("x")))),
            ("-5 +5 @@x", Some((5, Some("x")))),
            ("-0,0 +1 @@", Some((0, None))),
            ("-99999999999999999999 +1 @@", Some((u64::MAX, None))),
            ("-5 +5", None),
            ("-5, +5 @@", None),
            ("-5  +5 @@", None),
            ("-x +5 @@", None),
            ("5 +5 @@", None),
            ("fn a() @@", None),
        ];
        for (text, want) in cases {
            let got = unified(text.as_bytes()).map(|u| (u.old_line, u.hint.map(|h| str::from_utf8(h).unwrap())));
            assert_eq!(got, *want, "{text:?}");
        }
    }

    #[test]
    fn the_one_byte_test_never_misses_an_end() {
        for tail in ["", " ", "\t", " ***", " ***  ", "\u{a0}", "\u{3000}"] {
            let line = format!("x*** End Patch{tail}");
            assert!(ends_in_end(line.as_bytes()) && may_end_in_end(line.as_bytes()), "{line:?}");
        }
        assert!(!ends_in_end(b"*** End Patch."));
    }
}
