//! The base prompt: the same bytes for the whole session, so that a provider's prompt cache holds.
//!
//! Order: instructions, the workspace, one sentence on parallel calls (only with tools), connections, the list of
//! skills. What changes while a session runs never goes in here: [`Changes`] makes a message of it, once per change.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::manifest::{Node, Role};
use crate::{Digest, RelPath};

/// The one sentence on parallel calls.
const PARALLEL: &str =
    "When several tool calls do not depend on each other's results, make them all in one reply: they run in parallel.";

/// What a session's model is told before the first message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// The system text.
    pub system: String,
    /// User messages before the first: the instructions with `role: user`.
    pub preamble: Vec<String>,
}

/// What the prompt says besides what the manifest does.
#[derive(Clone, Debug, Default)]
pub struct PromptOptions<'a> {
    workspace: Option<&'a str>,
    agent_dir: Option<&'a RelPath>,
    connections: &'a [(&'a str, &'a str)],
}

impl<'a> PromptOptions<'a> {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says where the agent works. Default: nothing is said.
    #[must_use]
    pub fn workspace(mut self, root: &'a str) -> Self {
        self.workspace = Some(root);
        self
    }

    /// Sets where in the workspace the agent's own directory is, so that the paths of skills can be read. Default: its
    /// top.
    #[must_use]
    pub fn agent_dir(mut self, dir: Option<&'a RelPath>) -> Self {
        self.agent_dir = dir;
        self
    }

    /// Names the connections that are up, with what they are for. Default: none.
    #[must_use]
    pub fn connections(mut self, connections: &'a [(&'a str, &'a str)]) -> Self {
        self.connections = connections;
        self
    }
}

impl Prompt {
    /// Composes the prompt of a node. Equal arguments give equal bytes.
    #[must_use]
    pub fn compose(node: &Node, options: &PromptOptions<'_>) -> Self {
        let mut parts: Vec<String> = Vec::new();
        let mut preamble = Vec::new();
        for instruction in &node.instructions {
            let text = instruction.text.trim();
            match instruction.role {
                _ if text.is_empty() => {}
                Role::System => parts.push(text.to_owned()),
                Role::User => preamble.push(text.to_owned()),
            }
        }
        if let Some(root) = options.workspace {
            parts.push(format!("You work in the directory `{root}`. Paths in tool calls are relative to it."));
        }
        if !node.tools.is_empty() {
            parts.push(PARALLEL.to_owned());
        }
        parts.extend(connections(options.connections));
        parts.extend(skills(node, options.agent_dir));
        let mut system = parts.join("\n\n");
        if !system.is_empty() {
            system.push('\n');
        }
        Prompt { system, preamble }
    }

    /// The fingerprint of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let parts = std::iter::once(&self.system).chain(&self.preamble);
        Digest::of_slices(parts.flat_map(|part| [part.as_bytes(), b"\0"]))
    }
}

fn connections(connections: &[(&str, &str)]) -> Option<String> {
    if connections.is_empty() {
        return None;
    }
    let mut part = String::from("Connections (the tools of each begin with its name and `__`):");
    for (name, description) in connections {
        push_line(&mut part, name, description, None);
    }
    Some(part)
}

/// The whole list, always: a model cannot ask for what it does not know of.
fn skills(node: &Node, dir: Option<&RelPath>) -> Option<String> {
    if node.skills.is_empty() {
        return None;
    }
    let mut part = String::from(
        "Skills are procedures for certain tasks. When one fits, load its text with `load_skill` before you begin; paths \
         in it are relative to its file.",
    );
    for skill in &node.skills {
        let path = dir.map_or_else(|| skill.file.path.clone(), |dir| format!("{dir}/{}", skill.file.path));
        push_line(&mut part, &skill.id, &skill.description, Some(&path));
    }
    Some(part)
}

fn push_line(part: &mut String, name: &str, description: &str, path: Option<&str>) {
    let written = match path {
        Some(path) => write!(part, "\n- {name}: {description} ({path})"),
        None => write!(part, "\n- {name}: {description}"),
    };
    written.expect("a text can always be written to");
}

/// What a session has told its model of things that change, so that each change is told once. Kept with the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Changes {
    told: BTreeMap<String, String>,
}

