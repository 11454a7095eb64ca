//! The way in: a [`Session`] of an [`Agent`], from message to answer.
//!
//! # Who owns what
//! The task that holds the [`Session`] owns all that changes. Tools and model calls run beside it and hand results
//! back; other processes leave messages and answers in the journal. Memory follows the record: nothing is changed here
//! that was not committed.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::agent::{Agent, TurnOptions};
use super::model::{Message, ToolSpec};
use super::sandbox::SeedError;
use super::session::{
    Batch, Committed, Event, InboxItem, Journal, JournalError, Lease, NewSession, SessionState, Spent, State, TTL,
    TurnRow, TurnState, WaitRow, Write, new_id, now, this_process, to_json,
};
use super::tools::ToolEnv;
use super::watch::{Unwatched, Watch};
use crate::SourceError;

/// The longest title, in characters.
const TITLE: usize = 80;

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
    pub(super) agent: Arc<Agent>,
    pub(super) journal: Box<dyn Journal>,
    pub(super) lease: Lease,
    pub(super) state: State,
    /// The base prompt the session began with.
    pub(super) prompt: String,
    /// The tool definitions the session began with.
    pub(super) specs: Vec<ToolSpec>,
    pub(super) env: Arc<ToolEnv>,
    pub(super) cancel: CancellationToken,
    pub(super) watch: Box<dyn Watch>,
    /// Since when the turn has been running without being counted.
    pub(super) since: Instant,
    /// The newest event before this process took the session up.
    since_event: u64,
    #[cfg(test)]
    pub(super) check: bool,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("id", &self.state.id).finish_non_exhaustive()
    }
}

impl Session {
    /// Makes a session in the directory `root`, and there the files the agent's workspace starts with.
    ///
    /// # Errors
    /// [`RunError::Workspace`]; [`RunError::Seeds`]; [`RunError::Journal`].
    pub fn start(agent: Arc<Agent>, mut journal: Box<dyn Journal>, root: &Path) -> Result<Self, RunError> {
        let id = new_id();
        let env = environment(&agent, root, &id)?;
        let tools = serde_json::to_string(&agent.tools.specs()).map_err(|error| RunError::Broken(error.to_string()))?;
        let new = NewSession {
            id,
            agent: agent.name.clone(),
            root: env.root().display().to_string(),
            model: agent.model.info().id.clone(),
            manifest: agent.manifest.clone(),
            prompt: agent.prompt.clone(),
            tools,
            title: String::new(),
        };
        let planted = agent.seeds.plant(env.workspace())?;
        let lease = journal.create(&new, &this_process(), TTL)?;
        let mut session = Self::with(agent, journal, lease, env, 0)?;
        if !planted.made.is_empty() {
            let mut batch = session.batch();
            batch.event(Event::Seeded { made: planted.made, kept: planted.kept });
            session.commit(batch)?;
        }
        Ok(session)
    }

    /// Takes up a session that another process ran. `id` may be the beginning or the end of its id.
    ///
    /// # Errors
    /// [`JournalError::Busy`] while another process runs it; [`RunError::Workspace`]; [`RunError::Journal`].
    pub fn resume(agent: Arc<Agent>, mut journal: Box<dyn Journal>, id: &str) -> Result<Self, RunError> {
        let row = journal.find(id)?;
        let env = environment(&agent, Path::new(&row.root), &row.id)?;
        let lease = journal.acquire(&row.id, &this_process(), TTL)?;
        let fence = lease.fence;
        let mut session = Self::with(agent, journal, lease, env, row.last_event)?;
        let mut batch = session.batch();
        if session.state.turn.is_some() {
            batch.event(Event::Resumed { fence });
        }
        let told = session.state.value("manifest").unwrap_or(&row.manifest);
        if told != session.agent.manifest {
            batch.push(Write::Value("manifest".into(), session.agent.manifest.clone()));
            let text =
                "the agent's files have changed; this session keeps the prompt and the tool definitions it began with";
            batch.event(Event::Note { text: text.into() });
        }
        if !batch.writes.is_empty() {
            session.commit(batch)?;
        }
        Ok(session)
    }

    fn with(
        agent: Arc<Agent>,
        journal: Box<dyn Journal>,
        lease: Lease,
        env: Arc<ToolEnv>,
        since_event: u64,
    ) -> Result<Self, RunError> {
        let snapshot = journal.load(&lease.session)?;
        let broken = |error: serde_json::Error| RunError::Broken(format!("its tool definitions: {error}"));
        Ok(Session {
            prompt: snapshot.prompt.clone(),
            specs: serde_json::from_str(&snapshot.tools).map_err(broken)?,
            state: State::load(snapshot)?,
            agent,
            journal,
            lease,
            env,
            cancel: CancellationToken::new(),
            watch: Box::new(Unwatched),
            since: Instant::now(),
            since_event,
            #[cfg(test)]
            check: false,
        })
    }

