//! Every system call the crate makes on files, one short function each.
//!
//! All of them pass [`fault::tick`], so a test can make the Nth one fail or kill the process there, and what they
//! change is told to [`fault::done`], so a test can say what a loss of power may leave. Calls that a signal
//! interrupts are repeated. Names are single components below an open directory; none of these functions follows a
//! link, except where its own words say so.

mod convert;

use std::io::IoSlice;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags};
pub(crate) use rustix::io::Errno;

use super::fault::{self, Done};
use super::source::Stamp;
#[cfg(any(target_os = "linux", target_os = "android"))]
use convert::stamp_of_statx;
pub(crate) use convert::{Kind, kind};
use convert::{kind_of, stamp};

/// What a call answers.
pub(crate) type Answer<T> = Result<T, Errno>;

/// Makes one counted call and repeats it when a signal interrupted it.
#[inline]
fn call<T>(mut call: impl FnMut() -> Answer<T>) -> Answer<T> {
    loop {
        match fault::tick().and_then(|()| call()) {
            Err(Errno::INTR) => {}
            answer => return answer,
        }
    }
}

/// How to open something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// To read a file; does not wait for a pipe's other end and takes no terminal.
    Read,
    /// To write a file that is there, in place.
    Write,
    /// To name things in a directory; needs no permission to list it where the system knows such a handle.
    Dir,
    /// To list a directory, lock it or sync it.
    List,
}

impl How {
    fn flags(self) -> OFlags {
        let base = OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match self {
            How::Read => base | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY,
            How::Write => base | OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY,
            How::Dir => base | DIR_HANDLE | OFlags::DIRECTORY,
            How::List => base | OFlags::RDONLY | OFlags::DIRECTORY,
        }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const DIR_HANDLE: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const DIR_HANDLE: OFlags = OFlags::RDONLY;

/// Opens a directory by a path of the outer world, links followed: the only call that takes such a path to open it.
pub(crate) fn open_root(path: &Path) -> Answer<OwnedFd> {
    call(|| fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()))
}

/// Opens a path of several components below `root`, in one call that the kernel confines; no component may be a
/// link. `ENOSYS` where there is no such call.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn open_beneath(root: BorrowedFd<'_>, path: &[u8], how: How) -> Answer<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    // A rename anywhere in the system can make the kernel give up on a `..`; there is none here, but it may say so.
    for _ in 0..16 {
        match call(|| fs::openat2(root, path, how.flags(), Mode::empty(), resolve)) {
            Err(Errno::AGAIN) => {}
            answer => return answer,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn open_beneath(_: BorrowedFd<'_>, _: &[u8], _: How) -> Answer<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Opens `name` in `dir`.
pub(crate) fn open_child(dir: BorrowedFd<'_>, name: &[u8], how: How) -> Answer<OwnedFd> {
    call(|| fs::openat(dir, name, how.flags(), Mode::empty()))
}

/// Makes a new file `name` in `dir`, open for writing; fails when anything has that name. The umask takes its part of
/// `mode`.
pub(crate) fn create(dir: BorrowedFd<'_>, name: &str, mode: u32) -> Answer<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = call(|| fs::openat(dir, name, flags, bits(mode)))?;
    fault::done(Done::Create { dir, name, file: file.as_fd() });
    Ok(file)
}

/// Identity and attributes of an open file.
pub(crate) fn stat(file: BorrowedFd<'_>) -> Answer<Stamp> {
    call(|| fs::fstat(file)).map(|found| stamp(&found))
}

/// As [`stat`], and whether the file is the root of a mount, so that it cannot be renamed over.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn stat_mount(file: BorrowedFd<'_>) -> Answer<(Stamp, bool)> {
    let full = call(|| fs::statx(file, c"", AtFlags::EMPTY_PATH, fs::StatxFlags::BASIC_STATS));
    match full {
        Ok(full) => Ok((stamp_of_statx(&full), full.stx_attributes.contains(fs::StatxAttributes::MOUNT_ROOT))),
        Err(Errno::NOSYS) => Ok((stat(file)?, false)),
        Err(error) => Err(error),
    }
}

/// As [`stat`], and whether the file is the root of a mount, so that it cannot be renamed over.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn stat_mount(file: BorrowedFd<'_>) -> Answer<(Stamp, bool)> {
    Ok((stat(file)?, false))
}

/// A number that tells the mount a directory belongs to: renames work only within one.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn mount_of(dir: BorrowedFd<'_>) -> Answer<u64> {
    match call(|| fs::statx(dir, c"", AtFlags::EMPTY_PATH, fs::StatxFlags::MNT_ID)) {
        Ok(full) if full.stx_mask & fs::StatxFlags::MNT_ID.bits() != 0 => Ok(full.stx_mnt_id),
        Ok(_) | Err(Errno::NOSYS) => Ok(stat(dir)?.dev),
        Err(error) => Err(error),
    }
}

/// A number that tells the mount a directory belongs to: renames work only within one.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn mount_of(dir: BorrowedFd<'_>) -> Answer<u64> {
    Ok(stat(dir)?.dev)
}

