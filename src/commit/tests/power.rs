//! Loss of power: what was changed and not synced may be on the disk or not. With [`Durability::Power`] a recovery leads
//! to before or after from whatever is left.
//!
//! What is assumed of a file system is that it keeps the order of the names it changes in one directory, as those with a
//! journal do; directories among each other, and contents against names, may survive in any order.
//!
//! The changes of a commit are written down as they are made. For each moment of it, and for many selections of what was not
//! synced by then, the disk is built anew as it would be found, inode numbers and times included, and recovered.

use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use super::faults::{all_cases, on_disk, recovered};
use super::support::{Tree, plan};
use super::*;
use crate::workspace::fault::{self, Fault, Log};
use crate::workspace::ops::Errno;

#[derive(Clone)]
enum Node {
    File { bytes: Vec<u8>, mode: u32 },
    Link(Vec<u8>),
    Dir(BTreeMap<String, u64>),
}

/// What is on a disk: things by inode.
#[derive(Clone)]
struct Disk {
    root: u64,
    nodes: HashMap<u64, Node>,
    times: HashMap<u64, (i64, i64)>,
}

impl Disk {
    fn picture(root: &Path) -> Self {
        let mut disk = Disk { root: 0, nodes: HashMap::new(), times: HashMap::new() };
        disk.root = disk.take(root);
        disk
    }

    fn take(&mut self, path: &Path) -> u64 {
        let meta = path.symlink_metadata().unwrap();
        let node = if meta.is_symlink() {
            Node::Link(std::fs::read_link(path).unwrap().into_os_string().into_encoded_bytes())
        } else if meta.is_dir() {
            let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
            let entries = entries.map(|e| (e.file_name().into_string().unwrap(), self.take(&e.path())));
            Node::Dir(entries.collect())
        } else {
            Node::File { bytes: std::fs::read(path).unwrap(), mode: meta.mode() & 0o7777 }
        };
        self.nodes.insert(meta.ino(), node);
        self.times.insert(meta.ino(), (meta.mtime(), meta.mtime_nsec()));
        meta.ino()
    }

    fn dir(&mut self, ino: u64) -> Option<&mut BTreeMap<String, u64>> {
        match self.nodes.get_mut(&ino)? {
            Node::Dir(entries) => Some(entries),
            _ => None,
        }
    }

    fn named(&mut self, place: &(u64, String)) -> Option<u64> {
        self.dir(place.0)?.get(&place.1).copied()
    }

    /// Makes one change, if what it needs is there.
    fn apply(&mut self, change: &Log) -> Option<()> {
        match change {
            Log::Create { dir, name, file, mode } => {
                self.dir(*dir)?.insert(name.clone(), *file);
                self.nodes.entry(*file).or_insert(Node::File { bytes: Vec::new(), mode: mode & 0o7777 });
            }
            Log::Write { file, at, bytes } => {
                let Node::File { bytes: content, .. } = self.nodes.get_mut(file)? else { return None };
                let (start, end) = (*at as usize, *at as usize + bytes.len());
                content.resize(content.len().max(end), 0);
                content[start..end].copy_from_slice(bytes);
            }
            Log::Truncate { file, len } => {
                let Node::File { bytes, .. } = self.nodes.get_mut(file)? else { return None };
                bytes.resize(*len as usize, 0);
            }
            Log::Mode { file, mode } => {
                let Node::File { mode: bits, .. } = self.nodes.get_mut(file)? else { return None };
                *bits = mode & 0o7777;
            }
            Log::Symlink { dir, name, file, target } => {
                self.dir(*dir)?.insert(name.clone(), *file);
                self.nodes.insert(*file, Node::Link(target.clone()));
            }
            Log::MakeDir { dir, name, made } => {
                self.dir(*dir)?.insert(name.clone(), *made);
                self.nodes.insert(*made, Node::Dir(BTreeMap::new()));
            }
            Log::Remove { dir, name } => {
                let gone = self.named(&(*dir, name.clone()))?;
                if matches!(&self.nodes[&gone], Node::Dir(entries) if !entries.is_empty()) {
                    return None;
                }
                self.dir(*dir)?.remove(name);
            }
            Log::Link { from, to } => {
                let file = self.named(from)?;
                self.dir(to.0)?.insert(to.1.clone(), file);
            }
            Log::Rename { from, to } => {
                let file = self.named(from)?;
                if self.named(to).is_some() && !to.1.contains("journal") {
                    return None;
                }
                self.dir(to.0)?.insert(to.1.clone(), file);
                self.dir(from.0)?.remove(&from.1);
            }
            Log::Exchange { a, b } => {
                let (at_a, at_b) = (self.named(a)?, self.named(b)?);
                self.dir(a.0)?.insert(a.1.clone(), at_b);
                self.dir(b.0)?.insert(b.1.clone(), at_a);
            }
            Log::Sync { .. } => {}
        }
        Some(())
    }

