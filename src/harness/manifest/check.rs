//! Whether the parts of a manifest fit together, and whether its files are still what they were.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::types::{BUILTINS, FileRef, Manifest, Node, ROOT, Tool};
use crate::{Digest, RelPath, SourceError};

/// A file that is no longer what a manifest says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Its path leads out of the agent's directory, or is none.
    #[error("`{0}` is no path inside the agent's directory")]
    Path(String),
    /// It is not there, or cannot be read.
    #[error("`{path}` {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        error: SourceError,
    },
    /// It has been changed since.
    #[error("`{0}` has changed since the agent was built")]
    Changed(String),
}

impl FileError {
    /// The file it is about.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            FileError::Path(path) | FileError::Unreadable { path, .. } | FileError::Changed(path) => path,
        }
    }
}

impl Manifest {
    /// All files the manifest names, in the order of its nodes.
    pub fn files(&self) -> impl Iterator<Item = &FileRef> {
        self.nodes.values().flat_map(files)
    }

    /// Compares all files the manifest names with those of `source`: all that are missing or changed, sorted by path.
    ///
    /// # Complexity
    /// Reads each file once.
    #[must_use]
    pub fn check_files(&self, source: &dyn Source) -> Vec<FileError> {
        let mut named: Vec<&FileRef> = self.files().collect();
        named.sort_by(|a, b| a.path.cmp(&b.path));
        named.dedup();
        named.into_iter().filter_map(|file| check_file(file, source).err()).collect()
    }
}

fn check_file(file: &FileRef, source: &dyn Source) -> Result<(), FileError> {
    let path = RelPath::new(file.path.as_bytes()).map_err(|_| FileError::Path(file.path.clone()))?;
    let bytes = match source.read(&path, file.bytes) {
        Ok(bytes) => bytes,
        Err(SourceError::TooLarge(_)) => return Err(FileError::Changed(file.path.clone())),
        Err(error) => return Err(FileError::Unreadable { path: file.path.clone(), error }),
    };
    if Digest::of(&bytes).to_string() == file.hash {
        return Ok(());
    }
    Err(FileError::Changed(file.path.clone()))
}

fn files(node: &Node) -> impl Iterator<Item = &FileRef> {
    let slots = [&node.connections, &node.remotes, &node.hooks, &node.channels, &node.schedules];
    let tools = node.tools.iter().flat_map(|tool| match tool {
        Tool::Builtin { .. } => [None, None],
        Tool::Module { file, .. } => [Some(file), None],
        Tool::Executable(tool) => [Some(&tool.file), tool.program.as_ref()],
    });
    let skills = node.skills.iter().flat_map(|skill| std::iter::once(&skill.file).chain(&skill.resources));
    node.file
        .iter()
        .chain(node.instructions.iter().map(|instruction| &instruction.file))
        .chain(node.config.model.script.as_ref())
        .chain(tools.flatten())
        .chain(skills)
        .chain(slots.into_iter().flatten().map(|slot| &slot.file))
        .chain(&node.sandbox.file)
        .chain(&node.sandbox.workspace)
}

/// Checks what no schema can say. The words of an error name the node.
pub(super) fn structure(manifest: &Manifest) -> Result<(), String> {
    if !manifest.nodes.contains_key(ROOT) {
        return Err(format!("there is no root node `{ROOT}`"));
    }
    for (id, node) in &manifest.nodes {
        self::node(node).map_err(|message| format!("node `{id}`: {message}"))?;
        if id != ROOT && !(node.channels.is_empty() && node.schedules.is_empty()) {
            return Err(format!("node `{id}`: only the root has channels and schedules"));
        }
    }
    tree(manifest)
}

/// The ids of one node are unique, and its paths inside the agent's directory.
fn node(node: &Node) -> Result<(), String> {
    unique("tool", node.tools.iter().map(Tool::name))?;
    unique("skill", node.skills.iter().map(|skill| skill.id.as_str()))?;
    unique("connection", node.connections.iter().map(|slot| slot.name.as_str()))?;
    for tool in &node.tools {
        match tool {
            Tool::Builtin { name } if !BUILTINS.contains(&name.as_str()) => {
                return Err(format!("there is no built-in tool `{name}`"));
            }
            Tool::Executable(tool) if tool.command.is_empty() => {
                return Err(format!("the tool `{}` has no command", tool.name));
            }
            _ => {}
        }
    }
    match files(node).find(|file| RelPath::new(file.path.as_bytes()).is_err()) {
        Some(file) => Err(format!("`{}` is no path inside the agent's directory", file.path)),
        None => Ok(()),
    }
}

fn unique<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("two {what}s have the name `{name}`"));
        }
    }
    Ok(())
}

/// Each node but the root has one parent, and all hang together below the root.
fn tree(manifest: &Manifest) -> Result<(), String> {
    let mut parents: BTreeMap<&str, &str> = BTreeMap::new();
    for edge in &manifest.edges {
        for id in [&edge.parent, &edge.child] {
            if !manifest.nodes.contains_key(id) {
                return Err(format!("an edge names the node `{id}`, which is not there"));
            }
        }
        if edge.child == ROOT {
            return Err(format!("`{}` has the root as its subagent, which is a cycle", edge.parent));
        }
        if let Some(other) = parents.insert(&edge.child, &edge.parent) {
            return Err(format!("`{}` is a subagent of both `{other}` and `{}`", edge.child, edge.parent));
        }
        let own = edge.child.rsplit_once('/').map_or(ROOT, |(parent, _)| parent);
        if own != edge.parent {
            return Err(format!(
                "`{}` is the subagent of `{}` by its id, of `{}` by an edge",
                edge.child, own, edge.parent
            ));
        }
    }
    // An id names its parent, so a chain of parents grows shorter and cannot be a cycle.
    match manifest.nodes.keys().find(|id| *id != ROOT && !parents.contains_key(id.as_str())) {
        Some(id) => Err(format!("the node `{id}` cannot be reached from the root")),
        None => Ok(()),
    }
}
