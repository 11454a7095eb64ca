//! `restitch agent check` and `restitch agent build`.

use serde_json::json;

use super::{FAILED, Stop, Which, findings, print, summary};
use crate::Workspace;
use crate::harness::manifest::{Compilation, Located};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    which: Which,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, build: bool) -> Result<u8, Stop> {
    let (located, compilation) = args.which.compile()?;
    if build {
        write(&located, &compilation)?;
    }
    let text = if args.json { as_json(&located, &compilation, build) } else { as_text(&located, &compilation, build) };
    let printed = print(&text)?;
    Ok(if compilation.manifest.is_some() { printed } else { FAILED })
}

fn write(located: &Located, compilation: &Compilation) -> Result<(), Stop> {
    let workspace = Workspace::open(&located.project)
        .map_err(|error| Stop::configuration(format!("{} {error}", located.project.display())))?;
    compilation.write(&workspace, &located.state).map_err(|error| {
        Stop::failed(format!("the build could not be written to {}/artifacts: {}", located.state, error.explain()))
    })
}

fn as_text(located: &Located, compilation: &Compilation, build: bool) -> String {
    let mut text = findings(located, &compilation.diagnostics);
    text.push_str(&summary(compilation));
    text.push_str(&match (build, &compilation.manifest) {
        (true, Some(_)) => format!("; built {}/artifacts/manifest.json\n", located.state),
        (true, None) => format!("; not built: see {}/artifacts/diagnostics.json\n", located.state),
        (false, _) => "\n".to_owned(),
    });
    text
}

fn as_json(located: &Located, compilation: &Compilation, build: bool) -> String {
    let artifacts = build.then(|| format!("{}/artifacts", located.state));
    super::json(&json!({
        "version": 1,
        "ok": compilation.manifest.is_some(),
        "project": located.project.to_string_lossy(),
        "agent": located.dir.as_ref().map_or(".", |dir| dir.as_str()),
        "artifacts": artifacts,
        "diagnostics": serde_json::to_value(&compilation.diagnostics).unwrap_or_default(),
    }))
}
