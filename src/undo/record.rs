//! The form of an undo record: pure.
//!
//! A [`frame`](crate::frame) of the kind `restitch-undo-01`, version 1. The body is: when the patch was applied (seconds since 1970,
//! u64); a list of ways back; a list of the directories the patch made (paths). A way back is: the path; what the patch left
//! there (u8: 0 nothing; 1 file: size u64, fingerprint 16; 2 link: text); what was there before (u8: 0 nothing; 1 file:
//! content, u8 0 or 1 and the path whose file it is now, u8 0 or 1 and the mode u32; 2 link: text; 3 the very file that
//! stands at another path now: path).

use std::borrow::Cow;
use std::sync::Arc;

use crate::frame::{self, FrameError, Magic, Part, Reader, Writer};
use crate::path::RelPath;
use crate::plan::{After, Before, NewContent, NewMode, Step};
use crate::text::Spliced;
use crate::workspace::Digest;

const MAGIC: &Magic = b"restitch-undo-01";
const VERSION: u32 = 1;

/// A record as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub when: u64,
    pub steps: Vec<Way<'a>>,
    /// Directories that the patch made, outer ones first.
    pub made: Vec<RelPath>,
}

/// The way back of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Way<'a> {
    pub path: RelPath,
    pub now: Now,
    pub then: Then<'a>,
}

/// What the patch left at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Now {
    Absent,
    File { size: u64, digest: Digest },
    Link(Vec<u8>),
}

/// What was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Then<'a> {
    Absent,
    File { content: Cow<'a, [u8]>, like: Option<RelPath>, mode: Option<u32> },
    Link(Vec<u8>),
    Moved(RelPath),
}

impl Then<'_> {
    /// As the end of a step.
    pub(super) fn after(&self) -> After {
        match self {
            Then::Absent => After::Absent,
            Then::Link(target) => After::Link { target: target.clone() },
            Then::Moved(from) => After::Moved { from: from.clone() },
            Then::File { content, like, mode } => {
                let spliced = Spliced::from_fresh(content.to_vec());
                let content = NewContent { base: Arc::default(), spliced };
                After::Content { content, like: like.clone(), mode: mode.map(NewMode::Exactly) }
            }
        }
    }
}

/// The record of steps that lead back.
pub(super) fn encode(steps: &[Step], made: &[RelPath], when: u64) -> Vec<u8> {
    let mut out = Writer::new();
    out.u64(when);
    out.count(steps.len());
    for step in steps {
        out.path(&step.path);
        write_now(&mut out, &step.before);
        write_then(&mut out, &step.after);
    }
    out.count(made.len());
    made.iter().for_each(|dir| out.path(dir));
    out.seal(MAGIC, VERSION)
}

fn write_now(out: &mut Writer, now: &Before) {
    match now {
        Before::Absent => out.u8(0),
        Before::File(data) => {
            out.u8(1);
            out.u64(data.bytes.len() as u64);
            out.digest(Digest::of(&data.bytes));
        }
        Before::Link(target) => {
            out.u8(2);
            out.content(target.len(), [target.as_slice()]);
        }
    }
}

fn write_then(out: &mut Writer, then: &After) {
    match then {
        After::Absent => out.u8(0),
        After::Content { content, like, mode } => {
            out.u8(1);
            out.content(content.spliced.len(), content.slices());
            out.option(like.as_ref(), Writer::path);
            out.option(mode.map(NewMode::bits), Writer::u32);
        }
        After::Link { target } => {
            out.u8(2);
            out.content(target.len(), [target.as_slice()]);
        }
        After::Moved { from } => {
            out.u8(3);
            out.path(from);
        }
    }
}

/// Reads a record; `None` when it was cut off while it was written. Safe for any bytes.
///
/// # Errors
/// [`FrameError`] when it is none, of another version, or damaged.
pub(super) fn decode(bytes: &[u8]) -> Result<Option<Record<'_>>, FrameError> {
    let Some((mut body, _)) = frame::open(bytes, MAGIC, VERSION)? else { return Ok(None) };
    let when = body.u64()?;
    let steps = body.list(|body| Ok(Way { path: body.path()?, now: read_now(body)?, then: read_then(body)? }))?;
    let made = body.list(Reader::path)?;
    body.end()?;
    Ok(Some(Record { when, steps, made }))
}

fn read_now(body: &mut Reader<'_>) -> Part<Now> {
    match body.u8()? {
        0 => Ok(Now::Absent),
        1 => Ok(Now::File { size: body.u64()?, digest: body.digest()? }),
        2 => Ok(Now::Link(body.content()?.into_owned())),
        _ => Err(FrameError::Inconsistent("an unknown kind of thing")),
    }
}

fn read_then<'a>(body: &mut Reader<'a>) -> Part<Then<'a>> {
    match body.u8()? {
        0 => Ok(Then::Absent),
        1 => {
            let content = body.content()?;
            Ok(Then::File { content, like: body.option(Reader::path)?, mode: body.option(Reader::u32)? })
        }
        2 => Ok(Then::Link(body.content()?.into_owned())),
        3 => Ok(Then::Moved(body.path()?)),
        _ => Err(FrameError::Inconsistent("an unknown kind of thing")),
    }
}
