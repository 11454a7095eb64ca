//! Names of temporary files: recognisable, and made from the commit and the step alone, so that whoever knows these two
//! knows the name.
//!
//! A commit with a journal takes a number nobody can predict. One without, a single rename or exchange, has nowhere to
//! write down what it is about; what is needed to clean up after it stands in the name itself: fingerprints of the identity of
//! the old file, of the new content and of the target's name.

use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::str::FromStr;

use super::dirs::split;
use crate::path::RelPath;
use crate::workspace::{Digest, Stamp};

/// How the name of every temporary file begins.
pub(crate) const PREFIX: &str = ".restitch-";

/// How the name of a temporary file ends that may be removed by those who hold the lock and know its commit.
pub(crate) const SUFFIX: &str = ".tmp";

/// How much of a new content its fingerprint in a name covers, besides its length.
pub(super) const HEAD: usize = 64 << 10;

/// What a temporary file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The new content of a step, before it is published; what it was exchanged with, afterwards.
    New,
    /// What stood at the path of a step.
    Old,
    /// The third name of an exchange made of renames.
    Spare,
    /// An old content that could not be put back: not removed by anyone.
    Saved,
}

/// The names of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Names {
    id: u64,
    /// What a commit without a journal puts in its names; its `id` is then that of the old file.
    single: Option<Single>,
}

/// Fingerprints of a commit of one action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Single {
    content: u64,
    target: u64,
}

impl Names {
    /// Names nobody can predict: the standard library seeds its hashers from the system's random source.
    pub(super) fn new() -> Self {
        Names { id: RandomState::new().build_hasher().finish(), single: None }
    }

    /// The names of a commit of one action: on the old file, which becomes `content`, and whose name is `target`.
    pub(super) fn single(old: &Stamp, content: u64, target: &str) -> Self {
        Names { id: of_stamp(old), single: Some(Single { content, target: of_name(target.as_bytes()) }) }
    }

    /// The name for `role` of the step (or, for a spare, the action) `number`, in the directory `dir`.
    pub(super) fn path(self, dir: &str, role: Role, number: usize) -> RelPath {
        let (role, suffix) = match role {
            Role::New => ("n", SUFFIX),
            Role::Old => ("o", SUFFIX),
            Role::Spare => ("s", SUFFIX),
            Role::Saved => ("", ".saved"),
        };
        let mut name = String::with_capacity(PREFIX.len() + 3 * 16 + 18 + suffix.len());
        name.push_str(PREFIX);
        self.push(&mut name);
        name.push('-');
        push_hex(&mut name, number as u64, 1);
        name.push_str(role);
        name.push_str(suffix);
        RelPath::below(dir, &name)
    }

    /// As [`Names::path`], beside `path`.
    pub(super) fn beside(self, path: &RelPath, role: Role, number: usize) -> RelPath {
        self.path(split(path).0, role, number)
    }

    fn push(self, out: &mut String) {
        push_hex(out, self.id, 16);
        if let Some(Single { content, target }) = self.single {
            push_hex(out, content, 16);
            push_hex(out, target, 16);
        }
    }

    /// Whether these are the names of a commit without a journal that meant this old file.
    pub(super) fn means_old(self, old: &Stamp) -> bool {
        self.id == of_stamp(old)
    }

    /// As [`Names::means_old`], for a target of that name.
    pub(super) fn means_target(self, name: &[u8]) -> bool {
        self.single.is_some_and(|single| single.target == of_name(name))
    }

    /// As [`Names::means_old`], for a new content with that fingerprint ([`of_content`]).
    pub(super) fn means_content(self, content: u64) -> bool {
        self.single.is_some_and(|single| single.content == content)
    }

    /// Whether the name says what the file is.
    pub(super) fn is_single(self) -> bool {
        self.single.is_some()
    }
}

/// Commit and role that the name of a temporary file tells; `None` for every other name.
pub(super) fn told_by(name: &[u8]) -> Option<(Names, Role)> {
    let inner = std::str::from_utf8(name).ok()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (names, rest) = inner.rsplit_once('-')?;
    let role = match rest.as_bytes().split_last()? {
        (b'n', number) if is_hex(number) => Role::New,
        (b'o', number) if is_hex(number) => Role::Old,
        (b's', number) if is_hex(number) => Role::Spare,
        _ => return None,
    };
    Some((names.parse().ok()?, role))
}

