//! What a checker says after the patch and did not say before: compared as multisets of file, code and message, since
//! lines move.

use std::collections::{BTreeMap, HashMap};

use super::Finding;
use crate::diagnose::change::ChangedFile;
use crate::diagnose::lines::Comparison;
use crate::path::RelPath;

/// What makes two findings one.
type Key = (Option<RelPath>, String, String);

/// The findings that are new. Costs one look at each finding, and sorts those of one kind that have become more.
///
/// Where there are more of one kind than before, those on lines that had one before are taken for the old ones, then
/// those on lines the patch left alone.
pub(in crate::diagnose) fn introduced(
    old: &[Finding],
    new: Vec<Finding>,
    changes: &[ChangedFile],
    comparisons: &HashMap<&RelPath, Comparison<'_>>,
) -> Vec<Finding> {
    let renames: HashMap<&RelPath, &RelPath> =
        changes.iter().filter_map(|change| Some((change.from.as_ref()?, &change.path))).collect();
    let mut olds: HashMap<Key, Vec<u32>> = HashMap::new();
    for finding in old {
        let path = finding.path.as_ref().map(|path| renames.get(path).copied().unwrap_or(path).clone());
        olds.entry(key(path, finding)).or_default().push(finding.line.unwrap_or(0));
    }
    let mut kinds: BTreeMap<Key, Vec<Finding>> = BTreeMap::new();
    for finding in new {
        kinds.entry(key(finding.path.clone(), &finding)).or_default().push(finding);
    }
    let mut all = Vec::new();
    for (key, found) in kinds {
        let old = olds.remove(&key).unwrap_or_default();
        let comparison = key.0.as_ref().and_then(|path| comparisons.get(path));
        all.extend(surplus(old, found, comparison));
    }
    all
}

/// As many of `found` as there are more than `old`.
fn surplus(mut old: Vec<u32>, mut found: Vec<Finding>, comparison: Option<&Comparison<'_>>) -> Vec<Finding> {
    let more = found.len().saturating_sub(old.len());
    if more == 0 || old.is_empty() {
        found.truncate(more);
        return found;
    }
    old.sort_unstable();
    found.sort_by_key(|finding| {
        let line = finding.line.unwrap_or(0);
        let was = was_at(line, comparison);
        (was.is_some_and(|was| old.binary_search(&was).is_ok()), was.is_some(), line)
    });
    found.truncate(more);
    found
}

/// Where a line, from 1, stood before; `None` when it was added.
fn was_at(line: u32, comparison: Option<&Comparison<'_>>) -> Option<u32> {
    let Some(comparison) = comparison else { return Some(line) };
    let at = usize::try_from(line.checked_sub(1)?).ok()?;
    u32::try_from(comparison.old_line(at)? + 1).ok()
}

fn key(path: Option<RelPath>, finding: &Finding) -> Key {
    (path, finding.code.clone(), without_places(&finding.message))
}

/// A message without the line numbers in it: `line 12` and `:12:3` change when lines move.
fn without_places(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(from.len());
        out.push_str(before);
        let is_place = out.ends_with(':') || out.ends_with("line ") || out.ends_with("lines ");
        out.push_str(if is_place { "#" } else { &from[..end] });
        rest = &from[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::{FileImage, Severity};
    use crate::limits::Deadline;

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    fn finding(file: &str, line: u32, message: &str) -> Finding {
        Finding {
            path: Some(path(file)),
            line: Some(line),
            column: None,
            severity: Severity::Error,
            code: "E1".to_owned(),
            message: message.to_owned(),
        }
    }

    fn new_lines(old: &[Finding], new: &[Finding], changes: &[ChangedFile]) -> Vec<(String, u32)> {
        let comparisons: HashMap<&RelPath, Comparison<'_>> =
            changes.iter().map(|change| (&change.path, Comparison::of(change, Deadline::NONE))).collect();
        let mut lines: Vec<_> = introduced(old, new.to_vec(), changes, &comparisons)
            .into_iter()
            .map(|finding| (finding.path.unwrap().to_string(), finding.line.unwrap()))
            .collect();
        lines.sort();
        lines
    }

    #[test]
    fn equal_findings_are_told_apart_by_the_lines_the_patch_added() {
        let image = |text: &str| Some(FileImage::new(text));
        let changes = [ChangedFile::new(path("a"), image("1\n2\n3\n4\n"), image("1\nnew\n2\n3\nnew\n4\n"))];
        let old = [finding("a", 2, "m"), finding("a", 4, "m")];
        let new = [finding("a", 2, "m"), finding("a", 3, "m"), finding("a", 5, "m"), finding("a", 6, "m")];
        assert_eq!(new_lines(&old, &new, &changes), [("a".to_owned(), 2), ("a".to_owned(), 5)]);
    }

    #[test]
    fn renamed_moved_and_renumbered_findings_are_old() {
        let image = |text: &str| Some(FileImage::new(text));
        let changes = [ChangedFile::new(path("b"), image("1\n"), image("0\n1\n")).renamed(path("a"))];
        let old = [finding("a", 1, "see line 9 and x.rs:3:4"), finding("c", 5, "m")];
        let new = [finding("b", 2, "see line 10 and x.rs:4:4"), finding("c", 7, "m"), finding("c", 8, "type 2")];
        assert_eq!(new_lines(&old, &new, &changes), [("c".to_owned(), 8)]);
        assert_eq!(without_places("type '1' at line 12, a:3:44"), "type '1' at line #, a:#:#");
    }
}
