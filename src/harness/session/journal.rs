//! What a journal must do, whatever it is made of.
//!
//! # The rules a session relies on
//! 1. **Intent before effect.** Before anything outside the journal is touched, a batch with the operation in
//!    `started` (and what the tool noted about it) is committed.
//! 2. **One transaction per result.** The result of an operation, the messages and events it leads to and the intents
//!    that follow from it are one [`Batch`]: all of it is recorded or none.
//! 3. **Fencing.** A batch is taken only from the holder of the newest [`Lease`]. Whoever lost it is told
//!    [`JournalError::Fenced`] and has written nothing.
//! 4. **Data, not code paths.** What is recorded is what happened, so another version of the program can go on.

use std::time::Duration;

use super::event::{Event, StoredEvent};
use super::record::{
    ChangeRow, InboxItem, InboxRow, MessageRow, NewSession, OpRow, OpState, SessionRow, SessionState, Spent, TurnRow,
    TurnState, WaitKind, WaitRow,
};
use crate::Digest;
use crate::harness::tools::FileChange;

/// The right to write to one session until it expires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The session's id.
    pub session: String,
    /// The fencing number: grows with every lease of the session.
    pub fence: u64,
    /// How long it lasts without a write or a renewal.
    pub ttl: Duration,
}

/// Who asks for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The machine's running system: processes of another cannot be looked up.
    pub place: String,
    /// The process there.
    pub pid: u32,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.pid, self.place)
    }
}

impl Owner {
    /// The owner that was written by `Display`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Owner> {
        let (pid, place) = text.split_once(' ')?;
        Some(Owner { place: place.to_owned(), pid: pid.parse().ok()? })
    }
}

/// One thing to record.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Write {
    /// The session's state changes.
    Session(SessionState),
    /// The session's line for lists changes.
    Title(String),
    /// A turn begins.
    TurnOpened(TurnRow),
    /// A turn is in this step.
    TurnStep(u32),
    /// The open turn ends: its state, and how, as JSON.
    TurnClosed(TurnState, String),
    /// Tokens were spent in the open turn.
    Spent(Spent),
    /// A message joins the history at its own number.
    Message(String),
    /// A message takes the place of those between two places, ends included.
    Replace {
        /// The first place.
        from: u64,
        /// The last place; the new message stands there.
        to: u64,
        /// The message as JSON.
        body: String,
    },
    /// An operation is intended (or intended anew).
    Intended(OpRow),
    /// An operation changes its state.
    Op {
        /// Its key.
        key: String,
        /// The new state; `started` counts an attempt.
        state: OpState,
        /// What the tool noted before running, if the state is `started`.
        checkpoint: Option<String>,
        /// The result as JSON, if the state is `done` or `failed`.
        result: Option<String>,
    },
    /// The results of a step's operations are in the history and need not be kept twice.
    Delivered {
        /// The step.
        step: u32,
    },
    /// The turn waits for a person.
    Wait {
        /// What for.
        kind: WaitKind,
        /// The operation held up.
        key: String,
        /// What to show, as JSON.
        prompt: String,
    },
    /// A wait is over.
    WaitClosed(u64),
    /// The session has seen a file with this content; `None`: it has seen that there is none.
    Seen(String, Option<Digest>),
    /// A file changed.
    Changed(String, FileChange),
    /// A content that changes refer to.
    Blob(Digest, Vec<u8>),
    /// A value the session keeps under a name.
    Value(String, String),
    /// An inbox entry was taken.
    Taken(u64),
    /// Something happened.
    Event(Event),
}

/// What is recorded in one transaction, in order.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The turn that messages, waits and events belong to; 0 outside of one.
    pub turn: u32,
    /// The writes.
    pub writes: Vec<Write>,
}

impl Batch {
    /// An empty batch for `turn`.
    #[must_use]
    pub fn new(turn: u32) -> Self {
        Batch { turn, writes: Vec::new() }
    }

    /// Adds a write.
    pub fn push(&mut self, write: Write) {
        self.writes.push(write);
    }

