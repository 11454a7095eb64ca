//! What the planner may know of the tree: one trait with one method, and the state of one path.

use std::sync::Arc;

use super::bytes::Bytes;
use crate::path::RelPath;

/// A tree that can be looked at. The planner reads through it and never writes.
pub trait Source {
    /// Looks up `path`. Links in its directories are followed (as far as they stay inside); a link at the end is not.
    ///
    /// # Errors
    /// [`SourceError`] when the path leaves the root, enters `.git`, or the system refuses.
    fn load(&self, path: &RelPath) -> Result<Loaded, SourceError>;

    /// The path behind the link at `path` (as [`State::Link`] told): the end of the whole chain, which may be absent.
    ///
    /// # Errors
    /// As [`Source::load`]; also when the chain is a loop.
    fn follow(&self, path: &RelPath) -> Result<RelPath, SourceError>;

    /// The part of an absolute path below the root, or `None` when it is not below it.
    fn strip_root<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]>;

    /// The names in a directory (`None`: the root), for suggestions only: unsorted, at most `most`, empty when it
    /// cannot be read.
    fn names(&self, dir: Option<&RelPath>, most: usize) -> Vec<String>;
}

/// What stands at a path.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The path with the links in its directories resolved: equal for two spellings of one place.
    pub path: RelPath,
    /// What is there.
    pub state: State,
}

/// What stands at a path.
#[derive(Clone, Debug)]
pub enum State {
    /// Nothing; its directories may be missing too.
    Absent,
    /// A regular file.
    File(Arc<FileData>),
    /// A directory.
    Dir,
    /// A symbolic link, with the bytes it holds.
    Link(Vec<u8>),
    /// Something that must not be opened: its name for people (`a named pipe`, `a socket`, `a device`).
    Special(&'static str),
}

/// A regular file as it was read.
#[derive(Debug)]
pub struct FileData {
    /// Its content; shared, so that a plan can point into it.
    pub bytes: Arc<Bytes>,
    /// What identifies this very state of it.
    pub stamp: Stamp,
}

/// Identity and attributes of a file when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time in nanoseconds.
    pub mtime: i128,
    /// Status change time in nanoseconds.
    pub ctime: i128,
    /// Type and permission bits.
    pub mode: u32,
    /// Number of names.
    pub links: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Stamp {
    /// Whether it is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.mode & 0o170_000 == 0o100_000
    }

    /// Whether it is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.mode & 0o170_000 == 0o040_000
    }

    /// Whether it is a symbolic link.
    #[must_use]
    pub fn is_link(&self) -> bool {
        self.mode & 0o170_000 == 0o120_000
    }

    /// Whether its mode lets anybody at all execute it.
    #[must_use]
    pub fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }
}

/// Why a path could not be looked up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A link on the way leads outside the root.
    #[error("leads outside the root through a symbolic link")]
    Outside,
    /// The path, or what a link on it leads to, is inside a `.git` directory.
    #[error("lies inside `.git`, which no patch may touch")]
    Git,
    /// A part of the path that should be a directory is something else.
    #[error("`{0}` on the way is not a directory")]
    NotADirectory(String),
    /// The links form a loop, or there are too many of them.
    #[error("its symbolic links form a loop")]
    LinkLoop,
    /// Links are denied and one is on the way.
    #[error("goes through a symbolic link, and links are denied")]
    LinkDenied,
    /// It is something that cannot be read as a file (its name for people).
    #[error("is {0}, not a file")]
    NotAFile(&'static str),
    /// The file is too large to be read (bytes).
    #[error("is too large: {0} bytes")]
    TooLarge(u64),
    /// The system refused.
    #[error("cannot be read: {message}")]
    Io {
        /// What kind of error it was.
        kind: std::io::ErrorKind,
        /// The system's words.
        message: String,
    },
}
