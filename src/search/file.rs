//! One file: how it is read, what kind of text it is, and which engine searches it.

use std::fs::File;
use std::io::{self, Read, Seek as _};

use super::found::{Event, PathBytes, Tally};
use super::grep::Engine;
use super::hits::{Hits, Keep, Want};
use super::pieces;
use crate::limits::Stop;
use crate::text::UTF8_BOM;
use crate::workspace::Stamp;
use crate::workspace::tree::read_up_to;

/// Files up to this size are read as a whole before they are searched.
const WHOLE: usize = 1 << 20;

/// The largest file for a multi-line search, which needs all of it in memory.
const MULTILINE: usize = 64 << 20;

/// A read buffer that grew larger than this for one file is given back.
const KEPT_BUFFER: usize = 2 << 20;

/// What a thread needs to search files.
pub(super) struct FileSearch<'s> {
    pub(super) engine: Engine<'s>,
    pub(super) stop: &'s Stop,
    buffer: Vec<u8>,
}

/// How one file is to be searched.
pub(super) struct Order<'o> {
    pub(super) want: Want,
    /// Hits are told, but not shown.
    pub(super) denied: bool,
    pub(super) path: &'o dyn Fn() -> PathBytes,
}

/// What came of a file.
pub(super) enum Searched {
    /// The file, to its end or as far as wanted.
    Done(Option<Event>),
    /// Too much is kept without knowing whether it is shown.
    Overflow,
}

impl<'s> FileSearch<'s> {
    pub(super) fn new(engine: Engine<'s>, stop: &'s Stop) -> Self {
        FileSearch { engine, stop, buffer: Vec::new() }
    }

    /// Searches an open file. What the answer should know of it besides its hits goes into `tally` and `extra`.
    pub(super) fn search(
        &mut self,
        file: &mut File,
        stamp: &Stamp,
        order: &Order<'_>,
        keep: &mut Keep,
        tally: &mut Tally,
        extra: &mut Vec<Event>,
    ) -> Searched {
        tally.files += 1;
        let most = if self.engine.multiline { MULTILINE } else { WHOLE };
        let whole = read_up_to(file, stamp.size, most, &mut self.buffer);
        let result = match whole {
            Err(error) => Err(io::Error::from(error)),
            Ok(true) => self.search_whole(order, keep, tally),
            Ok(false) if self.engine.multiline => Ok(Searched::Done(Some(Event::TooLarge((order.path)(), stamp.size)))),
            Ok(false) => self.search_stream(file, order, keep, tally, extra),
        };
        if self.buffer.capacity() > KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        result.unwrap_or_else(|error| Searched::Done(Some(Event::Unreadable((order.path)(), error.to_string()))))
    }

    fn search_whole(&mut self, order: &Order<'_>, keep: &mut Keep, tally: &mut Tally) -> io::Result<Searched> {
        tally.bytes += self.buffer.len() as u64;
        let want = if order.denied { Want::First } else { order.want };
        let start = *keep;
        let mut hits = Hits::new(want, keep, false);
        let text = &self.buffer[..];
        if matches!(text, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
            self.engine.stream(text, &mut hits)?;
        } else {
            self.engine.slice(text.strip_prefix(UTF8_BOM).unwrap_or(text), &mut hits)?;
            hits.binary = hits.any() && memchr::memchr(0, text).is_some();
        }
        Ok(settle(hits, start, order, tally))
    }

    fn search_stream(
        &mut self,
        file: &mut File,
        order: &Order<'_>,
        keep: &mut Keep,
        tally: &mut Tally,
        extra: &mut Vec<Event>,
    ) -> io::Result<Searched> {
        file.rewind()?;
        let want = if order.denied { Want::First } else { order.want };
        let start = *keep;
        let mut guard = Guard { file, stop: self.stop, failed: false, read: 0 };
        let mut hits = Hits::new(want, keep, true);
        let result = self.engine.stream(&mut guard, &mut hits);
        tally.bytes += guard.read;
        match result {
            Ok(()) => return Ok(settle(hits, start, order, tally)),
            Err(error) if guard.failed => return Err(error),
            // The one other error there is: a line that does not fit in memory.
            Err(_) => *keep = start,
        }
        file.rewind()?;
        let mut guard = Guard { file, stop: self.stop, failed: false, read: 0 };
        let mut hits = Hits::new(want, keep, true);
        pieces::search(&mut self.engine, &mut guard, &mut self.buffer, &mut hits)?;
        extra.push(Event::InPieces((order.path)()));
        Ok(settle(hits, start, order, tally))
    }
}

/// What the hits of a file are to the answer.
fn settle(hits: Hits<'_>, start: Keep, order: &Order<'_>, tally: &mut Tally) -> Searched {
    tally.binary += u64::from(hits.binary);
    if hits.overflow {
        return Searched::Overflow;
    }
    if order.denied || hits.binary {
        let any = hits.any();
        hits.give_back(start);
        let event = if order.denied { Event::Denied } else { Event::Binary };
        return Searched::Done(any.then(|| event((order.path)())));
    }
    Searched::Done(hits.found(|| (order.path)()).map(Event::Found))
}

/// A file that ends early when the search is to stop.
pub(super) struct Guard<'g> {
    file: &'g mut File,
    stop: &'g Stop,
    failed: bool,
    read: u64,
}

impl Read for Guard<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.asked() {
            return Ok(0);
        }
        match self.file.read(into) {
            Ok(read) => {
                self.read += read as u64;
                Ok(read)
            }
            Err(error) => {
                self.failed = error.kind() != io::ErrorKind::Interrupted;
                Err(error)
            }
        }
    }
}
