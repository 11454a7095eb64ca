//! The work of a search: directories turn into runs of files, and runs into batches of hits.

use std::fs::File;

use super::file::{FileSearch, Order, Searched};
use super::found::{Batch, Event, PathBytes};
use super::grep::Engine;
use super::hits::{Keep, Want};
use super::listing::{Run, as_path};
use super::options::{Mode, SearchOptions};
use super::order::{Job, Part, Step};
use super::pattern::Pattern;
use super::select::Filter;
use super::walk::{self, Listed, Walk, Work};
use crate::limits::Stop;
use crate::workspace::Stamp;
use crate::workspace::ops::Errno;

/// The most bytes of hits that a run keeps while it is not known which of them are shown.
const MOST_AHEAD: usize = 4 << 20;

/// How many files and directories are looked at beyond the last row that is shown, to count further rows.
pub(super) const LOOK_AHEAD: u64 = 32;

/// Rows that are still wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) skip: u64,
    pub(super) keep: u64,
}

/// One run of a search.
pub(super) struct SearchJob<'s> {
    pub(super) pattern: &'s Pattern,
    pub(super) options: &'s SearchOptions,
    pub(super) filter: &'s Filter,
    pub(super) stop: &'s Stop,
}

/// A search of the files of a walk.
pub(super) struct TreeJob<'s> {
    pub(super) search: SearchJob<'s>,
    pub(super) walk: Walk<'s>,
}

/// What a thread keeps from piece to piece.
pub(super) struct Scratch<'s> {
    file: FileSearch<'s>,
    walk: walk::Scratch,
}

impl<'s> SearchJob<'s> {
    /// A new thread's file search.
    pub(super) fn file_search(&self) -> FileSearch<'s> {
        FileSearch::new(Engine::new(self.pattern, self.options), self.stop)
    }

    fn keep(&self, ask: Option<Ask>) -> Keep {
        let (limit, offset) = (self.options.limit as u64, self.options.offset as u64);
        Keep {
            skip: ask.map_or(0, |ask| ask.skip),
            keep: ask.map_or(limit.saturating_add(offset), |ask| ask.keep),
            ahead: ask.is_none(),
            shortens: ask.is_some() || offset == 0,
            row_bytes: self.options.max_row_bytes,
            bytes: self.options.bytes(),
            enough: if self.options.stats { u64::MAX } else { limit.saturating_add(offset).saturating_add(1) },
        }
    }

    fn want(&self) -> Want {
        match self.options.mode {
            Mode::Files => Want::First,
            Mode::Count => Want::Count,
            Mode::Content => Want::Lines,
        }
    }

    /// Searches one file on its own: the one that was named outright.
    pub(super) fn one_file(&self, path: &[u8], file: &mut File, stamp: &Stamp) -> Batch {
        let ask = Ask { skip: self.options.offset as u64, keep: self.options.limit as u64 };
        let mut keep = self.keep(Some(ask));
        let mut batch = Batch::default();
        let shown = || -> PathBytes { path.into() };
        let order = Order { want: self.want(), denied: self.filter.denies(as_path(path)), path: &shown };
        let Batch { events, tally, .. } = &mut batch;
        match self.file_search().search(file, stamp, &order, &mut keep, tally, events) {
            Searched::Done(event) => batch.events.extend(event),
            // Only what is searched ahead of others can be too much.
            Searched::Overflow => {}
        }
        batch.interrupted = self.stop.cause().is_some();
        batch
    }
}

impl<'s> Job for TreeJob<'s> {
    type Work = Work;
    type Output = Batch;
    type Ask = Ask;
    type Scratch = Scratch<'s>;

    fn scratch(&self) -> Scratch<'s> {
        Scratch { file: self.search.file_search(), walk: walk::Scratch::default() }
    }

    fn perform(&self, work: Work, ask: Option<Ask>, scratch: &mut Scratch<'s>) -> Step<Self> {
        if self.search.stop.asked() {
            return Step::Done(Batch { interrupted: true, ..Batch::default() });
        }
        match work {
            Work::Run(run) => match self.run(&run, ask, &mut scratch.file) {
                Some(batch) => Step::Done(batch),
                None => Step::AtHead(Work::Run(run)),
            },
            Work::Folder(folder) => match self.walk.list(&folder, &mut scratch.walk) {
                Ok(listed) => split(listed),
                Err((path, error)) => Step::Done(unreadable(path, error)),
            },
            Work::Link(link) => split(self.walk.follow(&link)),
        }
    }

    fn effort(batch: &Batch) -> u64 {
        batch.effort()
    }

    fn weight(batch: &Batch) -> usize {
        batch.weight()
    }

    fn alone(&self, work: &Work) -> bool {
        self.walk.in_turn(work)
    }
}

/// What a directory or link turned into, as parts: first what was noticed, then the work.
fn split<'s>(listed: Listed) -> Step<TreeJob<'s>> {
    let noticed = Part::Output(Batch { tally: listed.tally, ..Batch::default() });
    Step::Split(std::iter::once(noticed).chain(listed.works.into_iter().map(Part::Work)).collect())
}

/// A directory that could not be listed; one that is gone by now is nothing to speak of.
pub(super) fn unreadable(path: PathBytes, error: Errno) -> Batch {
    let mut batch = Batch::default();
    missed(error, || path, &mut batch);
    batch
}

impl<'s> TreeJob<'s> {
    /// Searches a run; `None` when it keeps too much while it is not known which of it is shown.
    fn run(&self, run: &Run, ask: Option<Ask>, search: &mut FileSearch<'s>) -> Option<Batch> {
        let mut batch = Batch::default();
        let mut keep = self.search.keep(ask);
        let mut held = 0;
        for index in run.entries.clone() {
            if self.search.stop.asked() {
                break;
            }
            let path = || run.path(index);
            match run.open(&self.walk, index) {
                Ok((mut file, stamp)) => {
                    let order = Order {
                        want: self.search.want(),
                        denied: self.walk.filter.has_denied() && self.walk.filter.denies(as_path(&path())),
                        path: &path,
                    };
                    let Batch { events, tally, .. } = &mut batch;
                    match search.search(&mut file, &stamp, &order, &mut keep, tally, events) {
                        Searched::Overflow => return None,
                        Searched::Done(Some(event)) => {
                            held += event.weight();
                            batch.events.push(event);
                        }
                        Searched::Done(None) => {}
                    }
                }
                Err(error) => missed(error, path, &mut batch),
            }
            if ask.is_none() && held > MOST_AHEAD {
                return None;
            }
        }
        batch.interrupted = self.search.stop.cause().is_some();
        Some(batch)
    }
}

/// A file or directory that was in a listing and could not be opened.
fn missed(error: Errno, path: impl FnOnce() -> PathBytes, batch: &mut Batch) {
    let Batch { events, tally, .. } = batch;
    match error {
        // It is gone, or has become something else.
        Errno::NOENT | Errno::NOTDIR => {}
        Errno::INVAL | Errno::NXIO => tally.special += 1,
        Errno::LOOP => tally.links += 1,
        error => events.push(Event::Unreadable(path(), std::io::Error::from(error).to_string())),
    }
}
