//! The programs' common part: arguments in, one library call, text and exit code out. Not part of the library's API.

#[cfg(feature = "harness")]
mod agent;
mod apply;
mod args;
mod convert;
mod diff;
mod doctor;
mod generate;
mod glob;
mod init;
mod input;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod read;
mod recover;
mod schema;
mod search;
mod stream;
mod undo;
mod undo_file;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Done.
const DONE: u8 = 0;
/// The patch is refused; nothing changed.
const REFUSED: u8 = 1;
/// Nothing was found.
const NOTHING: u8 = 1;
/// Wrong use of the command line.
const USAGE: u8 = 2;
/// An input/output error during the commit; everything was put back.
const ROLLED_BACK: u8 = 3;
/// Something could not be put back.
const INCOMPLETE: u8 = 4;

/// Safe patches and fast search for coding agents and scripts.
#[derive(Debug, Parser)]
#[command(name = "restitch", version, about, max_term_width = 100, arg_required_else_help = true)]
struct Restitch {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Apply a patch: all of it or nothing (the same program as `apply_patch`)
    Apply(apply::Args),
    /// Say whether a patch would apply, and what it would change; writes nothing
    Check(apply::Args),
    #[command(about = search::ABOUT, after_help = search::HELP)]
    Search(search::Args),
    #[command(about = read::ABOUT, after_help = read::HELP)]
    Read(read::Args),
    #[command(about = glob::ABOUT, after_help = glob::HELP)]
    Glob(glob::Args),
    /// Undo a patch that was applied with --keep-undo: all of it or nothing
    #[command(after_help = undo::HELP)]
    Undo(undo::Args),
    /// Bring back what a process that died in the middle of a patch has left
    #[command(after_help = recover::HELP)]
    Recover(recover::Args),
    #[command(about = convert::ABOUT, after_help = convert::HELP)]
    Convert(convert::Args),
    #[command(about = diff::ABOUT, after_help = diff::HELP)]
    Diff(diff::Args),
    #[command(about = schema::ABOUT, after_help = schema::HELP)]
    Schema(schema::Args),
    #[command(about = doctor::ABOUT, after_help = doctor::HELP)]
    Doctor(doctor::Args),
    #[command(about = init::ABOUT)]
    Init(init::Args),
    /// Print a script that completes the flags in a shell
    Completions(generate::Completions),
    /// Print a man page
    Man(generate::Man),
    #[cfg(feature = "mcp")]
    #[command(about = mcp::ABOUT, after_help = mcp::HELP)]
    Mcp(mcp::Args),
    /// Run and make agents: a directory of files is an agent
    #[cfg(feature = "harness")]
    #[command(subcommand)]
    Agent(agent::Command),
}

/// `apply_patch [PATCH]`: applies a patch given as the argument or on standard input.
#[derive(Debug, Parser)]
#[command(name = "apply_patch", version, about = apply::ABOUT, after_help = apply::HELP, max_term_width = 100)]
struct ApplyPatch {
    #[command(flatten)]
    args: apply::Args,
}

/// Runs the program `restitch`, or `apply_patch` when it was started under that name (or `applypatch`).
#[must_use]
pub fn restitch(words: Vec<OsString>) -> ExitCode {
    let named = words.first().map(std::path::Path::new).and_then(|path| path.file_stem()).unwrap_or_default();
    if named == "apply_patch" || named == "applypatch" {
        return apply_patch(words);
    }
    let code = match parsed(words) {
        Ok(Command::Apply(args)) => apply::run(&args),
        Ok(Command::Check(args)) => apply::run(&args.checking()),
        Ok(Command::Search(args)) => search::run(&args),
        Ok(Command::Read(args)) => read::run(&args),
        Ok(Command::Glob(args)) => glob::run(&args),
        Ok(Command::Undo(args)) => undo::run(&args),
        Ok(Command::Recover(args)) => recover::run(&args),
        Ok(Command::Convert(args)) => convert::run(&args),
        Ok(Command::Diff(args)) => diff::run(&args),
        Ok(Command::Schema(args)) => schema::run(&args),
        Ok(Command::Doctor(args)) => doctor::run(&args),
        Ok(Command::Init(args)) => init::run(&args),
        Ok(Command::Completions(args)) => generate::completions(&args),
        Ok(Command::Man(args)) => generate::man(&args),
        #[cfg(feature = "mcp")]
        Ok(Command::Mcp(args)) => mcp::run(&args),
        #[cfg(feature = "harness")]
        Ok(Command::Agent(command)) => agent::run(&command),
        Err(error) => output::usage(&error),
    };
    ExitCode::from(code)
}

/// The command that `words` ask for.
fn parsed(words: Vec<OsString>) -> Result<Command, clap::Error> {
    match words.get(1).and_then(|word| word.to_str()) {
        Some("search") => alone(words, "search", search::ABOUT, search::HELP).map(Command::Search),
        Some("read") => alone(words, "read", read::ABOUT, read::HELP).map(Command::Read),
        Some("glob") => alone(words, "glob", glob::ABOUT, glob::HELP).map(Command::Glob),
        _ => Restitch::try_parse_from(words).map(|program| program.command),
    }
}

/// Reads the flags of one command without building those of all the others, for the commands that are called again and
/// again. What it says is what the whole program says.
fn alone<A: clap::Args>(
    words: Vec<OsString>,
    name: &'static str,
    about: &'static str,
    help: &'static str,
) -> Result<A, clap::Error> {
    let command = A::augment_args(clap::Command::new(name)).about(about).after_help(help);
    let program = clap::Command::new("restitch").max_term_width(100).subcommand(command);
    let mut words = program.try_get_matches_from(words)?;
    let (_, mut flags) = words.remove_subcommand().unwrap_or_default();
    A::from_arg_matches_mut(&mut flags)
}

/// Runs the program `apply_patch`.
#[must_use]
pub fn apply_patch(words: Vec<OsString>) -> ExitCode {
    // The common call has no argument at all: it need not pay for building the command line parser.
    if words.len() <= 1 {
        return ExitCode::from(apply::run(&apply::Args::default()));
    }
    let code = match ApplyPatch::try_parse_from(words) {
        Ok(ApplyPatch { args }) => apply::run(&args),
        Err(error) => output::usage(&error),
    };
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_read_alone_says_what_the_whole_program_says() {
        let rests: [&[&str]; 6] =
            [&["--help"], &["-h"], &[], &["--no-such-flag"], &["--limit", "x", "y"], &["--", "-V", "--version", "z"]];
        for (name, rest) in ["search", "read", "glob"].into_iter().flat_map(|name| rests.map(|rest| (name, rest))) {
            let words: Vec<OsString> = ["restitch", name].iter().chain(rest).map(OsString::from).collect();
            let told = |result: Result<Command, clap::Error>| match result {
                Ok(command) => format!("{command:?}"),
                Err(error) => format!("{} {}", error.exit_code(), error.render()),
            };
            let whole = told(Restitch::try_parse_from(&words).map(|program| program.command));
            assert_eq!(told(parsed(words)), whole, "{name} {rest:?}");
        }
    }
}
