//! The only way to name a file: a relative path with `/` between its parts, checked once.

use std::borrow::Borrow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The longest path in bytes: what Linux takes, and more than others do. Work on a path may be quadratic in its parts.
const MAX_LEN: usize = 4_095;

/// Why a text is no path below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// Nothing is left once `.` and empty parts are dropped.
    #[error("the path is empty")]
    Empty,
    /// The path has a `..` part.
    #[error("the path has a `..` part, which may lead outside the root")]
    Parent,
    /// The path begins with `/`.
    #[error("the path is absolute and lies outside the root")]
    Absolute,
    /// The path has a NUL byte.
    #[error("the path has a NUL byte")]
    Nul,
    /// The path ends in `/` and so names a directory.
    #[error("the path ends in a slash, so it names a directory")]
    TrailingSlash,
    /// The path is not UTF-8.
    #[error("the path is not UTF-8")]
    NotUtf8,
    /// The path is longer than any system takes.
    #[error("the path has {0} bytes; at most {MAX_LEN} can be named")]
    TooLong(usize),
}

/// A path below the root: relative, `/` between parts, no empty part, no `.`, no `..`, no NUL, UTF-8.
///
/// Whether it stays inside the root once links are followed is for the workspace to find out; the text alone cannot
/// leave it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(Arc<str>);

impl RelPath {
    /// Checks `text` and drops `.` and empty parts.
    ///
    /// # Errors
    /// [`PathError`] says which rule the text breaks.
    pub fn new(text: &[u8]) -> Result<Self, PathError> {
        if text.contains(&0) {
            return Err(PathError::Nul);
        }
        let text = std::str::from_utf8(text).map_err(|_| PathError::NotUtf8)?;
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if text.ends_with('/') {
            return Err(PathError::TrailingSlash);
        }
        if text.len() > MAX_LEN {
            return Err(PathError::TooLong(text.len()));
        }
        if text.split('/').all(|part| !matches!(part, "" | "." | "..")) {
            return Ok(RelPath(text.into()));
        }
        let mut out = String::with_capacity(text.len());
        for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(PathError::Parent);
            }
            if !out.is_empty() {
                out.push('/');
            }
            out.push_str(part);
        }
        if out.is_empty() {
            return Err(PathError::Empty);
        }
        Ok(RelPath(out.into()))
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path for the standard library's functions, still relative.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&*self.0)
    }

    /// The parts, in order; there is at least one.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// The last part.
    #[must_use]
    pub fn name(&self) -> &str {
        split_last(&self.0).map_or(&*self.0, |(_, name)| name)
    }

    /// The directory the path is in, or `None` when that is the root.
    #[must_use]
    pub fn parent(&self) -> Option<RelPath> {
        split_last(&self.0).map(|(parent, _)| RelPath(parent.into()))
    }

    /// The path of `name` in the directory `parent` (`None`: the root). `name` must be one part of a checked path.
    pub(crate) fn child(parent: Option<&RelPath>, name: &str) -> RelPath {
        match parent {
            Some(parent) => RelPath::below(&parent.0, name),
            None => RelPath(name.into()),
        }
    }

    /// The path of `name` in the directory `dir` (empty: the root). Both must be of checked paths.
    pub(crate) fn below(dir: &str, name: &str) -> RelPath {
        if dir.is_empty() { RelPath(name.into()) } else { RelPath([dir, "/", name].concat().into()) }
    }

    /// Whether any part is `.git`, in any case.
    #[must_use]
    pub fn enters_git(&self) -> bool {
        self.parts().any(|part| part.eq_ignore_ascii_case(".git"))
    }
}

/// A path's directory and its last part; `None` where the path is one part. Asked some ten times for each file of a patch.
pub(crate) fn split_last(path: &str) -> Option<(&str, &str)> {
    let slash = memchr::memrchr(b'/', path.as_bytes())?;
    Some((&path[..slash], &path[slash + 1..]))
}

/// A path is looked up by its text: both hash and compare alike.
impl Borrow<str> for RelPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_normalised_or_refused_by_rule() {
        let cases: &[(&str, Result<&str, PathError>)] = &[
            ("a", Ok("a")),
            ("./a//b/./c", Ok("a/b/c")),
            ("a\\b", Ok("a\\b")),
            ("..a/b..", Ok("..a/b..")),
            ("", Err(PathError::Empty)),
            (".", Err(PathError::Empty)),
            ("a/../b", Err(PathError::Parent)),
            ("/a", Err(PathError::Absolute)),
            ("a/", Err(PathError::TrailingSlash)),
            ("a\0b", Err(PathError::Nul)),
        ];
        for (text, want) in cases {
            let got = RelPath::new(text.as_bytes());
            assert_eq!(got.as_ref().map(RelPath::as_str).map_err(|e| *e), *want, "{text:?}");
        }
        assert_eq!(RelPath::new(b"\xff"), Err(PathError::NotUtf8));
        assert!(RelPath::new(&[b'a'; MAX_LEN]).is_ok());
        assert_eq!(RelPath::new(&[b'a'; MAX_LEN + 1]), Err(PathError::TooLong(MAX_LEN + 1)));
    }

    #[test]
    fn git_is_met_in_any_case_and_depth() {
        for (text, want) in [(".git", true), ("a/.GiT/b", true), (".gitignore", false), ("a.git/b", false)] {
            assert_eq!(RelPath::new(text.as_bytes()).unwrap().enters_git(), want, "{text}");
        }
    }
}
