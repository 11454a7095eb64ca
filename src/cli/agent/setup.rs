//! From a directory to an agent that can run: compile, open the model, open the journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Stop, Which, findings, summary};
use crate::Workspace;
use crate::cli::output;
use crate::harness::Agent;
use crate::harness::manifest::{self, Located, Manifest, Node, ROOT, Severity};
use crate::harness::model::{Model, ModelSetup};
use crate::harness::prompt::{Prompt, PromptOptions};
use crate::harness::sandbox::Seeds;
use crate::harness::session::{Durability, SqliteJournal};
use crate::harness::skills::Skills;
use crate::harness::tools::Registry;

/// The file with the sessions, in the directory for what the program keeps.
const DATABASE: &str = "sessions.db";

/// Which agent, and where its sessions are.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Place {
    #[command(flatten)]
    pub(super) which: Which,

    /// The file with the sessions [default: sessions.db in the project's .restitch]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
}

impl Place {
    /// The words that lead another command to the same place; empty, or with a space before each.
    pub(super) fn flags(&self) -> String {
        let db = self.db.as_ref().map(|db| flag("--db", db)).unwrap_or_default();
        self.which.flags() + &db
    }

    /// The file with the sessions, in a directory that is there.
    pub(super) fn journal(&self) -> Result<SqliteJournal, Stop> {
        let file = match &self.db {
            Some(file) => file.clone(),
            None => {
                let located = self.which.locate()?;
                let workspace = Workspace::open(&located.project).map_err(Stop::configuration)?;
                // This makes the directory, too.
                manifest::hide_state(&workspace, &located.state)
                    .map_err(|error| Stop::configuration(error.explain()))?;
                state_dir(&located).join(DATABASE)
            }
        };
        SqliteJournal::open(&file, Durability::Power).map_err(Stop::configuration)
    }

    /// The agent, ready to run.
    pub(super) fn agent(&self) -> Result<(Located, Arc<Agent>), Stop> {
        let (located, compilation) = self.which.compile()?;
        let Some(manifest) = &compilation.manifest else {
            let mut errors = compilation.diagnostics.clone();
            errors.retain(|diagnostic| diagnostic.severity == Severity::Error);
            output::err(&findings(&located, &errors));
            return Err(Stop::configuration(format!("the agent does not compile: {}", summary(&compilation))));
        };
        let warnings = compilation.count(Severity::Warning);
        if warnings > 0 {
            let (s, them) = if warnings == 1 { ("", "it") } else { ("s", "them") };
            let which = self.which.flags();
            output::err(&format!(
                "{warnings} warning{s} about the agent: `restitch agent check{which}` shows {them}\n"
            ));
        }
        let agent = agent(&located, manifest)?;
        Ok((located, Arc::new(agent)))
    }
}

impl Which {
    /// As [`Place::flags`], without the sessions.
    fn flags(&self) -> String {
        let directory = self.directory.as_ref().map(|directory| flag("-C", directory));
        let agent = self.agent.as_ref().map(|agent| flag("--agent", agent.as_ref()));
        directory.into_iter().chain(agent).collect()
    }
}

/// A flag and its value as they are typed.
fn flag(name: &str, value: &Path) -> String {
    let value = value.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let value = if value.chars().all(plain) { value } else { format!("'{}'", value.replace('\'', r"'\''")) };
    format!(" {name} {value}")
}

/// The directory that is made with the first thing kept in it.
fn state_dir(located: &Located) -> PathBuf {
    let first = located.state.parts().next().unwrap_or(".restitch").to_owned();
    located.project.join(first)
}

fn agent(located: &Located, manifest: &Manifest) -> Result<Agent, Stop> {
    let node = &manifest.nodes[ROOT];
    let source = located.source().map_err(Stop::configuration)?;
    let root = located.project.to_string_lossy();
    let prompt = Prompt::compose(node, &PromptOptions::new().workspace(&root).agent_dir(located.dir.as_ref()));
    let name = located.name.clone().unwrap_or_else(|| folder_name(located));
    let agent = Agent::new(name, model(located, node)?, node.config.clone()).map_err(Stop::configuration)?;
    Ok(agent
        .manifest(crate::Digest::of(manifest.to_json().as_bytes()).to_string())
        .prompt(prompt.system)
        .preamble(prompt.preamble)
        .tools(Registry::of_node(node, &located.path()).map_err(Stop::configuration)?)
        .skills(Skills::load(node, &source).map_err(Stop::configuration)?)
        .seeds(Seeds::load(node, Arc::new(source)).map_err(Stop::configuration)?)
        .variables(variables()))
}

fn folder_name(located: &Located) -> String {
    located.project.file_name().map_or_else(|| "agent".into(), |name| name.to_string_lossy().into_owned())
}

fn model(located: &Located, node: &Node) -> Result<Arc<dyn Model>, Stop> {
    let dir = located.path();
    #[expect(clippy::disallowed_methods, reason = "a program reads its environment")]
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    #[expect(clippy::disallowed_methods, reason = "a program reads its configuration")]
    let file = |path: &str| std::fs::read(dir.join(path));
    ModelSetup::new(&variable, &file, &dir).open(&node.config.model).map_err(Stop::configuration)
}

/// The environment, as far as it is text.
fn variables() -> BTreeMap<String, String> {
    let text =
        |pair: (std::ffi::OsString, std::ffi::OsString)| Some((pair.0.into_string().ok()?, pair.1.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_named_leads_to_the_same_place() {
        assert_eq!(Place::default().flags(), "");
        let which = Which { directory: Some("it's here".into()), agent: Some("two".into()) };
        let place = Place { which, db: Some("/tmp/a.db".into()) };
        assert_eq!(place.flags(), r" -C 'it'\''s here' --agent two --db /tmp/a.db");
    }
}
