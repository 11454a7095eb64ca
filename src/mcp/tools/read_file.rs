//! `read_file`.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use super::{Place, Tool, input, written};
use crate::ReadArgs;
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;

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
    schema: ReadArgs::schema,
    writes: false,
    run,
};

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: ReadArgs = input(TOOL.name, args)?;
    let workspace = place.open(input.path())?;
    call.stage("reading the file")?;
    let options = input.options().timeout(call.left(LONGEST)).cancel(call.cancel());
    let view = options.read(&workspace, input.path()).map_err(|error| Answer::refused(error.to_string()))?;
    let text = written(|out| view.write_text(out))?;
    let json = written(|out| view.write_json(out))?;
    Ok(place.placed(Answer::done(text).with_json(&json), &workspace))
}
