//! Why a run ends early: the deadline, or someone who cancels it.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::limits::{CancelToken, Deadline};

/// What ended a run early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Deadline,
    Cancelled,
}

/// Asked between files and between reads of a large one.
pub(super) struct Stop {
    deadline: Deadline,
    cancel: CancelToken,
    /// 0 while nothing ended it; all threads keep to the first cause.
    cause: AtomicU8,
}

impl Stop {
    pub(super) fn new(deadline: Deadline, cancel: CancelToken) -> Self {
        Stop { deadline, cancel, cause: AtomicU8::new(0) }
    }

    /// Whether to stop now. Costs a clock read when there is a deadline.
    pub(super) fn asked(&self) -> bool {
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

    /// What ended the run early.
    pub(super) fn cause(&self) -> Option<Cause> {
        match self.cause.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Cause::Deadline),
            _ => Some(Cause::Cancelled),
        }
    }
}
