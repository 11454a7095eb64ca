//! `apply_patch`, `restitch apply` and `restitch check`.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::args::{self, AmbiguousArg, DurabilityArg, FormatArg, Profile, ReadArg, TierArg};
use crate::cli::undo_file::UndoFile;
use crate::cli::{DONE, INCOMPLETE, REFUSED, ROLLED_BACK, USAGE, input, output, stream};
use crate::{
    After, AfterError, ApplyError, ApplyOptions, Call, Checks, CommitOptions, DiagnoseOptions, Diagnosis, DiffOptions,
    Expectations, ParseOptions, PlanOptions, ReadError, RelPath, Report, Workspace,
};

pub(super) const ABOUT: &str = "Applies a patch to the files below the current directory: all of it, or nothing at all";

pub(super) const HELP: &str = "\
The patch looks like this (lines that begin with a space are context, - removes, + adds):

    *** Begin Patch
    *** Update File: src/greet.py
    @@ def greet(name):
    -    print('Hi ' + name)
    +    print(f'Hello, {name}!')
    *** Add File: notes.txt
    +made by a patch
    *** Delete File: old.txt
    *** End Patch

Exit status: 0 done; 1 the patch is refused and nothing changed; 2 wrong use; 3 an I/O error, everything put back;
4 something could not be put back (it says what; `restitch recover` is next).";

/// Flags of the program.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Args {
    /// The patch; read from standard input when it is not given
    #[arg(value_name = "PATCH")]
    patch: Option<OsString>,

    /// The root: paths of the patch are relative to it and cannot leave it [default: the current directory]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Plan, say what would happen, write nothing
    #[arg(long)]
    check: bool,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,

    /// Print a unified diff of the changes
    #[arg(long)]
    diff: bool,

    /// Plan the patch while it is being written: print one JSON object a line for each hunk as soon as its place is known,
    /// and the report as the last one
    #[arg(long)]
    stream: bool,

    /// The preset of rules
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,

    /// The language of the patch [default: whichever it turns out to be]
    #[arg(long, value_enum, default_value_t)]
    format: FormatArg,

    /// Leading directories to take off the names in a unified diff [default: as many as make old and new name equal]
    #[arg(long, short = 'p', value_name = "N")]
    strip: Option<usize>,

    /// The loosest comparison of lines allowed [default: unicode]
    #[arg(long, value_enum, value_name = "TIER")]
    tier: Option<TierArg>,

    /// What to do when a hunk fits in several places [default: refuse]
    #[arg(long, value_enum, value_name = "WHAT")]
    ambiguous: Option<AmbiguousArg>,

    /// Refuse the patch unless PATH still holds what was read (the hash that `restitch read` prints); may be repeated
    #[arg(long, value_name = "PATH=HASH")]
    read: Vec<ReadArg>,

    /// Look for what the patch broke and print it; never fails the patch. LIST names checks (`whitespace`, `file`,
    /// `syntax`, `checkers`, `all`, or a checker of `.restitch.toml`) [default: whitespace,file,syntax]
    #[arg(long, value_name = "LIST", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    diagnose: Option<String>,

    /// What the commit survives
    #[arg(long, value_enum, default_value_t)]
    durability: DurabilityArg,

    /// Write the patch that undoes this one, in git's format, to FILE
    #[arg(long, value_name = "FILE")]
    undo_file: Option<PathBuf>,

    /// Keep what `restitch undo` needs for the last N patches, this one included
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    keep_undo: usize,

    /// How many seconds to wait for another process at work in the tree [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = args::seconds)]
    wait: Option<Duration>,

    /// Refuse to touch paths that match this glob; may be repeated
    #[arg(long, value_name = "GLOB")]
    protect: Vec<String>,
}

impl Args {
    /// The same, writing nothing.
    pub(super) fn checking(self) -> Self {
        Args { check: true, ..self }
    }
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    match go(args) {
        Ok(code) => code,
        Err(Stop::Usage(text)) => {
            output::err(&format!("error: {text}\n"));
            USAGE
        }
        Err(Stop::Apply(error)) => refuse(args, &error),
    }
}

enum Stop {
    Usage(String),
    Apply(ApplyError),
}

impl From<ReadError> for Stop {
    fn from(error: ReadError) -> Self {
        Stop::Apply(error.into())
    }
}

impl From<ApplyError> for Stop {
    fn from(error: ApplyError) -> Self {
        Stop::Apply(error)
    }
}

