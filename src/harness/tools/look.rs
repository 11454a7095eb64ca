//! `read_file`, `grep` and `glob`: looking at the project within budgets.

use serde_json::{Value, json};

use super::{Call, Outcome, Running, Tool, ToolDef};
use crate::harness::manifest::Effects;
use crate::{CancelToken, Glob, GlobOptions, Mode, ReadOptions, Search, SearchOptions, Sort, Syntax};

/// The most rows a model can ask for at once.
const MOST_ROWS: u64 = 1000;

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
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "first_line": {"type": "integer", "minimum": 1, "description": "Where to begin. Default: 1."},
                "lines": {"type": "integer", "minimum": 1, "maximum": 2000, "description": "How many lines. Default: 2000."},
                "last": {"type": "integer", "minimum": 1, "description": "Begin so many lines before the end instead."}
            },
            "required": ["path"],
            "additionalProperties": false
        });
        let description = "Reads a file as numbered lines. A long file is cut, and the answer says how to go on.";
        ReadFile { def: ToolDef::new("read_file", description, schema, Effects::Read) }
    }
}

impl Default for Grep {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression, or plain text."},
                "path": {"type": "string", "description": "File or directory to search. Default: the whole workspace."},
                "mode": {"enum": ["files", "content", "count"], "description": "files: names of files with a match (default). content: the lines. count: lines for each file."},
                "literal": {"type": "boolean", "description": "The pattern is plain text."},
                "ignore_case": {"type": "boolean"},
                "word": {"type": "boolean", "description": "Match whole words only."},
                "multiline": {"type": "boolean", "description": "A match may span lines."},
                "context": {"type": "integer", "minimum": 0, "maximum": 50, "description": "Lines shown around each match."},
                "before": {"type": "integer", "minimum": 0, "maximum": 50},
                "after": {"type": "integer", "minimum": 0, "maximum": 50},
                "glob": {"type": "array", "items": {"type": "string"}, "description": "Only files that fit; `!` in front leaves out."},
                "file_type": {"type": "array", "items": {"type": "string"}, "description": "Only files of these types: rust, ts, py, …"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Rows. Default: 50."},
                "offset": {"type": "integer", "minimum": 0, "description": "Rows to pass over, to go on from an earlier answer."}
            },
            "required": ["pattern"],
            "additionalProperties": false
        });
        let description = "Searches the files of the workspace. Ignored files and .git are left out.";
        Grep { def: ToolDef::new("grep", description, schema, Effects::Read) }
    }
}

impl Default for FindFiles {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Such as `*.rs` or `src/**/mod.rs`; without a slash it fits at any depth."},
                "path": {"type": "string", "description": "The directory to look in. Default: the whole workspace."},
                "sort": {"enum": ["path", "time"], "description": "time: the file that was changed last comes first. Default: path."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Paths. Default: 100."},
                "offset": {"type": "integer", "minimum": 0}
            },
            "required": ["pattern"],
            "additionalProperties": false
        });
        let description = "Finds files by their path. Ignored files and .git are left out.";
        FindFiles { def: ToolDef::new("glob", description, schema, Effects::Read) }
    }
}

/// A number of the input as a size; a number that is no size is as good as the largest.
fn size(call: &Call, name: &str) -> Option<usize> {
    call.number(name).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
}

fn texts<'a>(call: &'a Call, name: &str) -> impl Iterator<Item = &'a str> {
    call.input.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// What is written to memory, as text.
fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Outcome {
    let mut bytes = Vec::new();
    match write(&mut bytes) {
        Ok(()) => Outcome::ok(String::from_utf8_lossy(&bytes)),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn read(call: &Call, cancel: CancelToken) -> Outcome {
    let mut options = ReadOptions::new().cancel(cancel).first_line(call.number("first_line").unwrap_or(1));
    if let Some(last) = call.number("last") {
        options = options.last(last);
    }
    if let Some(lines) = call.number("lines") {
        options = options.lines(lines);
    }
    match options.read(call.env.workspace(), call.text("path").unwrap_or_default()) {
        Ok(view) => {
            let seen = vec![(view.path().to_owned(), Some(view.digest()))];
            Outcome { seen, ..text(|out| view.write_text(out)) }
        }
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn grep(call: &Call, cancel: CancelToken) -> Outcome {
    let mode = match call.text("mode") {
        Some("content") => Mode::Content,
        Some("count") => Mode::Count,
        _ => Mode::Files,
    };
    let context = size(call, "context").unwrap_or_default();
    let mut options = SearchOptions::new()
        .mode(mode)
        .syntax(if call.flag("literal") { Syntax::Literal } else { Syntax::Auto })
        .ignore_case(call.flag("ignore_case"))
        .word(call.flag("word"))
        .multiline(call.flag("multiline"))
        .before(size(call, "before").unwrap_or(context))
        .after(size(call, "after").unwrap_or(context))
        .limit(size(call, "limit").unwrap_or(50))
        .offset(size(call, "offset").unwrap_or_default())
        .max_bytes(48 << 10)
        .max_row_bytes(2000)
        .cancel(cancel);
    for glob in texts(call, "glob") {
        options = options.glob(glob);
    }
    for name in texts(call, "file_type") {
        options = options.file_type(name);
    }
    let found = Search::new(call.text("pattern").unwrap_or_default(), options)
        .and_then(|search| search.run(call.env.workspace(), call.text("path").unwrap_or_default()));
    match found {
        Ok(answer) => text(|out| answer.write_text(out)),
        Err(error) => Outcome::error(error.to_string()),
    }
}

fn glob(call: &Call, cancel: CancelToken) -> Outcome {
    let sort = if call.text("sort") == Some("time") { Sort::Time } else { Sort::Path };
    let options = GlobOptions::new()
        .sort(sort)
        .limit(size(call, "limit").unwrap_or(100))
        .offset(size(call, "offset").unwrap_or_default())
        .max_bytes(48 << 10)
        .cancel(cancel);
    let found = Glob::new([call.text("pattern").unwrap_or_default()], options)
        .and_then(|glob| glob.run(call.env.workspace(), call.text("path").unwrap_or_default()));
    match found {
        Ok(answer) => text(|out| answer.write_text(out)),
        Err(error) => Outcome::error(error.to_string()),
    }
}

/// Runs a look on a thread of its own; when nobody waits for it any more it is told to end.
fn looking(call: Call, look: fn(&Call, CancelToken) -> Outcome) -> Running {
    let cancel = CancelToken::new();
    let guard = super::CancelOnDrop(cancel.clone());
    Box::pin(async move {
        let outcome = super::blocking(move || look(&call, cancel)).await;
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
