//! A turn: steps of one model call and its tool calls, until there is an answer or a person is needed.
//!
//! What comes next is read off the recorded state alone (`next`), so a turn goes on after a crash by the same way
//! as ever. Each step's function ends in one commit.

mod along;
mod context;
mod model;
mod running;
mod tools;
mod waits;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use super::agent::TurnOptions;
use super::limits::{self, Reached, Used};
use super::manifest::{Effects, Then};
use super::model::Message;
use super::session::{
    Batch, Event, InboxItem, OpKind, OpRow, OpState, SessionState, TurnState, WaitKind, Write, to_json,
};
use running::blocking;
pub(super) use running::message_write;
pub use running::{Ended, RunError, Session};
use waits::Taken;

/// How often a turn that waits for something outside looks for messages and gives a sign of life.
const TICK: Duration = Duration::from_secs(2);

/// What comes next in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// No turn is open.
    Nothing,
    /// A step begins.
    Step,
    /// The model is asked (again).
    Model,
    /// Tools can run.
    Tools,
    /// Only a person can help.
    Park,
}

impl Session {
    /// Runs the open turn until it comes to rest.
    ///
    /// # Errors
    /// [`RunError::Journal`]: what was recorded is safe, and the session can be resumed.
    pub async fn go_on(&mut self) -> Result<Ended, RunError> {
        self.since = Instant::now();
        if let Some(ended) = self.take_up()? {
            return Ok(ended);
        }
        loop {
            if self.cancel.is_cancelled() && self.state.turn.is_some() {
                return self.cancel_turn();
            }
            let ended = match self.next() {
                Next::Nothing => Some(Ended::Idle),
                Next::Step => self.begin_step().await?,
                Next::Model => self.call_model().await?,
                Next::Tools => self.run_tools().await?,
                Next::Park => self.park()?,
            };
            if let Some(ended) = ended {
                return Ok(ended);
            }
        }
    }

    /// What comes next, by the record alone.
    fn next(&self) -> Next {
        if self.state.turn.is_none() {
            return Next::Nothing;
        }
        if self.state.tools().next().is_some() {
            return if self.can_start(false, 0).is_empty() { Next::Park } else { Next::Tools };
        }
        let asked = self.state.ops.iter().any(|op| op.kind == OpKind::Model);
        match asked {
            _ if !self.state.waits.is_empty() => Next::Park,
            false => Next::Step,
            true => Next::Model,
        }
    }

    /// The options of the open turn.
    fn options(&self) -> TurnOptions {
        let options = self.state.turn.as_ref().map(|turn| turn.options.as_str()).unwrap_or_default();
        serde_json::from_str(options).unwrap_or_default()
    }

    /// Begins a step: takes messages in, looks at the limits, makes room, and records that the model is called.
    async fn begin_step(&mut self) -> Result<Option<Ended>, RunError> {
        let mut batch = self.batch();
        if self.take_inbox(&mut batch)? {
            self.cancel.cancel();
            self.commit(batch)?;
            return Ok(None);
        }
        if let Some(reached) = self.limit() {
            return self.at_limit(batch, &reached);
        }
        if !batch.writes.is_empty() {
            self.commit(batch)?;
        }
        if let Some(ended) = self.make_room().await? {
            return Ok(Some(ended));
        }
        if self.cancel.is_cancelled() {
            return Ok(None);
        }
        let mut batch = self.batch();
        self.count_time(&mut batch);
        let step = self.state.step();
        batch.push(Write::Intended(self.model_op(OpKind::Model, "m")));
        batch.event(Event::StepStarted { step });
        self.commit(batch)?;
        Ok(None)
    }

    /// A model call of this step that is started with its record.
    fn model_op(&self, kind: OpKind, name: &str) -> OpRow {
        let (turn, step) = (self.state.turn_number(), self.state.step());
        OpRow {
            key: format!("{turn}.{step}.{name}"),
            turn,
            step,
            index: self.state.calls,
            kind,
            name: self.agent.model.info().id.clone(),
            call_id: String::new(),
            effects: Effects::Idempotent,
            input: String::new(),
            state: OpState::Started,
            attempt: 1,
            checkpoint: None,
            result: None,
        }
    }

    /// Takes messages that others put in. Whether the turn shall stop.
    fn take_inbox(&mut self, batch: &mut Batch) -> Result<bool, RunError> {
        let mut stop = false;
        for entry in blocking(|| self.journal.inbox(&self.state.id))? {
            batch.push(Write::Taken(entry.id));
            match entry.item {
                InboxItem::Message { text } => {
                    batch.push(message_write(&Message::user(&text)));
                    batch.event(Event::Steered { text });
                }
                InboxItem::Cancel => stop = true,
            }
        }
        Ok(stop)
    }

