//! The tools in the loop of an agent: the model asks, the tools answer, and a refusal is an answer that the model mends
//! its patch by.
//!
//! The model here is a script; a real one gets the same texts. `cargo run --example agent_loop`
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use restitch::{ApplyOptions, Audience, Format, PatchTool, ReadArgs, Search, SearchArgs, Workspace};
use serde_json::{Value, json};

/// What a model is told of each tool: the schema of its arguments.
fn definitions() -> Vec<Value> {
    let define = |name: &str, schema: Value| json!({"name": name, "input_schema": schema});
    let patch = PatchTool::new(Format::Envelope).definition(Audience::Anthropic);
    vec![
        define("grep", SearchArgs::schema()),
        define("read_file", ReadArgs::schema()),
        serde_json::from_str(&patch).unwrap_or_default(),
    ]
}

/// Runs one tool. Whatever goes wrong is text for the model, since it is the one who can do something about it.
fn tool(workspace: &Workspace, name: &str, arguments: Value) -> String {
    let answer = match name {
        "grep" => grep(workspace, arguments),
        "read_file" => read(workspace, arguments),
        "apply_patch" => apply(workspace, &arguments),
        _ => Err(format!("there is no tool `{name}`").into()),
    };
    answer.unwrap_or_else(|error| format!("error: {error}"))
}

type Text = Result<String, Box<dyn std::error::Error>>;

fn grep(workspace: &Workspace, arguments: Value) -> Text {
    let args: SearchArgs = serde_json::from_value(arguments)?;
    let found = Search::new(args.pattern(), args.options()).and_then(|search| search.run(workspace, args.path()));
    let mut text = Vec::new();
    found.map_err(|error| error.for_model())?.write_text(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn read(workspace: &Workspace, arguments: Value) -> Text {
    let args: ReadArgs = serde_json::from_value(arguments)?;
    let mut text = Vec::new();
    args.options().read(workspace, args.path())?.write_text(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn apply(workspace: &Workspace, arguments: &Value) -> Text {
    let patch = arguments["patch"].as_str().ok_or("`patch` is missing")?;
    let report = ApplyOptions::default().apply(workspace, patch.as_bytes());
    Ok(report.map_err(|error| error.explain())?.text())
}

/// The model: the tool it asks for, given the last answer; `None` when it is done.
fn model(step: usize, last: &str) -> Option<(&'static str, Value)> {
    let patch = |old: &str| {
        json!({"patch": format!(
            "*** Begin Patch\n*** Update File: stats.py\n@@ def mean(values):\n-    {old}\n+    return sum(values) / len(values)\n*** End Patch\n"
        )})
    };
    match step {
        0 => Some(("grep", json!({"pattern": "def mean(", "mode": "content", "limit": 20}))),
        // From memory, and a little wrong.
        1 => Some(("apply_patch", patch("return sum(values) / 2"))),
        2 => {
            assert!(last.starts_with("error: ") && last.contains("return sum(values) // len(values)"), "{last}");
            Some(("read_file", json!({"path": "stats.py"})))
        }
        3 => Some(("apply_patch", patch("return sum(values) // len(values)"))),
        _ => None,
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("restitch-loop-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("stats.py"), "def mean(values):\n    return sum(values) // len(values)\n")?;
    let workspace = Workspace::open(&root)?;

    println!("the model is told of {} tools", definitions().len());
    let mut last = String::new();
    for step in 0..10 {
        let Some((name, arguments)) = model(step, &last) else { break };
        last = tool(&workspace, name, arguments);
        println!("step {step}, {name}:\n{last}");
    }
    assert!(std::fs::read_to_string(root.join("stats.py"))?.contains("sum(values) / len(values)"));

    std::fs::remove_dir_all(&root)?;
    Ok(())
}
