//! The journal: what a commit is about to do, written before its first change, so that whoever comes after a dead
//! process can bring the tree to entirely before or entirely after.
//!
//! # When and where
//! Only a commit of more than one action, or one that writes in place, has a journal: a single rename is atomic by
//! itself. It is written when everything is planned and nothing is staged yet, in [`super::place`]; under the lock of the
//! root, so there is at most one. It is removed when nothing of the commit is left to do or to clean.
//!
//! # No marks
//! One write holds the whole plan, and nothing is written per action. Whether an action was done can be seen: each
//! moves a thing from one name to another, and the thing can be told at either. An old file is told by inode, size and
//! modification time, none of which a rename changes; a new one by size and fingerprint of its content. Names of
//! temporary files cannot be guessed, so nothing else stands there by chance. One mark is left, `done`, appended after the last
//! action and before the first old content is thrown away: without it the tree goes back, with it forward. So a commit
//! of a hundred files pays five calls for its journal (create, write, write, remove, close).
//!
//! # Format, version 1
//! Numbers are little-endian; a *text* is its length (u32) and its bytes; a *path* is a text in the form of [`RelPath`].
//!
//! | bytes | what |
//! | --- | --- |
//! | 16 | `restitch-journal` |
//! | 4 | version, u32 |
//! | 8 | length of the body, u64 |
//! | 16 | XXH3-128 of the body, most significant byte first |
//! | body | see below |
//! | 0 or 5 | `done` and a newline: the mark |
//!
//! The body is: inode of the root (u64), process number (u32), 1 for `power` else 0 (u8), the part of the names of
//! temporary files that belongs to this commit (text), then three lists, each a count (u32) and its items:
//! - steps: path; what stood there (u8: 0 nothing; 1 file, 2 link, each with inode u64, size u64, modification time in
//!   ns i64, mode u32); where its new content is staged (u8 0, or 1 and a path); the new content (u8: 0 none; 1 file,
//!   2 link, each with size u64 and fingerprint 16; 3 written in place: old mode u32, new mode u32, old content text, new content text, both
//!   with u64 lengths);
//! - actions: u8 and operands: 0 make directory (path); 1 rename (thing, path, path); 2 exchange (path, path, thing at the
//!   first, thing at the second); 3 write in place (step u32). A thing is u8 (0 old, 1 new) and its step u32;
//! - old things to throw away: path and step (u32).
//!
//! A file that is shorter than it says was cut off while it was written, and then nothing had been changed. One that is long
//! enough and does not match its fingerprint is damaged: nobody acts on it, a person has to look.

use std::borrow::Cow;

use super::schedule::{Action, Thing};
use super::temp::Names;
use crate::path::RelPath;
use crate::workspace::Digest;

const MAGIC: &[u8; 16] = b"restitch-journal";
const VERSION: u32 = 1;
const HEAD: usize = 16 + 4 + 8 + 16;

/// The mark that follows the body when every action is done.
pub(super) const DONE: &[u8; 5] = b"done\n";

/// The largest journal that is read: contents are in it only when they are written in place.
pub(super) const MOST: u64 = 8 << 30;

/// A commit as its journal tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Journal<'a> {
    /// Inode of the root, so that a copy of the tree does not act on the journal in it.
    pub root: u64,
    pub pid: u32,
    pub power: bool,
    pub names: Names,
    pub steps: Vec<Entry<'a>>,
    pub actions: Cow<'a, [Action]>,
    pub discard: Cow<'a, [(RelPath, usize)]>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub path: Cow<'a, RelPath>,
    pub old: Option<Old>,
    pub staged: Option<Cow<'a, RelPath>>,
    pub new: New<'a>,
}

/// The file or link that stood at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Old {
    pub link: bool,
    pub ino: u64,
    pub size: u64,
    pub mtime: i64,
    pub mode: u32,
}

/// A new content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum New<'a> {
    None,
    Staged { link: bool, size: u64, digest: Digest },
    InPlace { old_mode: u32, new_mode: u32, old: Cow<'a, [u8]>, new: Cow<'a, [u8]> },
}

/// What the bytes of a journal say.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read<'a> {
    /// Cut off while it was written: nothing had been changed.
    CutOff,
    /// A whole journal, and whether it bears the mark.
    Whole { journal: Journal<'a>, done: bool },
}