    /// Adds the time since the last count to the turn's.
    fn count_time(&mut self, batch: &mut Batch) {
        let passed = self.since.elapsed();
        self.since = Instant::now();
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        if passed > 0 && self.agent.config.limits.wall_ms.is_some() {
            let sum = self.state.count("turn.active_ms").saturating_add(passed);
            batch.push(Write::Value("turn.active_ms".into(), sum.to_string()));
        }
    }

    /// The limit that is reached, if one is.
    fn limit(&self) -> Option<Reached> {
        let used = Used {
            tokens: self.state.spent.total(),
            cost: limits::cost(self.agent.config.model.price, self.state.spent),
            steps: u64::from(self.state.step()).saturating_sub(1),
            wall_ms: self.state.count("turn.active_ms"),
        };
        limits::reached(&self.agent.config.limits, &used, |name| self.state.count(leave(name)))
    }

    /// Asks at a limit, or ends the turn.
    fn at_limit(&mut self, mut batch: Batch, reached: &Reached) -> Result<Option<Ended>, RunError> {
        if reached.then == Then::Stop {
            let reason = format!("limit `{}`: {}", reached.name, reached.text);
            return self.end_turn(batch, TurnState::Failed, Some(reason), None).map(Some);
        }
        let prompt = serde_json::json!({
            "limit": reached.name,
            "question": format!("{}. Go on?", reached.text),
        });
        batch.push(Write::Wait { kind: WaitKind::Limit, key: reached.name.into(), prompt: prompt.to_string() });
        batch.event(Event::Asked { wait: 0, kind: WaitKind::Limit, key: reached.name.into(), prompt });
        self.commit(batch)?;
        Ok(None)
    }

    /// Leaves the turn to wait, unless an answer came in the meantime.
    fn park(&mut self) -> Result<Option<Ended>, RunError> {
        match self.take_answers()? {
            Taken::Nothing => {}
            Taken::Some => return Ok(None),
            Taken::Ended(ended) => return Ok(Some(ended)),
        }
        if self.state.waits.is_empty() {
            return Err(RunError::Broken("its turn waits for nothing".into()));
        }
        if self.state.session != SessionState::Waiting {
            let mut batch = self.batch();
            self.count_time(&mut batch);
            batch.push(Write::Session(SessionState::Waiting));
            self.commit(batch)?;
        }
        Ok(Some(Ended::Waiting(self.state.waits.clone())))
    }

    /// Ends the turn with the last things to record.
    fn end_turn(
        &mut self,
        mut batch: Batch,
        state: TurnState,
        reason: Option<String>,
        answer: Option<String>,
    ) -> Result<Ended, RunError> {
        for wait in &self.state.waits {
            batch.push(Write::WaitClosed(wait.id));
        }
        let spent = self.state.turn.as_ref().map(|turn| turn.spent).unwrap_or_default();
        let written =
            batch.writes.iter().map(|write| if let Write::Spent(spent) = write { *spent } else { <_>::default() });
        let spent = written.fold(spent, |sum, more| sum.plus(more));
        let outcome = serde_json::json!({ "reason": reason, "answer": answer });
        batch.push(Write::TurnClosed(state, to_json(&outcome)));
        batch.push(Write::Session(SessionState::Idle));
        batch.event(Event::TurnEnded { state, reason: reason.clone(), answer: answer.clone(), spent });
        self.commit(batch)?;
        Ok(match state {
            TurnState::Cancelled => Ended::Cancelled,
            TurnState::Failed | TurnState::Open => Ended::Failed { reason: reason.unwrap_or_default() },
            TurnState::Done => Ended::Done { answer: answer.unwrap_or_default() },
        })
    }

    /// Ends the turn because a person wants it. Calls without a result get one, so that the history stays whole.
    fn cancel_turn(&mut self) -> Result<Ended, RunError> {
        let mut batch = self.batch();
        let open: Vec<OpRow> = self.state.tools().filter(|op| !op.state.is_over()).cloned().collect();
        for op in &open {
            let text = match op.state {
                OpState::Intended => "not run: the person stopped the turn",
                _ => "stopped by the person while it ran; what it had done until then stays",
            };
            self.finish(&mut batch, op, super::tools::Outcome::error(text));
        }
        if self.state.tools().next().is_some() {
            self.deliver(&mut batch);
        }
        // The next turn is not stopped by a wish to stop this one.
        self.cancel = tokio_util::sync::CancellationToken::new();
        self.end_turn(batch, TurnState::Cancelled, Some("stopped by the person".into()), None)
    }
}

/// Under which value leaves to pass a limit are counted. Limits of a turn are counted anew in each.
fn leave(limit: &str) -> &'static str {
    match limit {
        "tokens" => "leave.tokens",
        "cost" => "leave.cost",
        "steps" => "turn.leave.steps",
        _ => "turn.leave.wall",
    }
}
