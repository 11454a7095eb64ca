//! What an undo did as JSON, apart from the types it is made from.

use serde::Serialize;

use super::Undone;
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

pub(super) fn undone(undone: &Undone) -> String {
    let files = undone.changes.iter().map(|(change, path)| FileWire { action: action(*change), path: path.as_str() });
    let wire = DoneWire { version: VERSION, status: "undone", id: undone.id, files: files.collect() };
    // Strings, numbers and lists of them always have a JSON form.
    serde_json::to_string(&wire).unwrap_or_default() + "\n"
}

fn action(change: Change) -> &'static str {
    match change {
        Change::Add => "add",
        Change::Update => "update",
        Change::Delete => "delete",
    }
}
