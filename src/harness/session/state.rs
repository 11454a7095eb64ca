//! A session in memory: what the journal holds of it, as far as it is needed to go on.
//!
//! There are two ways to this state, from a [`Snapshot`] and by following each committed [`Batch`]; both must lead to
//! the same. So nothing is ever changed here but by [`State::apply`], after the commit.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::journal::{Batch, Committed, JournalError, Snapshot, Write};
use super::record::{OpKind, OpRow, OpState, SessionState, Spent, TurnRow, TurnState, WaitRow};
use crate::harness::model::Message;
use crate::harness::tools::Seen;

/// A session in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Its id.
    pub id: String,
    /// Where it stands.
    pub session: SessionState,
    /// The history as the model sees it.
    pub messages: Vec<Message>,
    /// Where each message of the history stands, in order.
    pub places: Vec<u64>,
    /// The open turn.
    pub turn: Option<TurnRow>,
    /// The number of the newest turn.
    pub last_turn: u32,
    /// The operations of the open turn's current step: the model's first, then the tools' in the order of request.
    pub ops: Vec<OpRow>,
    /// Open waits.
    pub waits: Vec<WaitRow>,
    /// Tokens spent.
    pub spent: Spent,
    /// How often a model was called.
    pub calls: u32,
    /// Files the session has seen.
    pub seen: Arc<Seen>,
    /// Values it keeps.
    pub values: Arc<BTreeMap<String, String>>,
}

impl State {
    /// The state that a snapshot holds.
    ///
    /// # Errors
    /// [`JournalError::Unreadable`] when a message is not understood.
    pub fn load(snapshot: Snapshot) -> Result<State, JournalError> {
        let unreadable = |error: serde_json::Error| JournalError::Unreadable {
            path: snapshot.session.id.clone(),
            what: "message",
            message: error.to_string(),
        };
        let messages = snapshot.messages.iter().map(|row| serde_json::from_str(&row.body)).collect::<Result<_, _>>();
        let mut state = State {
            messages: messages.map_err(unreadable)?,
            places: snapshot.messages.iter().map(|row| row.place).collect(),
            id: snapshot.session.id,
            session: snapshot.session.state,
            turn: snapshot.turn,
            last_turn: snapshot.last_turn,
            ops: snapshot.ops,
            waits: snapshot.waits,
            spent: snapshot.session.spent,
            calls: snapshot.session.calls,
            seen: Arc::new(snapshot.seen.into_iter().collect()),
            values: Arc::new(snapshot.values.into_iter().collect()),
        };
        state.sort_ops();
        Ok(state)
    }

    /// The number of the open turn, or 0.
    #[must_use]
    pub fn turn_number(&self) -> u32 {
        self.turn.as_ref().map_or(0, |turn| turn.turn)
    }

    /// The open turn's step, or 0.
    #[must_use]
    pub fn step(&self) -> u32 {
        self.turn.as_ref().map_or(0, |turn| turn.step)
    }

    /// The tool calls of the current step, in the order of request.
    pub fn tools(&self) -> impl Iterator<Item = &OpRow> {
        self.ops.iter().filter(|op| op.kind == OpKind::Tool)
    }

    /// An operation of the current step.
    #[must_use]
    pub fn op(&self, key: &str) -> Option<&OpRow> {
        self.ops.iter().find(|op| op.key == key)
    }

    /// Whether an operation waits for a person.
    #[must_use]
    pub fn waits_for(&self, key: &str) -> bool {
        self.waits.iter().any(|wait| wait.key == key)
    }

