//! One directory: the names in it that are wanted, sorted, and the work they make.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use super::found::PathBytes;
use super::rules::Rules;
use super::walk::{Folder, Link, Place, Walk, Work};
use crate::workspace::Stamp;
use crate::workspace::ops::{Answer, Kind};
use crate::workspace::tree::{Dir, Named, joined};

/// How many files are one piece of work.
const RUN: usize = 16;

/// A directory that was listed, with what is wanted of it sorted by name.
pub(super) struct Listing {
    /// As it is shown.
    pub(super) path: Box<[u8]>,
    pub(super) dir: Dir,
    pub(super) names: Vec<u8>,
    pub(super) entries: Vec<Entry>,
}

/// One name in a directory.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    start: u32,
    end: u32,
    pub(super) is_dir: bool,
    pub(super) is_link: bool,
}

impl Entry {
    /// Its name, one of `names`.
    pub(super) fn name(self, names: &[u8]) -> &[u8] {
        &names[self.start as usize..self.end as usize]
    }
}

impl Listing {
    /// The name of an entry.
    pub(super) fn name(&self, index: usize) -> &[u8] {
        self.entries[index].name(&self.names)
    }

    /// Sorts what is in it.
    pub(super) fn sort(&mut self) {
        let names = &self.names;
        self.entries.sort_unstable_by(|a, b| a.name(names).cmp(b.name(names)));
    }

    /// Cuts it into work, in order: runs of files, and directories and links between them.
    pub(super) fn works(self: &Arc<Self>, rules: &Rules, linked: bool) -> Vec<Work> {
        let mut works = Vec::new();
        let mut from = 0;
        for (index, entry) in self.entries.iter().enumerate() {
            let alone = entry.is_dir || entry.is_link;
            if alone || index - from == RUN {
                works.extend(self.run(from..index));
                from = index;
            }
            if !alone {
                continue;
            }
            from = index + 1;
            let listing = Arc::clone(self);
            let rules = rules.clone();
            works.push(if entry.is_link {
                Work::Link(Link { listing, index, rules })
            } else {
                Work::Folder(Folder { place: Place::In(listing, index), rules, linked })
            });
        }
        works.extend(self.run(from..self.entries.len()));
        works
    }

    fn run(self: &Arc<Self>, entries: Range<usize>) -> Option<Work> {
        let run = || Work::Run(Run { listing: Arc::clone(self), entries: entries.clone(), target: None });
        (!entries.is_empty()).then(run)
    }
}

/// Neighbouring files of one directory.
pub(super) struct Run {
    pub(super) listing: Arc<Listing>,
    pub(super) entries: Range<usize>,
    /// Where the one entry leads, if it is a link.
    pub(super) target: Option<Box<[u8]>>,
}

impl Run {
    /// The path of an entry as it is shown.
    pub(super) fn path(&self, index: usize) -> PathBytes {
        joined(&self.listing.path, self.listing.name(index)).into()
    }

    /// Opens an entry.
    pub(super) fn open(&self, walk: &Walk<'_>, index: usize) -> Answer<(File, Stamp)> {
        match &self.target {
            Some(real) => walk.tree.open_at(real),
            None => walk.tree.open_in(&self.listing.dir, self.listing.name(index)),
        }
    }

    /// Identity and attributes of an entry.
    pub(super) fn stat(&self, walk: &Walk<'_>, index: usize) -> Answer<Stamp> {
        match &self.target {
            Some(real) => walk.tree.stat_at(real),
            None => walk.tree.stat_in(&self.listing.dir, self.listing.name(index)),
        }
    }
}

/// A listing as the system gave it, `.git` left out.
#[derive(Default)]
pub(super) struct Raw {
    pub(super) names: Vec<u8>,
    pub(super) entries: Vec<(Entry, Kind)>,
    /// Pipes, sockets and devices.
    pub(super) special: u64,
    /// Names that may hold ignore rules.
    pub(super) rule_names: Vec<(&'static [u8], Kind)>,
}

impl Raw {
    /// Takes a name.
    pub(super) fn take(&mut self, Named { name, kind }: Named<'_>) {
        if name.first() == Some(&b'.') {
            let known = [&b".rgignore"[..], b".ignore", b".gitignore", b".git"];
            if let Some(known) = known.into_iter().find(|known| *known == name) {
                self.rule_names.push((known, kind));
            }
            if name.eq_ignore_ascii_case(b".git") {
                return;
            }
        }
        if let Kind::Special(_) = kind {
            self.special += 1;
            return;
        }
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let start = place(self.names.len());
        self.names.extend_from_slice(name);
        let end = place(self.names.len());
        let entry = Entry { start, end, is_dir: kind == Kind::Dir, is_link: kind == Kind::Link };
        self.entries.push((entry, kind));
    }
}

/// Bytes as the system's kind of path.
pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
