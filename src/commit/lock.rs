//! The lock of a tree: advisory, on the handle of its root, freed by the system when its holder dies.
//!
//! The root itself is locked for one holder, every directory above it in shared mode. So two commits in one root
//! exclude each other, a root and a root inside it do too, and roots side by side do not. Locks are taken from the
//! outermost directory inwards, which leaves no room for a deadlock.
//!
//! # Limitations
//! Directories above that cannot be opened are left out, and so is everything on a file system without such locks;
//! the outcome says when the root itself is not locked.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use super::error::{CommitErrorKind, Holder, io_kind};
use crate::limits::Deadline;
use crate::workspace::Workspace;
use crate::workspace::ops::{self, Answer, Errno, How};

/// How many directories above the root are locked: more than any real path has.
const MOST_ABOVE: usize = 64;

/// The lock, held as long as this value lives.
#[derive(Debug)]
pub(super) struct Lock {
    /// Every handle keeps its own lock.
    _handles: Vec<OwnedFd>,
    /// Whether the root itself is locked; not so on file systems that do not lock.
    pub locked: bool,
}

impl Lock {
    /// Takes the lock, waiting at most `wait`.
    ///
    /// Costs three calls for the root and two for each directory above it.
    pub(super) fn take(workspace: &Workspace, wait: Duration) -> Result<Self, CommitErrorKind> {
        let waiting = Waiting { since: Instant::now(), deadline: Deadline::after(wait) };
        let mut handles = Vec::new();
        let above: Vec<&Path> = workspace.path().ancestors().skip(1).take(MOST_ABOVE).collect();
        for path in above.into_iter().rev() {
            // A directory above that we may not open is no place where we can meet others.
            let Ok(dir) = ops::open_root(path) else { continue };
            if waiting.lock(&dir, true)? {
                handles.push(dir);
            }
        }
        let root = ops::open_child(workspace.root(), b".", How::List)
            .map_err(|error| io_kind("cannot open the root to lock it", error))?;
        let locked = waiting.lock(&root, false)?;
        handles.push(root);
        Ok(Lock { _handles: handles, locked })
    }
}

struct Waiting {
    since: Instant,
    deadline: Deadline,
}

impl Waiting {
    /// Locks `dir`; `false` when its file system knows no locks.
    fn lock(&self, dir: &OwnedFd, shared: bool) -> Result<bool, CommitErrorKind> {
        let mut pause = Duration::from_micros(200);
        loop {
            match ops::try_lock(dir.as_fd(), shared) {
                Ok(true) => return Ok(true),
                Err(error) if unsupported(error) => return Ok(false),
                Err(error) => return Err(io_kind("cannot lock the root", error)),
                Ok(false) => {}
            }
            if self.deadline.passed() {
                let holder = ops::stat(dir.as_fd()).ok().and_then(|stamp| holder_of(stamp.ino));
                return Err(CommitErrorKind::Locked { holder, waited: self.since.elapsed() });
            }
            let left = self.deadline.left().unwrap_or(pause);
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

/// Network and user-space file systems answer in these ways that they do not lock directories.
fn unsupported(error: Errno) -> bool {
    matches!(error, Errno::BADF | Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL)
}

/// Who holds a lock on the inode, where the system publishes its locks. For a message: an inode of the same number
/// on another device may be taken for it.
fn holder_of(ino: u64) -> Option<Holder> {
    let locks = ops::system_text("/proc/locks");
    let pid = locks.lines().find_map(|line| pid_in(line, ino))?;
    let name = ops::system_text(&format!("/proc/{pid}/comm")).trim_end().to_owned();
    Some(Holder { pid, name, running: running(pid).ok() })
}

/// The process number in a line such as `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF` that is about `ino`.
fn pid_in(line: &str, ino: u64) -> Option<u32> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (kind, pid, file) = (fields.next()?, fields.nth(2)?, fields.next()?);
    let same = file.rsplit(':').next()?.parse() == Ok(ino);
    // Lines of waiters have an arrow in place of the kind; a process of another container has number 0.
    if kind == "FLOCK" && same { pid.parse().ok().filter(|pid| *pid != 0) } else { None }
}

/// How long a process has been running: the system counts its start in hundredths of a second since it came up itself.
fn running(pid: u32) -> Answer<Duration> {
    let stat = ops::system_text(&format!("/proc/{pid}/stat"));
    let uptime = ops::system_text("/proc/uptime");
    // The name may hold blanks and brackets; what follows its last bracket is regular.
    let started =
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(19)?.parse::<f64>().ok());
    let up = uptime.split_ascii_whitespace().next().and_then(|text| text.parse::<f64>().ok());
    let (Some(started), Some(up)) = (started, up) else { return Err(Errno::SRCH) };
    Ok(Duration::from_secs_f64((up - started / 100.0).max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_WAIT: Duration = Duration::ZERO;

    fn take(path: &Path) -> Result<Lock, CommitErrorKind> {
        Lock::take(&Workspace::open(path).unwrap(), NO_WAIT)
    }

    #[test]
    fn one_root_has_one_holder_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = take(dir.path()).unwrap();
        assert!(held.locked);
        let error = take(dir.path()).unwrap_err();
        let CommitErrorKind::Locked { holder, .. } = error else { panic!("{error}") };
        if cfg!(target_os = "linux") {
            let holder = holder.unwrap();
            assert_eq!(holder.pid, std::process::id());
            assert!(holder.running.is_some() && !holder.name.is_empty(), "{holder:?}");
        }
        drop(held);
        take(dir.path()).unwrap();
    }

    #[test]
    fn overlapping_roots_exclude_each_other_and_neighbours_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        let neighbour = dir.path().join("c");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(&neighbour).unwrap();
        let held = take(&inner).unwrap();
        take(dir.path()).unwrap_err();
        let beside = take(&neighbour).unwrap();
        drop((held, beside));
        let held = take(dir.path()).unwrap();
        take(&inner).unwrap_err();
        take(&neighbour).unwrap_err();
        drop(held);
        take(&inner).unwrap();
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_freed() {
        let dir = tempfile::tempdir().unwrap();
        let held = take(dir.path()).unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| Lock::take(&workspace, Duration::from_secs(60)));
            drop(held);
            waiter.join().unwrap().unwrap();
        });
    }

    #[test]
    fn lines_of_other_locks_are_passed_over() {
        let cases = [
            ("1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF", Some(1234)),
            ("1: FLOCK  ADVISORY  READ 1234 fe:00:5678 0 EOF", Some(1234)),
            ("1: -> FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF", None),
            ("1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF", None),
            ("1: FLOCK  ADVISORY  WRITE 1234 fe:00:56 0 EOF", None),
            ("1: FLOCK  ADVISORY  WRITE 0 fe:00:5678 0 EOF", None),
            ("", None),
        ];
        for (line, want) in cases {
            assert_eq!(pid_in(line, 5678), want, "{line}");
        }
    }
}
