//! Where tests put faults in: the Nth call fails, or the process is gone from there on, or a write ends early; and
//! where they learn what was changed in which order. Nothing of it is compiled in but for tests with the feature `fault`.

use std::io::IoSlice;
use std::os::fd::BorrowedFd;

#[cfg(all(test, feature = "fault"))]
pub(crate) use on::{Fault, Log, arm, disarm, done, inode, pretend, record, recorded, shorten, tick};

/// A change of the disk that a call has just made. A place is an open directory and a name in it.
#[cfg_attr(not(all(test, feature = "fault")), expect(dead_code, reason = "only the fault layer reads it"))]
pub(crate) enum Done<'a> {
    Create { dir: BorrowedFd<'a>, name: &'a str, file: BorrowedFd<'a> },
    Write { file: BorrowedFd<'a>, stretches: &'a [IoSlice<'a>], written: usize },
    Truncate { file: BorrowedFd<'a>, len: u64 },
    Mode { file: BorrowedFd<'a>, mode: u32 },
    Symlink { dir: BorrowedFd<'a>, name: &'a str, target: &'a [u8] },
    MakeDir { dir: BorrowedFd<'a>, name: &'a str },
    Remove { dir: BorrowedFd<'a>, name: &'a str },
    Link { from: (BorrowedFd<'a>, &'a str), to: (BorrowedFd<'a>, &'a str) },
    Rename { from: (BorrowedFd<'a>, &'a str), to: (BorrowedFd<'a>, &'a str) },
    Exchange { a: (BorrowedFd<'a>, &'a str), b: (BorrowedFd<'a>, &'a str) },
    Sync { file: BorrowedFd<'a> },
}

#[cfg(not(all(test, feature = "fault")))]
mod off {
    use super::Done;
    use crate::workspace::ops::Answer;

    /// Counts one call; the place where a fault is put in.
    #[inline]
    pub(crate) fn tick() -> Answer<()> {
        Ok(())
    }

    /// Takes note of a change.
    #[inline]
    pub(crate) fn done(_: Done<'_>) {}

    /// How many of `len` things a write is to take.
    #[inline]
    pub(crate) fn shorten(len: usize) -> usize {
        len
    }

    /// The inode number to believe in.
    #[inline]
    pub(crate) fn inode(ino: u64) -> u64 {
        ino
    }
}

#[cfg(not(all(test, feature = "fault")))]
pub(crate) use off::{done, inode, shorten, tick};

#[cfg(all(test, feature = "fault"))]
mod on;
