//! The success lines.

use std::collections::HashSet;

use crate::commit::CommitNote;
use crate::plan::{Change, FileChange, PlacedNote};
use crate::report::Report;

/// Hunks that warnings name one by one.
const MAX_HUNKS: usize = 20;

/// The drop-in form: a headline, then added, modified and deleted paths, each path once a letter. A moved file is
/// named by its new path, as the reference tool does.
pub(super) fn success(report: &Report) -> String {
    let headline = match report.outcome() {
        Some(_) => "Success. Updated the following files:\n",
        None => "The patch applies. It would update the following files:\n",
    };
    let mut out = String::from(headline);
    for (change, letter) in [(Change::Add, 'A'), (Change::Update, 'M'), (Change::Delete, 'D')] {
        let mut seen = HashSet::new();
        for file in report.changes().iter().filter(|file| file.change == change) {
            let path = shown(file);
            if seen.insert(path) {
                out.push(letter);
                out.push(' ');
                out.push_str(path);
                out.push('\n');
            }
        }
    }
    out
}

/// The line of one operation.
pub(super) fn line(file: &FileChange) -> String {
    let letter = match file.change {
        Change::Add => 'A',
        Change::Update => 'M',
        Change::Delete => 'D',
    };
    format!("{letter} {}\n", shown(file))
}

fn shown(file: &FileChange) -> &str {
    file.moved_to.as_deref().unwrap_or(&file.path)
}

/// What about the hunks may not be as it was meant. Whatever else is noted of them, they are where they belong.
pub(super) fn of_hunks(changes: &[FileChange]) -> Vec<String> {
    let noted = changes.iter().flat_map(|file| {
        file.placed.iter().flat_map(move |placed| {
            let told = placed.notes.iter().filter_map(|note| doubtful(*note));
            told.map(move |what| format!("{}: hunk {} (line {}) {what}", shown(file), placed.hunk, placed.line))
        })
    });
    let mut out: Vec<String> = noted.collect();
    if out.len() > MAX_HUNKS {
        let more = out.len() - MAX_HUNKS;
        out.truncate(MAX_HUNKS);
        out.push(format!("{more} more hunks of which one of these is true"));
    }
    out
}

fn doubtful(note: PlacedNote) -> Option<&'static str> {
    match note {
        PlacedNote::AlreadyThere => Some("adds lines that already stood there"),
        PlacedNote::IndentationDisagrees => Some(
            "fits only without its indentation, and its lines are off in different ways: added lines keep the indentation of the patch",
        ),
        PlacedNote::IndentationCannotChange => Some(
            "fits only without its indentation, and an added line is not indented enough: added lines keep the indentation of the patch",
        ),
        _ => None,
    }
}

/// What a user of the file may trip over later; that an edit of a hard-linked file is made in place is not among it.
pub(crate) fn warning(note: &CommitNote) -> Option<String> {
    match note {
        CommitNote::WrittenInPlace(_) => None,
        CommitNote::NotLocked => {
            Some("this file system knows no locks, so other programs were not kept out meanwhile".to_owned())
        }
        CommitNote::OwnerNotKept(path) => Some(format!("{path} belongs to you now: its owner could not be kept")),
        CommitNote::AttributeNotKept(path, name) => {
            Some(format!("{path} has lost its extended attribute `{name}`: the system does not let it be set"))
        }
        CommitNote::TemporaryLeft(path) => Some(format!("the temporary file {path} could not be removed")),
        CommitNote::Recovered(found) => Some(found.to_string()),
        CommitNote::UndoNotKept(why) => Some(why.clone()),
        CommitNote::NotSynced(why) => {
            Some(format!("the files are changed, but it is not sure that they would survive a loss of power: {why}"))
        }
    }
}
