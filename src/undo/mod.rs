//! Undo without git: what a patch replaced is kept, and put back on demand.
//!
//! [`ApplyOptions::keep_undo`](crate::ApplyOptions::keep_undo) keeps the last few patches, each in a record of its own, in the place of the journal:
//! `restitch-undo` in the git directory of the root, else `.restitch-undo` in the root (which git and searches leave alone).
//! [`undo`] applies the newest, or one by its number, as a commit like any other: all of it or nothing, and only where every file
//! still is what the patch made of it. A record that was applied is removed, so undoing again goes one patch further back.
//!
//! # Guarantees
//! Contents and links come back byte for byte. Files that still are there keep owner, mode and attributes; a file that was
//! deleted comes back with its mode. Directories that the patch made go if nothing else is in them.
//!
//! # Limitations
//! A patch that made a directory in the place of a file cannot be undone; the refusal says so. Owner and extended attributes
//! of a deleted file are not kept. A process that is killed between its commit and the writing
//! of the record leaves no record.

mod json;
mod record;
mod store;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::commit::{self, CommitError, CommitOptions, Outcome};
use crate::path::RelPath;
use crate::plan::{After, Before, Change, Plan, Step};
use crate::workspace::{Digest, Loaded, Source as _, SourceError, State, Workspace};
use record::{Now, Record, Way};
pub(crate) use store::keep;

/// A patch that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndoEntry {
    /// Its number: larger ones are newer.
    pub id: u64,
    /// When it was applied.
    pub when: SystemTime,
    /// The paths it changed.
    pub paths: Vec<RelPath>,
    /// What is the matter with the record: it cannot be used, nor its time and paths be told.
    pub damaged: Option<String>,
}

/// What an undo did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Undone {
    /// The number of the patch.
    pub id: u64,
    /// What became of each path, seen from before the undo.
    pub changes: Vec<(Change, RelPath)>,
    /// What was special about the commit.
    pub outcome: Outcome,
}

