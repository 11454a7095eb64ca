//! Paths that fit a glob, by name or by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use super::answer::{Answer, Asked};
use super::collect::Collector;
use super::error::SearchError;
use super::form::AnswerForm;
use super::found::{Batch, Event, Found, PathBytes};
use super::job::unreadable;
use super::listing::{Run, as_path};
use super::options::{Mode, SearchOptions};
use super::order::{self, Gather, Job, Part, Step};
use super::select::{Filter, Selection};
use super::start::{self, Start};
use super::walk::{self, Listed, Walk, Work};
use crate::limits::{Stop, bounded};
use crate::workspace::Workspace;
use crate::workspace::tree::Tree;

/// How many files are looked at beyond the last row that is shown, to count further ones.
const LOOK_AHEAD: u64 = 4096;

/// The order of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// By name, component by component.
    #[default]
    Path,
    /// The file that was changed last comes first; equal times by name.
    Time,
}

/// The knobs of a [`Glob`], each with a default.
#[derive(Clone, Debug)]
pub struct GlobOptions {
    sort: Sort,
    /// The bounds that it has in common with a search.
    search: SearchOptions,
}

impl Default for GlobOptions {
    fn default() -> Self {
        GlobOptions { sort: Sort::Path, search: SearchOptions::new().mode(Mode::Files).limit(100) }
    }
}

impl GlobOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The order of the paths. [`Sort::Time`] costs a system call per file, and the whole tree. Default:
    /// [`Sort::Path`].
    #[must_use]
    pub fn sort(mut self, sort: Sort) -> Self {
        self.sort = sort;
        self
    }

    /// How many paths are shown. Default: 100.
    #[must_use]
    pub fn limit(mut self, paths: usize) -> Self {
        self.search = self.search.limit(paths);
        self
    }

    /// How many paths are passed over first. Default: 0.
    #[must_use]
    pub fn offset(mut self, paths: usize) -> Self {
        self.search = self.search.offset(paths);
        self
    }

    /// How many bytes the answer has in its form, as [`SearchOptions::max_bytes`] counts them. Default: 64 KiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.search = self.search.max_bytes(bytes);
        self
    }

    /// The form in which the answer is going to be written. Default: [`AnswerForm::Text`].
    #[must_use]
    pub fn form(mut self, form: AnswerForm) -> Self {
        self.search = self.search.form(form);
        self
    }

    bounded!(search.bounds, "returns what it has, and says so");

    /// How many threads work, 0 for as many as the machine has. Default: 0.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.search = self.search.threads(threads);
        self
    }

    /// Whether ignore rules of the root and below decide what is left out. Default: yes.
    #[must_use]
    pub fn ignore_rules(mut self, yes: bool) -> Self {
        self.search = self.search.ignore_rules(yes);
        self
    }

    /// Follows symbolic links that stay inside the root; each file is named once. Default: no.
    #[must_use]
    pub fn follow(mut self, yes: bool) -> Self {
        self.search = self.search.follow(yes);
        self
    }
}

/// Globs and options, checked: can be run again and again, from several threads at once.
#[derive(Clone, Debug)]
pub struct Glob {
    globs: Vec<String>,
    options: GlobOptions,
}

impl Glob {
    /// A search for paths that fit `globs`, as [`SearchOptions::glob`] reads them: no slash fits at any depth, `!`
    /// in front leaves out, the last that fits decides. They are relative to the path that is searched.
    ///
    /// # Errors
    /// [`SearchError::Glob`] when one cannot be read.
    pub fn new<G: Into<String>>(globs: impl IntoIterator<Item = G>, options: GlobOptions) -> Result<Self, SearchError> {
        let glob = Glob { globs: globs.into_iter().map(Into::into).collect(), options };
        glob.filter(Path::new(""))?;
        Ok(glob)
    }

    fn filter(&self, base: &Path) -> Result<Filter, SearchError> {
        let selection = Selection { globs: self.globs.clone(), ..self.options.search.selection.clone() };
        Filter::new(&selection, base)
    }

    /// Looks for paths below `path`, a directory below the root of `workspace`; an empty path and `.` are the root
    /// itself. The rows of the answer are of the kind [`RowKind::File`](super::RowKind::File).
    ///
    /// # Errors
    /// [`SearchError`] when the path is not there, leads outside the root or into `.git`, or cannot be read.
    pub fn run(&self, workspace: &Workspace, path: &str) -> Result<Answer, SearchError> {
        let options = &self.options.search;
        let stop = options.bounds.begin();
        let tree = Tree::new(workspace);
        let mut gather = Paths {
            collector: Collector::new(options, LOOK_AHEAD),
            newest: BinaryHeap::new(),
            by_time: self.options.sort == Sort::Time,
            most: options.offset.saturating_add(options.limit),
            seen: 0,
        };
        match start::find(&tree, path)? {
            Start::File { path, .. } => {
                if self.filter(Path::new(""))?.admits_file(as_path(&path)) {
                    gather.take(Names { batch: Batch::default(), files: vec![(0, path.into())] });
                }
            }
            Start::Dir { path, real } => {
                let filter = self.filter(as_path(&path))?;
                let (walk, first) = Walk::new(tree, &filter, &path, &real);
                let job = NameJob { walk, stop: &stop, by_time: gather.by_time };
                gather = order::run(&job, first, gather, options.threads);
            }
        }
        let asked = Asked { patterns: &self.globs, path, names: true };
        Ok(Answer::new(gather.finish(), options, stop.cause(), &asked))
    }
}

