//! Links that are followed: each file behind them is looked at once.
//!
//! What a link leads to is passed over when the walk comes to it by its own name anyway, or came to it through another
//! link before. So loops end, and no tree of links takes longer than the files behind it. Directories are listed one
//! after the other while links are followed; what "before" means is the order of the paths.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::listing::as_path;
use super::rules::Rules;
use super::walk::Walk;
use crate::workspace::tree::{Dir, Thing, joined};

/// Where a link leads.
pub(super) enum Leads {
    /// Nowhere, out of the root, or to something that cannot be searched.
    Nowhere,
    /// To what is looked at by another name.
    Elsewhere,
    /// To what is to be looked at here.
    To { real: Box<[u8]>, is_dir: bool },
}

/// What is known of links in one walk.
pub(super) struct Links {
    /// The directory that is walked, as it is shown and as it really is.
    path: Box<[u8]>,
    real: Box<[u8]>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was reached through links, by device and inode.
    visited: HashSet<(u64, u64)>,
    /// The rules that hold in directories, by their real path.
    rules: HashMap<Box<[u8]>, Rules>,
}

impl Links {
    pub(super) fn new(path: &[u8], real: &[u8], above: Rules) -> Self {
        let state = State { rules: HashMap::from([(b"".as_slice().into(), above)]), ..State::default() };
        Links { path: path.into(), real: real.into(), state: Mutex::new(state) }
    }

    /// What the link at `at` comes to, which is then taken for visited.
    pub(super) fn resolve(&self, walk: &Walk<'_>, at: &[u8]) -> Leads {
        let Ok(place) = walk.tree.locate(at) else { return Leads::Nowhere };
        let is_dir = match place.what {
            Thing::Dir => true,
            Thing::File => false,
            Thing::Absent | Thing::Special(_) => return Leads::Nowhere,
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.walks(walk, &place.real, is_dir, &mut state) {
            return Leads::Elsewhere;
        }
        let Ok(stamp) = walk.tree.stat_at(&place.real) else { return Leads::Nowhere };
        if state.visited.insert((stamp.dev, stamp.ino)) {
            Leads::To { real: place.real.into(), is_dir }
        } else {
            Leads::Elsewhere
        }
    }

    /// Whether `name` in a directory behind a link is met for the first time.
    pub(super) fn first_visit(&self, walk: &Walk<'_>, dir: &Dir, name: &[u8]) -> bool {
        // What the walk meets by its own name as well is left to it.
        let real = joined(dir.real(), name);
        let Ok(stamp) = walk.tree.stat_in(dir, name) else { return false };
        let is_dir = crate::workspace::ops::kind(stamp.mode) == crate::workspace::ops::Kind::Dir;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        !self.walks(walk, &real, is_dir, &mut state) && state.visited.insert((stamp.dev, stamp.ino))
    }

    /// Whether the walk comes to the file or directory at `real` without any link.
    fn walks(&self, walk: &Walk<'_>, real: &[u8], is_dir: bool, state: &mut State) -> bool {
        let Some(rest) = below(&self.real, real) else { return false };
        let mut dir: Vec<u8> = Vec::new();
        for name in rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            let inner = joined(&dir, name);
            let last = inner.len() == rest.len();
            let shown = joined(&self.path, &inner);
            let inner_is_dir = !last || is_dir;
            let rules = self.rules(walk, &dir, state);
            let out = rules.ignored(as_path(&shown), inner_is_dir).is_some()
                || name.eq_ignore_ascii_case(b".git")
                || !admits(walk, as_path(&shown), inner_is_dir);
            if out {
                return false;
            }
            dir = inner.into();
        }
        true
    }

    /// The rules that hold in the directory `dir` below the one that is walked.
    fn rules(&self, walk: &Walk<'_>, dir: &[u8], state: &mut State) -> Rules {
        let key = joined(b".", dir);
        if let Some(known) = state.rules.get(&key) {
            return known.clone();
        }
        let above = match dir.iter().rposition(|byte| *byte == b'/') {
            Some(at) => self.rules(walk, &dir[..at], state),
            None if dir.is_empty() => state.rules.get(b"".as_slice()).cloned().unwrap_or_default(),
            None => self.rules(walk, b"", state),
        };
        let texts = if walk.filter.ignore { walk.texts_at(&joined_dir(&self.real, dir)) } else { Vec::new() };
        let rules = above.with(as_path(&joined_dir(&self.path, dir)), &texts);
        state.rules.insert(key, rules.clone());
        rules
    }
}

fn admits(walk: &Walk<'_>, path: &Path, is_dir: bool) -> bool {
    if is_dir { walk.filter.admits_dir(path) } else { walk.filter.admits_file(path) }
}

/// `dir` with a path behind it that may be empty.
fn joined_dir(dir: &[u8], rest: &[u8]) -> Box<[u8]> {
    if rest.is_empty() { dir.into() } else { joined(dir, rest) }
}

/// The part of `path` below `dir`.
fn below<'p>(dir: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    if dir.is_empty() {
        return Some(path);
    }
    match path.strip_prefix(dir)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}
