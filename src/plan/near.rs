//! Near names for a path that is not there: what the writer may have meant.

use std::collections::VecDeque;

use crate::path::RelPath;
use crate::workspace::near::all_near;
use crate::workspace::{Loaded, Source, State};

/// How many names of a directory are looked at.
const MAX_NAMES: usize = 2_000;
/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// How many names of the whole tree are looked at for the same name in another directory.
const MAX_ELSEWHERE: usize = 4_000;

/// Up to three paths near `path`: in the deepest directory of it that is there, the names most like the missing part;
/// if there are none, the same name in other directories, those first that share most of the path's end.
///
/// Reads one directory listing and compares at most 2,000 names; then tries at most 4,000 names of the tree.
pub(super) fn names<S: Source + ?Sized>(source: &S, path: &RelPath) -> Vec<String> {
    let mut near = slips(source, path);
    if near.is_empty() {
        near = elsewhere(source, path);
    }
    near.truncate(MAX_SUGGESTIONS);
    near
}

fn slips<S: Source + ?Sized>(source: &S, path: &RelPath) -> Vec<String> {
    let mut dir: Option<RelPath> = None;
    let mut rest = path.as_str();
    for part in path.parts() {
        rest = rest[part.len()..].trim_start_matches('/');
        let here = RelPath::child(dir.as_ref(), part);
        if matches!(source.load(&here), Ok(Loaded { state: State::Dir, .. })) {
            dir = Some(here);
            continue;
        }
        let listed = source.names(dir.as_ref(), MAX_NAMES);
        let near = all_near(part, listed.iter().map(String::as_str));
        let join = |name: &str| {
            let near = RelPath::child(dir.as_ref(), name);
            let whole = RelPath::below(near.as_str(), rest);
            let is_there = |path| matches!(source.load(path), Ok(Loaded { state: State::File(_), .. }));
            if !rest.is_empty() && is_there(&whole) { whole.to_string() } else { near.to_string() }
        };
        return near.into_iter().filter(|name| *name != part).take(MAX_SUGGESTIONS).map(join).collect();
    }
    Vec::new()
}

/// Goes through the tree from the root, outer directories first, hidden and installed ones left out.
fn elsewhere<S: Source + ?Sized>(source: &S, path: &RelPath) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = MAX_ELSEWHERE;
    let mut dirs = VecDeque::from([None::<RelPath>]);
    while let Some(dir) = dirs.pop_front() {
        let mut listed = source.names(dir.as_ref(), left);
        left -= listed.len();
        listed.sort_unstable();
        for name in listed {
            let here = RelPath::child(dir.as_ref(), &name);
            if name == path.name() && here != *path {
                found.push(here);
            } else if !name.starts_with('.') && name != "node_modules" {
                dirs.push_back(Some(here));
            }
        }
    }
    // The sort is stable: of equals the outer ones stay first.
    found.sort_by_key(|near| std::cmp::Reverse(shared_end(near, path)));
    found.iter().map(RelPath::to_string).collect()
}

/// How many parts two paths share at their ends.
fn shared_end(a: &RelPath, b: &RelPath) -> usize {
    a.parts().rev().zip(b.parts().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::MemSource;

    #[test]
    fn a_missing_path_is_told_what_was_probably_meant() {
        let tree = MemSource::new()
            .file("src/main.rs", "")
            .file("src/cli/main.rs", "")
            .file("src/.cache/main.rs", "")
            .file("README.md", "");
        let table: &[(&str, &[&str])] = &[
            ("src/mian.rs", &["src/main.rs"]),
            ("srcs/cli/main.rs", &["src/cli/main.rs"]),
            ("srcs/cli/other.rs", &["src"]),
            ("Readme.md", &["README.md"]),
            ("main.rs", &["src/main.rs", "src/cli/main.rs"]),
            ("a/src/main.rs", &["src/main.rs", "src/cli/main.rs"]),
            ("b/cli/main.rs", &["src/cli/main.rs", "src/main.rs"]),
            ("lib/other.rs", &[]),
            ("README.md", &[]),
        ];
        for (path, want) in table {
            assert_eq!(names(&tree, &RelPath::new(path.as_bytes()).unwrap()), *want, "{path}");
        }
    }

    #[test]
    fn the_search_elsewhere_is_bounded() {
        let many = (0..MAX_ELSEWHERE + 10).fold(MemSource::new(), |tree, n| tree.file(&format!("d/{n:05}"), ""));
        let tree = many.file("e/f/zz-main.rs", "").file("zz-main.rs/x", "");
        assert_eq!(names(&tree, &RelPath::new(b"e/zz-main.rs").unwrap()).len(), 1);
        assert_eq!(elsewhere(&tree, &RelPath::new(b"q/zz-main.rs").unwrap()), ["zz-main.rs"]);
    }
}
