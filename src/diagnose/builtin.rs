//! What a file loses or mixes up as a whole: line endings, the newline at its end, the executable bit.

use super::change::ChangedFile;
use super::lines::{Comparison, Lines};
use super::{Diagnostic, Severity};

/// Checks one change.
pub(super) fn check(change: &ChangedFile, comparison: &Comparison<'_>) -> Vec<Diagnostic> {
    if change.after.is_none() {
        return Vec::new();
    }
    let found =
        [mixed_endings(change, comparison), lost_final_newline(change, comparison), lost_executable_bit(change)];
    found
        .into_iter()
        .flatten()
        .map(|(code, line, message)| Diagnostic {
            check: "file".to_owned(),
            code: code.to_owned(),
            severity: Severity::Warning,
            path: Some(change.path.clone()),
            line: line.and_then(|line: usize| u32::try_from(line + 1).ok()),
            column: None,
            message,
        })
        .collect()
}

type Found = Option<(&'static str, Option<usize>, String)>;

/// Counts of lines that end in LF alone and in CRLF.
fn endings(lines: &Lines<'_>) -> (usize, usize) {
    let crlf = lines.iter().filter(|line| line.ends_with(b"\r\n")).count();
    let ended = lines.iter().filter(|line| line.ends_with(b"\n")).count();
    (ended - crlf, crlf)
}

fn mixed_endings(change: &ChangedFile, comparison: &Comparison<'_>) -> Found {
    let (lf, crlf) = endings(&comparison.after);
    let (old_lf, old_crlf) = endings(&comparison.before);
    if lf == 0 || crlf == 0 || (old_lf > 0 && old_crlf > 0) || is_binary(change) {
        return None;
    }
    // The odd ones are those the file did not have; in a new file, the fewer.
    let odd_is_crlf = if old_lf + old_crlf > 0 { old_crlf == 0 } else { crlf < lf };
    let odd = |line: &[u8]| line.ends_with(b"\n") && line.ends_with(b"\r\n") == odd_is_crlf;
    let line = comparison.added().find(|(_, line)| odd(line)).map(|(number, _)| number);
    let (odd, usual, count) = if odd_is_crlf { ("CRLF", "LF", crlf) } else { ("LF", "CRLF", lf) };
    let message = format!("mixed line endings: {count} lines now end in {odd}, the others in {usual}");
    Some(("mixed-line-endings", line, message))
}

fn lost_final_newline(change: &ChangedFile, comparison: &Comparison<'_>) -> Found {
    let (before, after) = change.contents();
    let lost = before.ends_with(b"\n") && !after.is_empty() && !after.ends_with(b"\n") && !is_binary(change);
    let message = "the file ended in a newline and no longer does".to_owned();
    lost.then(|| ("lost-final-newline", Some(comparison.after.len() - 1), message))
}

fn lost_executable_bit(change: &ChangedFile) -> Found {
    let executable = |mode: Option<u32>| mode.map(|mode| mode & 0o111 != 0);
    let before = executable(change.before.as_ref()?.mode)?;
    let after = executable(change.after.as_ref()?.mode)?;
    let message = "the file was executable and no longer is".to_owned();
    (before && !after).then_some(("lost-executable-bit", None, message))
}

fn is_binary(change: &ChangedFile) -> bool {
    let (before, after) = change.contents();
    [before, after].iter().any(|bytes| memchr::memchr(0, &bytes[..bytes.len().min(8000)]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::FileImage;
    use crate::limits::Deadline;
    use crate::path::RelPath;

    /// Before, after, and what is found: code and line.
    type Case = (Option<&'static str>, &'static str, &'static [(&'static str, Option<u32>)]);

    const CASES: &[Case] = &[
        (Some("a\nb\n"), "a\nb\nc\r\n", &[("mixed-line-endings", Some(3))]),
        (Some("a\r\nb\r\n"), "a\r\nx\nb\r\n", &[("mixed-line-endings", Some(2))]),
        (Some("a\r\nb\n"), "a\r\nb\nc\nd\r\n", &[]),
        (Some("a\n"), "a\r\n", &[]),
        (Some(""), "a\r\nb\nc\n", &[("mixed-line-endings", Some(1))]),
        (None, "a\r\nb\nc\n", &[("mixed-line-endings", Some(1))]),
        (None, "a\nb", &[]),
        (Some("a\r\nb\n"), "a\nb\n", &[]),
        (Some("a\nb\n"), "a\nb", &[("lost-final-newline", Some(2))]),
        (Some("a\nb"), "a\nc", &[]),
        (Some("a\n"), "", &[]),
        (Some("a\n\0"), "a\r\n\0\nb", &[]),
    ];

    #[test]
    fn endings_are_judged_by_what_the_file_had() {
        for (before, after, want) in CASES {
            let image = |text: &str| Some(FileImage::new(text));
            let change = ChangedFile::new(RelPath::new(b"f").unwrap(), before.and_then(image), image(after));
            let found = check(&change, &Comparison::of(&change, Deadline::NONE));
            let found: Vec<_> = found.iter().map(|found| (&*found.code, found.line)).collect();
            assert_eq!(found, *want, "{before:?} {after:?}");
        }
    }

    #[test]
    fn only_a_known_bit_can_be_lost() {
        let cases = [
            (Some(0o755), Some(0o644), 1),
            (Some(0o755), Some(0o700), 0),
            (Some(0o644), Some(0o644), 0),
            (Some(0o755), None, 0),
            (None, Some(0o644), 0),
        ];
        for (before, after, want) in cases {
            let image = |mode: Option<u32>| Some(FileImage { mode, ..FileImage::new("#!/bin/sh\n") });
            let change = ChangedFile::new(RelPath::new(b"f").unwrap(), image(before), image(after));
            let found = check(&change, &Comparison::of(&change, Deadline::NONE));
            assert_eq!(found.len(), want, "{before:?} {after:?}");
        }
    }
}
