//! `glob`.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;

use super::{Place, Tool, input, refused, written};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{Glob, GlobArgs};

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
    schema: GlobArgs::schema,
    writes: false,
    run,
};

fn run(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let input: GlobArgs = input(TOOL.name, args)?;
    let workspace = place.open(input.path())?;
    call.stage("looking for files")?;
    let options = input.options().timeout(call.left(LONGEST)).cancel(call.cancel());
    let glob = Glob::new([input.pattern()], options).map_err(refused)?;
    let answer = glob.run(&workspace, input.path()).map_err(refused)?;
    let text = written(|out| answer.write_text(out))?;
    let json = written(|out| answer.write_json(out))?;
    Ok(place.placed(Answer::done(text).with_json(&json), &workspace))
}
