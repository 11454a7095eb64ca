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
//! A [`frame`](crate::frame) of the kind `restitch-journal`; after the body stands nothing, or the mark: `done` and a newline.
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
use crate::frame::{self, FrameError, Magic, Part, Reader, Writer};
use crate::path::RelPath;
use crate::workspace::Digest;

const MAGIC: &Magic = b"restitch-journal";
const VERSION: u32 = 1;

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

impl Journal<'_> {
    /// The bytes of the journal, without the mark. Linear.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u64(self.root);
        out.u32(self.pid);
        out.u8(u8::from(self.power));
        out.text(&self.names.to_string());
        out.count(self.steps.len());
        for step in &self.steps {
            write_entry(&mut out, step);
        }
        out.count(self.actions.len());
        for action in self.actions.iter() {
            write_action(&mut out, action);
        }
        out.count(self.discard.len());
        for (path, step) in self.discard.iter() {
            out.path(path);
            out.count(*step);
        }
        out.seal(MAGIC, VERSION)
    }
}

/// Reads the bytes of a journal. Linear, and safe for any bytes: it allocates no more than a few times their length.
///
/// # Errors
/// [`FrameError`] when they are no journal, of another version, damaged, or contradict themselves.
pub(super) fn decode(bytes: &[u8]) -> Result<Read<'_>, FrameError> {
    let Some((body, mark)) = frame::open(bytes, MAGIC, VERSION)? else { return Ok(Read::CutOff) };
    let journal = read_journal(body)?;
    // A mark that was cut off is none: what it allows has not begun.
    Ok(Read::Whole { journal, done: mark.starts_with(DONE) })
}

fn write_entry(out: &mut Writer, step: &Entry<'_>) {
    out.path(&step.path);
    match &step.old {
        None => out.u8(0),
        Some(old) => {
            out.u8(if old.link { 2 } else { 1 });
            out.u64(old.ino);
            out.u64(old.size);
            out.u64(old.mtime.cast_unsigned());
            out.u32(old.mode);
        }
    }
    out.option(step.staged.as_deref(), Writer::path);
    match &step.new {
        New::None => out.u8(0),
        New::Staged { link, size, digest } => {
            out.u8(if *link { 2 } else { 1 });
            out.u64(*size);
            out.digest(*digest);
        }
        New::InPlace { old_mode, new_mode, old, new } => {
            out.u8(3);
            out.u32(*old_mode);
            out.u32(*new_mode);
            out.content(old.len(), [&**old]);
            out.content(new.len(), [&**new]);
        }
    }
}

fn write_thing(out: &mut Writer, thing: Thing) {
    let (what, step) = match thing {
        Thing::Old(step) => (0, step),
        Thing::New(step) => (1, step),
    };
    out.u8(what);
    out.count(step);
}

fn write_action(out: &mut Writer, action: &Action) {
    match action {
        Action::MakeDir(dir) => {
            out.u8(0);
            out.path(dir);
        }
        Action::Rename { thing, from, to } => {
            out.u8(1);
            write_thing(out, *thing);
            out.path(from);
            out.path(to);
        }
        Action::Exchange { a, b, at_a, at_b } => {
            out.u8(2);
            out.path(a);
            out.path(b);
            write_thing(out, *at_a);
            write_thing(out, *at_b);
        }
        Action::Overwrite(step) => {
            out.u8(3);
            out.count(*step);
        }
    }
}

fn read_journal(mut body: Reader<'_>) -> Part<Journal<'_>> {
    let (root, pid, power) = (body.u64()?, body.u32()?, body.u8()? != 0);
    let names = std::str::from_utf8(body.text()?).ok().and_then(|text| text.parse().ok());
    let names: Names = names.ok_or(FrameError::Inconsistent("no name of a commit"))?;
    let steps = body.list(read_entry)?;
    let most = steps.len();
    let actions = body.list(|body| read_action(body, most))?;
    let discard = body.list(|body| Ok((body.path()?, read_step(body, most)?)))?;
    body.end()?;
    let in_place = |action: &Action| match action {
        Action::Overwrite(step) => matches!(steps[*step].new, New::InPlace { .. }),
        _ => true,
    };
    if !actions.iter().all(in_place) {
        return Err(FrameError::Inconsistent("a content to be written in place is missing"));
    }
    Ok(Journal { root, pid, power, names, steps, actions: actions.into(), discard: discard.into() })
}

fn read_entry<'a>(body: &mut Reader<'a>) -> Part<Entry<'a>> {
    let path = Cow::Owned(body.path()?);
    let old = match body.u8()? {
        0 => None,
        kind @ (1 | 2) => {
            let (ino, size, mtime) = (body.u64()?, body.u64()?, body.u64()?.cast_signed());
            Some(Old { link: kind == 2, ino, size, mtime, mode: body.u32()? })
        }
        _ => return Err(FrameError::Inconsistent("an unknown kind of old thing")),
    };
    let staged = body.option(|body| body.path().map(Cow::Owned))?;
    let new = match body.u8()? {
        0 => New::None,
        kind @ (1 | 2) => New::Staged { link: kind == 2, size: body.u64()?, digest: body.digest()? },
        3 => {
            let (old_mode, new_mode) = (body.u32()?, body.u32()?);
            New::InPlace { old_mode, new_mode, old: body.content()?, new: body.content()? }
        }
        _ => return Err(FrameError::Inconsistent("an unknown kind of new thing")),
    };
    Ok(Entry { path, old, staged, new })
}

fn read_step(body: &mut Reader<'_>, most: usize) -> Part<usize> {
    let step = body.u32()? as usize;
    if step < most { Ok(step) } else { Err(FrameError::Inconsistent("a step that is not there")) }
}

fn read_thing(body: &mut Reader<'_>, most: usize) -> Part<Thing> {
    match body.u8()? {
        0 => Ok(Thing::Old(read_step(body, most)?)),
        1 => Ok(Thing::New(read_step(body, most)?)),
        _ => Err(FrameError::Inconsistent("an unknown kind of thing")),
    }
}

fn read_action(body: &mut Reader<'_>, most: usize) -> Part<Action> {
    Ok(match body.u8()? {
        0 => Action::MakeDir(body.path()?),
        1 => Action::Rename { thing: read_thing(body, most)?, from: body.path()?, to: body.path()? },
        2 => {
            let (a, b) = (body.path()?, body.path()?);
            Action::Exchange { a, b, at_a: read_thing(body, most)?, at_b: read_thing(body, most)? }
        }
        3 => Action::Overwrite(read_step(body, most)?),
        _ => return Err(FrameError::Inconsistent("an unknown action")),
    })
}

mod file;
#[cfg(test)]
mod tests;

pub(super) use file::{JournalFile, Unmarked, load, sync_dir};
