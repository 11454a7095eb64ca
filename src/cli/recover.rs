//! `restitch recover`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::{DONE, INCOMPLETE, REFUSED, ROLLED_BACK, args, output};
use crate::{CommitError, CommitErrorKind, Direction, DiskState, RecoverOptions, Recovered, RecoveryReport, recover};

pub(super) const HELP: &str = "\
Every later patch brings back by itself what can be brought back without asking. This program is for the rest: it says
what it found, puts back all that nobody has changed since, and keeps each old content that has no place any more in a
file `.restitch-*.saved`.

Exit status: 0 nothing is left to do; 1 there is something to recover (with --check), or it cannot be done now; 2 wrong
use; 3 an I/O error, nothing was changed; 4 something could not be put back (it says what).";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The root [default: the current directory]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Only look, and say what would be done
    #[arg(long)]
    check: bool,

    /// How many seconds to wait for another process at work in the tree
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = args::seconds)]
    wait: Duration,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| {
        let workspace = args::open_root(args.directory.as_deref())?;
        let options = RecoverOptions::default().wait(args.wait).check(args.check);
        Ok(match recover(&workspace, &options) {
            Ok(report) => say(&report),
            Err(error) => refuse(&error),
        })
    })
}

fn say(report: &RecoveryReport) -> u8 {
    if let Err(error) = output::out(text(report).as_bytes()) {
        output::err(&format!("the report could not be written: {error}\n"));
    }
    match (report.left.is_empty(), report.checked && !report.is_clean()) {
        (true, false) => DONE,
        (_, true) => REFUSED,
        (false, false) => INCOMPLETE,
    }
}

fn text(report: &RecoveryReport) -> String {
    let mut text = String::new();
    for found in &report.commits {
        text.push_str(&told(found, report.checked));
    }
    let removed = if report.checked { "would be removed" } else { "removed" };
    for path in &report.temporaries {
        let _cannot_fail = writeln!(text, "temporary file {path}: {removed}");
    }
    for left in &report.left {
        let _cannot_fail = writeln!(text, "left: {left}");
    }
    for dir in &report.unreadable {
        let _cannot_fail = writeln!(text, "not searched for temporary files, because it cannot be read: {dir}");
    }
    if report.cut {
        text.push_str("the tree is too large to be searched for temporary files as a whole\n");
    }
    if report.is_clean() {
        text.push_str("Nothing to recover.\n");
    }
    text
}

fn told(found: &Recovered, checked: bool) -> String {
    let mut text = if checked {
        let done = if found.direction == Direction::Before { "undone" } else { "finished" };
        format!("an interrupted commit of process {} would be {done}, in {} moves\n", found.pid, found.moves)
    } else {
        format!("{found}\n")
    };
    for path in found.paths.iter().take(100) {
        let _cannot_fail = writeln!(text, "  {path}");
    }
    if found.paths.len() > 100 {
        let _cannot_fail = writeln!(text, "  and {} more", found.paths.len() - 100);
    }
    text
}

fn refuse(error: &CommitError) -> u8 {
    output::err(&format!("error: {error}\n"));
    match (error.state(), error.kind()) {
        (DiskState::Incomplete(_), _) => INCOMPLETE,
        (_, CommitErrorKind::Io { .. }) => ROLLED_BACK,
        _ => REFUSED,
    }
}
