//! What the caller read before it wrote the patch: the only sure cure for a patch made from old text.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::path::{PathError, RelPath};
use crate::workspace::Digest;

/// How many lines of the file as it is now a stale refusal shows.
const MAX_LINES: usize = 16;

/// What the caller believes the files to hold, by path.
///
/// A file that differs is refused as stale before any hunk is placed.
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

    /// Compares what is expected of a file, under any of its names, with its bytes. Linear in the bytes.
    pub(super) fn check(&self, names: &[&RelPath], found: Option<&[u8]>) -> Result<(), Box<Stale>> {
        let Some(expected) = names.iter().find_map(|name| self.0.get(*name)) else { return Ok(()) };
        match expected {
            Expected::Content(content) if found == Some(content) => Ok(()),
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

    #[test]
    fn a_change_is_told_with_its_lines() {
        let old = b"a\nb\nc\nd\n".to_vec();
        let expect = Expectations::new().content("f", old.clone()).unwrap();
        let path = RelPath::new(b"f").unwrap();
        assert_eq!(expect.check(&[&path], Some(&old)), Ok(()));
        let stale = expect.check(&[&path], Some(b"a\nB\nB2\nc\nd\n")).unwrap_err();
        assert_eq!(stale.changed, Some(2..4));
        assert_eq!(stale.lines, vec![(2, b"B".to_vec()), (3, b"B2".to_vec())]);
        assert_eq!(stale.expected, Digest::of(&old));
        assert!(expect.check(&[&path], None).unwrap_err().found.is_none());
    }

    #[test]
    fn a_hash_is_compared_and_unnamed_files_are_free() {
        let expect = Expectations::new().digest("./a/f", Digest::of(b"x")).unwrap();
        let named = RelPath::new(b"a/f").unwrap();
        let other = RelPath::new(b"g").unwrap();
        assert!(expect.check(&[&named], Some(b"x")).is_ok());
        assert!(expect.check(&[&named], Some(b"y")).is_err());
        assert!(expect.check(&[&other], Some(b"y")).is_ok());
    }
}
