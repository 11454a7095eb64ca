//! Bounds: deadlines, cancellation, and both together as options have them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// A moment after which work stops and says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No deadline.
    pub const NONE: Deadline = Deadline(None);

    /// A deadline `after` from now.
    #[must_use]
    pub fn after(after: Duration) -> Self {
        Deadline(Instant::now().checked_add(after))
    }

    /// Whether the moment has come. Costs one clock read (about 25 ns) when a deadline is set, nothing otherwise.
    #[must_use]
    pub fn passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }

    /// The time left: `None` without a deadline, zero once it has passed.
    #[must_use]
    pub fn left(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(Instant::now()))
    }
}

/// A flag that another thread sets to stop work early. Clones share the flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work that holds a clone of this token to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`CancelToken::cancel`] was called. Costs one relaxed load.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How long some work may take and who may end it: the part that the options of all such work have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel: CancelToken,
}

impl Bounds {
    /// Begins the work: its time runs from now.
    pub(crate) fn begin(&self) -> Stop {
        let deadline = self.timeout.map_or(Deadline::NONE, Deadline::after);
        Stop { deadline, cancel: self.cancel.clone(), cause: AtomicU8::new(0) }
    }
}

/// The setters of the [`Bounds`] that options hold in a field, with what happens when they are met.
macro_rules! bounded {
    ($($field:ident).+, $then:literal) => {
        #[doc = concat!("How long it may take; then it ", $then, ". Default: no bound.")]
        #[must_use]
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.$($field).+.timeout = Some(timeout);
            self
        }

        #[doc = concat!("A token that ends it early; then it ", $then, ". Default: one that nobody cancels.")]
        #[must_use]
        pub fn cancel(mut self, token: $crate::limits::CancelToken) -> Self {
            self.$($field).+.cancel = token;
            self
        }
    };
}
pub(crate) use bounded;

/// What ended work early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Deadline,
    Cancelled,
}

/// Work with bounds that has begun: asked between its steps.
pub(crate) struct Stop {
    deadline: Deadline,
    cancel: CancelToken,
    /// 0 while nothing ended it; all threads keep to the first cause.
    cause: AtomicU8,
}

impl Stop {
    /// Whether to stop now. Costs a clock read when there is a deadline.
    pub(crate) fn asked(&self) -> bool {
        if self.cause.load(Ordering::Relaxed) != 0 {
            return true;
        }
        let cause = match (self.cancel.is_cancelled(), self.deadline.passed()) {
            (true, _) => 2,
            (false, true) => 1,
            (false, false) => return false,
        };
        let _other_first = self.cause.compare_exchange(0, cause, Ordering::Relaxed, Ordering::Relaxed);
        true
    }

    /// What ended the work early.
    pub(crate) fn cause(&self) -> Option<Cause> {
        match self.cause.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Cause::Deadline),
            _ => Some(Cause::Cancelled),
        }
    }
}
