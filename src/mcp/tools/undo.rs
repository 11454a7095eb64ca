//! `undo`.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Place, Tool, input};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{Change, CommitOptions, Undone, undo};

/// How long an undo waits for other writers of the tree.
const LOCK: Duration = Duration::from_secs(10);

pub(super) const TOOL: Tool = Tool {
    name: "undo",
    title: "Undo a patch",
    description: || {
        Cow::Borrowed(
            "Undoes the newest patch, or the one of a number: all of its files are put back, or none is. Undoing again \
                  goes one patch further back. Where a file has changed since, nothing is undone.",
        )
    },
    schema,
    writes: true,
    run,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {"type": "integer", "minimum": 0, "description": "The number of the patch, as an undo tells it. Default: the newest."},
            "root": {"type": "string", "description": "The absolute path of the root, where there are several. Default: the first."}
        },
        "required": [],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    id: Option<u64>,
    #[serde(default)]
    root: String,
}

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: Input = input(TOOL.name, args)?;
    let workspace = place.open_root(&input.root)?;
    call.stage("undoing the patch")?;
    let options = CommitOptions::default().wait(call.left(LOCK));
    let undone = undo(&workspace, input.id, &options).map_err(|error| Answer::refused(error.to_string()))?;
    Ok(place.placed(told(&undone), &workspace))
}

fn told(undone: &Undone) -> Answer {
    let mut text = format!("Undone (patch {}). Updated the following files:\n", undone.id);
    for (change, path) in &undone.changes {
        let letter = match change {
            Change::Add => 'A',
            Change::Update => 'M',
            Change::Delete => 'D',
        };
        text.push_str(&format!("{letter} {path}\n"));
    }
    Answer::done(text).with_json(&undone.json())
}
