//! The walk: directories listed by handle, names sorted, ignore rules and filters applied, files in short runs.
//!
//! What a directory holds, and how it is cut into runs, depends on the directory alone; so a search ends at the same
//! place on every run.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use super::found::{Event, PathBytes, Tally};
use super::links::{Links, Seen};
use super::rules::{self, Rules, Texts};
use super::select::Filter;
use crate::workspace::Stamp;
use crate::workspace::ops::{Answer, Errno, Kind};
use crate::workspace::tree::{Dir, Named, Tree, joined, read_up_to};

/// How many files are searched as one piece of work.
const RUN: usize = 32;

/// The largest ignore file that is read.
const MOST_RULES: usize = 4 << 20;

/// A piece of work of a walk.
pub(super) enum Work {
    /// A directory to list.
    Folder(Folder),
    /// Files to look at.
    Run(Run),
}

/// A directory that is not listed yet.
pub(super) struct Folder {
    place: Place,
    /// The rules of the directories above it.
    rules: Rules,
    /// It was reached through a link that was followed.
    linked: bool,
}

enum Place {
    /// By its path as it is shown and its path with links resolved.
    Path(Box<[u8]>, Box<[u8]>),
    /// The directory of this index in a listing.
    In(Arc<Listing>, usize),
}

/// Neighbouring files of one directory.
pub(super) struct Run {
    pub(super) listing: Arc<Listing>,
    pub(super) entries: Range<usize>,
}

/// A directory that was listed, with the files and directories in it that are wanted, sorted by name.
pub(super) struct Listing {
    path: Box<[u8]>,
    pub(super) dir: Dir,
    names: Vec<u8>,
    entries: Vec<Entry>,
    /// Where links lead that are followed.
    targets: Vec<Box<[u8]>>,
}

#[derive(Clone, Copy)]
struct Entry {
    start: u32,
    end: u32,
    is_dir: bool,
    /// One more than the index of its target.
    target: u32,
}

impl Listing {
    /// The name of an entry.
    pub(super) fn name(&self, index: usize) -> &[u8] {
        let entry = self.entries[index];
        &self.names[entry.start as usize..entry.end as usize]
    }

    /// The path of an entry as it is shown.
    pub(super) fn path(&self, index: usize) -> PathBytes {
        joined(&self.path, self.name(index)).into()
    }

    /// Where an entry that is a followed link leads.
    pub(super) fn target(&self, index: usize) -> Option<&[u8]> {
        let target = self.entries[index].target as usize;
        (target > 0).then(|| &*self.targets[target - 1])
    }
}

/// Memory for listing, used again and again.
#[derive(Default)]
pub(super) struct Scratch {
    list: Vec<u8>,
    path: Vec<u8>,
    text: Vec<u8>,
}

/// What a directory turned into.
pub(super) struct Listed {
    pub(super) tally: Tally,
    pub(super) events: Vec<Event>,
    pub(super) works: Vec<Work>,
}

/// A walk through a tree.
pub(super) struct Walk<'w> {
    pub(super) tree: Tree<'w>,
    pub(super) filter: &'w Filter,
    links: Option<Links>,
}

impl<'w> Walk<'w> {
    /// A walk of the directory `path` (empty: the root), really at `real`, and its first piece of work.
    pub(super) fn new(tree: Tree<'w>, filter: &'w Filter, path: &[u8], real: &[u8]) -> (Self, Work) {
        let mut walk = Walk { tree, filter, links: None };
        let rules = if filter.ignore { walk.rules_above(path) } else { Rules::default() };
        if filter.follow {
            walk.links = Some(Links::new(path, real, rules.clone()));
        }
        let first = Folder { place: Place::Path(path.into(), real.into()), rules, linked: false };
        (walk, Work::Folder(first))
    }

    /// Whether directories must be listed one after the other.
    pub(super) fn in_turn(&self) -> bool {
        self.links.is_some()
    }