    /// Sets who watches, and tells what this process has recorded so far. Default: nobody.
    #[must_use]
    pub fn watch(mut self, mut watch: Box<dyn Watch>) -> Self {
        // What cannot be read now is still in the journal.
        for event in self.journal.events(&self.state.id, self.since_event, 100).unwrap_or_default() {
            watch.recorded(&event);
        }
        self.watch = watch;
        self
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.state.id
    }

    /// The session as it is recorded.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// A token that stops the open turn, in an orderly way, when it is cancelled.
    #[must_use]
    pub fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Begins a turn with a message and runs it until it comes to rest.
    ///
    /// # Errors
    /// [`RunError::TurnOpen`]; [`RunError::Journal`].
    pub async fn send(&mut self, message: &str, options: &TurnOptions) -> Result<Ended, RunError> {
        if self.state.turn.is_some() {
            return Err(RunError::TurnOpen);
        }
        self.open_turn(message, options)?;
        self.go_on().await
    }

    /// Answers something the open turn waits for.
    ///
    /// # Errors
    /// [`RunError::Journal`] when there is no such wait or it is answered.
    pub fn answer(&mut self, wait: u64, answer: &super::Answer) -> Result<(), RunError> {
        let id = self.state.id.clone();
        Ok(self.journal.answer(&id, wait, &answer.to_json())?)
    }

    /// Puts a message in that steers the open turn at its next step.
    ///
    /// # Errors
    /// [`RunError::Journal`].
    pub fn steer(&mut self, text: &str) -> Result<(), RunError> {
        let id = self.state.id.clone();
        Ok(self.journal.post(&id, &InboxItem::Message { text: text.to_owned() })?)
    }

    /// What the session changed, as a git-style diff.
    ///
    /// # Errors
    /// [`ChangesError`](super::ChangesError).
    pub fn diff(&self) -> Result<Vec<u8>, super::ChangesError> {
        super::diff(&*self.journal, &self.state.id)
    }

    /// Puts back what the session changed, and gives the paths. Only between turns.
    ///
    /// # Errors
    /// [`ChangesError`](super::ChangesError); nothing was changed then.
    pub fn undo(&mut self) -> Result<Vec<String>, super::ChangesError> {
        if self.state.turn.is_some() {
            return Err(RunError::TurnOpen.into());
        }
        let root = self.env.root().display().to_string();
        let paths = super::changes::undo_leased(&mut *self.journal, &root, &self.state.id, &self.lease)?;
        self.state = State::load(self.journal.load(&self.state.id)?)?;
        Ok(paths)
    }

    /// Records the beginning of a turn.
    pub(super) fn open_turn(&mut self, message: &str, options: &TurnOptions) -> Result<(), RunError> {
        let turn = self.state.last_turn + 1;
        let mut batch = Batch::new(turn);
        let options = serde_json::to_string(options).map_err(|error| RunError::Broken(error.to_string()))?;
        batch.push(Write::TurnOpened(TurnRow {
            turn,
            state: TurnState::Open,
            step: 1,
            options,
            spent: Spent::default(),
            started_at: now(),
            outcome: None,
        }));
        batch.push(Write::Session(SessionState::Running));
        if turn == 1 {
            batch.push(Write::Title(title(message)));
            for text in &self.agent.preamble {
                batch.push(message_write(&Message::user(text)));
            }
        }
        for name in ["turn.active_ms", "turn.output_tries", "turn.empty", "turn.leave.steps", "turn.leave.wall"] {
            if self.state.value(name).is_some_and(|value| value != "0") {
                batch.push(Write::Value(name.into(), "0".into()));
            }
        }
        batch.push(message_write(&Message::user(message)));
        batch.event(Event::TurnStarted { text: message.to_owned() });
        self.commit(batch)?;
        Ok(())
    }

    /// An empty batch for the open turn.
    pub(super) fn batch(&self) -> Batch {
        Batch::new(self.state.turn_number())
    }

    /// Records a batch, then follows it in memory and tells who watches.
    pub(super) fn commit(&mut self, batch: Batch) -> Result<Committed, RunError> {
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

fn environment(agent: &Agent, root: &Path, id: &str) -> Result<Arc<ToolEnv>, RunError> {
    let opened = ToolEnv::open(root, id);
    let env = opened.map_err(|error| RunError::Workspace { root: root.display().to_string(), error })?;
    Ok(Arc::new(env.with_skills(agent.skills.clone()).with_variables(agent.variables.clone())))
}

/// The first line of a message, cut.
fn title(message: &str) -> String {
    let line = message.trim().lines().next().unwrap_or_default();
    let mut title: String = line.chars().take(TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    title
}

/// A message that joins the history.
pub(super) fn message_write(message: &Message) -> Write {
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