    /// A value the session keeps.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// A number the session keeps; 0 when there is none.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.value(name).and_then(|value| value.parse().ok()).unwrap_or_default()
    }

    /// Follows a batch that was committed.
    ///
    /// # Errors
    /// [`JournalError::Unreadable`] when a message of the batch is none, which is a mistake of the caller.
    pub fn apply(&mut self, batch: &Batch, committed: &Committed) -> Result<(), JournalError> {
        let (mut messages, mut waits) = (committed.messages.iter(), committed.waits.iter());
        for write in &batch.writes {
            match write {
                Write::Session(session) => self.session = *session,
                Write::TurnOpened(turn) => {
                    self.last_turn = turn.turn;
                    self.turn = Some(turn.clone());
                    self.ops.clear();
                }
                Write::TurnStep(step) => {
                    if let Some(turn) = &mut self.turn {
                        turn.step = *step;
                    }
                    self.ops.clear();
                }
                Write::TurnClosed(..) => {
                    self.turn = None;
                    self.ops.clear();
                }
                Write::Spent(spent) => {
                    self.spent = self.spent.plus(*spent);
                    if let Some(turn) = &mut self.turn {
                        turn.spent = turn.spent.plus(*spent);
                    }
                }
                Write::Message(body) => self.insert(messages.next().copied(), None, body)?,
                Write::Replace { from, to, body } => {
                    messages.next();
                    self.insert(Some(*to), Some(*from), body)?;
                }
                Write::Intended(op) => self.intend(op),
                Write::Op { key, state, checkpoint, result } => self.change(key, *state, checkpoint, result),
                Write::Delivered { .. } => {
                    for op in &mut self.ops {
                        (op.result, op.checkpoint) = (None, None);
                    }
                }
                Write::Wait { kind, key, prompt } => self.waits.push(WaitRow {
                    id: waits.next().copied().unwrap_or_default(),
                    turn: batch.turn,
                    kind: *kind,
                    key: key.clone(),
                    prompt: prompt.clone(),
                    answer: None,
                }),
                Write::WaitClosed(id) => self.waits.retain(|wait| wait.id != *id),
                Write::Seen(path, digest) => {
                    Arc::make_mut(&mut self.seen).insert(path.clone(), *digest);
                }
                Write::Value(name, value) => {
                    Arc::make_mut(&mut self.values).insert(name.clone(), value.clone());
                }
                Write::Title(_) | Write::Changed(..) | Write::Blob(..) | Write::Taken(_) | Write::Event(_) => {}
            }
        }
        Ok(())
    }

    /// Puts a message at `place`, in the place of those from `from` on.
    fn insert(&mut self, place: Option<u64>, from: Option<u64>, body: &str) -> Result<(), JournalError> {
        let unreadable = |message: String| JournalError::Unreadable { path: self.id.clone(), what: "message", message };
        let message = serde_json::from_str(body).map_err(|error| unreadable(error.to_string()))?;
        let place = place.ok_or_else(|| unreadable("it was given no number".into()))?;
        let first = self.places.partition_point(|&it| it < from.unwrap_or(place));
        let end = self.places.partition_point(|&it| it <= place);
        self.messages.splice(first..end, [message]);
        self.places.splice(first..end, [place]);
        Ok(())
    }

    fn intend(&mut self, op: &OpRow) {
        if op.kind != OpKind::Tool {
            self.calls = self.calls.max(op.index.saturating_add(1));
        }
        match self.ops.iter_mut().find(|it| it.key == op.key) {
            Some(it) => it.state = op.state,
            None => self.ops.push(op.clone()),
        }
        self.sort_ops();
    }

    fn change(&mut self, key: &str, state: OpState, checkpoint: &Option<String>, result: &Option<String>) {
        if let Some(op) = self.ops.iter_mut().find(|op| op.key == key) {
            op.state = state;
            op.attempt += u32::from(state == OpState::Started);
            op.result.clone_from(result);
            if checkpoint.is_some() {
                op.checkpoint.clone_from(checkpoint);
            }
        }
    }

    fn sort_ops(&mut self) {
        self.ops.sort_by_key(|op| (op.kind == OpKind::Tool, op.index));
    }
}

/// Whether a turn in this state goes on.
impl TurnState {
    /// Whether it has ended.
    #[must_use]
    pub fn is_over(self) -> bool {
        self != TurnState::Open
    }
}

impl OpState {
    /// Whether it has ended, with a result.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, OpState::Done | OpState::Failed)
    }
}