fn go(args: &Args) -> Result<u8, Stop> {
    let options = options(args)?;
    let root = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let workspace = Workspace::open(&root)
        .map_err(|error| Stop::Usage(format!("the root `{}` cannot be opened: {error}", root.display())))?;
    if args.stream {
        return Ok(stream::run(&workspace, &options, input::reader(args.patch.as_deref()), code));
    }
    let mut patch = input::patch(args.patch.as_deref(), &parse_options(args))?;
    let calls = std::mem::take(&mut patch.calls);
    let undo_file = args.undo_file.as_deref().filter(|_| !args.check);
    let undo_file = undo_file.map(UndoFile::open).transpose().map_err(Stop::Usage)?;
    let done = options.run(&workspace, patch);
    match (undo_file, &done) {
        (Some(file), Ok(report)) => {
            if let Err(error) = file.write(&report.undo_patch()) {
                output::err(&format!("the patch is applied, but the undo file could not be written: {error}\n"));
            }
        }
        (Some(file), Err(_)) => file.discard(),
        (None, _) => {}
    }
    if !calls.is_empty() {
        return Ok(answer(&calls, &done));
    }
    let report = done?;
    // The files are as the patch wants them: a report that cannot be written does not make that a failure.
    if let Err(error) = print(args, &report) {
        output::err(&format!("the patch is applied, but the report could not be written: {error}\n"));
    }
    Ok(DONE)
}

fn parse_options(args: &Args) -> ParseOptions {
    let parse = match args.profile {
        Profile::Default => ParseOptions::default(),
        Profile::Codex => ParseOptions::codex(),
    };
    parse.format(args.format.into()).strip(args.strip)
}

/// Prints the answers to the calls of a model that the operations came in.
fn answer(calls: &[Call], done: &Result<Report, ApplyError>) -> u8 {
    let (text, code) = match done {
        Ok(report) => (report.call_outputs(calls), DONE),
        Err(error) => (error.call_outputs(calls), code(error)),
    };
    // What cannot be written is told by the exit code alone.
    let _unheard = output::out(text.as_bytes());
    code
}

fn options(args: &Args) -> Result<ApplyOptions, Stop> {
    let mut policy = args.profile.policy();
    if let Some(tier) = args.tier {
        policy = policy.loosest_tier(tier.into());
    }
    if let Some(ambiguous) = args.ambiguous {
        policy = policy.ambiguity(ambiguous.into());
    }
    policy = policy.protected(args.protect.iter().cloned());
    let mut expect = Expectations::new();
    for read in &args.read {
        expect = expect
            .digest(&read.path, read.digest)
            .map_err(|error| Stop::Usage(format!("--read `{}`: {error}", read.path)))?;
    }
    let mut commit = CommitOptions::default().durability(args.durability.into());
    if let Some(wait) = args.wait {
        commit = commit.wait(wait);
    }
    let options = ApplyOptions::default()
        .parse(parse_options(args))
        .plan(PlanOptions::default().policy(policy).expectations(expect))
        .commit(commit)
        .keep_undo(args.keep_undo)
        .check(args.check);
    Ok(match &args.diagnose {
        Some(list) => options.diagnose(DiagnoseOptions::default().checks(Checks::parse(list))),
        None => options,
    })
}

fn print(args: &Args, report: &Report) -> io::Result<()> {
    let diff = DiffOptions::default();
    let mut bytes = match (args.json, args.diff) {
        (true, true) => report.json_with_diff(&diff).into_bytes(),
        (true, false) => report.json().into_bytes(),
        (false, true) => [report.text().into_bytes(), b"\n".to_vec(), report.diff(&diff)].concat(),
        (false, false) => report.text().into_bytes(),
    };
    if let Some(diagnosis) = report.diagnosis().filter(|_| !args.json) {
        bytes.extend_from_slice(b"\n");
        bytes.extend_from_slice(found(diagnosis, report).as_bytes());
    }
    for warning in report.warnings() {
        output::err(&format!("warning: {warning}\n"));
    }
    output::out(&bytes)
}

/// What the checks found: with excerpts of the sources for a person at a terminal, else a line each.
fn found(diagnosis: &Diagnosis, report: &Report) -> String {
    if diagnosis.is_clean() {
        return "No new problems found.\n".to_owned();
    }
    if !io::stdout().is_terminal() {
        return diagnosis.text();
    }
    let after = |path: &RelPath| {
        let step = report.plan().steps().iter().find(|step| step.path == *path)?;
        match &step.after {
            After::Content { content, .. } => Some(content.to_vec()),
            _ => None,
        }
    };
    diagnosis.text_with_sources(after, true)
}

/// Says why a patch was not applied; the exit code says what is true on the disk.
fn refuse(args: &Args, error: &ApplyError) -> u8 {
    if args.json {
        // What cannot be written is told by the exit code alone.
        let _unheard = output::out(error.json().as_bytes());
    } else {
        output::err(&format!("error: {}\n", error.explain().trim_end()));
    }
    code(error)
}

fn code(error: &ApplyError) -> u8 {
    match error.state() {
        AfterError::Refused => REFUSED,
        AfterError::RolledBack => ROLLED_BACK,
        AfterError::Incomplete => INCOMPLETE,
    }
}