/// Identity and attributes of `name` in `dir`.
pub(crate) fn stat_child(dir: BorrowedFd<'_>, name: &[u8]) -> Answer<Stamp> {
    call(|| fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)).map(|found| stamp(&found))
}

/// Device and inode of what a path of the outer world names, links followed.
pub(crate) fn identity(path: &Path) -> Answer<(u64, u64)> {
    let found = call(|| fs::stat(path)).map(|found| stamp(&found))?;
    Ok((found.dev, found.ino))
}

/// What the link `name` in `dir` holds.
pub(crate) fn read_link(dir: BorrowedFd<'_>, name: &[u8]) -> Answer<Vec<u8>> {
    call(|| fs::readlinkat(dir, name, Vec::new())).map(std::ffi::CString::into_bytes)
}

/// Reads into the spare capacity of `into`: how many bytes, zero at the end of the file.
pub(crate) fn read(file: BorrowedFd<'_>, into: &mut Vec<u8>) -> Answer<usize> {
    call(|| rustix::io::read(file, spare_capacity(into)))
}

/// Reads into a buffer that is there already: how many bytes, 0 at the end of the file.
pub(crate) fn read_into(file: BorrowedFd<'_>, into: &mut [u8]) -> Answer<usize> {
    call(|| rustix::io::read(file, &mut *into))
}

/// Writes some of `bytes`: how many.
pub(crate) fn write(file: BorrowedFd<'_>, bytes: &[u8]) -> Answer<usize> {
    let bytes = &bytes[..fault::shorten(bytes.len())];
    let written = call(|| rustix::io::write(file, bytes))?;
    fault::done(Done::Write { file, stretches: &[IoSlice::new(bytes)], written });
    Ok(written)
}

/// Writes some of several stretches in one call: how many bytes.
pub(crate) fn write_vectored(file: BorrowedFd<'_>, stretches: &[IoSlice<'_>]) -> Answer<usize> {
    // A write that ends early may end anywhere; after the first stretch is as good a place as any.
    let stretches = &stretches[..fault::shorten(stretches.len())];
    let written = call(|| rustix::io::writev(file, stretches))?;
    fault::done(Done::Write { file, stretches, written });
    Ok(written)
}

/// Cuts or extends an open file.
pub(crate) fn truncate(file: BorrowedFd<'_>, len: u64) -> Answer<()> {
    call(|| fs::ftruncate(file, len))?;
    fault::done(Done::Truncate { file, len });
    Ok(())
}

/// Sets the permission bits of an open file.
pub(crate) fn set_mode(file: BorrowedFd<'_>, mode: u32) -> Answer<()> {
    call(|| fs::fchmod(file, bits(mode)))?;
    fault::done(Done::Mode { file, mode });
    Ok(())
}

/// Sets owner and group of an open file.
pub(crate) fn set_owner(file: BorrowedFd<'_>, uid: Option<u32>, gid: Option<u32>) -> Answer<()> {
    call(|| fs::fchown(file, uid.map(fs::Uid::from_raw), gid.map(fs::Gid::from_raw)))
}

/// The names of a file's extended attributes, each ended by a NUL, appended to the empty `into`.
pub(crate) fn attribute_names(file: BorrowedFd<'_>, into: &mut Vec<u8>) -> Answer<()> {
    into.reserve(256);
    match call(|| fs::flistxattr(file, spare_capacity(into))) {
        Err(Errno::RANGE) => {
            into.reserve(64 << 10);
            call(|| fs::flistxattr(file, spare_capacity(into))).map(drop)
        }
        answer => answer.map(drop),
    }
}

