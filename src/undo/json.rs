//! What an undo did, and what can be undone, as JSON, apart from the types it is made from.

use std::time::UNIX_EPOCH;

use serde::Serialize;

use super::{UndoEntry, Undone};
use crate::plan::Change;

const VERSION: u32 = 1;

#[derive(Serialize)]
struct DoneWire<'a> {
    version: u32,
    status: &'static str,
    id: u64,
    files: Vec<FileWire<'a>>,
}

#[derive(Serialize)]
struct FileWire<'a> {
    action: &'static str,
    path: &'a str,
}

#[derive(Serialize)]
struct ListWire<'a> {
    version: u32,
    entries: Vec<EntryWire<'a>>,
}

#[derive(Serialize)]
struct EntryWire<'a> {
    id: u64,
    /// Seconds since 1970.
    when: u64,
    paths: Vec<&'a str>,
}

pub(super) fn undone(undone: &Undone) -> String {
    let files = undone.changes.iter().map(|(change, path)| FileWire { action: action(*change), path: path.as_str() });
    text(&DoneWire { version: VERSION, status: "undone", id: undone.id, files: files.collect() })
}

fn action(change: Change) -> &'static str {
    match change {
        Change::Add => "add",
        Change::Update => "update",
        Change::Delete => "delete",
    }
}

/// The patches that can be undone.
#[cfg(feature = "cli")]
pub(crate) fn listed(entries: &[UndoEntry]) -> String {
    let entries = entries.iter().map(|entry| EntryWire {
        id: entry.id,
        when: entry.when.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        paths: entry.paths.iter().map(|path| path.as_str()).collect(),
    });
    text(&ListWire { version: VERSION, entries: entries.collect() })
}

fn text(wire: &impl Serialize) -> String {
    // Strings, numbers and lists of them always have a JSON form.
    serde_json::to_string(wire).unwrap_or_default() + "\n"
}
