//! `restitch agent new`.

use std::path::PathBuf;

use super::{Stop, print};
use crate::{ApplyOptions, RelPath, Workspace};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The project the agent shall work in [default: the current directory]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Make one of several agents, in `agents/NAME/` instead of `agent/`
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// The model, as `provider/name`
    #[arg(long, value_name = "ID", default_value = "bootstrap")]
    model: String,
}

const INSTRUCTIONS: &str = "\
You work on the project in this directory.

- Search before you read, and read before you change.
- Change as little as the task needs.
- Run the project's tests after a change, and say what came of it.
";

const SKILL: &str = "\
---
description: How to review a change before it is handed over; use it at the end of every task.
---

1. Look at the whole diff.
2. Take out what the task did not ask for.
3. Run the tests once more.
";

pub(super) fn run(args: &Args) -> Result<u8, Stop> {
    let project = args.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let workspace = Workspace::open(&project)
        .map_err(|error| Stop::configuration(format!("the directory {} {error}", project.display())))?;
    let dir = match &args.name {
        Some(name) if named(name) => format!("agents/{name}"),
        Some(name) => {
            let rule = "letters, digits, `_` and `-`, beginning with a letter or digit";
            return Err(Stop::configuration(format!("`{name}` cannot be an agent's name; use {rule}")));
        }
        None => "agent".to_owned(),
    };
    let files = [
        ("agent.toml", config(&args.model)),
        ("instructions.md", INSTRUCTIONS.to_owned()),
        ("skills/review.md", SKILL.to_owned()),
    ];
    let mut patch = String::from("*** Begin Patch\n");
    for (name, text) in &files {
        patch.push_str(&format!("*** Add File: {dir}/{name}\n"));
        text.lines().for_each(|line| patch.extend(["+", line, "\n"]));
    }
    patch.push_str("*** End Patch\n");
    // An Add does not write over a file, so an agent that is there stays as it is.
    ApplyOptions::default().apply(&workspace, patch.as_bytes()).map_err(|error| match there(&workspace, &dir) {
        true => Stop::failed(format!(
            "there is an agent in {dir}/ already, and it was left as it is; `restitch agent check` looks at it, `restitch agent new --name NAME` makes another one in agents/NAME/"
        )),
        false => Stop::failed(error.explain()),
    })?;
    let mut text = String::new();
    files.iter().for_each(|(name, _)| text.push_str(&format!("A {dir}/{name}\n")));
    let which = args.name.as_ref().map(|name| format!(" --agent {name}")).unwrap_or_default();
    text.push_str(&format!("next: write {dir}/instructions.md, then `restitch agent check{which}`\n"));
    print(&text)
}

/// Whether the directory holds an agent.
fn there(workspace: &Workspace, dir: &str) -> bool {
    let path = RelPath::new(format!("{dir}/agent.toml").as_bytes());
    path.is_ok_and(|path| workspace.stat(&path).is_ok_and(|stamp| stamp.is_some()))
}

fn named(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    first && name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

fn config(model: &str) -> String {
    format!(
        "\
# What the agent is for, in a sentence or two.
description = \"Works on this project.\"

[model]
# `bootstrap` is a built-in echo that needs nothing. Real ones: \"anthropic/NAME\", \"openai/NAME\", \"ollama/NAME\"; any
# other server that speaks OpenAI's chat completions: \"openai-compatible/NAME\" with its `base_url`.
id = {}

[limits]
# Model calls of one turn; then a person is asked.
steps = 200

[[approvals]]
# Ask before the shell is used for the first time; `*` stands for any characters.
tool = \"bash\"
ask = \"once\"
",
        serde_json::Value::from(model)
    )
}