fn is_hex(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The fingerprint of a content by its length and its first [`HEAD`] bytes.
pub(super) fn of_content<'a>(len: u64, slices: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let len = len.to_le_bytes();
    let mut left = HEAD;
    let head = slices.into_iter().map_while(|slice| {
        let taken = &slice[..slice.len().min(left)];
        left -= taken.len();
        (!taken.is_empty() || left > 0).then_some(taken)
    });
    short(Digest::of_slices([&len[..]].into_iter().chain(head)))
}

fn of_stamp(stamp: &Stamp) -> u64 {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&stamp.ino.to_le_bytes());
    bytes[8..16].copy_from_slice(&stamp.size.to_le_bytes());
    bytes[16..].copy_from_slice(&stamp.mtime.to_le_bytes());
    short(Digest::of(&bytes))
}

fn of_name(name: &[u8]) -> u64 {
    short(Digest::of(name))
}

fn short(digest: Digest) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = digest.to_bytes();
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push(&mut text);
        f.write_str(&text)
    }
}

/// Appends `value` in at least `digits` hexadecimal digits. A patch of many files makes many names, and the standard
/// formatting takes longer than all else about them.
fn push_hex(out: &mut String, value: u64, digits: u32) {
    let needed = (64 - value.leading_zeros()).div_ceil(4).max(digits);
    let nibbles = (0..needed).rev().map(|nibble| (value >> (4 * nibble)) as u32 & 0xf);
    out.extend(nibbles.filter_map(|nibble| char::from_digit(nibble, 16)));
}

impl FromStr for Names {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if !is_hex(text.as_bytes()) {
            return Err(());
        }
        let part = |from: usize| u64::from_str_radix(&text[from..from + 16], 16).map_err(drop);
        match text.len() {
            16 => Ok(Names { id: part(0)?, single: None }),
            48 => Ok(Names { id: part(0)?, single: Some(Single { content: part(16)?, target: part(32)? }) }),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_does() {
        for value in [0, 1, 0xf, 0x10, 0xabc, 0x1234_5678_9abc_def0, u64::MAX] {
            let (mut short, mut long) = (String::new(), String::new());
            push_hex(&mut short, value, 1);
            push_hex(&mut long, value, 16);
            assert_eq!((short, long), (format!("{value:x}"), format!("{value:016x}")));
        }
    }

    #[test]
    fn names_differ_by_role_step_and_commit() {
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

    #[test]
    fn a_name_tells_its_commit_and_role_and_no_other_name_does() {
        let old = Stamp { ino: 7, size: 3, mtime: 99, ..Stamp::default() };
        let single = Names::single(&old, of_content(3, [&b"new"[..]]), "target");
        for names in [Names::new(), single] {
            for role in [Role::New, Role::Old, Role::Spare] {
                assert_eq!(told_by(names.path("", role, 255).as_str().as_bytes()), Some((names, role)));
            }
            assert_eq!(told_by(names.path("", Role::Saved, 0).as_str().as_bytes()), None);
        }
        assert!(single.is_single() && single.means_old(&old) && single.means_target(b"target"));
        assert!(single.means_content(of_content(3, [&b"n"[..], b"", b"ew"])) && !single.means_content(0));
        assert!(!single.means_old(&Stamp { size: 4, ..old }) && !single.means_target(b"targe"));
        for other in
            ["x", ".restitch-.tmp", ".restitch-0n.tmp", ".restitch-0123456789abcdeF-0n.tmp", ".restitch-journal"]
        {
            assert_eq!(told_by(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_fingerprint_of_a_content_covers_its_head_and_length() {
        let long = vec![b'x'; HEAD + 10];
        let same = of_content(long.len() as u64, [&long[..10], &long[10..]]);
        assert_eq!(of_content(long.len() as u64, [&long[..]]), same);
        assert_eq!(of_content(long.len() as u64, [&long[..HEAD]]), same);
        assert_ne!(of_content(1 + long.len() as u64, [&long[..]]), same);
    }
}