/// Files of one piece of work, with the times they were changed if those matter.
struct Names {
    batch: Batch,
    files: Vec<(i128, PathBytes)>,
}

impl Names {
    fn only(batch: Batch) -> Self {
        Names { batch, files: Vec::new() }
    }
}

/// Names the files of a walk.
struct NameJob<'s> {
    walk: Walk<'s>,
    stop: &'s Stop,
    by_time: bool,
}

impl NameJob<'_> {
    fn names(&self, run: &Run) -> Names {
        let mut names = Names { batch: Batch::default(), files: Vec::new() };
        for index in run.entries.clone() {
            let time = if self.by_time {
                // A file that is gone by now has no name either.
                let Ok(stamp) = run.stat(&self.walk, index) else { continue };
                stamp.mtime
            } else {
                0
            };
            names.files.push((time, run.path(index)));
        }
        names.batch.tally.files = names.files.len() as u64;
        names
    }
}

impl Job for NameJob<'_> {
    type Work = Work;
    type Output = Names;
    type Ask = ();
    type Scratch = walk::Scratch;

    fn scratch(&self) -> walk::Scratch {
        walk::Scratch::default()
    }

    fn perform(&self, work: Work, _: Option<()>, scratch: &mut walk::Scratch) -> Step<Self> {
        if self.stop.asked() {
            return Step::Done(Names::only(Batch { interrupted: true, ..Batch::default() }));
        }
        match work {
            Work::Run(run) => Step::Done(self.names(&run)),
            Work::Folder(folder) => match self.walk.list(&folder, scratch) {
                Ok(listed) => split(listed),
                Err((path, error)) => Step::Done(Names::only(unreadable(path, error))),
            },
            Work::Link(link) => split(self.walk.follow(&link)),
        }
    }

    fn effort(names: &Names) -> u64 {
        // The names of a directory are there once it is listed, unless each is asked for its time.
        names.files.iter().filter(|(time, _)| *time != 0).count().max(1) as u64
    }

    fn weight(names: &Names) -> usize {
        names.batch.weight() + names.files.iter().map(|(_, path)| path.len() + 64).sum::<usize>()
    }

    fn alone(&self, work: &Work) -> bool {
        self.walk.in_turn(work)
    }
}

/// What a directory or link turned into, as parts: first what was noticed, then the work.
fn split<'s>(listed: Listed) -> Step<NameJob<'s>> {
    let noticed = Part::Output(Names::only(Batch { tally: listed.tally, ..Batch::default() }));
    Step::Split(std::iter::once(noticed).chain(listed.works.into_iter().map(Part::Work)).collect())
}

/// Takes names in path order and keeps those that are shown.
struct Paths {
    collector: Collector,
    /// The oldest of the newest is on top.
    newest: BinaryHeap<(Reverse<i128>, PathBytes)>,
    by_time: bool,
    /// How many of the newest can be shown.
    most: usize,
    seen: u64,
}

impl Paths {
    fn take(&mut self, names: Names) -> bool {
        let Names { mut batch, files } = names;
        if !self.by_time {
            batch.events.extend(files.into_iter().map(|(_, path)| found(path)));
            return self.collector.take(batch);
        }
        for (time, path) in files {
            self.seen += 1;
            self.newest.push((Reverse(time), path));
            if self.newest.len() > self.most {
                self.newest.pop();
            }
        }
        self.collector.take(batch);
        true
    }

    fn finish(self) -> Collector {
        let mut collector = self.collector;
        if self.by_time {
            let events = self.newest.into_sorted_vec().into_iter().map(|(_, path)| found(path)).collect();
            collector.take(Batch { events, ..Batch::default() });
            collector.total = self.seen;
        }
        collector
    }
}

fn found(path: PathBytes) -> Event {
    Event::Found(Found { path, lines: Vec::new(), skipped: 0, count: 1, exact: true })
}

impl Gather<NameJob<'_>> for Paths {
    fn accept(&mut self, names: Names) -> bool {
        self.take(names)
    }

    fn ask(&self) {}
}
