//! The door to the disk: everything below one root directory, reached by a handle of it.
//!
//! # Guarantees
//! A path is resolved from the handle of the root, never from a string of the outer world, so a link that is swapped
//! in at any moment cannot lead a read or a write outside. On Linux the kernel confines the whole path in one call; where
//! there is no such call, and for paths that go through links, each component is opened by the handle of the one
//! before and never followed. A path with a component `.git`, links resolved, is refused. Pipes, sockets and devices
//! are named and not read.
//!
//! # Limitations
//! A directory that someone moves out of the root while it is being used takes the files in it along. On file systems
//! that ignore case two spellings of one name are two paths here. Names that are not UTF-8 cannot be patched.

mod bytes;
mod digest;
mod disk;
pub(crate) mod fault;
mod git_dir;
mod given;
mod memory;
pub(crate) mod near;
pub(crate) mod ops;
mod probe;
mod refused;
mod resolve;
mod source;
#[cfg(test)]
mod tests;
pub(crate) mod tree;

use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

pub use bytes::Bytes;
pub(crate) use digest::Hasher;
pub use digest::{Digest, DigestError};
pub use memory::MemSource;
pub use probe::Abilities;
pub use refused::{PathRefused, RefusedReason};
pub(crate) use refused::{Purpose, meant};
pub use source::{FileData, Loaded, Source, SourceError, Stamp, State};

use crate::path::RelPath;
use crate::policy::Symlinks;
use disk::DiskSteps;
use ops::{Errno, How, Kind};
use resolve::{Links, Look, Walked};

/// The largest file that is read, unless [`Workspace::max_file`] says otherwise.
const MAX_FILE: u64 = 2 << 30;

/// A directory tree, held by a handle of its root.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    given: PathBuf,
    canonical: OnceLock<PathBuf>,
    /// The kernel has no call that confines a whole path.
    walk_only: AtomicBool,
    symlinks: Symlinks,
    max_file: u64,
}

/// What an open found, and where that is when links were followed.
struct Found {
    /// `None`: the path as it was asked for.
    names: Option<Vec<Vec<u8>>>,
    what: What,
}

enum What {
    Absent,
    File(OwnedFd, Stamp),
    Dir,
    Link(Vec<u8>),
    Special(&'static str),
}

impl Workspace {
    /// Opens the directory `root`. Costs one system call.
    ///
    /// # Errors
    /// [`SourceError::Io`] when it is no directory or cannot be listed.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, SourceError> {
        let given = root.as_ref();
        Ok(Workspace {
            root: ops::open_root(given)?,
            given: given.to_owned(),
            canonical: OnceLock::new(),
            walk_only: AtomicBool::new(false),
            symlinks: Symlinks::Follow,
            max_file: MAX_FILE,
        })
    }

    /// Sets what becomes of symbolic links. Default: [`Symlinks::Follow`].
    #[must_use]
    pub fn symlinks(mut self, symlinks: Symlinks) -> Self {
        self.symlinks = symlinks;
        self
    }

    /// Sets the size in bytes above which a file is not read. Default: 2 GiB.
    #[must_use]
    pub fn max_file(mut self, bytes: u64) -> Self {
        self.max_file = bytes;
        self
    }

    /// Walks every path component by component even where the kernel could confine it in one call.
    #[cfg(test)]
    fn walk_only(self) -> Self {
        self.walk_only.store(true, Ordering::Relaxed);
        self
    }

    /// The absolute path of the root with its links resolved; the path as it was given when the system cannot tell.
    pub fn path(&self) -> &Path {
        self.canonical.get_or_init(|| ops::path_of(self.root(), &self.given).unwrap_or_else(|_| self.given.clone()))
    }

    /// Opens a file for reading. With `follow` a link in the last place is followed too, as far as it stays inside.
    ///
    /// # Errors
    /// As [`Source::load`]; besides [`SourceError::Io`] with [`std::io::ErrorKind::NotFound`] when nothing is there,
    /// [`SourceError::NotAFile`] when it is a directory, a link that is not followed or a special file.
    pub fn open_read(&self, path: &RelPath, follow: bool) -> Result<(File, Stamp), SourceError> {
        let links = if follow { Links::Follow } else { Links::StopAtLast };
        match self.find(path.as_str().as_bytes(), links)?.what {
            What::File(file, stamp) => Ok((file.into(), stamp)),
            What::Absent => Err(Errno::NOENT.into()),
            What::Dir => Err(SourceError::NotAFile("a directory")),
            What::Link(_) => Err(SourceError::NotAFile("a symbolic link")),
            What::Special(what) => Err(SourceError::NotAFile(what)),
        }
    }

