//! A tree in memory, for planning and for tests without a disk.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::resolve::{self, Links, Look, Steps, Walked};
use super::source::{FileData, Loaded, Source, SourceError, Stamp, State};
use crate::path::RelPath;
use crate::policy::Symlinks;

/// A [`Source`] that holds its files in memory, at the absolute path `/root` as far as links are concerned.
///
/// Directories exist because something is in them, or by [`MemSource::dir`].
#[derive(Clone, Debug, Default)]
pub struct MemSource {
    entries: BTreeMap<Vec<u8>, Entry>,
    deny_links: bool,
}

#[derive(Clone, Debug)]
enum Entry {
    File(Arc<FileData>),
    Dir,
    Link(Vec<u8>),
    Special(&'static str),
}

impl MemSource {
    /// An empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file with mode 644 at `path`.
    #[must_use]
    pub fn file(self, path: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.file_with(path, bytes, |_| {})
    }

    /// Puts a file at `path` whose stamp `edit` may change.
    #[must_use]
    pub fn file_with(mut self, path: &str, bytes: impl Into<Vec<u8>>, edit: impl FnOnce(&mut Stamp)) -> Self {
        let bytes = bytes.into();
        let ino = self.entries.len() as u64 + 1;
        let mut stamp = Stamp { ino, size: bytes.len() as u64, mode: 0o100_644, links: 1, ..Stamp::default() };
        edit(&mut stamp);
        self.entries.insert(path.into(), Entry::File(Arc::new(FileData { bytes: Arc::new(bytes.into()), stamp })));
        self
    }

    /// Puts an empty directory at `path`.
    #[must_use]
    pub fn dir(mut self, path: &str) -> Self {
        self.entries.insert(path.into(), Entry::Dir);
        self
    }

    /// Puts a symbolic link at `path`.
    #[must_use]
    pub fn link(mut self, path: &str, target: &str) -> Self {
        self.entries.insert(path.into(), Entry::Link(target.into()));
        self
    }

    /// Puts something at `path` that must not be opened, called `what`.
    #[must_use]
    pub fn special(mut self, path: &str, what: &'static str) -> Self {
        self.entries.insert(path.into(), Entry::Special(what));
        self
    }

    /// Sets what becomes of links. Default: [`Symlinks::Follow`].
    #[must_use]
    pub fn symlinks(mut self, symlinks: Symlinks) -> Self {
        self.deny_links = symlinks == Symlinks::Deny;
        self
    }

    fn walk(&self, path: &RelPath, links: Links) -> Result<Walked, SourceError> {
        let links = if self.deny_links { Links::Deny } else { links };
        resolve::walk(&mut MemSteps { tree: self, current: Vec::new() }, path.as_str().as_bytes(), links)
    }
}

impl Source for MemSource {
    fn load(&self, path: &RelPath) -> Result<Loaded, SourceError> {
        let Walked { names, end } = self.walk(path, Links::StopAtLast)?;
        let key = names.join(&b'/');
        let state = match (end, self.entries.get(&key)) {
            (_, Some(Entry::File(data))) => State::File(Arc::clone(data)),
            (Look::Link(target), _) => State::Link(target),
            (Look::Special(what), _) => State::Special(what),
            (Look::Dir, _) => State::Dir,
            _ => State::Absent,
        };
        // A path that ends at the root itself has no name of its own.
        let path = RelPath::new(&key).unwrap_or_else(|_| path.clone());
        Ok(Loaded { path, state })
    }

    fn follow(&self, path: &RelPath) -> Result<RelPath, SourceError> {
        super::rel_path(&self.walk(path, Links::Follow)?.names)
    }

    fn strip_root<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        resolve::strip_prefix(b"/root", path)
    }

    fn names(&self, dir: Option<&RelPath>, most: usize) -> Vec<String> {
        let prefix = dir.map(|dir| format!("{dir}/")).unwrap_or_default();
        let below = self.entries.keys().filter_map(|key| key.strip_prefix(prefix.as_bytes()));
        let mut names: Vec<String> =
            below.filter_map(|rest| Some(std::str::from_utf8(rest).ok()?.split('/').next()?.to_owned())).collect();
        names.dedup();
        names.truncate(most);
        names
    }
}

struct MemSteps<'t> {
    tree: &'t MemSource,
    current: Vec<u8>,
}

impl MemSteps<'_> {
    fn key(&self, name: &[u8]) -> Vec<u8> {
        let mut key = self.current.clone();
        if !key.is_empty() {
            key.push(b'/');
        }
        key.extend_from_slice(name);
        key
    }
}

impl Steps for MemSteps<'_> {
    fn look(&mut self, name: &[u8]) -> Result<Look, SourceError> {
        let key = self.key(name);
        Ok(match self.tree.entries.get(&key) {
            Some(Entry::File(_)) => Look::File,
            Some(Entry::Dir) => Look::Dir,
            Some(Entry::Link(target)) => Look::Link(target.clone()),
            Some(Entry::Special(what)) => Look::Special(what),
            None => {
                let below = [&key[..], b"/"].concat();
                let first = self.tree.entries.range(below.clone()..).next();
                if first.is_some_and(|(key, _)| key.starts_with(&below)) { Look::Dir } else { Look::Absent }
            }
        })
    }

    fn enter(&mut self, name: &[u8]) -> Result<(), SourceError> {
        self.current = self.key(name);
        Ok(())
    }

    fn restart(&mut self, names: &[Vec<u8>]) -> Result<(), SourceError> {
        self.current = names.join(&b'/');
        Ok(())
    }

    fn below_root<'p>(&self, absolute: &'p [u8]) -> Option<&'p [u8]> {
        self.tree.strip_root(absolute)
    }
}
