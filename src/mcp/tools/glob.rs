//! `glob`.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::grep::{refused, small};
use super::{MOST_ROWS, Place, Tool, input, written};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{Glob, GlobOptions, Sort};

/// How long a search may take within its call.
const LONGEST: Duration = Duration::from_secs(30);

pub(super) const TOOL: Tool = Tool {
    name: "glob",
    title: "Find files",
    description: || {
        Cow::Borrowed(
            "Finds files by their path. Files that ignore rules name, and .git, are left out. The answer says how \
                  many there are in all and how to go on.",
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
            "pattern": {"type": "string", "description": "Such as `*.rs` or `src/**/mod.rs`; without a slash it fits at any depth."},
            "path": {"type": "string", "description": "The directory to look in. Default: the whole workspace."},
            "sort": {"enum": ["path", "time"], "description": "time: the file that was changed last comes first. Default: path."},
            "include_ignored": {"type": "boolean", "description": "Find what ignore rules name, too."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Paths. Default: 100."},
            "offset": {"type": "integer", "minimum": 0, "description": "Paths to pass over, to go on from an earlier answer."}
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
    sort: SortName,
    #[serde(default)]
    include_ignored: bool,
    limit: Option<u64>,
    #[serde(default)]
    offset: usize,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortName {
    #[default]
    Path,
    Time,
}

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: Input = input(TOOL.name, args)?;
    let workspace = place.open(&input.path)?;
    call.stage("looking for files")?;
    let options = GlobOptions::new()
        .sort(match input.sort {
            SortName::Path => Sort::Path,
            SortName::Time => Sort::Time,
        })
        .ignore_rules(!input.include_ignored)
        .limit(small(input.limit.unwrap_or(100), MOST_ROWS))
        .offset(input.offset)
        .timeout(call.left(LONGEST))
        .cancel(call.cancel());
    let glob = Glob::new([input.pattern], options).map_err(refused)?;
    let answer = glob.run(&workspace, &input.path).map_err(refused)?;
    let text = written(|out| answer.write_text(out))?;
    let json = written(|out| answer.write_json(out))?;
    Ok(place.placed(Answer::done(text).with_json(&json), &workspace))
}
