//! A hunk that has no place, in words: what was looked for, what stands there, and where it would fit.

use std::fmt::Write as _;

use crate::plan::{CutLine, Difference, Excerpt, FoundAt, HunkFailure, HunkFailureKind};
use crate::text::visible;

/// Bytes of a line that are shown.
const MAX_LINE: usize = 160;

/// The first line: which hunk, where in the patch, and what is wrong.
pub(super) fn headline(failed: &HunkFailure) -> String {
    format!("hunk {} (patch line {}): {}", failed.hunk, failed.line, what(failed))
}

fn what(failed: &HunkFailure) -> String {
    use HunkFailureKind as K;
    let tier = failed.tier.name();
    match &failed.kind {
        K::NotFound => format!("its lines are not in the file (compared down to the tier `{tier}`)"),
        K::AlreadyApplied { line } => format!("it is already applied: its new lines stand at line {line}"),
        K::OutOfOrder { found } => {
            format!(
                "its lines are only above the hunk before it, at {}; hunks must come in the order of the file",
                at(found)
            )
        }
        K::Ambiguous { found } => format!("it is ambiguous: it fits at {} (tier `{tier}`)", at(found)),
        K::AnchorNotFound { anchor, below: None, .. } => {
            format!("its anchor `{}` is not there", visible(anchor, MAX_LINE))
        }
        K::AnchorNotFound { anchor, below: Some(above), .. } => {
            format!("its anchor `{}` is not there below `{}`", visible(anchor, MAX_LINE), visible(above, MAX_LINE))
        }
        K::AnchorAmbiguous { anchor, found } => {
            format!("its anchor `{}` is ambiguous: it stands at {}", visible(anchor, MAX_LINE), at(found))
        }
        K::OutsideAnchor { found } => {
            format!("its lines are not where its anchor says; they would fit outside of it, at {}", at(found))
        }
        K::Overlap { other, line } => format!("it overlaps hunk {other} at line {line} of the file"),
        K::WrongTimes { wanted, found, times } => {
            format!("its text is there {times} times, not {wanted} times: at {}", at(found))
        }
        K::OnlyLineNumber => "it only adds lines, and only a line number says where".to_owned(),
        K::NoRows => "it has no lines".to_owned(),
    }
}

/// `line 4`, `lines 4 and 9`, `lines 4, 9, 12 and more`.
fn at(found: &FoundAt) -> String {
    let numbers: Vec<String> = found.lines.iter().map(usize::to_string).collect();
    match (numbers.as_slice(), found.more) {
        ([one], false) => format!("line {one}"),
        ([head @ .., last], false) => format!("lines {} and {last}", head.join(", ")),
        (all, _) => format!("lines {} and more", all.join(", ")),
    }
}

/// The lines below the headline.
pub(super) fn details(out: &mut String, failed: &HunkFailure) {
    let mut line = |text: String| {
        out.push_str("  ");
        out.push_str(&text);
        out.push('\n');
    };
    if let Some(Difference { old_line, file_line, expected, found }) = &failed.differs {
        line(format!("expected: `{}` (old line {old_line} of the hunk)", show(expected)));
        line(match found {
            Some(found) => format!("found:    `{}` (line {file_line} of the file)", show(found)),
            None => format!("found:    the end of the file (there is no line {file_line})"),
        });
    }
    if let HunkFailureKind::AnchorNotFound { nearest: Some(nearest), .. } = &failed.kind {
        line(format!("the line most like the anchor is line {nearest}"));
    }
    if let Some(excerpt) = &failed.excerpt {
        let last = excerpt.first_line + excerpt.lines.len().saturating_sub(1);
        line(format!("the file as it is now, lines {} to {last}:", excerpt.first_line));
        lines(out, excerpt, failed.differs.as_ref().map(|differs| differs.file_line));
    }
    let _infallible = writeln!(out, "  help: {}", advice(failed));
}

/// Numbered lines, with a mark at the one that differs.
fn lines(out: &mut String, excerpt: &Excerpt, marked: Option<usize>) {
    for (number, text) in (excerpt.first_line..).zip(&excerpt.lines) {
        let mark = if marked == Some(number) { '>' } else { ' ' };
        let _infallible = writeln!(out, "  {mark}{number:>6} | {}", show(text));
    }
}

pub(super) fn show(line: &CutLine) -> String {
    let mut text = visible(&line.bytes, MAX_LINE);
    if line.cut && !text.ends_with('…') {
        text.push('…');
    }
    text
}

fn advice(failed: &HunkFailure) -> &'static str {
    use HunkFailureKind as K;
    match &failed.kind {
        K::AlreadyApplied { .. } => "drop this hunk, or read the file again and say what else should change",
        K::Ambiguous { .. } => {
            "quote more lines round the change, or add an `@@` line that names the function or section"
        }
        K::AnchorNotFound { .. } => "write a line of the file after `@@`, or drop the anchor and quote more context",
        K::AnchorAmbiguous { .. } => "put another `@@` line above it that says which one, or quote context",
        K::OutsideAnchor { .. } => {
            "name the anchor right above the lines, or read the file again: the patch may be stale"
        }
        K::OutOfOrder { .. } => "put the hunks in the order of the file",
        K::Overlap { .. } => "join the two hunks into one",
        K::WrongTimes { .. } => "count again, or quote more text so that only the right places match",
        K::OnlyLineNumber => "quote a line of context next to what is added",
        K::NoRows => "drop it, or write what it changes",
        _ => "read the file again and make the hunk from what it holds now",
    }
}
