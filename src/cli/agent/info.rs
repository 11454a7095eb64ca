//! `restitch agent info`.

use std::fmt::Write as _;

use super::{CONFIGURATION, Stop, Which, findings, print, summary};
use crate::harness::manifest::{Api, Located, Manifest, Model, Node, ROOT, Severity, Tool};
use crate::harness::prompt::{Prompt, PromptOptions};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    which: Which,

    /// Print the manifest as JSON
    #[arg(long, conflicts_with = "prompt")]
    json: bool,

    /// Print the base prompt, byte for byte
    #[arg(long)]
    prompt: bool,
}

pub(super) fn run(args: &Args) -> Result<u8, Stop> {
    let (located, compilation) = args.which.compile()?;
    let Some(manifest) = &compilation.manifest else {
        let mut errors = compilation.diagnostics.clone();
        errors.retain(|diagnostic| diagnostic.severity == Severity::Error);
        print(&findings(&located, &errors))?;
        return Err(Stop {
            code: CONFIGURATION,
            text: format!("the agent does not compile: {}", summary(&compilation)),
        });
    };
    print(&if args.json {
        manifest.to_json()
    } else if args.prompt {
        prompt(&located, &manifest.nodes[ROOT])
    } else {
        text(&located, manifest)
    })
}

fn prompt(located: &Located, node: &Node) -> String {
    let root = located.project.to_string_lossy();
    let options = PromptOptions::new().workspace(&root).agent_dir(located.dir.as_ref());
    Prompt::compose(node, &options).system
}

fn text(located: &Located, manifest: &Manifest) -> String {
    let mut text = format!("agent    {}\nproject  {}\n", located.path().display(), located.project.display());
    for (id, node) in &manifest.nodes {
        let title = if id == ROOT { "\n".to_owned() } else { format!("\nsubagent {id}\n") };
        text.push_str(&title);
        if !node.config.description.is_empty() {
            line(&mut text, "about", &node.config.description);
        }
        line(&mut text, "model", &model(&node.config.model));
        line(&mut text, "tools", &list(node.tools.iter().map(tool)));
        for skill in &node.skills {
            line(&mut text, "skill", &format!("{}: {}", skill.id, skill.description));
        }
        let seeds = node.sandbox.workspace.len();
        if seeds > 0 {
            line(&mut text, "seeds", &format!("{seeds} files for a new workspace"));
        }
    }
    text
}

fn line(text: &mut String, name: &str, value: &str) {
    writeln!(text, "{name:<8} {value}").expect("a text can always be written to");
}

fn model(model: &Model) -> String {
    let Model { id, base_url, key_env, script, .. } = model;
    let mut text = id.clone();
    match (model.api, base_url) {
        (Api::Bootstrap, _) => text.push_str(" (built-in echo)"),
        (Api::Mock, _) => text.push_str(&script.as_ref().map(|file| format!(" ({})", file.path)).unwrap_or_default()),
        (_, Some(url)) => text.push_str(&format!(" at {url}")),
        (_, None) => {}
    }
    if let Some(variable) = key_env {
        text.push_str(&format!(", key in {variable}"));
    }
    text
}

fn tool(tool: &Tool) -> String {
    match tool {
        Tool::Builtin { name } => name.clone(),
        Tool::Executable(tool) => format!("{} ({})", tool.name, tool.file.path),
        Tool::Module { name, file } => format!("{name} ({}, not run by this version)", file.path),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}
