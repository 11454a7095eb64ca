//! What a session's workspace starts with: the files of the agent's `sandbox/workspace/`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::manifest::{EntryKind, FileError, FileRef, Node, Source};
use crate::{
    After, Before, CommitError, CommitOptions, Digest, NewContent, NewMode, RelPath, SourceError, Spliced, Step,
    Workspace, prepare,
};

/// Where the files stand in the agent's directory.
const DIR: &str = "sandbox/workspace/";

/// The most bytes that are planted for one session.
const MOST: u64 = 256 << 20;

/// Permission bits of a planted program; the umask takes its share of them.
const PROGRAM: NewMode = NewMode::LessUmask(0o755);

/// The files a new workspace gets. Their contents stay where they are until they are needed.
#[derive(Clone, Default)]
pub struct Seeds {
    seeds: Vec<Seed>,
    source: Option<Arc<dyn Source + Send + Sync>>,
}

#[derive(Clone, Debug)]
struct Seed {
    file: FileRef,
    /// Its path in the agent's directory.
    from: RelPath,
    /// Its path in the workspace.
    to: RelPath,
    executable: bool,
}

/// What became of the seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planted {
    /// The files that were made.
    pub made: Vec<String>,
    /// The paths where something stood already; it is as it was.
    pub kept: Vec<String>,
}

/// Why the seeds cannot be planted. Nothing was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedError {
    /// A file of the agent cannot be used.
    #[error("the agent's {0}")]
    File(#[from] FileError),
    /// The workspace has no place for one.
    #[error("`{path}` of the agent's {DIR} has no place in the workspace: it {error}")]
    Place {
        /// The path in the workspace.
        path: String,
        /// Why.
        error: SourceError,
    },
    /// They are too much.
    #[error("the agent's {DIR} holds {0} bytes that the workspace lacks; at most {MOST} are written")]
    TooMuch(u64),
    /// They could not be written.
    #[error("the files of the agent's {DIR} could not be written: {0}")]
    Commit(#[from] CommitError),
}

impl std::fmt::Debug for Seeds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seeds").field("seeds", &self.seeds).finish_non_exhaustive()
    }
}

impl Seeds {
    /// The seeds of a node. `source` is the agent's directory; contents are read from it when they are planted.
    ///
    /// # Errors
    /// [`FileError`] when a directory of them cannot be listed.
    pub fn load(node: &Node, source: Arc<dyn Source + Send + Sync>) -> Result<Self, FileError> {
        let mut seeds = Vec::new();
        let mut programs = Programs { source: &*source, dir: None, names: BTreeSet::new() };
        for file in &node.sandbox.workspace {
            let no_path = || FileError::Path(file.path.clone());
            let from = RelPath::new(file.path.as_bytes()).map_err(|_| no_path())?;
            let (_, below) = file.path.split_once(DIR).ok_or_else(no_path)?;
            let to = RelPath::new(below.as_bytes()).map_err(|_| no_path())?;
            let executable = programs.contain(file, &from)?;
            seeds.push(Seed { file: file.clone(), from, to, executable });
        }
        Ok(Seeds { seeds, source: Some(source) })
    }

    /// Makes the files that are missing, all of them or none. Whatever stands at one's place stays as it is.
    ///
    /// # Errors
    /// [`SeedError`]; nothing was made.
    pub fn plant(&self, workspace: &Workspace) -> Result<Planted, SeedError> {
        let Some(source) = &self.source else { return Ok(Planted::default()) };
        let (mut planted, mut steps, mut bytes) = (Planted::default(), Vec::new(), 0_u64);
        for seed in &self.seeds {
            let place = |error| SeedError::Place { path: seed.to.to_string(), error };
            if workspace.stat(&seed.to).map_err(place)?.is_some() {
                planted.kept.push(seed.to.to_string());
                continue;
            }
            planted.made.push(seed.to.to_string());
            bytes = bytes.saturating_add(seed.file.bytes);
            // What is too much is counted to its end, and not read.
            if bytes <= MOST {
                steps.push(seed.step(&**source)?);
            }
        }
        if bytes > MOST {
            return Err(SeedError::TooMuch(bytes));
        }
        if !steps.is_empty() {
            prepare(workspace, &steps, &CommitOptions::default())?.commit()?;
        }
        Ok(planted)
    }
}

