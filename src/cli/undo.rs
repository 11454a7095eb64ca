//! `restitch undo`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::cli::{DONE, INCOMPLETE, REFUSED, ROLLED_BACK, args, output};
use crate::{
    Change, CommitErrorKind, CommitOptions, DiskState, UndoEntry, UndoError, Undone, Workspace, undo, undo_list,
};

pub(super) const HELP: &str = "\
Patches applied with `--keep-undo N` can be undone, the newest first; undoing again goes one patch further back. Where a
file has changed since, nothing is undone.

Exit status: 0 done; 1 refused, nothing changed; 2 wrong use; 3 an I/O error, everything put back; 4 something could not
be put back (it says what).";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The number of the patch, as --list shows it [default: the newest]
    #[arg(value_name = "ID")]
    id: Option<u64>,

    /// Show the patches that can be undone, newest first
    #[arg(long, conflicts_with = "id")]
    list: bool,

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
        Ok(go(args, &workspace).unwrap_or_else(|error| refuse(&error)))
    })
}

fn go(args: &Args, workspace: &Workspace) -> Result<u8, UndoError> {
    let text = if args.list {
        listed(&undo_list(workspace)?)
    } else {
        done(&undo(workspace, args.id, &CommitOptions::default().wait(args.wait))?)
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

fn line(entry: &UndoEntry) -> String {
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

fn refuse(error: &UndoError) -> u8 {
    output::err(&format!("error: {error}\n"));
    match error {
        UndoError::Commit(error) => match (error.state(), error.kind()) {
            (DiskState::Incomplete(_), _) => INCOMPLETE,
            (DiskState::RolledBack, _) | (_, CommitErrorKind::Io { .. }) => ROLLED_BACK,
            _ => REFUSED,
        },
        UndoError::Store { .. } => ROLLED_BACK,
        _ => REFUSED,
    }
}