/// Why a journal is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JournalError {
    #[error("it is no journal")]
    NoJournal,
    #[error("it is of version {0}, and this program knows version {VERSION}; use a newer one")]
    Version(u32),
    #[error("it is damaged: its content does not match its fingerprint")]
    Damaged,
    #[error("it is not consistent: {0}")]
    Inconsistent(&'static str),
}

impl Journal<'_> {
    /// The bytes of the journal, without the mark. Linear.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer(vec![0; HEAD]);
        out.u64(self.root);
        out.u32(self.pid);
        out.u8(u8::from(self.power));
        out.text(&self.names.to_string());
        out.count(self.steps.len());
        for step in &self.steps {
            out.entry(step);
        }
        out.count(self.actions.len());
        for action in self.actions.iter() {
            out.action(action);
        }
        out.count(self.discard.len());
        for (path, step) in self.discard.iter() {
            out.path(path);
            out.count(*step);
        }
        let mut bytes = out.0;
        let (head, body) = bytes.split_at_mut(HEAD);
        head[..16].copy_from_slice(MAGIC);
        head[16..20].copy_from_slice(&VERSION.to_le_bytes());
        head[20..28].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[28..].copy_from_slice(&Digest::of(body).to_bytes());
        bytes
    }
}

/// Reads the bytes of a journal. Linear, and safe for any bytes: it allocates no more than a few times their length.
///
/// # Errors
/// [`JournalError`] when they are no journal, of another version, damaged, or contradict themselves.
pub(super) fn decode(bytes: &[u8]) -> Result<Read<'_>, JournalError> {
    let common = bytes.len().min(MAGIC.len());
    if bytes[..common] != MAGIC[..common] {
        return Err(JournalError::NoJournal);
    }
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Ok(Read::CutOff) };
    let mut head = Reader(&head[16..]);
    let version = head.u32()?;
    if version != VERSION {
        return Err(JournalError::Version(version));
    }
    let Some((body, mark)) = usize::try_from(head.u64()?).ok().and_then(|len| rest.split_at_checked(len)) else {
        return Ok(Read::CutOff);
    };
    if Digest::from_bytes(head.array()?) != Digest::of(body) {
        return Err(JournalError::Damaged);
    }
    let journal = Reader(body).journal()?;
    // A mark that was cut off is none: what it allows has not begun.
    Ok(Read::Whole { journal, done: mark.starts_with(DONE) })
}

struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A count of things in memory; no plan has four billion of them.
    fn count(&mut self, value: usize) {
        self.u32(u32::try_from(value).unwrap_or(u32::MAX));
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn path(&mut self, path: &RelPath) {
        self.text(path.as_str());
    }

    fn content(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn entry(&mut self, step: &Entry<'_>) {
        self.path(&step.path);
        match &step.old {
            None => self.u8(0),
            Some(old) => {
                self.u8(if old.link { 2 } else { 1 });
                self.u64(old.ino);
                self.u64(old.size);
                self.u64(old.mtime.cast_unsigned());
                self.u32(old.mode);
            }
        }
        match &step.staged {
            None => self.u8(0),
            Some(path) => {
                self.u8(1);
                self.path(path);
            }
        }
        match &step.new {
            New::None => self.u8(0),
            New::Staged { link, size, digest } => {
                self.u8(if *link { 2 } else { 1 });
                self.u64(*size);
                self.0.extend_from_slice(&digest.to_bytes());
            }
            New::InPlace { old_mode, new_mode, old, new } => {
                self.u8(3);
                self.u32(*old_mode);
                self.u32(*new_mode);
                self.content(old);
                self.content(new);
            }
        }
    }

    fn thing(&mut self, thing: Thing) {
        let (what, step) = match thing {
            Thing::Old(step) => (0, step),
            Thing::New(step) => (1, step),
        };
        self.u8(what);
        self.count(step);
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::MakeDir(dir) => {
                self.u8(0);
                self.path(dir);
            }
            Action::Rename { thing, from, to } => {
                self.u8(1);
                self.thing(*thing);
                self.path(from);
                self.path(to);
            }
            Action::Exchange { a, b, at_a, at_b } => {
                self.u8(2);
                self.path(a);
                self.path(b);
                self.thing(*at_a);
                self.thing(*at_b);
            }
            Action::Overwrite(step) => {
                self.u8(3);
                self.count(*step);
            }
        }
    }
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

type Part<T> = Result<T, JournalError>;

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Part<&'a [u8]> {
        let short = JournalError::Inconsistent("it ends too early");
        let (taken, rest) = self.0.split_at_checked(len).ok_or(short)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Part<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Part<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u32(&mut self) -> Part<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Part<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Part<&'a [u8]> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    fn names(&mut self) -> Part<Names> {
        let text = std::str::from_utf8(self.text()?).ok();
        text.and_then(|text| text.parse().ok()).ok_or(JournalError::Inconsistent("no name of a commit"))
    }

    fn path(&mut self) -> Part<RelPath> {
        let text = self.text()?;
        match RelPath::new(text) {
            Ok(path) if path.as_str().as_bytes() == text && !path.enters_git() => Ok(path),
            _ => Err(JournalError::Inconsistent("a path leaves the root or enters `.git`")),
        }
    }

    fn content(&mut self) -> Part<Cow<'a, [u8]>> {
        let len = usize::try_from(self.u64()?).unwrap_or(usize::MAX);
        Ok(Cow::Borrowed(self.take(len)?))
    }

    /// A list whose items are at least one byte long.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Part<T>) -> Part<Vec<T>> {
        let count = self.u32()? as usize;
        if count > self.0.len() {
            return Err(JournalError::Inconsistent("a list is longer than the journal"));
        }
        (0..count).map(|_| item(self)).collect()
    }

    fn journal(mut self) -> Part<Journal<'a>> {
        let (root, pid, power, names) = (self.u64()?, self.u32()?, self.u8()? != 0, self.names()?);
        let steps = self.list(Self::entry)?;
        let most = steps.len();
        let actions = self.list(|reader| reader.action(most))?;
        let discard = self.list(|reader| Ok((reader.path()?, reader.step(most)?)))?;
        if !self.0.is_empty() {
            return Err(JournalError::Inconsistent("something follows its end"));
        }
        let in_place = |action: &Action| match action {
            Action::Overwrite(step) => matches!(steps[*step].new, New::InPlace { .. }),
            _ => true,
        };
        if !actions.iter().all(in_place) {
            return Err(JournalError::Inconsistent("a content to be written in place is missing"));
        }
        Ok(Journal { root, pid, power, names, steps, actions: actions.into(), discard: discard.into() })
    }

    fn entry(&mut self) -> Part<Entry<'a>> {
        let path = Cow::Owned(self.path()?);
        let old = match self.u8()? {
            0 => None,
            kind @ (1 | 2) => {
                let (ino, size, mtime) = (self.u64()?, self.u64()?, self.u64()?.cast_signed());
                Some(Old { link: kind == 2, ino, size, mtime, mode: self.u32()? })
            }
            _ => return Err(JournalError::Inconsistent("an unknown kind of old thing")),
        };
        let staged = match self.u8()? {
            0 => None,
            1 => Some(Cow::Owned(self.path()?)),
            _ => return Err(JournalError::Inconsistent("an unknown kind of place")),
        };
        let new = match self.u8()? {
            0 => New::None,
            kind @ (1 | 2) => {
                New::Staged { link: kind == 2, size: self.u64()?, digest: Digest::from_bytes(self.array()?) }
            }
            3 => {
                let (old_mode, new_mode) = (self.u32()?, self.u32()?);
                New::InPlace { old_mode, new_mode, old: self.content()?, new: self.content()? }
            }
            _ => return Err(JournalError::Inconsistent("an unknown kind of new thing")),
        };
        Ok(Entry { path, old, staged, new })
    }

    fn step(&mut self, most: usize) -> Part<usize> {
        let step = self.u32()? as usize;
        if step < most { Ok(step) } else { Err(JournalError::Inconsistent("a step that is not there")) }
    }

    fn thing(&mut self, most: usize) -> Part<Thing> {
        match self.u8()? {
            0 => Ok(Thing::Old(self.step(most)?)),
            1 => Ok(Thing::New(self.step(most)?)),
            _ => Err(JournalError::Inconsistent("an unknown kind of thing")),
        }
    }

    fn action(&mut self, most: usize) -> Part<Action> {
        Ok(match self.u8()? {
            0 => Action::MakeDir(self.path()?),
            1 => Action::Rename { thing: self.thing(most)?, from: self.path()?, to: self.path()? },
            2 => {
                let (a, b) = (self.path()?, self.path()?);
                Action::Exchange { a, b, at_a: self.thing(most)?, at_b: self.thing(most)? }
            }
            3 => Action::Overwrite(self.step(most)?),
            _ => return Err(JournalError::Inconsistent("an unknown action")),
        })
    }
}

mod file;
#[cfg(test)]
mod tests;

pub(super) use file::{JournalFile, Unmarked, load, sync_dir};
