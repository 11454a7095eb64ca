//! Where a search begins: the path as it was typed, and what is there.

use std::fs::File;

use super::error::SearchError;
use super::near;
use crate::path::{PathError, RelPath};
use crate::workspace::tree::{Thing, Tree};
use crate::workspace::{Source as _, SourceError, Stamp};

/// How many names are looked at for a suggestion.
const MOST_NAMES: usize = 2000;

/// Where a search begins.
pub(super) enum Start {
    /// A file that was named outright, by its path as it is shown.
    File { path: Vec<u8>, file: File, stamp: Stamp },
    /// A directory, by its path as it is shown (empty: the root) and with links resolved.
    Dir { path: Vec<u8>, real: Vec<u8> },
}

/// Finds what is at `given`.
pub(super) fn find(tree: &Tree<'_>, given: &str) -> Result<Start, SearchError> {
    let path = relative(tree, given)?;
    if path.as_ref().is_some_and(RelPath::enters_git) {
        return Err(SearchError::Git { path: given.into() });
    }
    let shown = path.as_ref().map_or("", RelPath::as_str);
    let access = |reason: SourceError| match reason {
        SourceError::Git => SearchError::Git { path: given.into() },
        reason => SearchError::Access { path: given.into(), reason },
    };
    let place = tree.locate(shown.as_bytes()).map_err(access)?;
    match place.what {
        Thing::Dir => Ok(Start::Dir { path: shown.into(), real: place.real }),
        Thing::File => {
            let (file, stamp) = tree.open_at(&place.real).map_err(|error| access(error.into()))?;
            Ok(Start::File { path: shown.into(), file, stamp })
        }
        Thing::Special(what) => Err(SearchError::Special { path: given.into(), what }),
        Thing::Absent => Err(SearchError::NoSuchPath { path: given.into(), near: suggestion(tree, shown) }),
    }
}

/// The path below the root; `None` is the root itself.
fn relative(tree: &Tree<'_>, given: &str) -> Result<Option<RelPath>, SearchError> {
    let wrong = |reason: PathError| SearchError::Path { path: given.into(), reason };
    let mut bytes = given.as_bytes();
    if bytes.first() == Some(&b'/') {
        bytes = tree.workspace().strip_root(bytes).ok_or_else(|| wrong(PathError::Absolute))?;
    }
    // A slash at the end says that a directory is meant, which is as good as any.
    while let [rest @ .., b'/'] = bytes {
        bytes = rest;
    }
    match RelPath::new(bytes) {
        Ok(path) => Ok(Some(path)),
        Err(PathError::Empty) => Ok(None),
        Err(reason) => Err(wrong(reason)),
    }
}

/// A path that is there and differs in one name from one that is not.
fn suggestion(tree: &Tree<'_>, path: &str) -> Option<String> {
    let mut above = String::new();
    let mut parts = path.split('/');
    while let Some(part) = parts.next() {
        let dir = RelPath::new(above.as_bytes()).ok();
        let names = tree.workspace().names(dir.as_ref(), MOST_NAMES);
        if names.iter().any(|name| name == part) {
            above.push_str(if above.is_empty() { "" } else { "/" });
            above.push_str(part);
            continue;
        }
        let meant = near::nearest(part, names.iter().map(String::as_str).filter(|name| *name != ".git"))?;
        let rest: Vec<&str> = std::iter::once(meant).chain(parts).collect();
        let whole = if above.is_empty() { rest.join("/") } else { format!("{above}/{}", rest.join("/")) };
        let there = tree.locate(whole.as_bytes()).is_ok_and(|place| place.what != Thing::Absent);
        return Some(if there { whole } else { join(&above, meant) });
    }
    None
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}
