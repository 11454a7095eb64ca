//! `read_file`.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Place, Tool, input, written};
use crate::ReadOptions;
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;

/// The most lines that can be asked for at once.
const MOST_LINES: u64 = 2000;

/// How long reading may take within its call.
const LONGEST: Duration = Duration::from_secs(30);

pub(super) const TOOL: Tool = Tool {
    name: "read_file",
    title: "Read a file",
    description: || {
        Cow::Borrowed(
            "Reads a file as numbered lines. A long file is cut, and the answer says how to go on. It ends with the \
                  content hash, which apply_patch takes in `expect`.",
        )
    },
    schema,
    writes: false,
    run,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "first_line": {"type": "integer", "minimum": 1, "description": "Where to begin. Default: 1."},
            "lines": {"type": "integer", "minimum": 1, "maximum": MOST_LINES, "description": "How many lines. Default: 2000."},
            "last": {"type": "integer", "minimum": 1, "description": "Begin so many lines before the end instead."}
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    first_line: Option<u64>,
    lines: Option<u64>,
    last: Option<u64>,
}

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: Input = input(TOOL.name, args)?;
    let workspace = place.open(&input.path)?;
    call.stage("reading the file")?;
    let mut options = ReadOptions::new()
        .first_line(input.first_line.unwrap_or(1))
        .lines(input.lines.unwrap_or(MOST_LINES).min(MOST_LINES))
        .timeout(call.left(LONGEST))
        .cancel(call.cancel());
    if let Some(last) = input.last {
        options = options.last(last);
    }
    let view = options.read(&workspace, &input.path).map_err(|error| Answer::refused(error.to_string()))?;
    let text = written(|out| view.write_text(out))?;
    let json = written(|out| view.write_json(out))?;
    Ok(place.placed(Answer::done(text).with_json(&json), &workspace))
}
