//! Work in path order on several threads: taken in order, finished in any order, handed on in order.
//!
//! A tree is not known before it is listed, so work makes more work: a directory turns into its files and
//! directories, which stand where the directory stood. Every piece has a [`Key`], its place in the final order. A
//! worker always takes the first piece that nobody has; what is finished waits until everything before it is
//! finished too. So the rows, and their order, do not depend on the number of threads.
//!
//! # Guarantees
//! At most [`MOST_HELD`] bytes of finished output wait for the piece at the head, and a worker that would exceed that
//! waits with it. The piece at the head may always be taken, so there is always progress. Once the gatherer has all
//! it wants, nothing further is begun.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// The place of a piece of work: its index in its directory, below those of the directories above.
type Key = Box<[u32]>;

/// How many bytes of output may wait for the piece at the head.
const MOST_HELD: usize = 8 << 20;

/// What waiting output costs besides what it holds.
const OUTPUT_COST: usize = 256;

/// How much effort one thread makes before others are worth their start.
const ALONE: u64 = 128;

/// How many threads work on one search when the caller does not say.
const MOST_THREADS: usize = 16;

/// How to do one piece of work.
pub(super) trait Job: Sync {
    /// A piece of work.
    type Work: Send;
    /// What comes of it.
    type Output: Send;
    /// What the gatherer still wants.
    type Ask: Send;
    /// What a thread keeps from piece to piece.
    type Scratch;

    /// Memory for a thread.
    fn scratch(&self) -> Self::Scratch;

    /// Does one piece. `ask` is there when the piece is at the head, and then it is exact.
    fn perform(&self, work: Self::Work, ask: Option<Self::Ask>, scratch: &mut Self::Scratch) -> Step<Self>;

    /// What an output took to make, in small files opened and searched. At least 1.
    fn effort(output: &Self::Output) -> u64;

    /// Bytes that an output holds.
    fn weight(output: &Self::Output) -> usize;

    /// Whether pieces like this one must be done one after the other, in order.
    fn alone(&self, work: &Self::Work) -> bool;
}

/// What a piece of work turned into.
pub(super) enum Step<J: Job + ?Sized> {
    /// It is finished.
    Done(J::Output),
    /// Others stand in its place.
    Split(Vec<Part<J>>),
    /// It holds too much to be done ahead of others: to be done again at the head.
    AtHead(J::Work),
}

/// A part of a piece that was split.
pub(super) enum Part<J: Job + ?Sized> {
    /// Finished output.
    Output(J::Output),
    /// More work.
    Work(J::Work),
}

/// Takes the outputs in order.
pub(super) trait Gather<J: Job>: Send {
    /// Takes the next output: whether more is wanted.
    fn accept(&mut self, output: J::Output) -> bool;

    /// What is still wanted after all outputs so far.
    fn ask(&self) -> J::Ask;
}

struct State<J: Job, G> {
    /// All that is not handed on yet, in order; `None` until it is finished.
    open: BTreeMap<Key, Option<J::Output>>,
    /// What nobody has taken yet: a part of `open`.
    pending: BTreeMap<Key, Pending<J::Work>>,
    /// Bytes of the outputs in `open`.
    held: usize,
    /// A piece that must be done alone is being done.
    lone_busy: bool,
    /// Nothing further is wanted.
    stopped: bool,
    /// What the outputs so far took to make.
    effort: u64,
    /// How many threads wait.
    waiting: usize,
    gather: G,
}

struct Pending<W> {
    work: W,
    at_head: bool,
}

struct Shared<J: Job, G> {
    state: Mutex<State<J, G>>,
    wake: Condvar,
}

/// What a thread does next.
enum Next<J: Job> {
    End,
    Wait,
    Do { key: Key, work: J::Work, ask: Option<J::Ask> },
}

/// Does `first` and all that comes of it with at most `threads` threads (0: as many as the machine has), this one
/// among them, and returns the gatherer. More threads are started only when there is work for them.
pub(super) fn run<J: Job, G: Gather<J>>(job: &J, first: J::Work, gather: G, threads: usize) -> G {
    let key: Key = Box::new([]);
    let state = State {
        open: BTreeMap::from([(key.clone(), None)]),
        pending: BTreeMap::from([(key, Pending { work: first, at_head: false })]),
        held: 0,
        lone_busy: false,
        stopped: false,
        effort: 0,
        waiting: 0,
        gather,
    };
    let shared = Shared { state: Mutex::new(state), wake: Condvar::new() };
    std::thread::scope(|scope| shared.work(job, Some(Crew { scope, threads })));
    shared.state.into_inner().unwrap_or_else(PoisonError::into_inner).gather
}

