//! Names of temporary files: recognisable, unpredictable, and made from the transaction and the step alone, so that
//! whoever knows these two knows the name.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use super::dirs::split;
use crate::path::RelPath;

/// How the name of every temporary file begins.
pub(crate) const PREFIX: &str = ".restitch-";

/// How the name of a temporary file ends that may be removed by anyone who holds the lock.
pub(crate) const SUFFIX: &str = ".tmp";

/// What a temporary file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The new content of a step, before it is published.
    New,
    /// What stood at the path of a step.
    Old,
    /// The third name of an exchange made of renames.
    Spare,
    /// An old content that could not be put back: not removed by anyone.
    Saved,
}

/// The names of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Names {
    id: u64,
}

impl Names {
    /// Names nobody can predict: the standard library seeds its hashers from the system's random source.
    pub(super) fn new() -> Self {
        Names { id: RandomState::new().build_hasher().finish() }
    }

    /// The name for `role` of the step (or, for a spare, the action) `number`, in the directory `dir`.
    pub(super) fn path(self, dir: &str, role: Role, number: usize) -> RelPath {
        let id = self.id;
        let name = match role {
            Role::New => format!("{PREFIX}{id:016x}-{number:x}n{SUFFIX}"),
            Role::Old => format!("{PREFIX}{id:016x}-{number:x}o{SUFFIX}"),
            Role::Spare => format!("{PREFIX}{id:016x}-{number:x}s{SUFFIX}"),
            Role::Saved => format!("{PREFIX}{id:016x}-{number:x}.saved"),
        };
        RelPath::below(dir, &name)
    }

    /// As [`Names::path`], beside `path`.
    pub(super) fn beside(self, path: &RelPath, role: Role, number: usize) -> RelPath {
        self.path(split(path).0, role, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_by_role_step_and_transaction() {
        let (one, two) = (Names::new(), Names::new());
        assert_ne!(one, two);
        let path = RelPath::new(b"a/b").unwrap();
        let name = one.beside(&path, Role::New, 3);
        assert!(name.as_str().starts_with("a/.restitch-") && name.as_str().ends_with("-3n.tmp"), "{name}");
        assert_ne!(name, one.beside(&path, Role::Old, 3));
        assert_ne!(name, one.beside(&path, Role::New, 4));
        assert_ne!(name, two.beside(&path, Role::New, 3));
        assert!(!one.path("", Role::Saved, 3).as_str().ends_with(SUFFIX));
    }
}
