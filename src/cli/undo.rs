//! `restitch undo`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::cli::{DONE, INCOMPLETE, REFUSED, ROLLED_BACK, args, output};
use crate::{
    Change, CommitErrorKind, CommitOptions, DiskState, RelPath, UndoEntry, UndoError, Undone, Workspace, undo,
    undo_list,
};

pub(super) const HELP: &str = r#"Patches applied with `--keep-undo N` can be undone, the newest first; undoing again goes one patch further back. Where a
file has changed since, nothing is undone.

With --json the answer is one object: {"version":1,"status":"undone","id":7,"files":[{"action":"update","path":"a"}]}, with
--list {"version":1,"entries":[{"id":7,"when":1764547200,"paths":["a"]}]} (`when` in seconds since 1970). What is not undone
has the status `refused`, `rolled-back` or `incomplete`, and a `message`.

Exit status: 0 done; 1 refused, nothing changed; 2 wrong use; 3 an I/O error, everything put back; 4 something could not
be put back (it says what)."#;

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The number of the patch, as --list shows it [default: the newest]
    #[arg(value_name = "ID")]
    id: Option<u64>,

    /// Show the patches that can be undone, newest first
    #[arg(long, conflicts_with = "id")]
    list: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,

    /// The root [default: the current directory]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// How many seconds to wait for another process at work in the tree
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = args::seconds)]
    wait: Duration,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| {
        let workspace = args::open_root(args.directory.as_deref())?;
        Ok(go(args, &workspace).unwrap_or_else(|error| refuse(&error, args.json)))
    })
}

fn go(args: &Args, workspace: &Workspace) -> Result<u8, UndoError> {
    let text = if args.list {
        let entries = undo_list(workspace)?;
        if args.json { listed_json(&entries) } else { listed(&entries) }
    } else {
        let undone = undo(workspace, args.id, &CommitOptions::default().wait(args.wait))?;
        for warning in undone.outcome.notes.iter().filter_map(crate::report::warning) {
            output::err(&format!("warning: {warning}\n"));
        }
        if args.json { undone.json() } else { done(&undone) }
    };
    if let Err(error) = output::out(text.as_bytes()) {
        output::err(&format!("the report could not be written: {error}\n"));
    }
    Ok(DONE)
}

fn listed(entries: &[UndoEntry]) -> String {
    if entries.is_empty() {
        return "Nothing to undo.\n".to_owned();
    }
    entries.iter().map(line).collect()
}

fn listed_json(entries: &[UndoEntry]) -> String {
    let entry = |entry: &UndoEntry| {
        let when = entry.when.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let paths: Vec<&str> = entry.paths.iter().map(RelPath::as_str).collect();
        match &entry.damaged {
            None => json!({"id": entry.id, "when": when, "paths": paths}),
            Some(damaged) => json!({"id": entry.id, "damaged": damaged}),
        }
    };
    let entries: Vec<Value> = entries.iter().map(entry).collect();
    format!("{}\n", json!({"version": 1, "entries": entries}))
}

fn line(entry: &UndoEntry) -> String {
    if let Some(damaged) = &entry.damaged {
        return format!("{}  damaged: {damaged}\n", entry.id);
    }
    let ago = SystemTime::now().duration_since(entry.when).unwrap_or_default().as_secs();
    let ago = match ago {
        0..120 => format!("{ago} s ago"),
        120..7200 => format!("{} min ago", ago / 60),
        7200..172_800 => format!("{} h ago", ago / 3600),
        _ => format!("{} days ago", ago / 86_400),
    };
    let shown: Vec<&str> = entry.paths.iter().take(5).map(|path| path.as_str()).collect();
    let more = if entry.paths.len() > 5 { format!(", and {} more", entry.paths.len() - 5) } else { String::new() };
    format!("{}  {ago}  {}{more}\n", entry.id, shown.join(", "))
}

fn done(undone: &Undone) -> String {
    let mut text = String::from("Undone. Updated the following files:\n");
    for (wanted, letter) in [(Change::Add, 'A'), (Change::Update, 'M'), (Change::Delete, 'D')] {
        for (_, path) in undone.changes.iter().filter(|(change, _)| *change == wanted) {
            text.push_str(&format!("{letter} {path}\n"));
        }
    }
    text
}

fn refuse(error: &UndoError, json: bool) -> u8 {
    let (status, code) = match error {
        UndoError::Commit(error) => match (error.state(), error.kind()) {
            (DiskState::Incomplete(_), _) => ("incomplete", INCOMPLETE),
            (DiskState::RolledBack, _) | (_, CommitErrorKind::Io { .. }) => ("rolled-back", ROLLED_BACK),
            _ => ("refused", REFUSED),
        },
        UndoError::Store { .. } => ("rolled-back", ROLLED_BACK),
        _ => ("refused", REFUSED),
    };
    if json {
        // What cannot be written is told by the exit code alone.
        let _unheard = output::out(crate::report::stopped(status, error.to_string()).as_bytes());
    } else {
        output::err(&format!("error: {error}\n"));
    }
    code
}
