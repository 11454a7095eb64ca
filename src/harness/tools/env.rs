//! What tools may use: the workspace, the skills, named variables, and a private directory for output that does not
//! fit a message.
//!
//! This is the harness's door to the file system for its own files. Files of the project go through
//! [`Workspace`] and the crate's plans only.
#![expect(clippy::disallowed_methods, reason = "the harness's door to its own files below its private directory")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use crate::harness::skills::Skills;
use crate::{SourceError, Workspace};

/// The private directory's name in the root. It ignores itself for git and for searches.
pub(super) const PRIVATE: &str = ".restitch";

/// Parts of names of variables that hold secrets: no command the model writes may see them.
const SECRET: &[&str] = &["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "COOKIE", "SESSION"];

/// Variables that every program gets.
const FEW: &[&str] = &["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "USER"];

/// Where programs are looked for when nothing says so.
const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");

/// What the tools of a session may use.
#[derive(Debug)]
pub struct ToolEnv {
    workspace: Workspace,
    root: PathBuf,
    session: String,
    skills: Skills,
    variables: BTreeMap<String, String>,
}

impl ToolEnv {
    /// The environment of one session in the directory `root`.
    ///
    /// # Errors
    /// [`SourceError`] when the root is no directory.
    pub fn open(root: &Path, session: &str) -> Result<Self, SourceError> {
        let workspace = Workspace::open(root)?;
        let root = workspace.path().to_owned();
        let (skills, variables) = (Skills::default(), BTreeMap::new());
        Ok(ToolEnv { workspace, root, session: session.to_owned(), skills, variables })
    }

    /// Sets the skills. Default: none.
    #[must_use]
    pub fn with_skills(mut self, skills: Skills) -> Self {
        self.skills = skills;
        self
    }

    /// Sets the environment variables that programs may be given. Default: none.
    #[must_use]
    pub fn with_variables(mut self, variables: BTreeMap<String, String>) -> Self {
        self.variables = variables;
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

    /// The skills.
    #[must_use]
    pub fn skills(&self) -> &Skills {
        &self.skills
    }

    /// The variables for commands that the model writes: all but those whose names speak of secrets.
    pub(super) fn plain_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.default_path().into_iter().chain(self.pairs().filter(|(name, _)| !is_secret(name)))
    }

    /// The variables for an author's program: a few, and those it names.
    pub(super) fn few_variables<'a>(&'a self, named: &'a [String]) -> impl Iterator<Item = (&'a str, &'a str)> {
        let wanted = |name: &str| FEW.contains(&name) || named.iter().any(|it| it == name);
        self.default_path().into_iter().chain(self.pairs().filter(move |(name, _)| wanted(name)))
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    fn default_path(&self) -> Option<(&'static str, &'static str)> {
        (!self.variables.contains_key(PATH.0)).then_some(PATH)
    }

    /// The private directory of this session, made if it is missing: relative to the root, and in full.
    ///
    /// # Errors
    /// Of the file system.
    pub(super) fn private(&self, part: &str) -> io::Result<(String, PathBuf)> {
        let relative = format!("{PRIVATE}/{part}/{}", self.session);
        let dir = self.root.join(&relative);
        fs::create_dir_all(&dir)?;
        let ignore = self.root.join(PRIVATE).join(".gitignore");
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

/// Whether a variable's name speaks of a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// Makes a directory below the private one.
pub(super) fn make_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)
}

/// Whether something is there.
pub(super) fn is_there(path: &Path) -> bool {
    path.exists()
}

/// A small file of ours as text; `None` when it is not there.
pub(super) fn read_text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// A file as text: all of it, or when it is longer its beginning and its end, `most` bytes each. What is not UTF-8 is
/// replaced.
pub(super) fn read_ends(path: &Path, most: u64) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = fs::File::open(path)?;
        let size = file.metadata()?.len();
        let mut bytes = Vec::new();
        file.by_ref().take(if size > 2 * most { most } else { 2 * most }).read_to_end(&mut bytes)?;
        if size > 2 * most {
            bytes.extend_from_slice(format!("\n[… {} bytes …]\n", size - 2 * most).as_bytes());
            file.seek(SeekFrom::Start(size - most))?;
            file.take(most).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
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

    #[test]
    fn of_a_huge_file_both_ends_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_ends(&path, 5), "0123456789");
        assert_eq!(read_ends(&path, 2), "01\n[… 6 bytes …]\n89");
        assert_eq!(read_ends(&dir.path().join("none"), 2), "");
    }

    #[test]
    fn commands_of_the_model_see_no_secret() {
        let dir = tempfile::tempdir().unwrap();
        let variables = [("OPENAI_API_KEY", "k"), ("github_token", "t"), ("CARGO_HOME", "/c")];
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let env = ToolEnv::open(dir.path(), "s").unwrap().with_variables(variables);
        assert_eq!(env.plain_variables().collect::<Vec<_>>(), [PATH, ("CARGO_HOME", "/c")]);
        let named = ["github_token".to_owned()];
        assert_eq!(env.few_variables(&named).collect::<Vec<_>>(), [PATH, ("github_token", "t")]);
    }
}
