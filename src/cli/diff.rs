//! `restitch diff`.

use std::path::PathBuf;

use super::args::{TargetArg, open_root};
use super::convert::in_language;
use super::{DONE, REFUSED, USAGE, output};
use crate::{DiffOptions, Plan, Report};

pub(super) const ABOUT: &str = "Make the patch that turns one directory into another";

pub(super) const HELP: &str = "\
Files under `.git` are left out. A file that is gone and stands elsewhere with the same content has moved.

Exit status: 0 done, also when there is no difference; 1 the directories differ in a way that no patch can say (binary
files, links); 2 wrong use.";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The directory as it is
    #[arg(value_name = "OLD")]
    old: PathBuf,

    /// The directory as it shall be
    #[arg(value_name = "NEW")]
    new: PathBuf,

    /// The language to write
    #[arg(long, value_enum, default_value_t = TargetArg::Unified)]
    format: TargetArg,

    /// Unchanged lines round a change
    #[arg(short = 'U', long, value_name = "N", default_value_t = 3)]
    context: usize,
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

fn go(args: &Args) -> Result<Vec<u8>, (String, u8)> {
    let open = |path: &PathBuf| open_root(Some(path)).map_err(|text| (text, USAGE));
    let plan = Plan::between(&open(&args.old)?, &open(&args.new)?).map_err(|error| (error.to_string(), REFUSED))?;
    let options = DiffOptions::default().context(args.context).max_bytes(usize::MAX);
    in_language(Report::planned(plan, Vec::new()).diff(&options), args.format)
}
