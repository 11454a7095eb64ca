//! What the file system of a root can do, found out by trying it.

use std::os::fd::AsFd as _;
use std::os::fd::BorrowedFd;

use super::Workspace;
use super::ops::{self, Answer, Errno, How};
use super::source::SourceError;

/// Under which name things are tried. It is removed again; a run that died leaves it, empty or with two empty files.
const DIR: &str = ".restitch-probe";

/// What the file system of a root can do. Each ability that is missing has a way round it, told with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Abilities {
    /// The kernel confines a whole path in one call; else each path is walked component by component.
    pub confines: bool,
    /// Two names can be exchanged in one moment; else a file that is replaced is missing for an instant.
    pub exchanges: bool,
    /// A rename can refuse to replace; else a second name is made first.
    pub renames_new: bool,
    /// A file can have several names.
    pub links: bool,
    /// Symbolic links can be made.
    pub symlinks: bool,
    /// Directories can be locked; else nobody is kept out while a patch is applied.
    pub locks: bool,
    /// Files can have extended attributes.
    pub attributes: bool,
    /// Names that differ only in case are different names.
    pub case_sensitive: bool,
}

impl Workspace {
    /// Tries what the file system of the root can do, in a directory of its own that is removed again.
    ///
    /// # Errors
    /// [`SourceError::Io`] when nothing can be made in the root, as in a tree that is only to be read.
    pub fn abilities(&self) -> Result<Abilities, SourceError> {
        let root = self.root();
        clear(root);
        ops::make_dir(root, DIR)?;
        let tried = ops::open_child(root, DIR.as_bytes(), How::List).and_then(|dir| tried(root, dir.as_fd()));
        clear(root);
        Ok(tried?)
    }
}

/// Removes what was tried; what is not there need not be removed.
fn clear(root: BorrowedFd<'_>) {
    if let Ok(dir) = ops::open_child(root, DIR.as_bytes(), How::Dir) {
        for name in ["a", "b", "c", "link"] {
            let _gone = ops::remove(dir.as_fd(), name);
        }
        let _gone = ops::remove_dir(root, DIR);
    }
}

fn tried(root: BorrowedFd<'_>, dir: BorrowedFd<'_>) -> Answer<Abilities> {
    let file = ops::create(dir, "a", 0o600)?;
    ops::create(dir, "b", 0o600)?;
    let confines = ops::open_beneath(root, DIR.as_bytes(), How::Dir).is_ok();
    let exchanges = ops::exchange((dir, "a"), (dir, "b")).is_ok();
    let renames_new = ops::rename_new((dir, "a"), (dir, "b")) == Err(Errno::EXIST);
    let links = ops::link((dir, "a"), (dir, "c")).is_ok();
    let symlinks = ops::make_link(b"a", dir, "link").is_ok();
    let locks = ops::try_lock(dir, false).is_ok();
    let attributes = ops::set_attribute(file.as_fd(), b"user.restitch", b"x").is_ok();
    let case_sensitive = ops::stat_child(dir, b"A").is_err();
    Ok(Abilities { confines, exchanges, renames_new, links, symlinks, locks, attributes, case_sensitive })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_leaves_nothing_behind_and_clears_what_an_earlier_run_left() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let first = workspace.abilities().unwrap();
        assert!(first.links && first.symlinks, "{first:?}");
        std::fs::create_dir(dir.path().join(DIR)).unwrap();
        std::fs::write(dir.path().join(DIR).join("a"), "").unwrap();
        assert_eq!(workspace.abilities().unwrap(), first);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_not_ours_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(DIR)).unwrap();
        std::fs::write(dir.path().join(DIR).join("other"), "x").unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        assert!(workspace.abilities().is_err());
        assert_eq!(std::fs::read(dir.path().join(DIR).join("other")).unwrap(), b"x");
    }
}
