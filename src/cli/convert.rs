//! `restitch convert`.

use std::ffi::OsString;
use std::path::PathBuf;

use super::args::{FormatArg, TargetArg, open_root};
use super::{DONE, REFUSED, USAGE, input, output};
use crate::{DiffOptions, Format, ParseOptions, Patch, Plan, PlanOptions, Report, Workspace, WriteError};

pub(super) const ABOUT: &str = "Write a patch in another language";

pub(super) const HELP: &str = "\
Where the other language needs to know the files (line numbers and context for a diff, whole lines for an edit by quoted
text), they are read below the root and the patch must apply there. Nothing is changed.

Exit status: 0 done; 1 the patch does not parse, does not apply, or says what the other language cannot; 2 wrong use.";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The patch; read from standard input when it is not given
    #[arg(value_name = "PATCH")]
    patch: Option<OsString>,

    /// The language of the patch [default: whichever it turns out to be]
    #[arg(long, value_enum, default_value_t)]
    from: FormatArg,

    /// The language to write
    #[arg(long, value_enum)]
    to: TargetArg,

    /// Leading directories to take off the names in a unified diff
    #[arg(long, short = 'p', value_name = "N")]
    strip: Option<usize>,

    /// The root of the files the patch is for [default: the current directory]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    match go(args) {
        Ok(text) => match output::out(&text) {
            Ok(()) => DONE,
            Err(_) => USAGE,
        },
        Err((text, code)) => {
            output::err(&format!("error: {}\n", text.trim_end()));
            code
        }
    }
}

type Stop = (String, u8);

fn go(args: &Args) -> Result<Vec<u8>, Stop> {
    let parse = ParseOptions::default().format(args.from.into()).strip(args.strip);
    let patch = input::patch(args.patch.as_deref(), &parse).map_err(|error| refused(&error))?;
    match write(&patch, args.to) {
        Ok(text) => Ok(text),
        Err(WriteError::NeedsFile { .. }) => {
            let workspace = open_root(args.directory.as_deref()).map_err(|text| (text, USAGE))?;
            with_files(patch, &workspace, args.to)
        }
        Err(error) => Err(refused(&error)),
    }
}

fn write(patch: &Patch, to: TargetArg) -> Result<Vec<u8>, WriteError> {
    match to {
        TargetArg::Envelope => patch.to_envelope(),
        TargetArg::Unified => patch.to_git(),
    }
}

/// Writes what the patch does to the files.
fn with_files(patch: Patch, workspace: &Workspace, to: TargetArg) -> Result<Vec<u8>, Stop> {
    let plan = Plan::new(patch, workspace, &PlanOptions::default())
        .map_err(|error| (crate::ApplyError::Plan(error).explain(), REFUSED))?;
    let diff = Report::planned(plan, Vec::new()).diff(&DiffOptions::default().max_bytes(usize::MAX));
    in_language(diff, to)
}

/// A git diff in the language asked for.
pub(super) fn in_language(diff: Vec<u8>, to: TargetArg) -> Result<Vec<u8>, Stop> {
    if to == TargetArg::Unified || diff.is_empty() {
        return Ok(diff);
    }
    let parse = ParseOptions::default().format(Format::Unified).strip(Some(1));
    let patch = Patch::parse_with(&diff, &parse).map_err(|error| refused(&error))?;
    write(&patch, to).map_err(|error| refused(&error))
}

fn refused(error: &dyn std::error::Error) -> Stop {
    (error.to_string(), REFUSED)
}
