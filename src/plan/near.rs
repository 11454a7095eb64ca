//! Near names for a path that is not there: what the writer may have meant.

use crate::path::RelPath;
use crate::workspace::near::all_near;
use crate::workspace::{Loaded, Source, State};

/// How many names of a directory are looked at.
const MAX_NAMES: usize = 2_000;
/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// Up to three paths near `path`: the deepest directory of it that is there, with the names most like the missing part.
///
/// Reads one directory listing; at most 2,000 names are compared.
pub(crate) fn names<S: Source + ?Sized>(source: &S, path: &RelPath) -> Vec<String> {
    let mut dir: Option<RelPath> = None;
    for part in path.parts() {
        let here = RelPath::child(dir.as_ref(), part);
        if matches!(source.load(&here), Ok(Loaded { state: State::Dir, .. })) {
            dir = Some(here);
            continue;
        }
        let listed = source.names(dir.as_ref(), MAX_NAMES);
        let near = all_near(part, listed.iter().map(String::as_str));
        let join = |name: &str| RelPath::child(dir.as_ref(), name).to_string();
        return near.into_iter().take(MAX_SUGGESTIONS).map(join).collect();
    }
    Vec::new()
}
