//! What the system's numbers mean.

use rustix::fs::{self, FileType};

use crate::workspace::Stamp;
use crate::workspace::fault;

#[allow(clippy::useless_conversion, clippy::unnecessary_cast, reason = "the widths of these fields differ by system")]
pub(super) fn stamp(found: &fs::Stat) -> Stamp {
    let nanoseconds = |seconds: i128, part: i128| seconds * 1_000_000_000 + part;
    Stamp {
        dev: found.st_dev as u64,
        ino: fault::inode(found.st_ino as u64),
        size: u64::try_from(found.st_size).unwrap_or(0),
        mtime: nanoseconds(i128::from(found.st_mtime), i128::from(found.st_mtime_nsec)),
        ctime: nanoseconds(i128::from(found.st_ctime), i128::from(found.st_ctime_nsec)),
        mode: found.st_mode as u32,
        links: found.st_nlink as u64,
        uid: found.st_uid,
        gid: found.st_gid,
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn stamp_of_statx(found: &fs::Statx) -> Stamp {
    let nanoseconds = |time: &fs::StatxTimestamp| i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    Stamp {
        dev: fs::makedev(found.stx_dev_major, found.stx_dev_minor),
        ino: fault::inode(found.stx_ino),
        size: found.stx_size,
        mtime: nanoseconds(&found.stx_mtime),
        ctime: nanoseconds(&found.stx_ctime),
        mode: u32::from(found.stx_mode),
        links: u64::from(found.stx_nlink),
        uid: found.stx_uid,
        gid: found.stx_gid,
    }
}

/// What kind of thing a mode belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Dir,
    /// A symbolic link.
    Link,
    /// Anything else, by its name for people.
    Special(&'static str),
}

/// The kind that the type bits of `mode` say.
pub(crate) fn kind(mode: u32) -> Kind {
    kind_of(FileType::from_raw_mode(mode as rustix::fs::RawMode))
}

pub(super) fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Link,
        FileType::Fifo => Kind::Special("a named pipe"),
        FileType::Socket => Kind::Special("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Special("a device"),
        _ => Kind::Special("no regular file"),
    }
}
