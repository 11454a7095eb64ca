//! `restitch read`.

use std::path::PathBuf;
use std::time::Duration;

use crate::ReadOptions;
use crate::cli::args::{open_root, seconds};
use crate::cli::{DONE, NOTHING, output};

pub(super) const ABOUT: &str = "Print the lines of a file with their numbers, within a budget, and its content hash";

pub(super) const HELP: &str = "\
The hash in the last line is what `apply_patch --read PATH=HASH` takes: the patch is then refused when the file is no
longer what was read.

Exit status: 0 lines were shown, or the file is empty; 1 nothing to show (a binary file, or past the end); 2 error.";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The file, below the root
    #[arg(value_name = "PATH")]
    path: String,

    /// The first line
    #[arg(long, value_name = "N", default_value_t = 1)]
    from: u64,

    /// Begin so many lines before the end
    #[arg(long, value_name = "N", conflicts_with = "from")]
    last: Option<u64>,

    /// How many lines are shown
    #[arg(short = 'n', long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    lines: u64,

    /// Bytes of all lines together
    #[arg(long, value_name = "N", default_value_t = 50 << 10)]
    max_bytes: usize,

    /// Characters of one line
    #[arg(long, value_name = "N", default_value_t = 2000)]
    max_line_chars: usize,

    /// Show a binary file, too
    #[arg(long)]
    text: bool,

    /// Print nothing but the content hash
    #[arg(long, conflicts_with = "json")]
    hash: bool,

    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// The root: nothing outside it is read [default: the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| go(args))
}

fn go(args: &Args) -> Result<u8, String> {
    let mut options = ReadOptions::new()
        .lines(args.lines)
        .max_bytes(args.max_bytes)
        .max_line_chars(args.max_line_chars)
        .as_text(args.text);
    options = match args.last {
        Some(lines) => options.last(lines),
        None => options.first_line(args.from),
    };
    if let Some(timeout) = args.timeout {
        options = options.timeout(timeout);
    }
    let workspace = open_root(args.root.as_deref())?;
    let view = options.read(&workspace, &args.path).map_err(|error| error.to_string())?;
    let written = if args.hash {
        output::out(format!("{}\n", view.digest()).as_bytes())
    } else {
        output::written(|out| if args.json { view.write_json(out) } else { view.write_text(out) })
    };
    written.map_err(|error| format!("the file could not be written out: {error}"))?;
    Ok(if args.hash || view.size() == 0 || !view.lines().is_empty() { DONE } else { NOTHING })
}