impl Changes {
    /// The message that tells that `what` is now `state`; `None` when that was the last thing told of it.
    pub fn tell(&mut self, what: &str, state: &str) -> Option<String> {
        if self.told.get(what).is_some_and(|told| told == state) {
            return None;
        }
        let first = self.told.insert(what.to_owned(), state.to_owned()).is_none();
        Some(format!("{what} {}: {state}", if first { "is" } else { "is now" }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::manifest::{CompileOptions, MemSource, ROOT, compile};

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    fn node(files: &[(&str, &str)]) -> Node {
        let source = files.iter().fold(MemSource::new(), |source, (at, text)| source.file(path(at), *text));
        compile(&source, CompileOptions::new()).manifest.unwrap().nodes.remove(ROOT).unwrap()
    }

    const FILES: &[(&str, &str)] = &[
        ("agent.toml", "model = \"bootstrap\"\n"),
        ("instructions/10.md", "\nYou mend bugs.\n\n"),
        ("instructions/20.md", "---\nrole: user\n---\nBe short.\n"),
        ("instructions/30.md", "Ask when in doubt.\n"),
        ("skills/release.md", "---\ndescription: How a release is made\n---\nSECRET BODY\n"),
        ("skills/review/SKILL.md", "---\nname: review\ndescription: Reads changes\n---\nSECRET BODY\n"),
    ];

    #[test]
    fn the_parts_stand_in_their_order() {
        let dir = path("agent");
        let connections = [("git", "Our forge")];
        let options = PromptOptions::new().workspace("/w").agent_dir(Some(&dir)).connections(&connections);
        let prompt = Prompt::compose(&node(FILES), &options);
        let want = "You mend bugs.\n\nAsk when in doubt.\n\n\
                    You work in the directory `/w`. Paths in tool calls are relative to it.\n\n\
                    When several tool calls do not depend on each other's results, make them all in one reply: they run \
                    in parallel.\n\n\
                    Connections (the tools of each begin with its name and `__`):\n- git: Our forge\n\n\
                    Skills are procedures for certain tasks. When one fits, load its text with `load_skill` before you \
                    begin; paths in it are relative to its file.\n\
                    - release: How a release is made (agent/skills/release.md)\n\
                    - review: Reads changes (agent/skills/review/SKILL.md)\n";
        assert_eq!(prompt.system, want);
        assert_eq!(prompt.preamble, ["Be short."]);
    }

    #[test]
    fn what_is_not_there_is_not_mentioned() {
        let bare = node(&[("agent.toml", "tools = { defaults = false }\n"), ("instructions.md", "Help.")]);
        assert_eq!(Prompt::compose(&bare, &PromptOptions::new()).system, "Help.\n");
        let empty = node(&[("agent.toml", "tools = { defaults = false }\n")]);
        assert_eq!(Prompt::compose(&empty, &PromptOptions::new()).system, "");
    }

    #[test]
    fn equal_trees_give_equal_bytes_and_any_change_another_digest() {
        let prompt = |files: &[(&str, &str)]| Prompt::compose(&node(files), &PromptOptions::new());
        let first = prompt(FILES);
        for _ in 0..3 {
            assert_eq!(prompt(FILES), first);
        }
        for (at, text) in [
            (1, "You find bugs.\n"),
            (2, "---\nrole: user\n---\nBe long.\n"),
            (4, "---\ndescription: How a version is made\n---\nSECRET BODY\n"),
        ] {
            let mut files = FILES.to_vec();
            files[at].1 = text;
            assert_ne!(prompt(&files).digest(), first.digest(), "{}", files[at].0);
        }
        let mut files = FILES.to_vec();
        files[4].1 = "---\ndescription: How a release is made\n---\nAnother body\n";
        assert_eq!(prompt(&files).digest(), first.digest(), "a body is not part of the prompt");
    }

    #[test]
    fn a_change_is_told_once() {
        let mut changes = Changes::default();
        assert_eq!(changes.tell("the date", "Monday").as_deref(), Some("the date is: Monday"));
        assert_eq!(changes.tell("the date", "Monday"), None);
        assert_eq!(changes.tell("the date", "Tuesday").as_deref(), Some("the date is now: Tuesday"));
        let mut kept: Changes = serde_json::from_str(&serde_json::to_string(&changes).unwrap()).unwrap();
        assert_eq!(kept.tell("the date", "Tuesday"), None);
        assert_eq!(kept.tell("the date", "Monday").as_deref(), Some("the date is now: Monday"));
    }
}
