//! The way in: a [`Session`] of an [`Agent`], from message to answer.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::agent::{Agent, TurnOptions};
use super::answer::Answer;
use super::model::Message;
use super::session::{
    Batch, Event, InboxItem, Journal, Lease, NewSession, SessionState, Spent, State, TTL, TurnRow, TurnState, Write,
    new_id, now, this_process,
};
use super::tools::ToolEnv;
use super::turn::{Ended, RunError, Session, message_write};
use super::watch::{Unwatched, Watch};

/// The longest title, in characters.
const TITLE: usize = 80;

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
    /// [`JournalError::Busy`](super::session::JournalError::Busy) while another process runs it; [`RunError::Workspace`];
    /// [`RunError::Journal`].
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
    pub fn answer(&mut self, wait: u64, answer: &Answer) -> Result<(), RunError> {
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
        // A wish to stop that came too late was not meant for this turn.
        let late = self.journal.inbox(&self.state.id)?.into_iter().filter(|entry| entry.item == InboxItem::Cancel);
        late.for_each(|entry| batch.push(Write::Taken(entry.id)));
        batch.push(message_write(&Message::user(message)));
        batch.event(Event::TurnStarted { text: message.to_owned() });
        self.commit(batch)?;
        Ok(())
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
