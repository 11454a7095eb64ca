//! `restitch search`.

use std::path::PathBuf;
use std::time::Duration;

use crate::cli::args::{open_root, seconds};
use crate::cli::{DONE, NOTHING, output};
use crate::{AnswerForm, Mode, Search, SearchOptions, Syntax};

pub(super) const ABOUT: &str = "Search the files below the current directory, within a budget";

pub(super) const HELP: &str = "\
Rows come in path order, the same on every run: `path` (--mode files, the default), `path:line:text` (content; context
lines are `path-line-text`), `path:count` (count). What else there is to know follows after an empty line.

Hidden files are searched, `.git` never; ignore rules of the root and below hold. Neither standard input nor a
configuration file nor the environment is read.

Exit status: 0 found; 1 nothing found; 2 error.";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// What to search for: literal text, or a regular expression when it has a special character
    #[arg(value_name = "PATTERN", required_unless_present = "pattern_flag")]
    pattern: Option<String>,

    /// The file or directory to search, below the root [default: the root]
    #[arg(value_name = "PATH")]
    path: Option<String>,

    /// A pattern, also one that starts with a dash; may be repeated
    #[arg(short = 'e', long = "pattern", id = "pattern_flag", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,

    /// What a row is
    #[arg(long, value_enum, default_value_t)]
    mode: ModeArg,

    /// Letters match in either case
    #[arg(short = 'i', long)]
    ignore_case: bool,

    /// Patterns are literal text
    #[arg(short = 'F', long, visible_alias = "fixed-strings", conflicts_with = "regex")]
    literal: bool,

    /// Patterns are regular expressions
    #[arg(long)]
    regex: bool,

    /// Match only between word borders
    #[arg(short = 'w', long, visible_alias = "word-regexp")]
    word: bool,

    /// Matches may span lines
    #[arg(short = 'U', long)]
    multiline: bool,

    /// Lines shown before and after each match
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<usize>,

    /// Lines shown after each match
    #[arg(short = 'A', long, visible_alias = "after-context", value_name = "N")]
    after: Option<usize>,

    /// Lines shown before each match
    #[arg(short = 'B', long, visible_alias = "before-context", value_name = "N")]
    before: Option<usize>,

    /// How many rows are shown
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,

    /// How many rows are passed over first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,

    /// Bytes of the whole answer
    #[arg(long, value_name = "N", default_value_t = 64 << 10)]
    max_bytes: usize,

    /// Bytes of one line; a longer one is cut to a window round its first match
    #[arg(long, value_name = "N", default_value_t = 8 << 10)]
    max_line_bytes: usize,

    /// End after so many seconds with what there is by then
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Say what was searched and left out, and count all rows
    #[arg(long)]
    stats: bool,

    #[command(flatten)]
    choice: Choice,

    /// Only files of this type, by ripgrep's names (`rust`, `ts`, `py`); may be repeated
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Never show lines of files that fit this glob; a hit in one is told; may be repeated
    #[arg(long, value_name = "GLOB")]
    deny: Vec<String>,

    /// Deny the files that usually hold secrets (`.env`, private keys, credential stores)
    #[arg(long)]
    deny_secrets: bool,

    /// How many threads work [default: as many as the machine has]
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Flags that choose where to look.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Choice {
    /// Only files that fit this glob; with `!` in front, none that do; may be repeated
    #[arg(short = 'g', long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    pub(super) globs: Vec<String>,

    /// Follow symbolic links that stay inside the root
    #[arg(short = 'L', long)]
    pub(super) follow: bool,

    /// Do not leave out what ignore rules name
    #[arg(long)]
    pub(super) no_ignore: bool,

    /// The root: nothing outside it is read [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(super) root: Option<PathBuf>,
}

/// `--mode`: what a row is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ModeArg {
    /// A file with a match
    #[default]
    Files,
    /// A line with a match
    Content,
    /// A file and how many of its lines match
    Count,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::Files => Mode::Files,
            ModeArg::Content => Mode::Content,
            ModeArg::Count => Mode::Count,
        }
    }
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| go(args))
}

fn go(args: &Args) -> Result<u8, String> {
    let (patterns, path) = patterns(args)?;
    let form = form(args.json, args.max_bytes)?;
    some(args.limit)?;
    let search = Search::any_of(patterns, options(args).form(form)).map_err(|error| error.to_string())?;
    let workspace = open_root(args.choice.root.as_deref())?;
    let answer = search.run(&workspace, path).map_err(|error| error.to_string())?;
    output::written(|out| if args.json { answer.write_json(out) } else { answer.write_text(out) })
        .map_err(|error| format!("the answer could not be written: {error}"))?;
    Ok(if answer.rows().is_empty() { NOTHING } else { DONE })
}

/// A page of no rows would be followed by itself.
pub(super) fn some(limit: usize) -> Result<(), String> {
    if limit == 0 { Err("--limit must be at least 1".to_owned()) } else { Ok(()) }
}

/// The form of the answer, when it can be so small.
pub(super) fn form(json: bool, max_bytes: usize) -> Result<AnswerForm, String> {
    let (form, least) = match json {
        true => (AnswerForm::Json, SearchOptions::LEAST_JSON_BYTES),
        false => (AnswerForm::Text, SearchOptions::LEAST_BYTES),
    };
    if max_bytes < least {
        let with = if json { " with --json" } else { "" };
        return Err(format!("--max-bytes must be at least {least}{with}"));
    }
    Ok(form)
}

/// With `-e` the first argument is the path.
fn patterns(args: &Args) -> Result<(Vec<String>, &str), String> {
    match (&args.pattern, args.patterns.is_empty()) {
        (Some(pattern), true) => Ok((vec![pattern.clone()], args.path.as_deref().unwrap_or(""))),
        (path, false) if args.path.is_none() => Ok((args.patterns.clone(), path.as_deref().unwrap_or(""))),
        (_, false) => Err("two paths are given; with -e the only argument is the path".into()),
        (None, true) => Err("there is no pattern to search for".into()),
    }
}

fn options(args: &Args) -> SearchOptions {
    let syntax = match (args.literal, args.regex) {
        (true, _) => Syntax::Literal,
        (_, true) => Syntax::Regex,
        _ => Syntax::Auto,
    };
    let context = args.context.unwrap_or(0);
    let mut options = SearchOptions::new()
        .mode(args.mode.into())
        .syntax(syntax)
        .ignore_case(args.ignore_case)
        .word(args.word)
        .multiline(args.multiline)
        .before(args.before.unwrap_or(context))
        .after(args.after.unwrap_or(context))
        .limit(args.limit)
        .offset(args.offset)
        .max_bytes(args.max_bytes)
        .max_row_bytes(args.max_line_bytes)
        .stats(args.stats)
        .threads(args.threads)
        .follow(args.choice.follow)
        .ignore_rules(!args.choice.no_ignore);
    if let Some(timeout) = args.timeout {
        options = options.timeout(timeout);
    }
    if args.deny_secrets {
        options = options.deny_secrets();
    }
    options = args.choice.globs.iter().fold(options, |options, glob| options.glob(glob));
    options = args.types.iter().fold(options, |options, name| options.file_type(name));
    args.deny.iter().fold(options, |options, glob| options.deny(glob))
}
