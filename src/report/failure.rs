//! A refusal in words for people and models: what, where, what to do next; never over 8 KiB.

use std::fmt::Write as _;

use crate::plan::{Failure, FailureKind, PlanError, Stale};
use crate::report::hunk;
use crate::text::visible;
use crate::workspace::SourceError;

/// The bound of the whole text in bytes.
pub(super) const MAX_TEXT: usize = 8 << 10;
/// What is left free for the last lines when failures are cut.
const RESERVE: usize = 512;
/// How much of a path is shown.
const MAX_PATH: usize = 300;
/// Failures past this many are listed by place only.
const DETAILED: usize = 8;

/// The whole refusal. The room is shared: the first failures are told in full, as many as fit; the others by place.
pub(crate) fn refusal(error: &PlanError) -> String {
    let failures = &error.failures;
    let mut out = String::from("the patch does not apply; nothing was changed\n");
    let room = (MAX_TEXT - RESERVE) / failures.len().clamp(1, DETAILED);
    let mut short = 0;
    for (number, failure) in failures.iter().enumerate() {
        let mut text = one(failure);
        if number >= DETAILED || (out.len() + text.len() > MAX_TEXT - RESERVE && text.len() > room) {
            text = brief(failure);
        }
        if out.len() + text.len() > MAX_TEXT - RESERVE {
            short = failures.len() - number;
            break;
        }
        out.push_str(&text);
    }
    if short > 0 {
        let _infallible = writeln!(out, "... and {short} more that do not fit; mend these first");
    }
    out
}

/// One failure with its details.
fn one(failure: &Failure) -> String {
    let mut out = brief(failure);
    let kind = match &failure.kind {
        FailureKind::MoveTarget { kind, .. } => kind,
        kind => kind,
    };
    match kind {
        FailureKind::Hunk(failed) => hunk::details(&mut out, failed),
        FailureKind::Stale(stale) => changed(&mut out, stale),
        _ => {}
    }
    if let Some(advice) = advice(kind) {
        let _infallible = writeln!(out, "  help: {advice}");
    }
    out
}

/// One failure in a line: place and kind.
fn brief(failure: &Failure) -> String {
    let path = visible(failure.path.as_bytes(), MAX_PATH);
    match &failure.kind {
        FailureKind::Hunk(failed) => format!("{path}: {}\n", hunk::headline(failed)),
        FailureKind::BadGlob { .. } => format!("{}\n", failure.kind),
        FailureKind::Exists { move_target: Some(target), what } => {
            let target = visible(target.as_bytes(), MAX_PATH);
            format!("{path} (patch line {}): cannot move to {target}: {what} exists there already\n", failure.line)
        }
        kind => format!("{path} (patch line {}): {kind}\n", failure.line),
    }
}

fn changed(out: &mut String, stale: &Stale) {
    let found = stale.found.map_or("the file is gone".to_owned(), |found| format!("it is {found} now"));
    let _infallible = writeln!(out, "  the content read had the hash {}; {found}", stale.expected);
    if let Some(range) = &stale.changed {
        let _infallible = match range.len() {
            0 => writeln!(out, "  lines were removed above line {}", range.start),
            1 => writeln!(out, "  line {} has changed; it is now:", range.start),
            _ => writeln!(out, "  lines {} to {} have changed; they are now:", range.start, range.end - 1),
        };
    }
    for (number, line) in &stale.lines {
        let _infallible = writeln!(out, "  {number:>6} | {}", visible(line, 200));
    }
}

/// What to do next.
fn advice(kind: &FailureKind) -> Option<String> {
    Some(match kind {
        FailureKind::Missing { taken: true, .. } => {
            "put this operation above the one that takes the file away, or name the path it moves to".to_owned()
        }
        FailureKind::Missing { update, near, .. } => match (near.is_empty(), update) {
            (false, _) => format!("did you mean {}?{}", list(near), or_add(*update)),
            (true, true) => "to make a new file, use `*** Add File:`".to_owned(),
            (true, false) => return None,
        },
        FailureKind::Exists { what, move_target } => exists(what, move_target.is_some()).to_owned(),
        FailureKind::Dangling { .. } => {
            "make the file it leads to with `*** Add File:`, or delete the link first".to_owned()
        }
        FailureKind::Directory => "name a file in it; directories come and go with their files".to_owned(),
        FailureKind::Protected { remedy: Some(remedy), .. } => format!("do not edit it by hand: {remedy}"),
        FailureKind::NoEffect => {
            "the added lines equal the removed ones, or there are none; drop this section".to_owned()
        }
        FailureKind::ContentLeft { .. } => {
            "the patch was made from another content: read the file again before deleting it".to_owned()
        }
        FailureKind::NoSuchLine { .. } => "read the file again and count its lines".to_owned(),
        FailureKind::Twin { .. } => "make all changes under one of the two names".to_owned(),
        FailureKind::Stale(_) => "read the file again and make the patch from what it holds now".to_owned(),
        FailureKind::Source(SourceError::NotADirectory(_)) => {
            "delete or move that file first, or use another path".to_owned()
        }
        FailureKind::Path(_) => "write paths relative to the root, with `/` between their parts".to_owned(),
        _ => return None,
    })
}

fn exists(what: &str, is_move: bool) -> &'static str {
    match (what.contains("file"), what.contains("link"), is_move) {
        (_, true, false) => "delete the link first, or choose another name",
        (true, false, false) => {
            "to change a file that is there, use `*** Update File:`; to replace it, delete it first"
        }
        (true, _, true) | (_, true, true) => "choose another name, or delete what is there first",
        (false, false, _) => "choose another name",
    }
}

fn or_add(update: bool) -> &'static str {
    if update { " To make a new file, use `*** Add File:`" } else { "" }
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{}`", visible(name.as_bytes(), MAX_PATH))).collect::<Vec<_>>().join(" or ")
}
