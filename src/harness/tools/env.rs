//! What tools may use: the workspace, and a private directory in it for output that does not fit a message.
//!
//! This is the harness's door to the file system for its own files. Files of the project go through
//! [`Workspace`] and the crate's plans only.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::{SourceError, Workspace};

/// The private directory's name in the root. It ignores itself for git and for searches.
pub const PRIVATE: &str = ".restitch";

/// What the tools of a session may use.
#[derive(Debug)]
pub struct ToolEnv {
    workspace: Workspace,
    root: PathBuf,
    session: String,
    skills: BTreeMap<String, String>,
}

impl ToolEnv {
    /// The environment of one session in the directory `root`.
    ///
    /// # Errors
    /// [`SourceError`] when the root is no directory.
    pub fn open(root: &Path, session: &str) -> Result<Self, SourceError> {
        let workspace = Workspace::open(root)?;
        let root = workspace.path().to_owned();
        Ok(ToolEnv { workspace, root, session: session.to_owned(), skills: BTreeMap::new() })
    }

    /// Sets the bodies of the skills by id. Default: none.
    #[must_use]
    pub fn skills(mut self, skills: BTreeMap<String, String>) -> Self {
        self.skills = skills;
        self
    }

    /// The project.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The project's root, absolute.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The session's id.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The body of a skill.
    #[must_use]
    pub fn skill(&self, id: &str) -> Option<&str> {
        self.skills.get(id).map(String::as_str)
    }

    /// The ids of the skills, sorted.
    pub fn skill_ids(&self) -> impl Iterator<Item = &str> {
        self.skills.keys().map(String::as_str)
    }

    /// The private directory of this session, made if it is missing: relative to the root, and in full.
    ///
    /// # Errors
    /// Of the file system.
    pub fn private(&self, part: &str) -> io::Result<(String, PathBuf)> {
        let top = self.root.join(PRIVATE);
        let relative = format!("{PRIVATE}/{part}/{}", self.session);
        let dir = self.root.join(&relative);
        fs::create_dir_all(&dir)?;
        let ignore = top.join(".gitignore");
        if !ignore.exists() {
            fs::write(ignore, "*\n")?;
        }
        Ok((relative, dir))
    }

    /// Keeps a text in a file that the model may read, and gives its path below the root.
    ///
    /// # Errors
    /// Of the file system.
    pub fn keep(&self, name: &str, text: &[u8]) -> io::Result<String> {
        let (relative, dir) = self.private("outputs")?;
        fs::write(dir.join(name), text)?;
        Ok(format!("{relative}/{name}"))
    }

    /// The text bounded for the model, the whole of it kept in a file if it does not fit.
    #[must_use]
    pub fn fit(&self, key: &str, text: &str) -> String {
        let rest = || match self.keep(&format!("{key}.txt"), text.as_bytes()) {
            Ok(path) => format!("[the whole output is in `{path}`: read or search that file]\n"),
            Err(error) => format!("[the whole output could not be kept: {error}]\n"),
        };
        super::bounded(text, super::Bounds::default(), rest).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_does_not_fit_can_be_read_whole() {
        let dir = tempfile::tempdir().unwrap();
        let env = ToolEnv::open(dir.path(), "s1").unwrap();
        assert_eq!(env.fit("1.1.0", "short\n"), "short\n");
        assert!(!dir.path().join(PRIVATE).exists(), "nothing is made before it is needed");
        let long = "a line\n".repeat(5000);
        let shown = env.fit("1.1.0", &long);
        assert!(shown.contains("`.restitch/outputs/s1/1.1.0.txt`"), "{shown}");
        assert_eq!(fs::read_to_string(dir.path().join(".restitch/outputs/s1/1.1.0.txt")).unwrap(), long);
        assert_eq!(fs::read_to_string(dir.path().join(".restitch/.gitignore")).unwrap(), "*\n");
    }
}