/// Why nothing was undone.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// There is no record of that number, or none at all.
    #[error("{}", none(.0))]
    None(Option<u64>),
    /// Files are not what the patch made of them; nothing was changed.
    #[error("{}; nothing was changed", shown(.0))]
    Changed(Vec<(RelPath, &'static str)>),
    /// A file cannot be looked at; nothing was changed.
    #[error("`{0}` {1}; nothing was changed")]
    Source(RelPath, SourceError),
    /// The records cannot be read or written.
    #[error("{doing} `{path}`: {why}")]
    Store {
        /// What was tried, as `cannot …`.
        doing: &'static str,
        /// The file.
        path: std::path::PathBuf,
        /// What the system said, or what is the matter with the file.
        why: String,
    },
    /// The commit failed; the error says what is true on the disk.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

fn none(id: &Option<u64>) -> String {
    match id {
        Some(id) => format!("there is no record {id} to undo; `restitch undo --list` shows those there are"),
        None => "there is nothing to undo: no patch was applied with `--keep-undo`".to_owned(),
    }
}

fn shown(changed: &[(RelPath, &'static str)]) -> String {
    let mut text = String::from("cannot undo, because files have changed since: ");
    let named: Vec<String> = changed.iter().take(20).map(|(path, what)| format!("`{path}` {what}")).collect();
    text.push_str(&named.join(", "));
    if changed.len() > 20 {
        text.push_str(&format!(", and {} more", changed.len() - 20));
    }
    text
}

impl Undone {
    /// One JSON object: `{"version": 1, "status": "undone", "id": 7, "files": [{"action": "update", "path": "a"}]}`. `action`
    /// is `add`, `update` or `delete`. Keys may be added within a version.
    #[must_use]
    pub fn json(&self) -> String {
        json::undone(self)
    }
}

/// The patches that can be undone, newest first, and among them the records that are damaged.
///
/// # Errors
/// [`UndoError::Store`] when the records cannot be read.
pub fn undo_list(workspace: &Workspace) -> Result<Vec<UndoEntry>, UndoError> {
    let mut entries = Vec::new();
    for place in store::records(workspace)? {
        let bytes = place.read()?;
        let (id, damaged) = (place.id, None);
        entries.push(match place.decode(&bytes) {
            Ok(Some(record)) => {
                let paths = record.steps.into_iter().map(|step| step.path).collect();
                UndoEntry { id, when: UNIX_EPOCH + Duration::from_secs(record.when), paths, damaged }
            }
            // A record that was cut off while it was written is of no patch.
            Ok(None) => continue,
            Err(error) => UndoEntry { id, when: UNIX_EPOCH, paths: Vec::new(), damaged: Some(error.to_string()) },
        });
    }
    Ok(entries)
}

/// Undoes a kept patch: the newest, or the one of that number.
///
/// # Errors
/// [`UndoError`]; except for an incomplete [`UndoError::Commit`] the tree is as it was.
pub fn undo(workspace: &Workspace, id: Option<u64>, options: &CommitOptions) -> Result<Undone, UndoError> {
    commit::resume(workspace, options)?;
    for place in store::records(workspace)? {
        if id.is_some_and(|id| id != place.id) {
            continue;
        }
        let bytes = place.read()?;
        let Some(record) = place.decode(&bytes)? else { continue };
        let steps = steps(workspace, &record)?;
        let changes = steps.iter().map(|step| (change(step), step.path.clone())).collect();
        let outcome = commit::prepare(workspace, &steps, options)?.commit()?;
        commit::remove_empty(workspace, &record.made);
        place.remove()?;
        return Ok(Undone { id: place.id, changes, outcome });
    }
    Err(UndoError::None(id))
}

fn change(step: &Step) -> Change {
    match (&step.before, &step.after) {
        (Before::Absent, _) => Change::Add,
        (_, After::Absent) => Change::Delete,
        _ => Change::Update,
    }
}

/// The steps of an undo, if every path still is as the patch left it.
fn steps(workspace: &Workspace, record: &Record<'_>) -> Result<Vec<Step>, UndoError> {
    let (mut steps, mut changed) = (Vec::new(), Vec::new());
    for Way { path, now, then } in &record.steps {
        let Loaded { path: found, state } =
            workspace.load(path).map_err(|error| UndoError::Source(path.clone(), error))?;
        if found != *path {
            changed.push((path.clone(), "lies behind a link now"));
            continue;
        }
        match (before(state), now) {
            (Some(Before::Absent), Now::Absent) if matches!(then.after(), After::Absent) => {}
            (Some(before), now) if now.is(&before) => steps.push(Step { path: found, before, after: then.after() }),
            (None, Now::Absent) => changed.push((path.clone(), "is a directory now")),
            (_, Now::Absent) => changed.push((path.clone(), "is there again")),
            (Some(Before::Absent), _) => changed.push((path.clone(), "is gone")),
            _ => changed.push((path.clone(), "has another content")),
        }
    }
    if changed.is_empty() { Ok(steps) } else { Err(UndoError::Changed(changed)) }
}

fn before(state: State) -> Option<Before> {
    match state {
        State::Absent => Some(Before::Absent),
        State::File(data) => Some(Before::File(data)),
        State::Link(target) => Some(Before::Link(target)),
        State::Dir | State::Special(_) => None,
    }
}

impl Now {
    fn is(&self, found: &Before) -> bool {
        match (self, found) {
            (Now::Absent, Before::Absent) => true,
            (Now::File { size, digest }, Before::File(data)) => {
                *size == data.bytes.len() as u64 && *digest == Digest::of(&data.bytes)
            }
            (Now::Link(target), Before::Link(found)) => target == found,
            _ => false,
        }
    }
}

/// The record of a plan that was committed.
fn record_of(plan: &Plan, made: &[RelPath], when: u64) -> Vec<u8> {
    let reversed = plan.reversed();
    record::encode(reversed.steps(), made, when)
}

#[cfg(test)]
mod tests;
