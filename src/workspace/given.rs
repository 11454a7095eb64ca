//! A path as somebody typed it: absolute or relative, with a slash at the end, or a little wrong.

use super::tree::{Thing, Tree};
use super::{Source as _, Workspace, near};
use crate::path::{PathError, RelPath};

/// How many names are looked at for a suggestion.
const MOST_NAMES: usize = 2000;

impl Workspace {
    /// The path below the root that `given` names; `None` is the root itself. A slash at the end does no harm here.
    pub(crate) fn relative(&self, given: &str) -> Result<Option<RelPath>, PathError> {
        let mut bytes = given.as_bytes();
        if bytes.first() == Some(&b'/') {
            bytes = self.strip_root(bytes).ok_or(PathError::Absolute)?;
        }
        while let [rest @ .., b'/'] = bytes {
            bytes = rest;
        }
        match RelPath::new(bytes) {
            Ok(path) => Ok(Some(path)),
            Err(PathError::Empty) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A path that is there and may have been meant by one that is not: it differs in one name.
    pub(crate) fn suggestion(&self, path: &str) -> Option<String> {
        let mut above = String::new();
        let mut parts = path.split('/');
        while let Some(part) = parts.next() {
            let dir = RelPath::new(above.as_bytes()).ok();
            let names = self.names(dir.as_ref(), MOST_NAMES);
            if names.iter().any(|name| name == part) {
                above = join(&above, part);
                continue;
            }
            let meant = near::nearest(part, names.iter().map(String::as_str).filter(|name| *name != ".git"))?;
            let meant = join(&above, meant);
            let whole = parts.fold(meant.clone(), |path, part| join(&path, part));
            let there = Tree::new(self).locate(whole.as_bytes()).is_ok_and(|place| place.what != Thing::Absent);
            return Some(if there { whole } else { meant });
        }
        None
    }
}

fn join(dir: &str, name: &str) -> String {
    if dir.is_empty() { name.to_owned() } else { format!("{dir}/{name}") }
}