    /// Makes the disk real below `path`; says which new inode stands for which old one.
    fn build(&self, path: &Path) -> HashMap<u64, u64> {
        let mut made = HashMap::new();
        let mut numbers = HashMap::from([(path.metadata().unwrap().ino(), self.root)]);
        self.fill(self.root, path, &mut made, &mut numbers);
        numbers
    }

    fn fill(&self, dir: u64, path: &Path, made: &mut HashMap<u64, PathBuf>, numbers: &mut HashMap<u64, u64>) {
        let Node::Dir(entries) = &self.nodes[&dir] else { panic!("{dir} is no directory") };
        for (name, ino) in entries {
            let path = path.join(name);
            if let Some(first) = made.get(ino) {
                std::fs::hard_link(first, path).unwrap();
                continue;
            }
            match &self.nodes[ino] {
                Node::File { bytes, mode } => {
                    std::fs::write(&path, bytes).unwrap();
                    std::fs::set_permissions(&path, PermissionsExt::from_mode(*mode)).unwrap();
                }
                Node::Link(target) => symlink(std::str::from_utf8(target).unwrap(), &path).unwrap(),
                Node::Dir(_) => {
                    std::fs::DirBuilder::new().mode(0o755).create(&path).unwrap();
                    self.fill(*ino, &path, made, numbers);
                }
            }
            if let Some(&(seconds, part)) = self.times.get(ino) {
                let time = rustix::fs::Timespec { tv_sec: seconds, tv_nsec: part };
                let times = rustix::fs::Timestamps { last_access: time, last_modification: time };
                let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::utimensat(rustix::fs::CWD, &path, &times, flags).unwrap();
            }
            numbers.insert(path.symlink_metadata().unwrap().ino(), *ino);
            made.insert(*ino, path);
        }
    }
}

/// What must be synced for a change to be safe.
fn needs(change: &Log) -> Vec<u64> {
    match change {
        Log::Create { dir, .. } | Log::Symlink { dir, .. } | Log::MakeDir { dir, .. } | Log::Remove { dir, .. } => {
            vec![*dir]
        }
        Log::Write { file, .. } | Log::Truncate { file, .. } | Log::Mode { file, .. } => vec![*file],
        Log::Link { to, .. } => vec![to.0],
        Log::Rename { from, to } => vec![from.0, to.0],
        Log::Exchange { a, b } => vec![a.0, b.0],
        Log::Sync { .. } => vec![],
    }
}

/// Which changes are safe once all of `log` was made.
fn safe(log: &[Log]) -> Vec<bool> {
    // A directory that is gone for good took its changes along: it could not be removed before they were made.
    let is_gone = |at: usize, ino: &u64| {
        log[at..].iter().any(|later| match later {
            Log::Remove { dir, name } => log
                .iter()
                .any(|made| matches!(made, Log::MakeDir { dir: d, name: n, made } if (d, n, made) == (dir, name, ino))),
            _ => false,
        })
    };
    let is_synced =
        |at: usize, ino: &u64| log[at..].iter().any(|later| matches!(later, Log::Sync { file } if file == ino));
    log.iter()
        .enumerate()
        .map(|(at, change)| needs(change).iter().all(|ino| is_synced(at, ino) || is_gone(at, ino)))
        .collect()
}

/// Selections of the changes that are not safe: every prefix, all names without contents, and some at random.
fn selections(log: &[Log], seed: u64) -> Vec<Vec<bool>> {
    let safe = safe(log);
    let open: Vec<usize> = (0..log.len()).filter(|at| !safe[*at]).collect();
    let with = |chosen: &dyn Fn(usize, usize) -> bool| {
        let mut all = safe.clone();
        for (number, at) in open.iter().enumerate() {
            all[*at] = chosen(number, *at);
        }
        all
    };
    let is_content = |at: usize| matches!(log[at], Log::Write { .. } | Log::Truncate { .. } | Log::Mode { .. });
    let mut out: Vec<Vec<bool>> = (0..=open.len()).map(|end| with(&|number, _| number < end)).collect();
    out.push(with(&|_, at| !is_content(at)));
    out.extend((0..40).map(|round| at_random(log, &safe, &open, seed * 40 + round)));
    out.sort();
    out.dedup();
    out
}