    /// The rules that the directories above `path` give it.
    fn rules_above(&self, path: &[u8]) -> Rules {
        let mut above = Vec::new();
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in (!path.is_empty()).then_some(0).into_iter().chain(ends) {
            if let Ok(place) = self.tree.locate(&path[..end]) {
                above.push((as_path(&path[..end]).to_owned(), self.texts_at(&place.real)));
            }
        }
        Rules::for_named(as_path(path), &above)
    }

    /// The ignore files of a directory by its real path, looked for one by one.
    pub(super) fn texts_at(&self, real: &[u8]) -> Texts {
        let mut text = Vec::new();
        let read = |(kind, name): (usize, &str)| {
            let (file, stamp) = self.tree.open_at(&joined(real, name.as_bytes())).ok()?;
            read_up_to(&file, stamp.size, MOST_RULES, &mut text).ok()?.then(|| (kind, text.clone()))
        };
        rules::FILES.into_iter().enumerate().filter_map(read).collect()
    }

    /// Lists a directory.
    pub(super) fn list(&self, folder: &Folder, scratch: &mut Scratch) -> Result<Listed, (PathBytes, Errno)> {
        let path = folder.path();
        let mut raw = Raw::default();
        let dir = match &folder.place {
            Place::Path(_, real) => self.tree.list_at(real, &mut scratch.list, |named| raw.take(named)),
            Place::In(listing, index) => match listing.target(*index) {
                Some(real) => self.tree.list_at(real, &mut scratch.list, |named| raw.take(named)),
                None => {
                    let name = listing.name(*index);
                    self.tree.list_in(&listing.dir, name, &mut scratch.list, |named| raw.take(named))
                }
            },
        };
        let dir = dir.map_err(|error| (path.clone().into(), error))?;
        let rules = self.rules_of(&path, &dir, &raw, &folder.rules, &mut scratch.text);
        let mut listed = Listed { tally: Tally::default(), events: Vec::new(), works: Vec::new() };
        let listing = self.choose(path, dir, raw, folder.linked, &rules, &mut scratch.path, &mut listed.tally);
        cut(&Arc::new(listing), &rules, folder.linked, &mut listed.works);
        Ok(listed)
    }

    /// The rules that hold in a directory that was listed.
    fn rules_of(&self, path: &[u8], dir: &Dir, raw: &Raw, above: &Rules, text: &mut Vec<u8>) -> Rules {
        if !self.filter.ignore || !raw.has_rules {
            return above.clone();
        }
        let mut texts = Texts::new();
        for (kind, name) in rules::FILES.into_iter().enumerate() {
            let first = name.split('/').next().unwrap_or(name).as_bytes();
            let Some(what) = raw.special_names.iter().find(|(named, _)| *named == first).map(|(_, kind)| *kind) else {
                continue;
            };
            let file = match what {
                Kind::File => self.tree.open_in(dir, name.as_bytes()),
                Kind::Dir => self.tree.open_at(&joined(dir.real(), name.as_bytes())),
                Kind::Link => self.open_linked(&joined(dir.real(), name.as_bytes())),
                Kind::Special(_) => continue,
            };
            let Ok((file, stamp)) = file else { continue };
            if read_up_to(&file, stamp.size, MOST_RULES, text) == Ok(true) {
                texts.push((kind, text.clone()));
            }
        }
        above.with(as_path(path), &texts)
    }

    /// Opens what the link at `real` leads to, inside the root.
    fn open_linked(&self, real: &[u8]) -> Answer<(std::fs::File, Stamp)> {
        let place = self.tree.locate(real).map_err(|_| Errno::LOOP)?;
        self.tree.open_at(&place.real)
    }

