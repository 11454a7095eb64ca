//! The report as one JSON object, apart from the types it is made from, so that those can change.
//!
//! Version 1. Keys may be added within a version; a key's meaning never changes.
//!
//! ```json
//! {"version": 1,
//!  "status": "applied",
//!  "files": [{"action": "update", "path": "a", "moved_to": null, "added": 1, "removed": 1,
//!             "hunks": [{"hunk": 1, "line": 12, "lines": 3, "tier": "exact", "offset": null, "notes": []}]}],
//!  "notes": [{"line": 1, "lines": 4, "note": "skipped-text"}],
//!  "warnings": ["..."],
//!  "diagnostics": {"findings": [], "left_out": 0, "skipped": []},
//!  "diff": "...",
//!  "failures": [{"path": "a", "patch_line": 2, "hunk": 1, "code": "not-found", "message": "...",
//!                "expected": "...", "found": {"line": 4, "text": "..."}, "candidates": [3, 9],
//!                "nearest": [{"line": 3, "text": "..."}], "near": ["..."]}],
//!  "failures_left_out": 12,
//!  "message": "..."}
//! ```
//!
//! `status` is `applied`, `checked` (planned, nothing written), `refused` (nothing changed), `rolled-back` (an error in
//! the middle, everything put back) or `incomplete` (something could not be put back; `message` says what). `diff` and
//! `diagnostics` (its form: `diagnose::wire`) are there when they were asked for; `failures` when the patch does not fit
//! the tree, the first 200 of them, and `failures_left_out` when there are more; `message` whenever the status is neither
//! `applied` nor `checked`. A file that was copied has `copied_from`, one whose mode the patch sets has `executable`; a note
//! of one line has no `lines`. Lines count from 1. Texts that are not UTF-8 have `U+FFFD` in the place of wrong bytes.

use serde::Serialize;

use crate::diagnose::Diagnosis;
use crate::patch::{Note, NoteKind};
use crate::plan::{Change, Failure, FailureKind, FileChange, HunkFailureKind, Placed, PlacedNote, PlanError};
use crate::report::{Report, failure, hunk};
use crate::workspace::SourceError;

const VERSION: u32 = 1;

/// Failures that are told in full; each has lines of the file with it.
const MAX_FAILURES: usize = 200;

#[derive(Serialize)]
struct Wire<'a> {
    version: u32,
    status: &'static str,
    files: Vec<FileWire<'a>>,
    notes: Vec<NoteWire>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FailureWire<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    failures_left_out: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Serialize)]
struct FileWire<'a> {
    action: &'static str,
    path: &'a str,
    moved_to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copied_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    executable: Option<bool>,
    added: u64,
    removed: u64,
    hunks: Vec<HunkWire>,
}

#[derive(Serialize)]
pub(super) struct HunkWire {
    hunk: usize,
    line: u64,
    lines: u64,
    tier: &'static str,
    offset: Option<i64>,
    notes: Vec<&'static str>,
}

#[derive(Serialize)]
struct NoteWire {
    line: u64,
    #[serde(skip_serializing_if = "is_one")]
    lines: u64,
    note: &'static str,
}

#[derive(Serialize)]
pub(super) struct LineWire {
    pub(super) line: u64,
    pub(super) text: String,
}

#[derive(Default, Serialize)]
pub(super) struct FailureWire<'a> {
    path: &'a str,
    patch_line: u64,
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hunk: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<LineWire>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) candidates: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nearest: Vec<LineWire>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    near: &'a [String],
}

/// The report of a patch that was applied or checked.
pub(super) fn report(report: &Report, diff: Option<&[u8]>) -> String {
    let status = if report.outcome().is_some() { "applied" } else { "checked" };
    let wire = Wire {
        files: report.changes().iter().map(file).collect(),
        notes: report.notes().iter().map(note).collect(),
        warnings: report.warnings(),
        diagnostics: report.diagnosis().map(Diagnosis::value),
        diff: diff.map(|diff| String::from_utf8_lossy(diff).into_owned()),
        ..Wire::new(status)
    };
    wire.text()
}

/// The report of a patch that does not fit the tree.
pub(crate) fn refused(error: &PlanError) -> String {
    let wire = Wire {
        failures: error.failures.iter().take(MAX_FAILURES).map(failed).collect(),
        failures_left_out: error.failures.len().saturating_sub(MAX_FAILURES),
        message: Some(failure::refusal(error)),
        ..Wire::new("refused")
    };
    wire.text()
}

/// The report of a patch that failed in another way.
pub(crate) fn stopped(status: &'static str, message: String) -> String {
    Wire { message: Some(message), ..Wire::new(status) }.text()
}

impl Wire<'_> {
    fn new(status: &'static str) -> Self {
        Wire {
            version: VERSION,
            status,
            files: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
            diagnostics: None,
            diff: None,
            failures: Vec::new(),
            failures_left_out: 0,
            message: None,
        }
    }

    fn text(&self) -> String {
        // Strings, numbers and lists of them always have a JSON form.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

fn file(file: &FileChange) -> FileWire<'_> {
    FileWire {
        action: match file.change {
            Change::Add => "add",
            Change::Update => "update",
            Change::Delete => "delete",
        },
        path: &file.path,
        moved_to: file.moved_to.as_deref(),
        copied_from: file.copied_from.as_deref(),
        executable: file.executable,
        added: file.added,
        removed: file.removed,
        hunks: file.placed.iter().map(placed).collect(),
    }
}

