//! `grep`.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{MOST_ROWS, Place, Tool, input, written};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{Mode, Search, SearchError, SearchOptions, Syntax};

/// The most lines of context on one side.
const MOST_CONTEXT: u64 = 50;

/// How long a search may take within its call.
const LONGEST: Duration = Duration::from_secs(30);

pub(super) const TOOL: Tool = Tool {
    name: "grep",
    title: "Search in files",
    description: || {
        Cow::Borrowed(
            "Searches the files of the workspace, with ripgrep's engine. Rows come in path order, the same on every \
                  run. Files that ignore rules name, and .git, are left out; a file or directory named by path is \
                  searched even so. The answer says how many rows there are in all and how to go on.",
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
            "pattern": {"type": "string", "description": "A regular expression; plain text when it has no special character."},
            "path": {"type": "string", "description": "File or directory to search. Default: the whole workspace."},
            "mode": {"enum": ["files", "content", "count"], "description": "files: names of files with a match (default). content: the lines. count: lines for each file."},
            "literal": {"type": "boolean", "description": "The pattern is plain text."},
            "ignore_case": {"type": "boolean"},
            "word": {"type": "boolean", "description": "Match whole words only."},
            "multiline": {"type": "boolean", "description": "A match may span lines."},
            "context": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "description": "Lines shown around each match, in mode content."},
            "before": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT},
            "after": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT},
            "glob": {"type": "array", "items": {"type": "string"}, "description": "Only files that fit; `!` in front leaves out."},
            "file_type": {"type": "array", "items": {"type": "string"}, "description": "Only files of these types: rust, ts, py, …"},
            "include_ignored": {"type": "boolean", "description": "Search what ignore rules name, too."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Rows. Default: 50."},
            "offset": {"type": "integer", "minimum": 0, "description": "Rows to pass over, to go on from an earlier answer."}
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    mode: ModeName,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    word: bool,
    #[serde(default)]
    multiline: bool,
    #[serde(default)]
    context: u64,
    before: Option<u64>,
    after: Option<u64>,
    #[serde(default)]
    glob: Vec<String>,
    #[serde(default)]
    file_type: Vec<String>,
    #[serde(default)]
    include_ignored: bool,
    limit: Option<u64>,
    #[serde(default)]
    offset: usize,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    #[default]
    Files,
    Content,
    Count,
}

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: Input = input(TOOL.name, args)?;
    let workspace = place.open(&input.path)?;
    call.stage("searching the files")?;
    let search = Search::new(input.pattern.as_str(), options(&input, call)).map_err(refused)?;
    let answer = search.run(&workspace, &input.path).map_err(refused)?;
    let text = written(|out| answer.write_text(out))?;
    let json = written(|out| answer.write_json(out))?;
    Ok(place.placed(Answer::done(text).with_json(&json), &workspace))
}

fn options(input: &Input, call: &Call) -> SearchOptions {
    let lines = |asked: Option<u64>| small(asked.unwrap_or(input.context), MOST_CONTEXT);
    let mut options = SearchOptions::new()
        .mode(match input.mode {
            ModeName::Files => Mode::Files,
            ModeName::Content => Mode::Content,
            ModeName::Count => Mode::Count,
        })
        .syntax(if input.literal { Syntax::Literal } else { Syntax::Auto })
        .ignore_case(input.ignore_case)
        .word(input.word)
        .multiline(input.multiline)
        .before(lines(input.before))
        .after(lines(input.after))
        .ignore_rules(!input.include_ignored)
        .limit(small(input.limit.unwrap_or(50), MOST_ROWS))
        .offset(input.offset)
        .max_row_bytes(2000)
        .timeout(call.left(LONGEST))
        .cancel(call.cancel());
    options = input.glob.iter().fold(options, |options, glob| options.glob(glob));
    input.file_type.iter().fold(options, |options, name| options.file_type(name))
}

/// A number, at most `most`, which is small.
pub(super) fn small(number: u64, most: u64) -> usize {
    usize::try_from(number.min(most)).unwrap_or(usize::MAX)
}

/// Why there was no search, in the names of this tool's arguments.
pub(super) fn refused(error: SearchError) -> Answer {
    Answer::refused(match &error {
        SearchError::Regex { pattern, message, column } => format!(
            "`{pattern}` is no regular expression: {message} at character {column}; to find the text as it stands, set `literal`"
        ),
        SearchError::LineEnd { pattern } => {
            format!("`{pattern}` has a line end in it, and lines are searched one by one; set `multiline`")
        }
        other => other.to_string(),
    })
}