    /// Takes out of a raw listing what is wanted, and sorts it.
    #[expect(clippy::too_many_arguments, reason = "the parts of one step, used nowhere else")]
    fn choose(
        &self,
        path: Box<[u8]>,
        dir: Dir,
        raw: Raw,
        linked: bool,
        rules: &Rules,
        scratch: &mut Vec<u8>,
        tally: &mut Tally,
    ) -> Listing {
        let mut listing = Listing { path, dir, names: raw.names, entries: Vec::new(), targets: Vec::new() };
        scratch.clear();
        scratch.extend_from_slice(&listing.path);
        if !scratch.is_empty() {
            scratch.push(b'/');
        }
        let prefix = scratch.len();
        tally.special += raw.special;
        listing.entries.reserve(raw.entries.len());
        for (mut entry, kind) in raw.entries {
            let name = &listing.names[entry.start as usize..entry.end as usize];
            scratch.truncate(prefix);
            scratch.extend_from_slice(name);
            let path = as_path(scratch);
            if kind == Kind::Link {
                match self
                    .links
                    .as_ref()
                    .map_or(Seen::No, |links| links.resolve(self, &joined(listing.dir.real(), name)))
                {
                    Seen::No => {
                        tally.links += 1;
                        continue;
                    }
                    Seen::Elsewhere => continue,
                    Seen::Yes { real, is_dir } => {
                        listing.targets.push(real);
                        entry.target = u32::try_from(listing.targets.len()).unwrap_or(0);
                        entry.is_dir = is_dir;
                    }
                }
            } else if linked
                && let Some(links) = &self.links
                && !links.first_visit(self, &listing.dir, name)
            {
                continue;
            }
            if self.admits(path, entry.is_dir, rules, tally) {
                listing.entries.push(entry);
            }
        }
        let Listing { names, entries, .. } = &mut listing;
        entries.sort_unstable_by(|a, b| {
            names[a.start as usize..a.end as usize].cmp(&names[b.start as usize..b.end as usize])
        });
        listing
    }

    /// Whether rules and filters let something through; counts it when not.
    fn admits(&self, path: &Path, is_dir: bool, rules: &Rules, tally: &mut Tally) -> bool {
        if !rules.is_empty()
            && let Some(by) = rules.ignored(path, is_dir)
        {
            tally.name_ignore_file(by.as_os_str().as_bytes());
            *(if is_dir { &mut tally.ignored_dirs } else { &mut tally.ignored_files }) += 1;
            return false;
        }
        if is_dir {
            return self.filter.admits_dir(path);
        }
        let fits = self.filter.admits_all() || self.filter.admits_file(path);
        tally.unfit += u64::from(!fits);
        fits
    }
}

impl Folder {
    /// The path as it is shown.
    fn path(&self) -> Box<[u8]> {
        match &self.place {
            Place::Path(path, _) => path.clone(),
            Place::In(listing, index) => joined(&listing.path, listing.name(*index)),
        }
    }
}

/// Cuts a listing into work, in order: runs of files, and directories between them.
fn cut(listing: &Arc<Listing>, rules: &Rules, linked: bool, works: &mut Vec<Work>) {
    let mut from = 0;
    let entries = &listing.entries;
    for (index, entry) in entries.iter().enumerate() {
        if entry.is_dir || index - from == RUN {
            if from < index {
                works.push(Work::Run(Run { listing: Arc::clone(listing), entries: from..index }));
            }
            from = index;
        }
        if entry.is_dir {
            let place = Place::In(Arc::clone(listing), index);
            let linked = linked || entry.target > 0;
            works.push(Work::Folder(Folder { place, rules: rules.clone(), linked }));
            from = index + 1;
        }
    }
    if from < entries.len() {
        works.push(Work::Run(Run { listing: Arc::clone(listing), entries: from..entries.len() }));
    }
}

/// A listing as the system gave it.
#[derive(Default)]
struct Raw {
    names: Vec<u8>,
    entries: Vec<(Entry, Kind)>,
    special: u64,
    /// Names that may hold ignore rules.
    special_names: Vec<(&'static [u8], Kind)>,
    has_rules: bool,
}

impl Raw {
    fn take(&mut self, Named { name, kind }: Named<'_>) {
        if name.first() == Some(&b'.') {
            let known = [&b".rgignore"[..], b".ignore", b".gitignore", b".git"];
            if let Some(known) = known.into_iter().find(|known| *known == name) {
                self.special_names.push((known, kind));
                self.has_rules = true;
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
        let entry = Entry { start, end: place(self.names.len()), is_dir: kind == Kind::Dir, target: 0 };
        self.entries.push((entry, kind));
    }
}

/// Bytes as the system's kind of path.
pub(super) fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}