pub(super) fn placed(placed: &Placed) -> HunkWire {
    HunkWire {
        hunk: placed.hunk,
        line: placed.line as u64,
        lines: placed.old_lines as u64,
        tier: placed.tier.name(),
        offset: placed.offset,
        notes: placed.notes.iter().map(|note| placed_note(*note)).collect(),
    }
}

pub(super) fn placed_note(note: PlacedNote) -> &'static str {
    match note {
        PlacedNote::OutOfOrder => "out-of-order",
        PlacedNote::DroppedEmptyLine => "dropped-empty-line",
        PlacedNote::Reindented => "reindented",
        PlacedNote::IndentationDisagrees => "not-reindented-disagrees",
        PlacedNote::IndentationCannotChange => "not-reindented-cannot",
        PlacedNote::IndentationOfSignColumn => "not-reindented-sign-column",
        PlacedNote::AlreadyThere => "already-there",
    }
}

fn note(note: &Note) -> NoteWire {
    let name = match note.kind {
        NoteKind::IndentedMarker => "indented-marker",
        NoteKind::MarkerStars => "marker-stars",
        NoteKind::MissingSpace => "missing-space",
        NoteKind::ImplicitHunk => "implicit-hunk",
        NoteKind::ByteOrderMark => "byte-order-mark",
        NoteKind::Fence => "fence",
        NoteKind::Heredoc => "heredoc",
        NoteKind::EnvironmentId => "environment-id",
        NoteKind::PureRename => "pure-rename",
        NoteKind::NoNewline => "no-newline",
        NoteKind::BareEmptyLine => "bare-empty-line",
        NoteKind::SkippedText => "skipped-text",
        NoteKind::WrongCount => "wrong-count",
        NoteKind::NoNumbers => "no-numbers",
        NoteKind::CarriageReturns => "carriage-returns",
    };
    NoteWire { line: note.line, lines: note.lines, note: name }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_one(lines: &u64) -> bool {
    *lines == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

pub(super) fn failed(failure: &Failure) -> FailureWire<'_> {
    let mut wire = FailureWire {
        path: &failure.path,
        patch_line: failure.line,
        code: code(&failure.kind),
        message: failure.kind.to_string(),
        ..FailureWire::default()
    };
    match &failure.kind {
        FailureKind::Missing { near, .. } => wire.near = near,
        FailureKind::Hunk(failed) => {
            wire.patch_line = failed.line;
            wire.message = hunk::headline(failed);
            wire.hunk = Some(failed.hunk);
            if let Some(differs) = &failed.differs {
                wire.expected = Some(hunk::show(&differs.expected));
                let line = |found| LineWire { line: differs.file_line as u64, text: hunk::show(found) };
                wire.found = differs.found.as_ref().map(line);
            }
            wire.candidates = candidates(&failed.kind);
            if let Some(excerpt) = &failed.excerpt {
                let numbered = (excerpt.first_line as u64..).zip(&excerpt.lines);
                wire.nearest = numbered.map(|(line, text)| LineWire { line, text: hunk::show(text) }).collect();
            }
        }
        _ => {}
    }
    wire
}

fn candidates(kind: &HunkFailureKind) -> Vec<u64> {
    use HunkFailureKind as K;
    match kind {
        K::Ambiguous { found }
        | K::AnchorAmbiguous { found, .. }
        | K::OutsideAnchor { found }
        | K::OutOfOrder { found }
        | K::WrongTimes { found, .. } => found.lines.iter().map(|line| *line as u64).collect(),
        K::AlreadyApplied { line } | K::Overlap { line, .. } => vec![*line as u64],
        _ => Vec::new(),
    }
}

/// A short name of the failure that stays the same between versions.
fn code(kind: &FailureKind) -> &'static str {
    use HunkFailureKind as H;
    match kind {
        FailureKind::Path(_) => "bad-path",
        FailureKind::Backslash => "backslash",
        FailureKind::Source(SourceError::Outside) => "outside",
        FailureKind::Source(SourceError::Git) => "git",
        FailureKind::Source(_) => "unreadable",
        FailureKind::Missing { .. } => "missing",
        FailureKind::Dangling { .. } => "dangling-link",
        FailureKind::Exists { .. } => "exists",
        FailureKind::MoveTarget { kind, .. } => code(kind),
        FailureKind::Directory => "directory",
        FailureKind::Special(_) => "special-file",
        FailureKind::Protected { .. } | FailureKind::BadGlob { .. } => "protected",
        FailureKind::Twin { .. } => "same-file",
        FailureKind::HardLinked(_) => "hard-linked",
        FailureKind::NoEffect => "no-effect",
        FailureKind::ContentLeft { .. } => "content-left",
        FailureKind::NoSuchLine { .. } => "no-such-line",
        FailureKind::MovesOntoItself => "moves-onto-itself",
        FailureKind::Stale(_) => "stale",
        FailureKind::Uneditable(_) => "encoding",
        FailureKind::Unsearched(_) => "not-searched",
        FailureKind::Hunk(failed) => match failed.kind {
            H::NotFound => "not-found",
            H::AlreadyApplied { .. } => "already-applied",
            H::OutOfOrder { .. } => "out-of-order",
            H::Ambiguous { .. } => "ambiguous",
            H::AnchorNotFound { .. } => "anchor-not-found",
            H::AnchorAmbiguous { .. } => "anchor-ambiguous",
            H::OutsideAnchor { .. } => "outside-anchor",
            H::Overlap { .. } => "overlap",
            H::WrongTimes { .. } => "wrong-times",
            H::OnlyLineNumber => "only-line-number",
            H::NoRows => "no-rows",
        },
    }
}
