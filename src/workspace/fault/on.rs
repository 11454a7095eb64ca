//! The fault layer itself. Its state belongs to the thread, so tests run side by side.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::fd::BorrowedFd;

use rustix::fs;

use super::Done;
use crate::workspace::ops::{Answer, Errno};

/// What goes wrong. Calls are counted from 0 since [`arm`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// One call fails.
    Fail { at: u64, error: Errno },
    /// One call fails, and all after it.
    FailFrom { at: u64, error: Errno },
    /// The process is gone: neither this call nor any after it reaches the disk.
    Kill { at: u64 },
    /// That write (writes are counted from 0) takes one part of what it is given.
    Short { at: u64 },
}

/// A change in the order it was made; directories and files by their inodes.
#[derive(Clone, Debug)]
pub(crate) enum Log {
    Create { dir: u64, name: String, file: u64, mode: u32 },
    Write { file: u64, at: u64, bytes: Vec<u8> },
    Truncate { file: u64, len: u64 },
    Mode { file: u64, mode: u32 },
    Symlink { dir: u64, name: String, file: u64, target: Vec<u8> },
    MakeDir { dir: u64, name: String, made: u64 },
    Remove { dir: u64, name: String },
    Link { from: (u64, String), to: (u64, String) },
    Rename { from: (u64, String), to: (u64, String) },
    Exchange { a: (u64, String), b: (u64, String) },
    Sync { file: u64 },
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    calls: u64,
    writes: u64,
    log: Option<Vec<Log>>,
    /// Inode numbers of files made anew from a picture of the disk, and the numbers they had in it.
    pretended: HashMap<u64, u64>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Arms a fault, or none, and counts calls anew.
pub(crate) fn arm(fault: Option<Fault>) {
    STATE.with_borrow_mut(|state| (state.fault, state.calls, state.writes) = (fault, 0, 0));
}

/// Takes the fault away and says how many calls there were since it was armed.
pub(crate) fn disarm() -> u64 {
    STATE.with_borrow_mut(|state| {
        state.fault = None;
        state.calls
    })
}

/// Begins to write down every change.
pub(crate) fn record() {
    STATE.with_borrow_mut(|state| state.log = Some(Vec::new()));
}

/// What was written down; ends it.
pub(crate) fn recorded() -> Vec<Log> {
    STATE.with_borrow_mut(|state| state.log.take().unwrap_or_default())
}

/// Makes files appear under other inode numbers.
pub(crate) fn pretend(numbers: HashMap<u64, u64>) {
    STATE.with_borrow_mut(|state| state.pretended = numbers);
}

/// The inode number to believe in.
pub(crate) fn inode(ino: u64) -> u64 {
    STATE.with_borrow(|state| state.pretended.get(&ino).copied().unwrap_or(ino))
}

/// Counts one call and makes it fail if it is its turn.
pub(crate) fn tick() -> Answer<()> {
    STATE.with_borrow_mut(|state| {
        let now = state.calls;
        state.calls += 1;
        match state.fault {
            Some(Fault::Fail { at, error }) if at == now => Err(error),
            Some(Fault::FailFrom { at, error }) if now >= at => Err(error),
            Some(Fault::Kill { at }) if now >= at => Err(Errno::IO),
            _ => Ok(()),
        }
    })
}

/// How many of `len` things a write is to take.
pub(crate) fn shorten(len: usize) -> usize {
    STATE.with_borrow_mut(|state| {
        let now = state.writes;
        state.writes += 1;
        if matches!(state.fault, Some(Fault::Short { at }) if at == now) { len.min(1) } else { len }
    })
}

/// Takes note of a change.
pub(crate) fn done(done: Done<'_>) {
    STATE.with_borrow_mut(|state| {
        if let Some(log) = &mut state.log {
            log.push(told(&done));
        }
    });
}

fn told(done: &Done<'_>) -> Log {
    let place = |(dir, name): &(BorrowedFd<'_>, &str)| (ino(*dir), (*name).to_owned());
    match done {
        Done::Create { dir, name, file } => {
            let mode = fs::fstat(*file).map_or(0, |found| found.st_mode);
            Log::Create { dir: ino(*dir), name: (*name).into(), file: ino(*file), mode }
        }
        Done::Write { file, stretches, written } => {
            let mut bytes: Vec<u8> = stretches.iter().flat_map(|stretch| stretch.iter().copied()).collect();
            bytes.truncate(*written);
            let end = fs::tell(*file).unwrap_or(0);
            Log::Write { file: ino(*file), at: end - *written as u64, bytes }
        }
        Done::Truncate { file, len } => Log::Truncate { file: ino(*file), len: *len },
        Done::Mode { file, mode } => Log::Mode { file: ino(*file), mode: *mode },
        Done::Symlink { dir, name, target } => {
            Log::Symlink { dir: ino(*dir), name: (*name).into(), file: child(*dir, name), target: target.to_vec() }
        }
        Done::MakeDir { dir, name } => Log::MakeDir { dir: ino(*dir), name: (*name).into(), made: child(*dir, name) },
        Done::Remove { dir, name } => Log::Remove { dir: ino(*dir), name: (*name).into() },
        Done::Link { from, to } => Log::Link { from: place(from), to: place(to) },
        Done::Rename { from, to } => Log::Rename { from: place(from), to: place(to) },
        Done::Exchange { a, b } => Log::Exchange { a: place(a), b: place(b) },
        Done::Sync { file } => Log::Sync { file: ino(*file) },
    }
}

fn ino(file: BorrowedFd<'_>) -> u64 {
    fs::fstat(file).map_or(0, |found| found.st_ino)
}

fn child(dir: BorrowedFd<'_>, name: &str) -> u64 {
    fs::statat(dir, name, fs::AtFlags::SYMLINK_NOFOLLOW).map_or(0, |found| found.st_ino)
}