/// The value of an extended attribute.
pub(crate) fn attribute(file: BorrowedFd<'_>, name: &[u8]) -> Answer<Vec<u8>> {
    let mut value = Vec::with_capacity(256);
    match call(|| fs::fgetxattr(file, name, spare_capacity(&mut value))) {
        Err(Errno::RANGE) => {
            value.reserve(64 << 10);
            call(|| fs::fgetxattr(file, name, spare_capacity(&mut value)))?;
        }
        answer => drop(answer?),
    }
    Ok(value)
}

/// Sets an extended attribute.
pub(crate) fn set_attribute(file: BorrowedFd<'_>, name: &[u8], value: &[u8]) -> Answer<()> {
    call(|| fs::fsetxattr(file, name, value, fs::XattrFlags::empty()))
}

/// Removes an extended attribute.
pub(crate) fn remove_attribute(file: BorrowedFd<'_>, name: &[u8]) -> Answer<()> {
    call(|| fs::fremovexattr(file, name))
}

/// Makes the symbolic link `name` in `dir`.
pub(crate) fn make_link(target: &[u8], dir: BorrowedFd<'_>, name: &str) -> Answer<()> {
    call(|| fs::symlinkat(target, dir, name))?;
    fault::done(Done::Symlink { dir, name, target });
    Ok(())
}

/// A short text the system makes up, as below `/proc`; empty when there is none.
pub(crate) fn system_text(path: &str) -> String {
    let mut text = Vec::with_capacity(64 << 10);
    let file = call(|| fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()));
    if let Ok(file) = file {
        while text.len() < text.capacity() && matches!(read(file.as_fd(), &mut text), Ok(1..)) {}
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// Makes a directory with the umask's default mode.
pub(crate) fn make_dir(dir: BorrowedFd<'_>, name: &str) -> Answer<()> {
    call(|| fs::mkdirat(dir, name, Mode::RWXU | Mode::RWXG | Mode::RWXO))?;
    fault::done(Done::MakeDir { dir, name });
    Ok(())
}

/// Removes an empty directory.
pub(crate) fn remove_dir(dir: BorrowedFd<'_>, name: &str) -> Answer<()> {
    call(|| fs::unlinkat(dir, name, AtFlags::REMOVEDIR))?;
    fault::done(Done::Remove { dir, name });
    Ok(())
}

/// Removes a file or link.
pub(crate) fn remove(dir: BorrowedFd<'_>, name: &str) -> Answer<()> {
    call(|| fs::unlinkat(dir, name, AtFlags::empty()))?;
    fault::done(Done::Remove { dir, name });
    Ok(())
}

/// Gives the file `from` a second name `to`; fails when anything has that name.
pub(crate) fn link(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> Answer<()> {
    call(|| fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty()))?;
    fault::done(Done::Link { from, to });
    Ok(())
}

/// Renames, replacing what `to` names.
pub(crate) fn rename(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> Answer<()> {
    call(|| fs::renameat(from.0, from.1, to.0, to.1))?;
    fault::done(Done::Rename { from, to });
    Ok(())
}

/// Renames unless `to` names something (`EEXIST`). `EINVAL` or `ENOSYS` where the file system cannot.
pub(crate) fn rename_new(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str)) -> Answer<()> {
    call(|| rename_with(from, to, true))?;
    fault::done(Done::Rename { from, to });
    Ok(())
}

/// Swaps what two names stand for, in one moment. `EINVAL` or `ENOSYS` where the file system cannot.
pub(crate) fn exchange(a: (BorrowedFd<'_>, &str), b: (BorrowedFd<'_>, &str)) -> Answer<()> {
    call(|| rename_with(a, b, false))?;
    fault::done(Done::Exchange { a, b });
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_with(from: (BorrowedFd<'_>, &str), to: (BorrowedFd<'_>, &str), new: bool) -> Answer<()> {
    let flags = if new { fs::RenameFlags::NOREPLACE } else { fs::RenameFlags::EXCHANGE };
    fs::renameat_with(from.0, from.1, to.0, to.1, flags)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_with(_: (BorrowedFd<'_>, &str), _: (BorrowedFd<'_>, &str), _: bool) -> Answer<()> {
    Err(Errno::NOSYS)
}

/// Takes an advisory lock without waiting: whether it was free.
pub(crate) fn try_lock(dir: BorrowedFd<'_>, shared: bool) -> Answer<bool> {
    let operation =
        if shared { FlockOperation::NonBlockingLockShared } else { FlockOperation::NonBlockingLockExclusive };
    match call(|| fs::flock(dir, operation)) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error),
    }
}

/// How many files this process may have open; `None` when the system does not tell.
pub(crate) fn open_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// The names in a directory, `.` and `..` left out, in the order of the system: at most `most`.
pub(crate) fn names(dir: BorrowedFd<'_>, most: usize) -> Answer<Vec<Vec<u8>>> {
    Ok(entries(dir, most)?.into_iter().map(|entry| entry.name).collect())
}

/// One name in a directory.
pub(crate) struct Entry {
    pub name: Vec<u8>,
    /// What it stands for, where the listing tells.
    pub kind: Option<Kind>,
}

/// As [`names`], with what each stands for.
pub(crate) fn entries(dir: BorrowedFd<'_>, most: usize) -> Answer<Vec<Entry>> {
    let mut listing = call(|| fs::Dir::read_from(dir))?;
    let mut entries = Vec::new();
    while entries.len() < most
        && let Some(entry) = listing.next()
    {
        let entry = entry?;
        let name = entry.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            let kind = Some(kind_of(entry.file_type())).filter(|_| entry.file_type() != FileType::Unknown);
            entries.push(Entry { name, kind });
        }
    }
    Ok(entries)
}