/// Who may start helpers.
struct Crew<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    threads: usize,
}

impl<'scope> Crew<'scope, '_> {
    fn start<J: Job, G: Gather<J>>(self, job: &'scope J, shared: &'scope Shared<J, G>) {
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(MOST_THREADS),
            some => some,
        };
        for _ in 1..threads {
            let helper = std::thread::Builder::new().name("restitch-search".into());
            // Without a helper the work takes longer, and that is all.
            if helper.spawn_scoped(self.scope, move || shared.work(job, None)).is_err() {
                break;
            }
        }
    }
}

impl<J: Job, G: Gather<J>> Shared<J, G> {
    fn lock(&self) -> MutexGuard<'_, State<J, G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One thread: takes pieces until there is nothing more to do.
    fn work<'scope>(&'scope self, job: &'scope J, mut crew: Option<Crew<'scope, '_>>) {
        let _bail = Bail(self);
        let mut scratch = job.scratch();
        let mut state = self.lock();
        loop {
            match state.next(job) {
                Next::End => break,
                Next::Wait => {
                    state.waiting += 1;
                    state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
                    state.waiting -= 1;
                }
                Next::Do { key, work, ask } => {
                    let start = state.effort >= ALONE && !state.pending.is_empty();
                    drop(state);
                    if start && let Some(crew) = crew.take() {
                        crew.start(job, self);
                    }
                    let lone = job.alone(&work);
                    let step = job.perform(work, ask, &mut scratch);
                    state = self.lock();
                    state.lone_busy &= !lone;
                    state.put(key, step);
                    if state.waiting > 0 {
                        self.wake.notify_all();
                    }
                }
            }
        }
        self.wake.notify_all();
    }
}

/// Ends the others when a thread panics: they would wait for its piece for ever.
struct Bail<'a, J: Job, G: Gather<J>>(&'a Shared<J, G>);

impl<J: Job, G: Gather<J>> Drop for Bail<'_, J, G> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().stopped = true;
            self.0.wake.notify_all();
        }
    }
}

impl<J: Job, G: Gather<J>> State<J, G> {
    fn next(&mut self, job: &J) -> Next<J> {
        if self.stopped || self.open.is_empty() {
            return Next::End;
        }
        let Some((key, at_head)) = self.first_free(job) else { return Next::Wait };
        let Some(Pending { work, .. }) = self.pending.remove(&key) else { return Next::Wait };
        self.lone_busy |= job.alone(&work);
        Next::Do { key, work, ask: at_head.then(|| self.gather.ask()) }
    }

    /// The first piece that may be taken now, and whether it is at the head.
    fn first_free(&self, job: &J) -> Option<(Key, bool)> {
        let head = self.open.keys().next()?;
        for (key, pending) in &self.pending {
            let at_head = key == head;
            if self.held >= MOST_HELD && !at_head {
                return None;
            }
            let wait = (pending.at_head && !at_head) || (self.lone_busy && job.alone(&pending.work));
            if !wait {
                return Some((key.clone(), at_head));
            }
        }
        None
    }

    fn put(&mut self, key: Key, step: Step<J>) {
        match step {
            Step::Done(output) => self.finish(key, output),
            Step::AtHead(work) => {
                self.pending.insert(key, Pending { work, at_head: true });
            }
            Step::Split(parts) => {
                self.open.remove(&key);
                for (index, part) in (0..).zip(parts) {
                    let key = [&*key, &[index]].concat().into_boxed_slice();
                    match part {
                        Part::Output(output) => self.finish(key, output),
                        Part::Work(work) => {
                            self.open.insert(key.clone(), None);
                            self.pending.insert(key, Pending { work, at_head: false });
                        }
                    }
                }
            }
        }
        self.hand_on();
    }

    fn finish(&mut self, key: Key, output: J::Output) {
        self.effort += J::effort(&output);
        self.held += OUTPUT_COST + J::weight(&output);
        self.open.insert(key, Some(output));
    }

    /// Hands on what is finished and has nothing unfinished before it.
    fn hand_on(&mut self) {
        while !self.stopped
            && let Some(first) = self.open.first_entry()
            && first.get().is_some()
        {
            let Some(output) = first.remove() else { break };
            self.held -= OUTPUT_COST + J::weight(&output);
            self.stopped = !self.gather.accept(output);
        }
    }
}

#[cfg(test)]
mod tests;
