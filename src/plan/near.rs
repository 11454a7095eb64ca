//! Near names for a path that is not there: what the writer may have meant.

use crate::path::RelPath;
use crate::workspace::{Loaded, Source, State};

/// How many names of a directory are looked at.
const MAX_NAMES: usize = 2_000;
/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// Names longer than this are not compared.
const MAX_NAME: usize = 128;

/// Up to three paths near `path`: the deepest directory of it that is there, with the names most like the missing part.
///
/// Reads one directory listing for each part of the path; at most 2,000 names are compared.
pub(crate) fn names<S: Source + ?Sized>(source: &S, path: &RelPath) -> Vec<String> {
    let mut dir: Option<RelPath> = None;
    for part in path.parts() {
        let here = RelPath::child(dir.as_ref(), part);
        if matches!(source.load(&here), Ok(Loaded { state: State::Dir, .. })) {
            dir = Some(here);
            continue;
        }
        let mut near: Vec<(usize, String)> = source
            .names(dir.as_ref(), MAX_NAMES)
            .into_iter()
            .filter_map(|name| distance(part, &name).map(|far| (far, name)))
            .collect();
        near.sort();
        near.truncate(MAX_SUGGESTIONS);
        let join = |(_, name): (usize, String)| RelPath::child(dir.as_ref(), &name).to_string();
        return near.into_iter().map(join).collect();
    }
    Vec::new()
}

/// How far two names are apart in edits (swaps of neighbours count one), letter case aside; `None` when that is too
/// far to be a slip: more than a third of the longer name.
pub(crate) fn distance(a: &str, b: &str) -> Option<usize> {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let longer = a.len().max(b.len());
    if longer > MAX_NAME {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let same = usize::from(a[i - 1] != b[j - 1]);
            row[j] = (last[j - 1] + same).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    let far = last[b.len()];
    (far * 3 <= longer).then_some(far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_names_are_not() {
        let cases = [
            ("main.rs", "mian.rs", Some(1)),
            ("config.toml", "Config.toml", Some(0)),
            ("readme.md", "README.txt", Some(3)),
            ("parser.rs", "parsers.rs", Some(1)),
            ("a.rs", "zebra.py", None),
        ];
        for (a, b, want) in cases {
            assert_eq!(distance(a, b), want, "{a} {b}");
            assert_eq!(distance(b, a), want, "{b} {a}");
        }
    }
}
