//! Durable sessions: what a session is made of, the journal that records it, and who may write to it.
//!
//! `record` and `event` are the data, `journal` is what any storage must promise, `sqlite` is the one that ships.

mod event;
mod host;
mod journal;
mod record;
mod sqlite;
mod state;

/// How long a lease lasts without a sign of life.
pub const TTL: std::time::Duration = std::time::Duration::from_secs(30);

pub use event::{Event, StoredEvent, timestamp};
pub use host::{holder, new_id, now, this_process};
pub use journal::{Batch, Committed, Journal, JournalError, Lease, Owner, Snapshot, Write};
pub use record::{
    ChangeRow, InboxItem, InboxRow, MessageRow, NewSession, OpKind, OpRow, OpState, SessionRow, SessionState, Spent,
    TurnRow, TurnState, WaitKind, WaitRow,
};
#[cfg(test)]
pub(crate) use sqlite::Moment;
pub use sqlite::{Durability, SqliteJournal};
pub use state::State;

/// A value of ours as JSON. Our types have no maps whose keys are not texts, the only thing that can fail.
pub(crate) fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| format!("\"cannot be written: {error}\""))
}
