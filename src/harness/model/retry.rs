//! When to try again, and after how long. Pure: no clock, no chance.

use std::time::Duration;

use super::error::{ErrorClass, ModelError};

/// How often a failed call is made again, and after which pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    tries: u32,
    first_wait: Duration,
    longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries: 3, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// Sets how often a call is made in all, the first try included. 3 by default.
    #[must_use]
    pub fn tries(mut self, tries: u32) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// Sets the pause before the second try; each later one is twice as long. Half a second by default.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// Sets the longest pause. A server that asks for a longer one gets no further try: the error tells how
    /// long it asked for. One minute by default.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// The pause before the next try after `done` tries, or `None` if there is to be none. What the server
    /// asks for comes first; otherwise the pause doubles, less up to a quarter chosen by `seed`, so that
    /// sessions that failed together do not come back together.
    #[must_use]
    pub fn wait(&self, done: u32, error: &ModelError, seed: u64) -> Option<Duration> {
        if done >= self.tries || error.class() != ErrorClass::Retry {
            return None;
        }
        if let Some(asked) = error.retry_after() {
            return (asked <= self.longest_wait).then_some(asked);
        }
        let doubled = self.first_wait.saturating_mul(1 << (done.max(1) - 1).min(16)).min(self.longest_wait);
        let hash = rapidhash::v3::rapidhash_v3(&[seed.to_le_bytes(), u64::from(done).to_le_bytes()].concat());
        let per_mille = u32::try_from(hash % 250).unwrap_or(0);
        Some(doubled - doubled / 1000 * per_mille)
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::ErrorKind;
    use super::*;

    fn error(kind: ErrorKind) -> ModelError {
        ModelError::new(kind, "x")
    }

    #[test]
    fn pauses_double_and_stay_within_a_quarter() {
        let policy = RetryPolicy::default().tries(9).first_wait(Duration::from_secs(1));
        for seed in 0..50 {
            for (done, full) in [(1, 1), (2, 2), (3, 4), (4, 8), (7, 60), (8, 60)] {
                let wait = policy.wait(done, &error(ErrorKind::Server), seed).unwrap();
                let full = Duration::from_secs(full);
                assert!(wait <= full && wait > full / 4 * 3 - full / 1000, "{done} tries, seed {seed}: {wait:?}");
            }
        }
        assert_ne!(policy.wait(3, &error(ErrorKind::Server), 1), policy.wait(3, &error(ErrorKind::Server), 2));
    }

    #[test]
    fn only_what_may_work_later_is_tried_again_and_only_so_often() {
        let policy = RetryPolicy::default();
        for (kind, again) in [
            (ErrorKind::RateLimited, true),
            (ErrorKind::Server, true),
            (ErrorKind::NoServer, true),
            (ErrorKind::Network, true),
            (ErrorKind::Stalled, true),
            (ErrorKind::BadStream, true),
            (ErrorKind::EmptyReply, true),
            (ErrorKind::ContextTooLong, false),
            (ErrorKind::ReplyTooLarge, false),
            (ErrorKind::Unauthorized, false),
            (ErrorKind::Quota, false),
            (ErrorKind::NotFound, false),
            (ErrorKind::BadRequest, false),
        ] {
            assert_eq!(policy.wait(1, &error(kind), 0).is_some(), again, "{kind:?}");
            assert_eq!(policy.wait(3, &error(kind), 0), None, "{kind:?}");
        }
    }

    #[test]
    fn the_server_decides_unless_it_asks_for_too_much() {
        let policy = RetryPolicy::default();
        let asked = |seconds| error(ErrorKind::RateLimited).with_retry_after(Some(Duration::from_secs(seconds)));
        assert_eq!(policy.wait(1, &asked(0), 0), Some(Duration::ZERO));
        assert_eq!(policy.wait(1, &asked(60), 0), Some(Duration::from_secs(60)));
        assert_eq!(policy.wait(1, &asked(61), 0), None);
    }
}
