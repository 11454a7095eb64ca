//! `grep`.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use super::{Place, Tool, input, refused, written};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{Search, SearchArgs};

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
    schema: SearchArgs::schema,
    writes: false,
    run,
};

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: SearchArgs = input(TOOL.name, args)?;
    let workspace = place.open(input.path())?;
    call.stage("searching the files")?;
    let options = input.options().timeout(call.left(LONGEST)).cancel(call.cancel());
    let search = Search::new(input.pattern(), options).map_err(refused)?;
    let answer = search.run(&workspace, input.path()).map_err(refused)?;
    let text = written(|out| answer.write_text(out))?;
    let json = written(|out| answer.write_json(out))?;
    Ok(place.placed(Answer::done(text).with_json(&json), &workspace))
}