    /// Adds an event.
    pub fn event(&mut self, event: Event) {
        self.writes.push(Write::Event(event));
    }
}

/// The numbers that a committed batch was given.
#[derive(Clone, Debug, Default)]
pub struct Committed {
    /// The events, as recorded.
    pub events: Vec<StoredEvent>,
    /// The numbers of the messages, in the order of the batch.
    pub messages: Vec<u64>,
    /// The numbers of the waits, in the order of the batch.
    pub waits: Vec<u64>,
}

/// Everything needed to go on with a session.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The session.
    pub session: SessionRow,
    /// The base prompt.
    pub prompt: String,
    /// The tool definitions as JSON.
    pub tools: String,
    /// The history as the model sees it, in order.
    pub messages: Vec<MessageRow>,
    /// The turn that is open.
    pub turn: Option<TurnRow>,
    /// The number of the newest turn; 0 before the first.
    pub last_turn: u32,
    /// The operations of the open turn's current step, in the order of request.
    pub ops: Vec<OpRow>,
    /// Waits that are not closed.
    pub waits: Vec<WaitRow>,
    /// Files the session has seen, with the content it saw.
    pub seen: Vec<(String, Option<Digest>)>,
    /// Values the session keeps.
    pub values: Vec<(String, String)>,
}

/// The durable record of sessions.
///
/// Reads may be made by anyone at any time. Of the writes only [`Journal::post`] and [`Journal::answer`] need no
/// lease: they put something in for whoever runs the session.
pub trait Journal: Send {
    /// Makes a session with its first event, and leases it.
    ///
    /// # Errors
    /// [`JournalError`] of the storage; [`JournalError::Storage`] when the id exists.
    fn create(&mut self, new: &NewSession, owner: &Owner, ttl: Duration) -> Result<Lease, JournalError>;

    /// Takes the right to run a session. A lease whose process is known to be dead is taken over at once.
    ///
    /// # Errors
    /// [`JournalError::Busy`] while another process holds it; [`JournalError::NoSession`].
    fn acquire(&mut self, session: &str, owner: &Owner, ttl: Duration) -> Result<Lease, JournalError>;

    /// Makes the lease last longer.
    ///
    /// # Errors
    /// [`JournalError::Fenced`] when it is lost.
    fn renew(&mut self, lease: &Lease) -> Result<(), JournalError>;

    /// Gives the lease back. A lease that is lost already is no error.
    ///
    /// # Errors
    /// [`JournalError`] of the storage.
    fn release(&mut self, lease: &Lease) -> Result<(), JournalError>;

    /// Records a batch, all of it or nothing, and renews the lease.
    ///
    /// # Errors
    /// [`JournalError::Fenced`] when the lease is lost; [`JournalError`] of the storage. Nothing was recorded then.
    fn commit(&mut self, lease: &Lease, batch: &Batch) -> Result<Committed, JournalError>;

    /// Puts something in for the session.
    ///
    /// # Errors
    /// [`JournalError::NoSession`]; [`JournalError`] of the storage.
    fn post(&mut self, session: &str, item: &InboxItem) -> Result<(), JournalError>;

    /// Answers a wait. The first answer counts.
    ///
    /// # Errors
    /// [`JournalError::NoWait`], [`JournalError::Answered`], [`JournalError::NoSession`].
    fn answer(&mut self, session: &str, wait: u64, answer: &str) -> Result<(), JournalError>;

    /// The sessions, the newest first, at most `most`.
    ///
    /// # Errors
    /// [`JournalError`] of the storage.
    fn sessions(&self, most: usize) -> Result<Vec<SessionRow>, JournalError>;

    /// The session whose id is, or alone begins or ends with, `id`.
    ///
    /// # Errors
    /// [`JournalError::NoSession`], [`JournalError::Several`].
    fn find(&self, id: &str) -> Result<SessionRow, JournalError>;

    /// What is needed to go on.
    ///
    /// # Errors
    /// [`JournalError::NoSession`]; [`JournalError`] of the storage.
    fn load(&self, session: &str) -> Result<Snapshot, JournalError>;

