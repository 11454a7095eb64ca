//! What the caller read before it wrote the patch: the only sure cure for a patch made from old text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::path::{PathError, RelPath};
use crate::workspace::{Digest, Source};

/// How many lines of the file as it is now a stale refusal shows.
const MAX_LINES: usize = 16;

/// What the caller believes the files to hold, by path. A path may lead through links: what is meant is the file.
///
/// An operation on a file that differs is refused as stale before any hunk is placed. Files that the patch does not
/// touch are not looked at.
#[derive(Clone, Debug, Default)]
pub struct Expectations(BTreeMap<RelPath, Expected>);

/// What a file is believed to hold.
#[derive(Clone, Debug)]
enum Expected {
    Digest(Digest),
    Content(Vec<u8>),
}

/// How a file differs from what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stale {
    /// The hash of what was read.
    pub expected: Digest,
    /// The hash of the file as it is; `None` when it is gone.
    pub found: Option<Digest>,
    /// Lines (from 1) that have changed, as the file is now; known only when the content that was read was given.
    pub changed: Option<Range<usize>>,
    /// Up to 16 lines of the file as it is now: the changed ones.
    pub lines: Vec<(usize, Vec<u8>)>,
}

impl Expectations {
    /// Expects nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Expects the file at `path` to have the content with this hash.
    ///
    /// # Errors
    /// [`PathError`] when `path` is no path below the root.
    pub fn digest(mut self, path: &str, digest: Digest) -> Result<Self, PathError> {
        self.0.insert(RelPath::new(path.as_bytes())?, Expected::Digest(digest));
        Ok(self)
    }

    /// Expects the file at `path` to have this content; a refusal then shows the lines that changed.
    ///
    /// # Errors
    /// [`PathError`] when `path` is no path below the root.
    pub fn content(mut self, path: &str, content: Vec<u8>) -> Result<Self, PathError> {
        self.0.insert(RelPath::new(path.as_bytes())?, Expected::Content(content));
        Ok(self)
    }

    /// Follows the links of every path. Costs a few system calls each; reads no content.
    pub(super) fn resolve<S: Source + ?Sized>(&self, source: &S) -> Resolved<'_> {
        // A path that cannot be followed is refused when an operation asks for it; here it stands for itself.
        let place = |path: &RelPath| source.follow(path).unwrap_or_else(|_| path.clone());
        let mut places: Vec<_> = self.0.iter().map(|(path, expected)| (place(path), expected)).collect();
        places.sort_by(|(a, _), (b, _)| a.cmp(b));
        Resolved(places)
    }
}

/// Expectations by the places of the files.
pub(super) struct Resolved<'e>(Vec<(RelPath, &'e Expected)>);

impl Resolved<'_> {
    /// Compares all that is expected of the file at a place with its bytes. Linear in the bytes.
    pub(super) fn check(&self, place: &RelPath, found: Option<&[u8]>) -> Result<(), Box<Stale>> {
        let first = self.0.partition_point(|(path, _)| path < place);
        let here = self.0[first..].iter().take_while(|(path, _)| path == place);
        here.map(|(_, expected)| *expected).try_for_each(|expected| expected.check(found))
    }
}

impl Expected {
    fn check(&self, found: Option<&[u8]>) -> Result<(), Box<Stale>> {
        match self {
            Expected::Content(content) if found == Some(content.as_slice()) => Ok(()),
            Expected::Content(content) => Err(Box::new(changed(content, found))),
            Expected::Digest(expected) => {
                let now = found.map(Digest::of);
                if now == Some(*expected) {
                    return Ok(());
                }
                Err(Box::new(Stale { expected: *expected, found: now, changed: None, lines: Vec::new() }))
            }
        }
    }
}

/// The one stretch of lines outside the common beginning and end.
fn changed(old: &[u8], new: Option<&[u8]>) -> Stale {
    let expected = Digest::of(old);
    let Some(new) = new else { return Stale { expected, found: None, changed: None, lines: Vec::new() } };
    let before: Vec<&[u8]> = old.split_inclusive(|b| *b == b'\n').collect();
    let after: Vec<&[u8]> = new.split_inclusive(|b| *b == b'\n').collect();
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let tail = before[head..].iter().rev().zip(after[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let range = head..after.len() - tail;
    let lines = after[range.clone()].iter().take(MAX_LINES).enumerate();
    let lines = lines.map(|(i, line)| (head + i + 1, line.trim_ascii_end().to_vec())).collect();
    Stale { expected, found: Some(Digest::of(new)), changed: Some(range.start + 1..range.end + 1), lines }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::MemSource;

    fn checked(expect: &Expectations, path: &str, found: Option<&[u8]>) -> Result<(), Box<Stale>> {
        let tree = MemSource::new().file("a/f", "").link("l", "a/f").link("d", "a").link("lost", "nowhere");
        expect.resolve(&tree).check(&RelPath::new(path.as_bytes()).unwrap(), found)
    }

    #[test]
    fn a_change_is_told_with_its_lines() {
        let old = b"a\nb\nc\nd\n".to_vec();
        let expect = Expectations::new().content("f", old.clone()).unwrap();
        assert_eq!(checked(&expect, "f", Some(&old)), Ok(()));
        let stale = checked(&expect, "f", Some(b"a\nB\nB2\nc\nd\n")).unwrap_err();
        assert_eq!(stale.changed, Some(2..4));
        assert_eq!(stale.lines, vec![(2, b"B".to_vec()), (3, b"B2".to_vec())]);
        assert_eq!(stale.expected, Digest::of(&old));
        assert!(checked(&expect, "f", None).unwrap_err().found.is_none());
    }

    #[test]
    fn a_hash_is_compared_and_unnamed_files_are_free() {
        let expect = Expectations::new().digest("./a/f", Digest::of(b"x")).unwrap();
        assert!(checked(&expect, "a/f", Some(b"x")).is_ok());
        assert!(checked(&expect, "a/f", Some(b"y")).is_err());
        assert!(checked(&expect, "g", Some(b"y")).is_ok());
    }

    #[test]
    fn what_was_read_through_a_link_is_expected_of_the_file() {
        for name in ["l", "d/f", "a/f"] {
            let expect = Expectations::new().digest(name, Digest::of(b"x")).unwrap();
            assert!(checked(&expect, "a/f", Some(b"x")).is_ok(), "{name}");
            assert!(checked(&expect, "a/f", Some(b"y")).is_err(), "{name}");
        }
        // Names that contradict each other: one of them is stale.
        let both = Expectations::new().digest("l", Digest::of(b"x")).unwrap().digest("a/f", Digest::of(b"y")).unwrap();
        assert!(checked(&both, "a/f", Some(b"x")).is_err() && checked(&both, "a/f", Some(b"y")).is_err());
        let lost = Expectations::new().digest("lost", Digest::of(b"x")).unwrap();
        assert!(checked(&lost, "nowhere", None).is_err());
    }
}
