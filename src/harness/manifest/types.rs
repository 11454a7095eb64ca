//! The manifest: what `compile` makes of a directory, and all that the runtime knows of it.
//!
//! These types *are* the wire format (canonical JSON: sorted keys). Within one [`VERSION`] fields are only
//! added, each with a default, so an older manifest stays readable and a newer one loses nothing that its `features`
//! do not name as required. What changes the meaning of a field becomes a feature; what cannot, a new version.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::{Ask, Config, Effects};

/// What `kind` says in every manifest.
pub const KIND: &str = "restitch-agent-manifest";

/// The version this program writes and the only one it reads.
pub const VERSION: u32 = 1;

/// The id of the root node.
pub const ROOT: &str = "__root__";

/// The names of the tools an agent has unless its files say otherwise, sorted.
pub const BUILTINS: &[&str] =
    &["apply_patch", "ask_question", "bash", "edit", "glob", "grep", "load_skill", "read_file", "todo", "write_file"];

/// A compiled agent: the root and its subagents as nodes, who may call whom as edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Manifest {
    /// Always [`KIND`].
    pub kind: String,
    /// Always [`VERSION`].
    pub version: u32,
    /// What a reader must, or should, know to run this manifest; sorted by name.
    #[serde(default)]
    pub features: Vec<Feature>,
    /// The agent ([`ROOT`]) and all its subagents by id (`reviewer`, below it `reviewer/linter`).
    pub nodes: BTreeMap<String, Node>,
    /// Which node is a subagent of which, sorted.
    #[serde(default)]
    pub edges: Vec<Edge>,
}

/// Something that a manifest uses and that a reader may not know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// Whether a reader that does not know it must refuse the manifest (otherwise it warns).
    pub required: bool,
}

/// `child` is a subagent of `parent`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Edge {
    /// The id of the node that may call.
    pub parent: String,
    /// The id of the node that is called; the last part of it is the name the parent sees.
    pub child: String,
}

/// One agent: the root or a subagent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Node {
    /// The directory of its files, relative to the agent's; empty for the root.
    #[serde(default)]
    pub dir: String,
    /// Its `agent.toml`.
    #[serde(default)]
    pub file: Option<FileRef>,
    /// What `agent.toml` says, defaults filled in.
    #[serde(default)]
    pub config: Config,
    /// The always-on texts, in the order of the prompt.
    #[serde(default)]
    pub instructions: Vec<Instruction>,
    /// The tools, sorted by name; disabled defaults are not in it.
    #[serde(default)]
    pub tools: Vec<Tool>,
    /// The skills, sorted by id.
    #[serde(default)]
    pub skills: Vec<Skill>,
    /// `connections/`, not run by this version.
    #[serde(default)]
    pub connections: Vec<Slot>,
    /// `subagents/<id>.toml`, agents elsewhere, not run by this version.
    #[serde(default)]
    pub remotes: Vec<Slot>,
    /// `hooks/`, not run by this version.
    #[serde(default)]
    pub hooks: Vec<Slot>,
    /// What the sandbox starts with.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// `channels/`, root only, not run by this version.
    #[serde(default)]
    pub channels: Vec<Slot>,
    /// `schedules/`, root only, not run by this version.
    #[serde(default)]
    pub schedules: Vec<Slot>,
}

/// A file of the tree as the compiler read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct FileRef {
    /// Its path relative to the agent's directory, with `/`.
    pub path: String,
    /// The content hash, as `read` gives it.
    pub hash: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Who an instruction speaks as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Part of the system text.
    #[default]
    System,
    /// A user message before the first one.
    User,
}

/// One always-on text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Instruction {
    /// Where it was read.
    pub file: FileRef,
    /// Who it speaks as.
    #[serde(default)]
    pub role: Role,
    /// The text, front matter taken off.
    pub text: String,
}

/// One skill; its body stays in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Skill {
    /// Its id, from the path.
    pub id: String,
    /// What it is for, as the prompt lists it: one line.
    pub description: String,
    /// The file with the body.
    pub file: FileRef,
    /// A packaged skill's further files (`references/`, `assets/`, `scripts/`), sorted by path.
    #[serde(default)]
    pub resources: Vec<FileRef>,
}

/// One tool that the agent's model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Tool {
    /// One of [`BUILTINS`]; its description and schema are the runtime's.
    Builtin {
        /// Its name.
        name: String,
    },
    /// A program of the author.
    Executable(Executable),
    /// A JavaScript or TypeScript module, not run by this version.
    Module {
        /// Its name, from the path.
        name: String,
        /// The module.
        file: FileRef,
    },
}

impl Tool {
    /// The name the model calls it by.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Tool::Builtin { name } | Tool::Module { name, .. } => name,
            Tool::Executable(tool) => &tool.name,
        }
    }
}

/// A program that reads one JSON object on standard input and writes JSON lines on standard output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Executable {
    /// Its name, from the path.
    pub name: String,
    /// What it is for, told to the model.
    pub description: String,
    /// The file that declares it.
    pub file: FileRef,
    /// The program and its arguments. A program of the tree is given as in `program`, relative to the agent's directory.
    pub command: Vec<String>,
    /// The program when it is a file of the tree; otherwise it is looked up on the system's path.
    #[serde(default)]
    pub program: Option<FileRef>,
    /// JSON Schema of the input, an object.
    pub input: serde_json::Value,
    /// What a call may do to the world.
    pub effects: Effects,
    /// When a person is asked before a call; `None`: as `effects` imply.
    #[serde(default)]
    pub ask: Option<Ask>,
    /// After how many milliseconds a call is ended.
    pub timeout_ms: u64,
    /// Names of the environment variables that are handed on; all others are not.
    #[serde(default)]
    pub env: Vec<String>,
}

/// A file of a slot that a later version runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Slot {
    /// Its name, from the path.
    pub name: String,
    /// The file.
    pub file: FileRef,
}

/// What the sandbox starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Sandbox {
    /// `sandbox.toml`, not run by this version.
    #[serde(default)]
    pub file: Option<FileRef>,
    /// The files of `sandbox/workspace/` that are copied into a new workspace, sorted; their paths there are what
    /// follows `sandbox/workspace/`.
    #[serde(default)]
    pub workspace: Vec<FileRef>,
}