impl Seed {
    fn step(&self, source: &dyn Source) -> Result<Step, FileError> {
        let path = || self.file.path.clone();
        let read = source.read(&self.from, self.file.bytes.saturating_add(1));
        let bytes = read.map_err(|error| FileError::Unreadable { path: path(), error })?;
        if Digest::of(&bytes).to_string() != self.file.hash {
            return Err(FileError::Changed(path()));
        }
        let content = NewContent { base: Arc::default(), spliced: Spliced::from_fresh(bytes) };
        let mode = self.executable.then_some(PROGRAM);
        Ok(Step { path: self.to.clone(), before: Before::Absent, after: After::Content { content, like: None, mode } })
    }
}

/// Tells programs from other files, one directory at a time: the files come sorted.
struct Programs<'a> {
    source: &'a dyn Source,
    dir: Option<String>,
    names: BTreeSet<Vec<u8>>,
}

impl Programs<'_> {
    fn contain(&mut self, file: &FileRef, path: &RelPath) -> Result<bool, FileError> {
        let Some((dir, name)) = path.as_str().rsplit_once('/') else { return Ok(false) };
        if self.dir.as_deref() != Some(dir) {
            let unreadable = |error| FileError::Unreadable { path: file.path.clone(), error };
            let parent = RelPath::new(dir.as_bytes()).map_err(|_| FileError::Path(file.path.clone()))?;
            let entries = self.source.list(Some(&parent), usize::MAX).map_err(unreadable)?;
            let programs = entries.into_iter().filter(|entry| entry.kind == EntryKind::File { executable: true });
            self.names = programs.map(|entry| entry.name).collect();
            self.dir = Some(dir.to_owned());
        }
        Ok(self.names.contains(name.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::harness::manifest::{CompileOptions, MemSource, ROOT, compile};

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    fn tree() -> MemSource {
        MemSource::new()
            .file(path("instructions.md"), "Help.")
            .file(path("sandbox/workspace/notes.md"), "# Notes\n")
            .file(path("sandbox/workspace/deep/er/data.bin"), vec![0, 255, 10])
            .executable(path("sandbox/workspace/run.sh"), "#!/bin/sh\n")
    }

    fn seeds(source: MemSource) -> Seeds {
        let manifest = compile(&source, CompileOptions::new()).manifest.unwrap();
        Seeds::load(&manifest.nodes[ROOT], Arc::new(source)).unwrap()
    }

    #[test]
    fn what_is_missing_is_made_and_what_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        std::fs::write(dir.path().join("notes.md"), "mine\n").unwrap();
        let planted = seeds(tree()).plant(&workspace).unwrap();
        assert_eq!(
            planted,
            Planted { made: vec!["deep/er/data.bin".into(), "run.sh".into()], kept: vec!["notes.md".into()] }
        );
        let read = |path: &str| std::fs::read(dir.path().join(path)).unwrap();
        assert_eq!((read("notes.md"), read("deep/er/data.bin")), (b"mine\n".to_vec(), vec![0, 255, 10]));
        let mode = |path: &str| std::fs::metadata(dir.path().join(path)).unwrap().permissions().mode() & 0o111;
        assert!(mode("run.sh") != 0 && mode("deep/er/data.bin") == 0);
        // A second session finds all of it there.
        let again = seeds(tree()).plant(&workspace).unwrap();
        assert_eq!((again.made.len(), again.kept.len()), (0, 3));
    }

    #[test]
    fn what_cannot_be_planted_is_named_and_nothing_is_made() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let manifest = compile(&tree(), CompileOptions::new()).manifest.unwrap();
        let changed = tree().file(path("sandbox/workspace/notes.md"), "other\n");
        let changed = Seeds::load(&manifest.nodes[ROOT], Arc::new(changed)).unwrap().plant(&workspace).unwrap_err();
        assert_eq!(
            changed.to_string(),
            "the agent's `sandbox/workspace/notes.md` has changed since the agent was built"
        );
        std::fs::write(dir.path().join("deep"), "a file\n").unwrap();
        let error = seeds(tree()).plant(&workspace).unwrap_err().to_string();
        assert!(error.contains("`deep/er/data.bin`") && error.contains("no place"), "{error}");
        assert!(!dir.path().join("notes.md").exists() && !dir.path().join("run.sh").exists());
    }

    #[test]
    fn too_much_is_told_before_anything_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let mut seeds = seeds(tree());
        seeds.seeds.iter_mut().for_each(|seed| seed.file.bytes = MOST / 2);
        let error = seeds.plant(&Workspace::open(dir.path()).unwrap()).unwrap_err();
        assert!(matches!(error, SeedError::TooMuch(bytes) if bytes == MOST / 2 * 3), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