/// A selection in which each directory keeps its changes up to some moment, and each file some of its own.
fn at_random(log: &[Log], safe: &[bool], open: &[usize], seed: u64) -> Vec<bool> {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut bit = move |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.is_multiple_of(most)
    };
    let mut closed = Vec::new();
    let mut all = safe.to_vec();
    for &at in open {
        let is_content = matches!(log[at], Log::Write { .. } | Log::Truncate { .. } | Log::Mode { .. });
        if is_content {
            all[at] = bit(2);
            continue;
        }
        let dirs = needs(&log[at]);
        all[at] = !dirs.iter().any(|dir| closed.contains(dir)) && !bit(4);
        if !all[at] {
            closed.extend(dirs);
        }
    }
    all
}

/// Cuts the power at every moment of `log`; how many disks were tried.
fn cut_power(start: &Disk, log: &[Log], ends: &[&Tree], last: &Tree, what: &str) -> u64 {
    let mut tried = 0;
    for end in 0..=log.len() {
        for chosen in selections(&log[..end], end as u64) {
            let mut disk = start.clone();
            for (change, _) in log[..end].iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
                disk.apply(change);
            }
            let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
            fault::pretend(disk.build(dir.path()));
            let what = format!("{what}, power lost after {end} of {} changes, {chosen:?} {log:?}", log.len());
            let tree = recovered(dir.path(), &Workspace::open(dir.path()).unwrap(), &what);
            fault::pretend(HashMap::new());
            assert!(ends.contains(&&tree), "{what}: {tree:?}");
            assert!(end < log.len() || tree == *last, "{what}: it was answered, and is lost");
            tried += 1;
        }
    }
    tried
}

/// The changes a commit makes, and what it answers.
fn recorded(workspace: &Workspace, case: &Case, fault: Option<Fault>) -> (Vec<Log>, Result<Outcome, CommitError>, u64) {
    let steps = plan(workspace, &case.1);
    fault::record();
    fault::arm(fault);
    let answer =
        prepare(workspace, &steps, &CommitOptions::default().durability(Durability::Power)).and_then(Prepared::commit);
    let calls = fault::disarm();
    (fault::recorded(), answer, calls)
}

#[test]
fn a_loss_of_power_at_any_moment_leaves_before_or_after() {
    let mut tried = 0;
    for case in all_cases() {
        on_disk(&case, |root, workspace, before| {
            let start = Disk::picture(root);
            let (log, answer, _) = recorded(workspace, &case, None);
            answer.unwrap();
            tried += cut_power(&start, &log, &[before, &case.2], &case.2, case.0);
        });
    }
    println!("disks after a loss of power: {tried}");
    assert!(tried > 700, "{tried}");
}

fn cut_power_in_rollbacks(stride: usize) -> u64 {
    let mut tried = 0;
    for case in all_cases() {
        for at in (0..).step_by(stride) {
            let mut over = false;
            on_disk(&case, |root, workspace, before| {
                let start = Disk::picture(root);
                let (log, answer, calls) = recorded(workspace, &case, Some(Fault::Fail { at, error: Errno::IO }));
                over = at >= calls;
                let last = if answer.is_ok() { &case.2 } else { before };
                let unsure = matches!(&answer, Ok(outcome) if outcome.notes.iter().any(|n| matches!(n, CommitNote::NotSynced(_))));
                if matches!(&answer, Err(error) if matches!(error.state(), DiskState::Incomplete(_))) {
                    return;
                }
                assert!(!unsure, "one failure is not enough for that");
                let what = format!("{} that fails at {at}: {answer:?}", case.0);
                tried += cut_power(&start, &log, &[before, &case.2], last, &what);
            });
            if over {
                break;
            }
        }
    }
    tried
}

#[test]
fn a_loss_of_power_on_the_way_back_leaves_before() {
    println!("disks after a loss of power on the way back, some: {}", cut_power_in_rollbacks(13));
}

#[test]
#[ignore = "takes minutes: every call fails in turn, and every change after it may be lost"]
fn a_loss_of_power_on_the_way_back_from_anywhere_leaves_before() {
    println!("disks after a loss of power on the way back, all: {}", cut_power_in_rollbacks(1));
}
