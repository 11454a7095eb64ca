//! `restitch agent …`: a directory of files is an agent.

mod chat;
mod check;
mod info;
mod new;
mod render;
mod session;
mod sessions;
mod setup;
mod steer;
mod watch;

use std::path::PathBuf;

use super::output;
use crate::harness::manifest::{Compilation, Diagnostic, Located, Manifest, Severity, locate};

/// Done.
const DONE: u8 = 0;
/// It was tried and did not succeed.
const FAILED: u8 = 1;
/// The agent's files or the command line must be mended first.
const CONFIGURATION: u8 = 2;
/// A person is waited for.
const WAITING: u8 = 3;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Write the files of a new agent
    New(new::Args),
    /// Say all that is wrong with an agent's files; writes nothing
    Check(check::Args),
    /// Compile an agent: write its manifest and all findings
    Build(check::Args),
    /// Say what an agent is made of
    Info(info::Args),
    /// Print the JSON Schema of the manifest
    Schema,
    /// Give the agent a task and print its answer (exit 3: it waits for a person)
    Run(session::Run),
    /// Talk with the agent in the terminal
    Chat(chat::Args),
    /// List the sessions, the newest first
    Sessions(sessions::Sessions),
    /// Show what happened in a session
    Show(sessions::Show),
    /// Go on with a session that was interrupted, or that has got an answer
    Resume(session::Resume),
    /// Answer what a session waits for, and go on with it
    Answer(session::AnswerArgs),
    /// Tell a session something while its turn is open; it reads it at its next step
    Say(steer::Say),
    /// Stop the open turn of a session, whoever runs it
    Stop(steer::StopArgs),
    /// Print what a session changed, as a patch
    Diff(sessions::Changes),
    /// Put back what a session changed
    Undo(sessions::Changes),
}

/// Runs the command and returns its exit code.
pub(super) fn run(command: &Command) -> u8 {
    let done = match command {
        Command::New(args) => new::run(args),
        Command::Check(args) => check::run(args, false),
        Command::Build(args) => check::run(args, true),
        Command::Info(args) => info::run(args),
        Command::Schema => print(&json(&Manifest::schema())),
        Command::Run(args) => session::run(args),
        Command::Chat(args) => chat::run(args),
        Command::Sessions(args) => sessions::sessions(args),
        Command::Show(args) => sessions::show(args),
        Command::Resume(args) => session::resume(args),
        Command::Answer(args) => session::answer(args),
        Command::Say(args) => steer::say(args),
        Command::Stop(args) => steer::stop(args),
        Command::Diff(args) => sessions::diff(args),
        Command::Undo(args) => sessions::undo(args),
    };
    done.unwrap_or_else(|Stop { code, text }| {
        output::err(&format!("error: {text}\n"));
        code
    })
}

/// Which agent is meant.
#[derive(Clone, Debug, Default, clap::Args)]
struct Which {
    /// Where to look for the agent, and upwards from there [default: the current directory]
    #[arg(short = 'C', long = "directory", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Which of several agents in `agents/`
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// Why a command ends early.
struct Stop {
    code: u8,
    text: String,
}

impl Stop {
    fn configuration(error: impl ToString) -> Self {
        Stop { code: CONFIGURATION, text: error.to_string() }
    }

    fn failed(error: impl ToString) -> Self {
        Stop { code: FAILED, text: error.to_string() }
    }
}

impl Which {
    /// Finds the agent.
    fn locate(&self) -> Result<Located, Stop> {
        let start = self.directory.clone().unwrap_or_else(|| PathBuf::from("."));
        locate(&start, self.agent.as_deref()).map_err(Stop::configuration)
    }

    /// Finds the agent and compiles it.
    fn compile(&self) -> Result<(Located, Compilation), Stop> {
        let located = self.locate()?;
        let compilation =
            located.compile().map_err(|error| Stop::configuration(format!("{} {error}", located.path().display())))?;
        Ok((located, compilation))
    }
}

/// Prints to standard output.
fn print(text: &str) -> Result<u8, Stop> {
    match output::out(text.as_bytes()) {
        Ok(()) => Ok(DONE),
        Err(error) => Err(Stop::failed(format!("the answer could not be written: {error}"))),
    }
}

fn json(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// The findings for people, each with the path as seen from the project.
fn findings(located: &Located, found: &[Diagnostic]) -> String {
    let dir = located.dir.as_ref().map(|dir| format!("{dir}/")).unwrap_or_default();
    let shown = |diagnostic: &Diagnostic| {
        let mut shown = diagnostic.clone();
        shown.file.insert_str(0, &dir);
        // What is named besides may be no file: a default tool.
        if let Some(other) = shown.other.as_mut().filter(|other| !other.contains(' ')) {
            other.insert_str(0, &dir);
        }
        format!("{shown}\n")
    };
    found.iter().map(shown).collect()
}

/// `2 errors, 1 warning`, or `no findings`.
fn summary(compilation: &Compilation) -> String {
    let count = |severity, word: &str| match compilation.count(severity) {
        0 => None,
        1 => Some(format!("1 {word}")),
        many => Some(format!("{many} {word}s")),
    };
    let counts = [count(Severity::Error, "error"), count(Severity::Warning, "warning"), count(Severity::Info, "note")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() { "no findings".to_owned() } else { counts.join(", ") }
}