/// Waits until the content of an open file, or the names in an open directory, would survive a loss of power.
pub(crate) fn sync(file: BorrowedFd<'_>) -> Answer<()> {
    call(|| fs::fsync(file))?;
    fault::done(Done::Sync { file });
    Ok(())
}

/// Whether a process of that number is there, as far as this one may know.
pub(crate) fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| !matches!(rustix::process::test_kill_process(pid), Err(Errno::SRCH)))
}

/// Hands each name in an open directory to `each`, `.` and `..` left out, with its kind where the listing tells it.
/// `scratch` is memory for the call, to be used again.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn list(
    dir: BorrowedFd<'_>,
    scratch: &mut Vec<u8>,
    mut each: impl FnMut(&[u8], Option<Kind>),
) -> Answer<()> {
    scratch.clear();
    scratch.reserve(32 << 10);
    let mut listing = fs::RawDir::new(dir, scratch.spare_capacity_mut());
    loop {
        if listing.is_buffer_empty() {
            fault::tick()?;
        }
        match listing.next() {
            None => return Ok(()),
            Some(Err(Errno::INTR)) => {}
            Some(Err(error)) => return Err(error),
            Some(Ok(entry)) => listed(entry.file_name().to_bytes(), entry.file_type(), &mut each),
        }
    }
}

/// Hands each name in an open directory to `each`, `.` and `..` left out, with its kind where the listing tells it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn list(
    dir: BorrowedFd<'_>,
    _scratch: &mut Vec<u8>,
    mut each: impl FnMut(&[u8], Option<Kind>),
) -> Answer<()> {
    for entry in call(|| fs::Dir::read_from(dir))? {
        let entry = entry?;
        listed(entry.file_name().to_bytes(), entry.file_type(), &mut each);
    }
    Ok(())
}

fn listed(name: &[u8], kind: FileType, each: &mut impl FnMut(&[u8], Option<Kind>)) {
    if name != b"." && name != b".." {
        each(name, (kind != FileType::Unknown).then(|| kind_of(kind)));
    }
}

/// The path of an open directory in the outer world, as the system knows it now.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn path_of(dir: BorrowedFd<'_>, _given: &Path) -> std::io::Result<std::path::PathBuf> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStringExt as _;
    let link = format!("/proc/self/fd/{}", dir.as_raw_fd());
    match call(|| fs::readlinkat(fs::CWD, link.as_str(), Vec::new())) {
        Ok(path) => Ok(std::ffi::OsString::from_vec(path.into_bytes()).into()),
        #[expect(clippy::disallowed_methods, reason = "this is the door")]
        Err(_) => std::fs::canonicalize(_given),
    }
}

/// The path of an open directory in the outer world, as the system knows it now.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn path_of(_: BorrowedFd<'_>, given: &Path) -> std::io::Result<std::path::PathBuf> {
    std::fs::canonicalize(given)
}

fn bits(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as rustix::fs::RawMode)
}
