//! Finds the agent that a directory belongs to.

use std::path::{Path, PathBuf};

use super::compile::{Compilation, CompileOptions, compile};
use super::source::DiskSource;
use crate::{RelPath, SourceError, Workspace};

/// Directories upwards that are looked into.
const MAX_UP: usize = 64;
/// Agents beside each other.
const MAX_AGENTS: usize = 1000;

/// Where an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Located {
    /// The project it works in.
    pub project: PathBuf,
    /// The agent's directory relative to the project; `None`: the project itself (the flat form).
    pub dir: Option<RelPath>,
    /// Its name among several in `agents/`.
    pub name: Option<String>,
    /// The directory for what the program keeps, relative to the project.
    pub state: RelPath,
}

/// Why no agent was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocateError {
    /// There is none.
    #[error("there is no agent in {0} or above; make one with `restitch agent new`, or name its directory")]
    None(PathBuf),
    /// There are several and none was named.
    #[error("there are several agents in {dir}: {}; name one", names.join(", "))]
    Several {
        /// The project.
        dir: PathBuf,
        /// Their names.
        names: Vec<String>,
    },
    /// There is none of that name.
    #[error("there is no agent `{name}` in {dir}; there is {}", names.join(", "))]
    NoSuch {
        /// The name.
        name: String,
        /// The project.
        dir: PathBuf,
        /// The names there are.
        names: Vec<String>,
    },
    /// A directory cannot be read.
    #[error("{path} {error}")]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: SourceError,
    },
}

impl Located {
    /// The agent's directory.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.dir.as_ref().map_or_else(|| self.project.clone(), |dir| self.project.join(dir.as_path()))
    }

    /// The files of the agent.
    ///
    /// # Errors
    /// [`SourceError`] when its directory cannot be opened.
    pub fn source(&self) -> Result<DiskSource, SourceError> {
        Workspace::open(self.path()).map(DiskSource::new)
    }

    /// How the agent is compiled.
    #[must_use]
    pub fn options(&self) -> CompileOptions {
        CompileOptions::new().flat(self.dir.is_none())
    }

    /// Compiles the agent.
    ///
    /// # Errors
    /// [`SourceError`] when its directory cannot be opened; all else is a finding.
    pub fn compile(&self) -> Result<Compilation, SourceError> {
        Ok(compile(&self.source()?, self.options()))
    }
}

/// Looks for an agent in `start` and upwards: `agent/`, `agents/<name>/`, or a directory with `agent.toml` itself.
///
/// # Errors
/// [`LocateError`] says what was found instead.
pub fn locate(start: &Path, name: Option<&str>) -> Result<Located, LocateError> {
    let unreadable = |path: &Path, error| LocateError::Unreadable { path: path.to_owned(), error };
    let start = Workspace::open(start).map_err(|error| unreadable(start, error))?.path().to_owned();
    for dir in start.ancestors().take(MAX_UP) {
        // What may not be read above the start is not the caller's project.
        let Ok(workspace) = Workspace::open(dir) else { break };
        if let Some(found) = at(&workspace, dir, name)? {
            return Ok(found);
        }
    }
    Err(LocateError::None(start))
}

fn at(workspace: &Workspace, dir: &Path, name: Option<&str>) -> Result<Option<Located>, LocateError> {
    if name.is_none() {
        if is_agent(workspace, None) || (names(dir, "agent") && holds_texts(workspace, None)) {
            return Ok(inside(dir));
        }
        if is_agent(workspace, Some("agent")) || holds_texts(workspace, Some("agent")) {
            return Ok(Some(located(dir, Some("agent"), None)));
        }
    }
    let agents = agents(workspace);
    match (name, agents.as_slice()) {
        (_, []) => Ok(None),
        (Some(name), _) if agents.iter().any(|agent| agent == name) => {
            Ok(Some(located(dir, Some(&format!("agents/{name}")), Some(name))))
        }
        (Some(name), _) => Err(LocateError::NoSuch { name: name.into(), dir: dir.to_owned(), names: agents }),
        (None, [only]) => Ok(Some(located(dir, Some(&format!("agents/{only}")), Some(only)))),
        (None, _) => Err(LocateError::Several { dir: dir.to_owned(), names: agents }),
    }
}

/// The agent whose own directory is `dir`; `None` when that is a subagent's.
fn inside(dir: &Path) -> Option<Located> {
    let name = dir.file_name()?.to_str()?;
    let parent = dir.parent();
    match parent {
        Some(parent) if names(parent, "subagents") => None,
        Some(parent) if name == "agent" => Some(located(parent, Some("agent"), None)),
        Some(parent) if names(parent, "agents") => {
            Some(located(parent.parent()?, Some(&format!("agents/{name}")), Some(name)))
        }
        _ => Some(located(dir, None, None)),
    }
}

fn located(project: &Path, dir: Option<&str>, name: Option<&str>) -> Located {
    let state = name.map_or_else(|| ".restitch".to_owned(), |name| format!(".restitch/agents/{name}"));
    Located { project: project.to_owned(), dir: dir.map(rel), name: name.map(Into::into), state: rel(&state) }
}

fn rel(path: &str) -> RelPath {
    RelPath::new(path.as_bytes()).expect("made of fixed parts and a name that a directory listed")
}

fn names(dir: &Path, name: &str) -> bool {
    dir.file_name().is_some_and(|own| own == name)
}

/// The names in `agents/` that are agents, sorted.
fn agents(workspace: &Workspace) -> Vec<String> {
    let entries = workspace.entries(Some(&rel("agents")), MAX_AGENTS).unwrap_or_default();
    let mut names: Vec<String> = entries
        .into_iter()
        .filter(|(_, stamp)| stamp.is_dir())
        .filter_map(|(name, _)| String::from_utf8(name).ok())
        .filter(|name| {
            let dir = format!("agents/{name}");
            is_agent(workspace, Some(&dir)) || holds_texts(workspace, Some(&dir))
        })
        .collect();
    names.sort_unstable();
    names
}

fn is_agent(workspace: &Workspace, dir: Option<&str>) -> bool {
    stands(workspace, dir, "agent.toml")
}

fn holds_texts(workspace: &Workspace, dir: Option<&str>) -> bool {
    stands(workspace, dir, "instructions.md") || stands(workspace, dir, "instructions")
}

fn stands(workspace: &Workspace, dir: Option<&str>, name: &str) -> bool {
    let path = dir.map_or_else(|| name.to_owned(), |dir| format!("{dir}/{name}"));
    matches!(workspace.stat(&rel(&path)), Ok(Some(_)))
}
