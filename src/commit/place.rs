//! Where the journal of a root is, and what else is kept there.
//!
//! A root that has a git directory keeps its journal in it, as `restitch-journal`: it is no part of the tree there, and
//! git leaves it alone. The `.git` of a linked worktree is a file that names the directory; it is believed only if that
//! directory names this root in turn, since a file in a tree may say anything. Every other root has the dot-file
//! `.restitch-journal`. Both are looked at, for a root may have become a repository since.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::workspace::Workspace;
use crate::workspace::ops::{self, Answer, Errno, How};

/// The largest `.git` file that is read: it holds one path.
const MOST_LINK: usize = 8 << 10;

/// A directory in which a root keeps what is not part of it.
#[derive(Debug)]
pub(crate) struct Place {
    /// The git directory; `None`: the root itself.
    git: Option<OwnedFd>,
    /// The directory's path, for messages.
    shown: PathBuf,
}

/// What is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The journal.
    Journal,
    /// A journal before it is known to be on the disk as a whole.
    Unsynced,
    /// The directory of undo records.
    Undo,
}

impl Place {
    /// The place in which something new is kept. One call for a root without a git directory or with a plain one.
    pub(crate) fn find(workspace: &Workspace) -> Answer<Self> {
        Ok(git(workspace)?.unwrap_or_else(|| Place::root(workspace)))
    }

    /// Every place in which something may have been kept.
    pub(crate) fn all(workspace: &Workspace) -> Answer<Vec<Self>> {
        Ok(git(workspace)?.into_iter().chain([Place::root(workspace)]).collect())
    }

    fn root(workspace: &Workspace) -> Self {
        Place { git: None, shown: workspace.path().to_owned() }
    }

    /// Where else something can be kept when this place does not take it.
    pub(crate) fn other(&self, workspace: &Workspace) -> Option<Self> {
        self.git.as_ref().map(|_| Place::root(workspace))
    }

    pub(crate) fn dir<'a>(&'a self, workspace: &'a Workspace) -> BorrowedFd<'a> {
        self.git.as_ref().map_or(workspace.root(), |git| git.as_fd())
    }

    /// Whether what is kept is part of the tree.
    pub(crate) fn is_in_root(&self) -> bool {
        self.git.is_none()
    }

    /// The name of what is kept, in [`Place::dir`].
    pub(crate) fn name(&self, kept: Kept) -> &'static str {
        match (self.git.is_some(), kept) {
            (true, Kept::Journal) => "restitch-journal",
            (true, Kept::Unsynced) => "restitch-journal.new",
            (true, Kept::Undo) => "restitch-undo",
            (false, Kept::Journal) => ".restitch-journal",
            (false, Kept::Unsynced) => ".restitch-journal.new",
            (false, Kept::Undo) => ".restitch-undo",
        }
    }

    /// The path of what is kept, for messages.
    pub(crate) fn path(&self, kept: Kept) -> PathBuf {
        self.shown.join(self.name(kept))
    }
}

/// Whether a journal may be there; `false` is certain. Two calls for most roots.
pub(super) fn may_have_journal(workspace: &Workspace) -> Answer<bool> {
    match ops::stat_child(workspace.root(), b".restitch-journal") {
        Err(Errno::NOENT) => {}
        Ok(_) => return Ok(true),
        Err(error) => return Err(error),
    }
    match ops::open_beneath(workspace.root(), b".git/restitch-journal", How::Dir) {
        Err(Errno::NOENT) => Ok(false),
        // A worktree's `.git`, a link, a kernel without the call, or a journal, which is no directory.
        _ => {
            let Some(place) = git(workspace)? else { return Ok(false) };
            match ops::stat_child(place.dir(workspace), place.name(Kept::Journal).as_bytes()) {
                Ok(_) => Ok(true),
                Err(Errno::NOENT) => Ok(false),
                Err(error) => Err(error),
            }
        }
    }
}

fn git(workspace: &Workspace) -> Answer<Option<Place>> {
    match ops::open_child(workspace.root(), b".git", How::Dir) {
        Ok(dir) => Ok(Some(Place { git: Some(dir), shown: workspace.path().join(".git") })),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::NOTDIR | Errno::LOOP) => Ok(worktree(workspace)),
        Err(error) => Err(error),
    }
}

/// The git directory of a linked worktree. Anything that is not as it should be means that there is none.
fn worktree(workspace: &Workspace) -> Option<Place> {
    let named = read_line(workspace.root(), b".git")?;
    let path = workspace.path().join(path_of(named.strip_prefix(b"gitdir: ")?));
    let dir = ops::open_root(&path).ok()?;
    let back = path.join(path_of(&read_line(dir.as_fd(), b"gitdir")?));
    let own = ops::stat_child(workspace.root(), b".git").ok()?;
    (ops::identity(&back).ok()? == (own.dev, own.ino)).then_some(Place { git: Some(dir), shown: path })
}

fn path_of(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The only line of a small file.
fn read_line(dir: BorrowedFd<'_>, name: &[u8]) -> Option<Vec<u8>> {
    let file = ops::open_child(dir, name, How::Read).ok()?;
    if ops::kind(ops::stat(file.as_fd()).ok()?.mode) != ops::Kind::File {
        return None;
    }
    let mut bytes = Vec::with_capacity(MOST_LINK);
    while bytes.len() < MOST_LINK && ops::read(file.as_fd(), &mut bytes).ok()? > 0 {}
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    bytes.truncate(end);
    Some(bytes)
}