    /// The events after number `after`, in order, at most `most`.
    ///
    /// # Errors
    /// [`JournalError::NoSession`]; [`JournalError`] of the storage.
    fn events(&self, session: &str, after: u64, most: usize) -> Result<Vec<StoredEvent>, JournalError>;

    /// The open waits.
    ///
    /// # Errors
    /// [`JournalError::NoSession`]; [`JournalError`] of the storage.
    fn waits(&self, session: &str) -> Result<Vec<WaitRow>, JournalError>;

    /// What was put in and not taken yet, in order.
    ///
    /// # Errors
    /// [`JournalError::NoSession`]; [`JournalError`] of the storage.
    fn inbox(&self, session: &str) -> Result<Vec<InboxRow>, JournalError>;

    /// The file changes of a session, in order.
    ///
    /// # Errors
    /// [`JournalError::NoSession`]; [`JournalError`] of the storage.
    fn changes(&self, session: &str) -> Result<Vec<ChangeRow>, JournalError>;

    /// A content by its fingerprint.
    ///
    /// # Errors
    /// [`JournalError`] of the storage.
    fn blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, JournalError>;
}

/// Why the journal refused. Nothing of the refused call was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file is no session database.
    #[error("`{path}` is not a session database of this program; it was left as it is. Name another file with `--db`")]
    NotOurs {
        /// The file.
        path: String,
    },
    /// The file is of a newer version.
    #[error(
        "`{path}` was written by a newer version of this program (layout {found}, this one knows up to {known}); it was left as it is"
    )]
    Newer {
        /// The file.
        path: String,
        /// The layout found.
        found: u32,
        /// The newest layout known.
        known: u32,
    },
    /// The file is damaged.
    #[error(
        "`{path}` is damaged ({message}); nothing was written. Copy it with its `-wal` file, then try `sqlite3 {path} .recover`"
    )]
    Damaged {
        /// The file.
        path: String,
        /// The storage's words.
        message: String,
    },
    /// There is no room.
    #[error(
        "no room left for `{path}`; nothing of this step was recorded and what was recorded before is safe. Free some space, then resume"
    )]
    Full {
        /// The file.
        path: String,
    },
    /// Another process has been writing for longer than we wait.
    #[error("`{path}` has been locked by another process for {seconds} s; nothing was recorded")]
    Locked {
        /// The file.
        path: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The storage failed otherwise.
    #[error("`{path}` cannot be used: {message}")]
    Storage {
        /// The file.
        path: String,
        /// The storage's words.
        message: String,
    },
    /// A record cannot be understood.
    #[error("`{path}` holds a {what} this version cannot read: {message}")]
    Unreadable {
        /// The file.
        path: String,
        /// Which record.
        what: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// Another process runs the session.
    #[error(
        "session {session} is being run by process {pid} (until {until} unless it renews); let it end or stop it first"
    )]
    Busy {
        /// The session.
        session: String,
        /// The process.
        pid: String,
        /// When its lease ends, as a time.
        until: String,
    },
    /// Another process has taken the session over.
    #[error("session {session} was taken over by another process; nothing more was recorded by this one")]
    Fenced {
        /// The session.
        session: String,
    },
    /// There is no such session.
    #[error("there is no session `{id}`; `restitch agent sessions` lists them")]
    NoSession {
        /// What was asked for.
        id: String,
    },
    /// Several sessions fit.
    #[error("`{id}` fits several sessions: {}", .found.join(", "))]
    Several {
        /// What was asked for.
        id: String,
        /// Some of those that fit.
        found: Vec<String>,
    },
    /// There is no such wait.
    #[error("session {session} waits for nothing with number {wait}")]
    NoWait {
        /// The session.
        session: String,
        /// The number.
        wait: u64,
    },
    /// It was answered before.
    #[error("question {wait} of session {session} was answered already: {answer}")]
    Answered {
        /// The session.
        session: String,
        /// The number.
        wait: u64,
        /// The answer that counts.
        answer: String,
    },
}
