//! `restitch glob`.

use std::time::Duration;

use crate::cli::args::{open_root, seconds};
use crate::cli::search::{Choice, form, some};
use crate::cli::{DONE, NOTHING, output};
use crate::{Glob, GlobOptions, Sort};

pub(super) const ABOUT: &str = "List the files below the current directory that fit a glob";

pub(super) const HELP: &str = "\
A glob without a slash fits at any depth; one with a slash is relative to PATH. Hidden files are listed, `.git` never;
ignore rules of the root and below hold.

Exit status: 0 found; 1 nothing found; 2 error.";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The glob that paths must fit
    #[arg(value_name = "GLOB")]
    glob: String,

    /// The directory to look in, below the root [default: the root]
    #[arg(value_name = "PATH", default_value = "")]
    path: String,

    /// The order of the paths
    #[arg(long, value_enum, default_value_t)]
    sort: SortArg,

    /// How many paths are shown
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,

    /// How many paths are passed over first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,

    /// Bytes of the whole answer
    #[arg(long, value_name = "N", default_value_t = 64 << 10)]
    max_bytes: usize,

    /// End after so many seconds with what there is by then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    #[command(flatten)]
    choice: Choice,

    /// How many threads work [default: as many as the machine has]
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// `--sort`: the order of the paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum SortArg {
    /// By name
    #[default]
    Path,
    /// The file that was changed last comes first
    Time,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| go(args))
}

fn go(args: &Args) -> Result<u8, String> {
    let form = form(args.json, args.max_bytes)?;
    some(args.limit)?;
    let sort = match args.sort {
        SortArg::Path => Sort::Path,
        SortArg::Time => Sort::Time,
    };
    let mut options = GlobOptions::new()
        .sort(sort)
        .limit(args.limit)
        .offset(args.offset)
        .max_bytes(args.max_bytes)
        .form(form)
        .threads(args.threads)
        .follow(args.choice.follow)
        .ignore_rules(!args.choice.no_ignore);
    if let Some(timeout) = args.timeout {
        options = options.timeout(timeout);
    }
    let globs = std::iter::once(&args.glob).chain(&args.choice.globs);
    let glob = Glob::new(globs, options).map_err(|error| error.to_string())?;
    let workspace = open_root(args.choice.root.as_deref())?;
    let answer = glob.run(&workspace, &args.path).map_err(|error| error.to_string())?;
    output::written(|out| if args.json { answer.write_json(out) } else { answer.write_text(out) })
        .map_err(|error| format!("the answer could not be written: {error}"))?;
    Ok(if answer.rows().is_empty() { NOTHING } else { DONE })
}
