//! The tools in the loop of an agent: the model asks, the tools answer, and a refusal is an answer that the model mends
//! its patch by.
//!
//! The model here is a script; a real one gets the same texts. `cargo run --example agent_loop`
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use restitch::{ApplyOptions, Mode, ReadOptions, Search, SearchOptions, Workspace};

/// What a model can ask for.
enum Ask {
    Grep(&'static str),
    Read(&'static str),
    ApplyPatch(String),
    Done(&'static str),
}

/// Runs one tool. Everything that goes wrong is text for the model: it is the one who can do something about it.
fn tool(workspace: &Workspace, ask: &Ask) -> String {
    let answer = match ask {
        Ask::Grep(pattern) => grep(workspace, pattern),
        Ask::Read(path) => read(workspace, path),
        Ask::ApplyPatch(patch) => match ApplyOptions::default().apply(workspace, patch.as_bytes()) {
            Ok(report) => Ok(report.text()),
            Err(error) => Err(error.explain().into()),
        },
        Ask::Done(_) => Ok(String::new()),
    };
    answer.unwrap_or_else(|error| format!("error: {error}"))
}

type Text = Result<String, Box<dyn std::error::Error>>;

fn grep(workspace: &Workspace, pattern: &str) -> Text {
    let options = SearchOptions::new().mode(Mode::Content).limit(20);
    let mut text = Vec::new();
    Search::new(pattern, options)?.run(workspace, "")?.write_text(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn read(workspace: &Workspace, path: &str) -> Text {
    let mut text = Vec::new();
    ReadOptions::new().read(workspace, path)?.write_text(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The model: what it asks for, given the last answer.
fn model(step: usize, last: &str) -> Ask {
    let patch = |old: &str| {
        format!(
            "*** Begin Patch\n*** Update File: stats.py\n@@ def mean(values):\n-    {old}\n+    return sum(values) / len(values)\n*** End Patch\n"
        )
    };
    match step {
        0 => Ask::Grep("def mean"),
        // From memory, and a little wrong.
        1 => Ask::ApplyPatch(patch("return sum(values) / 2")),
        2 => {
            assert!(last.starts_with("error: ") && last.contains("return sum(values) // len(values)"), "{last}");
            Ask::Read("stats.py")
        }
        3 => Ask::ApplyPatch(patch("return sum(values) // len(values)")),
        _ => Ask::Done("`mean` no longer rounds down."),
    }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("restitch-loop-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("stats.py"), "def mean(values):\n    return sum(values) // len(values)\n")?;
    let workspace = Workspace::open(&root)?;

    let mut last = String::new();
    for step in 0..10 {
        let ask = model(step, &last);
        if let Ask::Done(text) = ask {
            println!("model: {text}");
            break;
        }
        last = tool(&workspace, &ask);
        println!("step {step}:\n{last}");
    }
    assert!(std::fs::read_to_string(root.join("stats.py"))?.contains("sum(values) / len(values)"));

    std::fs::remove_dir_all(&root)?;
    Ok(())
}
