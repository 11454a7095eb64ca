//! Watching a session: what was recorded, and what is on its way.

use std::time::Duration;

use super::session::StoredEvent;

/// Something that is on its way and not recorded: it may be void when the model is asked again.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Live {
    /// More of the answer's text.
    Text(String),
    /// More readable reasoning.
    Reasoning(String),
    /// The model begins to call a tool.
    Call {
        /// The tool.
        name: String,
    },
    /// The model is asked again after a pause; what came before is void.
    Retry {
        /// The number of the try that will follow.
        attempt: u32,
        /// The pause.
        wait: Duration,
        /// Why.
        error: String,
    },
    /// A call that the model still writes will fail.
    Misfit {
        /// The tool.
        name: String,
        /// Why.
        why: String,
    },
}

/// Someone who watches a session. Called from the task that runs it, so it must be quick.
pub trait Watch: Send {
    /// An event was recorded.
    fn recorded(&mut self, _event: &StoredEvent) {}

    /// Something is on its way.
    fn live(&mut self, _live: Live) {}
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {}
