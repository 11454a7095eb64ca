//! The git directory of the root, for its settings only.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::Workspace;
use super::ops::{self, Errno, How, Kind};

/// The longest settings file that is read.
const MAX_SETTINGS: usize = 1 << 20;

impl Workspace {
    /// Reads a settings file of the repository whose work tree the root is: `config` or `info/attributes`, say. `None`
    /// when the root is no work tree's top, or the file is not there or cannot be read.
    ///
    /// A linked work tree, or a submodule, keeps its settings elsewhere: its `.git` file is followed, also out of the
    /// root, as git does. Nothing is ever written there.
    pub(crate) fn git_settings(&self, name: &str) -> Option<Vec<u8>> {
        let dir = match ops::open_child(self.root(), b".git", How::List) {
            Ok(dir) => dir,
            Err(Errno::NOTDIR) => self.linked_git_dir()?,
            Err(_) => return None,
        };
        read_below(dir, name)
    }

    fn linked_git_dir(&self) -> Option<OwnedFd> {
        let link = read_small(ops::open_child(self.root(), b".git", How::Read).ok()?.as_fd())?;
        let own = join(self.path(), link.strip_prefix(b"gitdir:")?);
        let dir = ops::open_root(&own).ok()?;
        // A submodule has all in its own directory, a linked work tree shares the main one's.
        let Ok(common) = ops::open_child(dir.as_fd(), b"commondir", How::Read) else { return Some(dir) };
        ops::open_root(&join(&own, &read_small(common.as_fd())?)).ok()
    }
}

/// The path that a line of a git file says, from `base`.
fn join(base: &Path, said: &[u8]) -> PathBuf {
    base.join(std::ffi::OsStr::from_bytes(said.trim_ascii()))
}

fn read_below(mut dir: OwnedFd, path: &str) -> Option<Vec<u8>> {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    for part in parents.split('/').filter(|part| !part.is_empty()) {
        dir = ops::open_child(dir.as_fd(), part.as_bytes(), How::Dir).ok()?;
    }
    read_small(ops::open_child(dir.as_fd(), name.as_bytes(), How::Read).ok()?.as_fd())
}

fn read_small(file: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let stamp = ops::stat(file).ok()?;
    if ops::kind(stamp.mode) != Kind::File || stamp.size > MAX_SETTINGS as u64 {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).ok()? + 1);
    while bytes.len() <= MAX_SETTINGS {
        bytes.reserve(1);
        if ops::read(file, &mut bytes).ok()? == 0 {
            return Some(bytes);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn settings_are_found_where_the_repository_keeps_them() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        write(&at("main/.git/config"), "main");
        write(&at("main/.git/info/attributes"), "* text");
        write(&at("main/.git/worktrees/w/commondir"), "../..\n");
        write(&at("linked/.git"), &format!("gitdir: {}\n", at("main/.git/worktrees/w").display()));
        write(&at("main/.git/modules/m/config"), "module");
        write(&at("main/m/.git"), "gitdir: ../.git/modules/m\n");
        std::fs::create_dir_all(at("bare")).unwrap();
        let cases = [
            ("main", "config", Some("main")),
            ("main", "info/attributes", Some("* text")),
            ("linked", "config", Some("main")),
            ("main/m", "config", Some("module")),
            ("main/m", "info/attributes", None),
            ("bare", "config", None),
        ];
        for (root, name, want) in cases {
            let found = Workspace::open(at(root)).unwrap().git_settings(name);
            assert_eq!(found.as_deref(), want.map(str::as_bytes), "{root} {name}");
        }
    }
}
