//! Where the files of an agent come from: one trait, on disk and in memory. The compiler knows nothing else.

use std::collections::BTreeMap;
use std::io::Read as _;

use super::names;
use crate::RelPath;
use crate::Symlinks;
use crate::{Source as _, SourceError, Workspace};

/// A tree of files that an agent is compiled from.
pub trait Source {
    /// What is in a directory (`None`: the top), in any order, at most `most` entries.
    ///
    /// # Errors
    /// [`SourceError`] when it is no directory or cannot be read.
    fn list(&self, dir: Option<&RelPath>, most: usize) -> Result<Vec<Entry>, SourceError>;

    /// The content of a file; a link that stays inside the tree is followed.
    ///
    /// # Errors
    /// [`SourceError`] when it is no file, larger than `most` bytes, or cannot be read.
    fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, SourceError>;
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its bytes, which need not be UTF-8.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
}

/// What a name in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file, or a link to one inside the tree.
    File {
        /// Whether anybody may execute it.
        executable: bool,
    },
    /// A directory.
    Dir,
    /// A link that leads out of the tree, nowhere, or to a directory.
    BadLink,
    /// A pipe, a socket, a device.
    Special,
}

/// The tree below a directory on disk, never left through a link.
#[derive(Debug)]
pub struct DiskSource(Workspace);

impl DiskSource {
    /// The tree below `workspace`'s root.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        DiskSource(workspace.symlinks(Symlinks::Follow))
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    /// What a link is, by what is behind it.
    fn behind(&self, link: &RelPath) -> Result<EntryKind, SourceError> {
        let Ok(target) = self.0.follow(link) else { return Ok(EntryKind::BadLink) };
        Ok(match self.0.stat(&target)? {
            Some(stamp) if stamp.is_file() => EntryKind::File { executable: stamp.is_executable() },
            _ => EntryKind::BadLink,
        })
    }
}

impl Source for DiskSource {
    fn list(&self, dir: Option<&RelPath>, most: usize) -> Result<Vec<Entry>, SourceError> {
        let mut entries = Vec::new();
        for (name, stamp) in self.0.entries(dir, most)? {
            let kind = if stamp.is_file() {
                EntryKind::File { executable: stamp.is_executable() }
            } else if stamp.is_dir() {
                EntryKind::Dir
            } else if stamp.is_link()
                && let Ok(text) = std::str::from_utf8(&name)
            {
                self.behind(&names::child(dir, text))?
            } else if stamp.is_link() {
                EntryKind::BadLink
            } else {
                EntryKind::Special
            };
            entries.push(Entry { name, kind });
        }
        Ok(entries)
    }

    fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, SourceError> {
        read(&self.0, path, most)
    }
}

/// The content of a file of at most `most` bytes.
pub(super) fn read(workspace: &Workspace, path: &RelPath, most: u64) -> Result<Vec<u8>, SourceError> {
    let (file, stamp) = workspace.open_read(path, true)?;
    if stamp.size > most {
        return Err(SourceError::TooLarge(stamp.size));
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile must not get round the bound.
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| SourceError::Io { kind: error.kind(), message: error.to_string() })?;
    if bytes.len() as u64 > most {
        return Err(SourceError::TooLarge(bytes.len() as u64));
    }
    Ok(bytes)
}

/// A tree in memory.
#[derive(Clone, Debug, Default)]
pub struct MemSource {
    files: BTreeMap<RelPath, (EntryKind, Vec<u8>)>,
}

impl MemSource {
    /// A tree without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file in; one that is there is replaced.
    #[must_use]
    pub fn file(self, path: RelPath, bytes: impl Into<Vec<u8>>) -> Self {
        self.put(path, EntryKind::File { executable: false }, bytes.into())
    }

    /// Puts in a file that may be executed.
    #[must_use]
    pub fn executable(self, path: RelPath, bytes: impl Into<Vec<u8>>) -> Self {
        self.put(path, EntryKind::File { executable: true }, bytes.into())
    }

    /// Takes a file out.
    #[must_use]
    pub fn without(mut self, path: &RelPath) -> Self {
        self.files.remove(path);
        self
    }

    fn put(mut self, path: RelPath, kind: EntryKind, bytes: Vec<u8>) -> Self {
        self.files.insert(path, (kind, bytes));
        self
    }
}

impl Source for MemSource {
    fn list(&self, dir: Option<&RelPath>, most: usize) -> Result<Vec<Entry>, SourceError> {
        let prefix = dir.map(|dir| format!("{dir}/")).unwrap_or_default();
        let mut entries: Vec<Entry> = Vec::new();
        for (path, (kind, _)) in &self.files {
            let Some(rest) = path.as_str().strip_prefix(&prefix) else { continue };
            let (name, kind) = rest.split_once('/').map_or((rest, *kind), |(name, _)| (name, EntryKind::Dir));
            // The paths are sorted, so all that is in one directory follows each other.
            if entries.last().is_none_or(|entry| entry.name != name.as_bytes()) {
                entries.push(Entry { name: name.into(), kind });
            }
        }
        if entries.is_empty()
            && let Some(dir) = dir
        {
            return Err(SourceError::NotADirectory(dir.to_string()));
        }
        entries.truncate(most);
        Ok(entries)
    }

    fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, SourceError> {
        let Some((_, bytes)) = self.files.get(path) else {
            return Err(SourceError::Io {
                kind: std::io::ErrorKind::NotFound,
                message: "no such file or directory".into(),
            });
        };
        if bytes.len() as u64 > most {
            return Err(SourceError::TooLarge(bytes.len() as u64));
        }
        Ok(bytes.clone())
    }
}