    /// Identity and attributes of what is at `path`, links in its directories followed, one in the last place not;
    /// `None` when nothing is there.
    ///
    /// # Errors
    /// As [`Source::load`].
    pub fn stat(&self, path: &RelPath) -> Result<Option<Stamp>, SourceError> {
        let mut steps = DiskSteps::new(self);
        let walked = resolve::walk(&mut steps, path.as_str().as_bytes(), self.links(Links::StopAtLast))?;
        match (walked.end, walked.names.last()) {
            (Look::Absent, _) => Ok(None),
            (Look::Dir, _) | (_, None) => Ok(Some(ops::stat(steps.current())?)),
            (_, Some(name)) => match ops::stat_child(steps.current(), name) {
                Ok(stamp) => Ok(Some(stamp)),
                Err(Errno::NOENT) => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }

    /// The names in a directory (`None`: the root) with what they are, in the order of the system, at most `most`.
    /// Links are told as links. A name that disappears meanwhile is left out.
    ///
    /// # Errors
    /// [`SourceError`] when it is no directory or cannot be listed.
    pub fn entries(&self, dir: Option<&RelPath>, most: usize) -> Result<Vec<(Vec<u8>, Stamp)>, SourceError> {
        let opened = dir.map(|dir| self.open_resolved(dir.as_str(), How::List)).transpose()?;
        let dir = opened.as_ref().map_or(self.root(), |dir| dir.as_fd());
        let mut entries = Vec::new();
        for name in ops::names(dir, most)? {
            match ops::stat_child(dir, &name) {
                Ok(stamp) => entries.push((name, stamp)),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(entries)
    }

    /// The handle of the root.
    pub(crate) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Opens `path`, of which no component may be a link: for paths that were resolved before.
    ///
    /// A component that has become a link is `ELOOP` or `ENOTDIR`.
    pub(crate) fn open_resolved(&self, path: impl AsRef<[u8]>, how: How) -> ops::Answer<OwnedFd> {
        let path = path.as_ref();
        if !self.walk_only.load(Ordering::Relaxed) {
            match ops::open_beneath(self.root(), path, how) {
                Err(error) if unsupported(error) => self.walk_only.store(true, Ordering::Relaxed),
                answer => return answer,
            }
        }
        let mut dir = None::<OwnedFd>;
        let mut parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            let at = dir.as_ref().map_or(self.root(), |dir| dir.as_fd());
            if parts.peek().is_none() {
                return ops::open_child(at, part, how);
            }
            dir = Some(ops::open_child(at, part, How::Dir)?);
        }
        Err(Errno::NOENT)
    }

    /// The part of an absolute path below the root, by its names or else by the identity of one of its directories
    /// (another spelling of the root, as through a link above it).
    fn below_root<'p>(&self, absolute: &'p [u8]) -> Option<&'p [u8]> {
        use std::os::unix::ffi::OsStrExt as _;
        let by_name = resolve::strip_prefix(self.path().as_os_str().as_bytes(), absolute);
        if by_name.is_some() || !absolute.starts_with(b"/") || absolute.split(|&b| b == b'/').any(|part| part == b"..")
        {
            return by_name;
        }
        let own = ops::stat(self.root()).ok()?;
        let slashes = absolute.iter().enumerate().skip(1).filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in slashes.chain([absolute.len()]).take(64) {
            let (prefix, rest) = absolute.split_at(end);
            // Nothing can be below a prefix that is not there.
            let found = ops::identity(Path::new(std::ffi::OsStr::from_bytes(prefix))).ok()?;
            if found == (own.dev, own.ino) {
                return resolve::strip_prefix(b"/", if rest.is_empty() { b"/" } else { rest });
            }
        }
        None
    }

    fn links(&self, wanted: Links) -> Links {
        if self.symlinks == Symlinks::Deny { Links::Deny } else { wanted }
    }

    /// Opens what is at `path`: in one call when no link is on the way, else walking.
    fn find(&self, path: &[u8], links: Links) -> Result<Found, SourceError> {
        if path.split(|&byte| byte == b'/').any(|part| part.eq_ignore_ascii_case(b".git")) {
            return Err(SourceError::Git);
        }
        if !self.walk_only.load(Ordering::Relaxed) {
            match ops::open_beneath(self.root(), path, How::Read) {
                Ok(file) => return Ok(Found { names: None, what: opened(file)? }),
                Err(Errno::NOENT) => return Ok(Found { names: None, what: What::Absent }),
                Err(error) if unsupported(error) => self.walk_only.store(true, Ordering::Relaxed),
                // A link, a file where a directory should be, or a thing that cannot be opened: the walk tells which.
                Err(Errno::LOOP | Errno::NOTDIR | Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.find_walking(path, links)
    }

    fn find_walking(&self, path: &[u8], links: Links) -> Result<Found, SourceError> {
        // What is seen may be swapped before it is opened; then look again, a few times.
        for _ in 0..8 {
            let mut steps = DiskSteps::new(self);
            let Walked { names, end } = resolve::walk(&mut steps, path, self.links(links))?;
            let what = match (end, names.last()) {
                (Look::File, Some(name)) => match ops::open_child(steps.current(), name, How::Read) {
                    Ok(file) => opened(file)?,
                    Err(Errno::LOOP | Errno::NOENT | Errno::NXIO) => continue,
                    Err(error) => return Err(error.into()),
                },
                (Look::Link(target), _) => What::Link(target),
                (Look::Special(what), _) => What::Special(what),
                (Look::Absent, _) => What::Absent,
                (Look::Dir | Look::File, _) => What::Dir,
            };
            return Ok(Found { names: Some(names), what });
        }
        Err(Errno::AGAIN.into())
    }

    fn read_whole(&self, file: &OwnedFd, stamp: &Stamp) -> Result<Bytes, SourceError> {
        if stamp.size > self.max_file {
            return Err(SourceError::TooLarge(stamp.size));
        }
        let size = usize::try_from(stamp.size).map_err(|_| SourceError::TooLarge(stamp.size))?;
        if let Some(pages) = Bytes::pages(size) {
            return fill_pages(file, pages, size);
        }
        // One byte more than the file has, so that the first read shows that it has no more.
        let mut bytes = Vec::with_capacity(size + 1);
        loop {
            let read = ops::read(file.as_fd(), &mut bytes)?;
            if read == 0 || (bytes.len() == size && bytes.len() < bytes.capacity()) {
                return Ok(bytes.into());
            }
            if bytes.len() as u64 > self.max_file {
                return Err(SourceError::TooLarge(bytes.len() as u64));
            }
            if bytes.len() == bytes.capacity() {
                bytes.reserve(64 << 10);
            }
        }
    }
}

impl Source for Workspace {
    fn load(&self, path: &RelPath) -> Result<Loaded, SourceError> {
        let Found { names, what } = self.find(path.as_str().as_bytes(), Links::StopAtLast)?;
        let state = match what {
            What::Absent => State::Absent,
            What::Dir => State::Dir,
            What::Link(target) => State::Link(target),
            What::Special(what) => State::Special(what),
            What::File(file, stamp) => {
                let bytes = Arc::new(self.read_whole(&file, &stamp)?);
                State::File(Arc::new(FileData { bytes, stamp }))
            }
        };
        let path = match names {
            // A path that ends at the root itself has no name of its own.
            Some(names) if !names.is_empty() => rel_path(&names)?,
            _ => path.clone(),
        };
        Ok(Loaded { path, state })
    }

    fn follow(&self, path: &RelPath) -> Result<RelPath, SourceError> {
        let links = self.links(Links::Follow);
        rel_path(&resolve::walk(&mut DiskSteps::new(self), path.as_str().as_bytes(), links)?.names)
    }

    fn strip_root<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        self.below_root(path)
    }

    fn names(&self, dir: Option<&RelPath>, most: usize) -> Vec<String> {
        let listed = match dir {
            Some(dir) => match self.open_resolved(dir.as_str(), How::List) {
                Ok(dir) => ops::names(dir.as_fd(), most),
                Err(error) => Err(error),
            },
            None => ops::names(self.root(), most),
        };
        listed.unwrap_or_default().into_iter().filter_map(|name| String::from_utf8(name).ok()).collect()
    }
}

/// Reads the first `size` bytes. A file that has grown meanwhile is noticed when the plan is checked against the disk.
fn fill_pages(file: &OwnedFd, mut pages: memmap2::MmapMut, size: usize) -> Result<Bytes, SourceError> {
    let mut len = 0;
    while len < size {
        match ops::read_into(file.as_fd(), &mut pages[len..])? {
            0 => break,
            read => len += read,
        }
    }
    Ok(Bytes::from_pages(pages, len))
}

/// What an opened handle is; anything but a file is closed again.
fn opened(file: OwnedFd) -> Result<What, SourceError> {
    let stamp = ops::stat(file.as_fd())?;
    Ok(match ops::kind(stamp.mode) {
        Kind::File => What::File(file, stamp),
        Kind::Dir => What::Dir,
        Kind::Special(what) => What::Special(what),
        Kind::Link => What::Special("a symbolic link"),
    })
}

/// Whether the answer means that the kernel, or what filters its calls, does not know the call.
fn unsupported(error: Errno) -> bool {
    matches!(error, Errno::NOSYS | Errno::PERM | Errno::TOOBIG | Errno::INVAL)
}

/// The path that resolved names make.
fn rel_path(names: &[Vec<u8>]) -> Result<RelPath, SourceError> {
    RelPath::new(&names.join(&b'/')).map_err(|error| SourceError::Io {
        kind: std::io::ErrorKind::InvalidInput,
        message: format!("`{}` cannot be named here: {error}", resolve::shown(names)),
    })
}

impl From<Errno> for SourceError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::XDEV => SourceError::Outside,
            Errno::LOOP => SourceError::LinkLoop,
            error => {
                let error = std::io::Error::from(error);
                SourceError::Io { kind: error.kind(), message: error.to_string() }
            }
        }
    }
}
