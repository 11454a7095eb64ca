//! The `@@` line of a hunk.

use crate::patch::marker::{AT, range};
use crate::text::Trimmed as _;

/// What an `@@` line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At<'a> {
    /// `@@ -a,b +c,d @@ hint`.
    Numbers { old_line: u64, old_count: u64, new_count: u64, hint: Option<&'a [u8]> },
    /// `@@`, `@@ ... @@` or `@@ text`: the text, if it names something.
    Text(Option<&'a [u8]>),
}

/// Reads a line that begins with `@@`.
pub(super) fn at_line(text: &[u8]) -> Option<At<'_>> {
    let rest = text.strip_prefix(AT)?;
    if rest.starts_with(b"@") {
        return None;
    }
    if let Some(numbers) = numbers(rest.trimmed()) {
        return Some(numbers);
    }
    let anchor = rest.trimmed();
    let anchor = anchor.strip_suffix(AT).unwrap_or(anchor).trimmed();
    Some(At::Text(Some(anchor).filter(|text| !text.is_empty() && *text != b"..." && *text != "…".as_bytes())))
}

fn numbers(text: &[u8]) -> Option<At<'_>> {
    let (old_line, old_count, rest) = range(text.strip_prefix(b"-")?)?;
    let rest = rest.trimmed_start();
    let (_, new_count, rest) = range(rest.strip_prefix(b"+")?)?;
    let rest = rest.trimmed_start();
    let hint = if rest.is_empty() { rest } else { rest.strip_prefix(AT)?.trimmed() };
    Some(At::Numbers { old_line, old_count, new_count, hint: (!hint.is_empty()).then_some(hint) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_above_a_hunk_is_read() {
        let numbers = |old_line, old_count, new_count, hint: Option<&'static str>| {
            Some(At::Numbers { old_line, old_count, new_count, hint: hint.map(str::as_bytes) })
        };
        let text = |text: Option<&'static str>| Some(At::Text(text.map(str::as_bytes)));
        let table = [
            ("@@ -1,2 +3,4 @@", numbers(1, 2, 4, None)),
            ("@@ -1 +3 @@ fn f() {", numbers(1, 1, 1, Some("fn f() {"))),
            ("@@ -0,0 +1,3 @@", numbers(0, 0, 3, None)),
            ("@@-1,2 +3,4@@x", numbers(1, 2, 4, Some("x"))),
            ("@@ -1,2  +3,4", numbers(1, 2, 4, None)),
            ("@@", text(None)),
            ("@@ @@", text(None)),
            ("@@ ... @@", text(None)),
            ("@@ def f(x): @@", text(Some("def f(x):"))),
            ("@@ class A", text(Some("class A"))),
            ("@@@ -1,2 -1,2 +1,3 @@@", None),
            (" @@", None),
        ];
        for (line, want) in table {
            assert_eq!(at_line(line.as_bytes()), want, "{line:?}");
        }
    }
}
