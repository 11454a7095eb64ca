//! Where a search begins: the path as it was typed, and what is there.

use std::fs::File;

use super::error::SearchError;
use crate::path::RelPath;
use crate::workspace::tree::{Thing, Tree};
use crate::workspace::{Purpose, RefusedReason, SourceError, Stamp};

/// Where a search begins.
pub(super) enum Start {
    /// A file that was named outright, by its path as it is shown.
    File { path: Vec<u8>, file: File, stamp: Stamp },
    /// A directory, by its path as it is shown (empty: the root) and with links resolved.
    Dir { path: Vec<u8>, real: Vec<u8> },
}

/// Finds what is at `given`.
pub(super) fn find(tree: &Tree<'_>, given: &str) -> Result<Start, SearchError> {
    let workspace = tree.workspace();
    let refuse = |reason| SearchError::Refused(Purpose::Search.refuse(given, reason));
    let path = workspace.relative(given).map_err(|reason| refuse(RefusedReason::NoPath(reason)))?;
    if path.as_ref().is_some_and(RelPath::enters_git) {
        return Err(refuse(RefusedReason::Git));
    }
    let shown = path.as_ref().map_or("", RelPath::as_str);
    let access = |error: SourceError| refuse(RefusedReason::Access(error));
    let place = tree.locate(shown.as_bytes()).map_err(access)?;
    match place.what {
        Thing::Dir => Ok(Start::Dir { path: shown.into(), real: place.real }),
        Thing::File => {
            let (file, stamp) = tree.open_at(&place.real).map_err(|error| access(error.into()))?;
            Ok(Start::File { path: shown.into(), file, stamp })
        }
        Thing::Special(what) => Err(refuse(RefusedReason::NotThat(what))),
        Thing::Absent => Err(refuse(RefusedReason::Absent(workspace.suggestion(shown)))),
    }
}
