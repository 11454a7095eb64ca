//! The walk: directories listed by handle, names sorted, ignore rules and filters applied, files in short runs.
//!
//! What a directory holds, and how it is cut into runs, depends on the directory alone; so a search ends at the same
//! place on every run.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use super::found::{PathBytes, Tally};
use super::links::{Leads, Links};
use super::listing::{Listing, Raw, Run, as_path};
use super::rules::{self, Rules, Texts};
use super::select::Filter;
use crate::workspace::Stamp;
use crate::workspace::ops::{Answer, Errno, Kind};
use crate::workspace::tree::{Dir, Tree, joined, read_up_to};

/// The largest ignore file that is read.
const MOST_RULES: usize = 4 << 20;

/// A piece of work of a walk.
pub(super) enum Work {
    /// A directory to list.
    Folder(Folder),
    /// Files to look at.
    Run(Run),
    /// A link to follow.
    Link(Link),
}

/// A directory that is not listed yet.
pub(super) struct Folder {
    pub(super) place: Place,
    /// The rules of the directories above it.
    pub(super) rules: Rules,
    /// It was reached through a link that was followed.
    pub(super) linked: bool,
}

/// Where a directory is.
pub(super) enum Place {
    /// By its path as it is shown and its path with links resolved.
    Path(Box<[u8]>, Box<[u8]>),
    /// The directory of this index in a listing.
    In(Arc<Listing>, usize),
}

/// A link that is not resolved yet: what it leads to is looked up in path order.
pub(super) struct Link {
    pub(super) listing: Arc<Listing>,
    pub(super) index: usize,
    pub(super) rules: Rules,
}

/// Memory for listing, used again and again.
#[derive(Default)]
pub(super) struct Scratch {
    list: Vec<u8>,
    path: Vec<u8>,
    text: Vec<u8>,
}

/// What a directory or link turned into.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) tally: Tally,
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

    /// Whether a piece must be done when no other such piece is being done, and in order.
    pub(super) fn in_turn(&self, work: &Work) -> bool {
        self.links.is_some() && !matches!(work, Work::Run(_))
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
    ///
    /// # Errors
    /// The path as it is shown, and what the system said.
    pub(super) fn list(&self, folder: &Folder, scratch: &mut Scratch) -> Result<Listed, (PathBytes, Errno)> {
        let path = folder.path();
        let mut raw = Raw::default();
        let dir = match &folder.place {
            Place::Path(_, real) => self.tree.list_at(real, &mut scratch.list, |named| raw.take(named)),
            Place::In(listing, index) => {
                let name = listing.name(*index);
                self.tree.list_in(&listing.dir, name, &mut scratch.list, |named| raw.take(named))
            }
        };
        let dir = dir.map_err(|error| (path.clone().into(), error))?;
        let rules = self.rules_of(&path, &dir, &raw, &folder.rules, &mut scratch.text);
        let mut tally = Tally { special: raw.special, ..Tally::default() };
        let mut listing = Listing { path, dir, names: std::mem::take(&mut raw.names), entries: Vec::new() };
        self.choose(&mut listing, &raw, folder.linked, &rules, &mut scratch.path, &mut tally);
        listing.sort();
        Ok(Listed { tally, works: Arc::new(listing).works(&rules, folder.linked) })
    }

    /// Follows a link.
    pub(super) fn follow(&self, link: &Link) -> Listed {
        let Link { listing, index, rules } = link;
        let mut listed = Listed::default();
        let path = joined(&listing.path, listing.name(*index));
        let at = joined(listing.dir.real(), listing.name(*index));
        match self.links.as_ref().map_or(Leads::Nowhere, |links| links.resolve(self, &at)) {
            Leads::Nowhere => listed.tally.links += 1,
            Leads::Elsewhere => {}
            Leads::To { real, is_dir } => {
                if self.admits(as_path(&path), is_dir, rules, &mut listed.tally) {
                    listed.works.push(if is_dir {
                        Work::Folder(Folder { place: Place::Path(path, real), rules: rules.clone(), linked: true })
                    } else {
                        let entries = *index..*index + 1;
                        Work::Run(Run { listing: Arc::clone(listing), entries, target: Some(real) })
                    });
                }
            }
        }
        listed
    }

    /// The rules that hold in a directory that was listed.
    fn rules_of(&self, path: &[u8], dir: &Dir, raw: &Raw, above: &Rules, text: &mut Vec<u8>) -> Rules {
        if !self.filter.ignore || raw.rule_names.is_empty() {
            return above.clone();
        }
        let mut texts = Texts::new();
        for (kind, name) in rules::FILES.into_iter().enumerate() {
            let first = name.split('/').next().unwrap_or(name).as_bytes();
            let Some((_, what)) = raw.rule_names.iter().find(|(named, _)| *named == first) else { continue };
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
    fn open_linked(&self, real: &[u8]) -> Answer<(File, Stamp)> {
        let place = self.tree.locate(real).map_err(|_| Errno::LOOP)?;
        self.tree.open_at(&place.real)
    }

    /// Takes out of a raw listing what is wanted.
    fn choose(
        &self,
        listing: &mut Listing,
        raw: &Raw,
        linked: bool,
        rules: &Rules,
        path: &mut Vec<u8>,
        tally: &mut Tally,
    ) {
        path.clear();
        path.extend_from_slice(&listing.path);
        if !path.is_empty() {
            path.push(b'/');
        }
        let prefix = path.len();
        listing.entries.reserve(raw.entries.len());
        for (entry, _) in &raw.entries {
            if entry.is_link {
                // Without following them there is nothing to be done with links.
                tally.links += u64::from(self.links.is_none());
                listing.entries.extend(self.links.is_some().then_some(*entry));
                continue;
            }
            let name = entry.name(&listing.names);
            if linked
                && let Some(links) = &self.links
                && !links.first_visit(self, &listing.dir, name)
            {
                continue;
            }
            path.truncate(prefix);
            path.extend_from_slice(name);
            if self.admits(as_path(path), entry.is_dir, rules, tally) {
                listing.entries.push(*entry);
            }
        }
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
