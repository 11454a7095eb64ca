//! `read_file`, `grep` and `glob`: looking at the project within budgets.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Call, Outcome, Running, Tool, ToolDef};
use crate::harness::manifest::Effects;
use crate::{Answer, CancelToken, Glob, GlobArgs, ReadArgs, Search, SearchArgs, SearchError};

/// The longest answer of a search, in bytes.
const MOST_BYTES: usize = 48 << 10;

/// The tool `read_file`.
#[derive(Debug)]
pub struct ReadFile {
    def: ToolDef,
}

/// The tool `grep`.
#[derive(Debug)]
pub struct Grep {
    def: ToolDef,
}

/// The tool `glob`.
#[derive(Debug)]
pub struct FindFiles {
    def: ToolDef,
}

impl Default for ReadFile {
    fn default() -> Self {
        let description = "Reads a file as numbered lines. A long file is cut, and the answer says how to go on.";
        ReadFile { def: ToolDef::new("read_file", description, ReadArgs::schema(), Effects::Read) }
    }
}

impl Default for Grep {
    fn default() -> Self {
        let description = "Searches the files of the workspace. Ignored files and .git are left out.";
        Grep { def: ToolDef::new("grep", description, SearchArgs::schema(), Effects::Read) }
    }
}

impl Default for FindFiles {
    fn default() -> Self {
        let description = "Finds files by their path. Ignored files and .git are left out.";
        FindFiles { def: ToolDef::new("glob", description, GlobArgs::schema(), Effects::Read) }
    }
}

/// The arguments of a call; the schema has let them through.
fn input<T: DeserializeOwned>(call: &Call) -> Result<T, String> {
    serde_json::from_value(Value::Object(call.input.clone())).map_err(|error| error.to_string())
}

/// What is written to memory, as text.
fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Outcome {
    let mut bytes = Vec::new();
    match write(&mut bytes) {
        Ok(()) => Outcome::ok(String::from_utf8_lossy(&bytes)),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn answered(found: Result<Answer, SearchError>) -> Outcome {
    match found {
        Ok(answer) => text(|out| answer.write_text(out)),
        Err(error) => Outcome::error(error.for_model()),
    }
}

fn read(call: &Call, cancel: CancelToken) -> Result<Outcome, String> {
    let input: ReadArgs = input(call)?;
    let view = input.options().cancel(cancel).read(call.env.workspace(), input.path());
    let view = view.map_err(|error| error.to_string())?;
    let seen = vec![(view.path().to_owned(), Some(view.digest()))];
    Ok(Outcome { seen, ..text(|out| view.write_text(out)) })
}

fn grep(call: &Call, cancel: CancelToken) -> Result<Outcome, String> {
    let input: SearchArgs = input(call)?;
    let options = input.options().max_bytes(MOST_BYTES).cancel(cancel);
    let search = Search::new(input.pattern(), options);
    Ok(answered(search.and_then(|search| search.run(call.env.workspace(), input.path()))))
}

fn glob(call: &Call, cancel: CancelToken) -> Result<Outcome, String> {
    let input: GlobArgs = input(call)?;
    let options = input.options().max_bytes(MOST_BYTES).cancel(cancel);
    let glob = Glob::new([input.pattern()], options);
    Ok(answered(glob.and_then(|glob| glob.run(call.env.workspace(), input.path()))))
}

/// Runs a look on a thread of its own; when nobody waits for it any more it is told to end.
fn looking(call: Call, look: fn(&Call, CancelToken) -> Result<Outcome, String>) -> Running {
    let cancel = CancelToken::new();
    let guard = super::CancelOnDrop(cancel.clone());
    Box::pin(async move {
        let outcome = super::blocking(move || look(&call, cancel).unwrap_or_else(Outcome::error)).await;
        drop(guard);
        outcome
    })
}

impl Tool for ReadFile {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        looking(call, read)
    }
}

impl Tool for Grep {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        looking(call, grep)
    }
}

impl Tool for FindFiles {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        looking(call, glob)
    }
}
