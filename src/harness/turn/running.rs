//! A session that this process runs, and how it ends.
//!
//! # Who owns what
//! The task that holds the [`Session`] owns all that changes. Tools and model calls run beside it and hand results
//! back; other processes leave messages and answers in the journal. Memory follows the record: nothing is changed here
//! that was not committed.

use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::super::agent::Agent;
use super::super::model::Message;
use super::super::sandbox::SeedError;
use super::super::session::{Batch, Committed, Journal, JournalError, Lease, State, WaitRow, Write, to_json};
use super::super::tools::{ToolEnv, ToolSpec};
use super::super::watch::Watch;
use crate::SourceError;

/// Where a run came to rest.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ended {
    /// The turn has its answer.
    Done {
        /// The answer.
        answer: String,
    },
    /// The turn waits for a person. No process is needed meanwhile.
    Waiting(Vec<WaitRow>),
    /// The turn ended without an answer.
    Failed {
        /// Why.
        reason: String,
    },
    /// The model could not be reached. The turn is still open: going on tries again.
    Stuck {
        /// Why.
        error: String,
    },
    /// A person stopped the turn.
    Cancelled,
    /// No turn is open.
    Idle,
}

/// Why a session cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The journal refused. What was recorded is safe; the session can be resumed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The workspace cannot be used.
    #[error("the workspace `{root}` {error}")]
    Workspace {
        /// Its root.
        root: String,
        /// Why.
        error: SourceError,
    },
    /// The files that the workspace is to start with cannot be put there.
    #[error("{0}; the session was not begun")]
    Seeds(#[from] SeedError),
    /// A turn is open already.
    #[error("the session's last turn is still open; go on with it or stop it first")]
    TurnOpen,
    /// The session's own record makes no sense.
    #[error("the session cannot go on: {0}")]
    Broken(String),
}

/// A session that this process runs.
pub struct Session {
    pub(in crate::harness) agent: Arc<Agent>,
    pub(in crate::harness) journal: Box<dyn Journal>,
    pub(in crate::harness) lease: Lease,
    pub(in crate::harness) state: State,
    /// The base prompt the session began with.
    pub(in crate::harness) prompt: String,
    /// The tool definitions the session began with.
    pub(in crate::harness) specs: Vec<ToolSpec>,
    pub(in crate::harness) env: Arc<ToolEnv>,
    pub(in crate::harness) cancel: CancellationToken,
    pub(in crate::harness) watch: Box<dyn Watch>,
    /// Since when the turn has been running without being counted.
    pub(in crate::harness) since: Instant,
    /// The newest event before this process took the session up.
    pub(in crate::harness) since_event: u64,
    #[cfg(test)]
    pub(in crate::harness) check: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.state.id).finish_non_exhaustive()
    }
}

impl Session {
    /// An empty batch for the open turn.
    pub(in crate::harness) fn batch(&self) -> Batch {
        Batch::new(self.state.turn_number())
    }

    /// Records a batch, then follows it in memory and tells who watches.
    pub(in crate::harness) fn commit(&mut self, batch: Batch) -> Result<Committed, RunError> {
        let committed = blocking(|| self.journal.commit(&self.lease, &batch))?;
        self.state.apply(&batch, &committed)?;
        for event in &committed.events {
            self.watch.recorded(event);
        }
        #[cfg(test)]
        if self.check {
            assert_eq!(self.state, State::load(self.journal.load(&self.state.id)?)?, "memory follows the record");
        }
        Ok(committed)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // When this fails the lease runs out by itself.
        drop(self.journal.release(&self.lease));
    }
}

/// A message that joins the history.
pub(in crate::harness) fn message_write(message: &Message) -> Write {
    Write::Message(to_json(message))
}

/// Runs something that may block for some milliseconds without holding up other tasks of the thread.
pub(super) fn blocking<T>(work: impl FnOnce() -> T) -> T {
    let threads = tokio::runtime::Handle::try_current().map(|handle| handle.runtime_flavor());
    match threads {
        Ok(tokio::runtime::RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
