//! Answers of people, and what a process that died left half done.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::answer::Answer;
use super::super::session::{Batch, Event, OpKind, OpRow, OpState, SessionState, TurnState, WaitKind, WaitRow, Write};
use super::super::tools::{Outcome, Settled};
use super::leave;
use super::running::{Ended, RunError, Session, blocking};

/// What came of looking for answers.
#[derive(Debug)]
pub(super) enum Taken {
    Nothing,
    Some,
    Ended(Ended),
}

impl Session {
    /// Takes the turn up where a process left it: answers that came, calls that were running.
    pub(super) fn take_up(&mut self) -> Result<Option<Ended>, RunError> {
        if self.state.turn.is_none() {
            return Ok(None);
        }
        if let Taken::Ended(ended) = self.take_answers()? {
            return Ok(Some(ended));
        }
        let half_done: Vec<OpRow> = self
            .state
            .tools()
            .filter(|op| {
                op.state == OpState::Started || (op.state == OpState::Unknown && !self.state.waits_for(&op.key))
            })
            .cloned()
            .collect();
        let mut batch = self.batch();
        for op in &half_done {
            self.settle(&mut batch, op);
        }
        if batch.writes.is_empty() { Ok(None) } else { self.record(batch) }
    }

    /// Finds out what became of a call whose process died.
    fn settle(&self, batch: &mut Batch, op: &OpRow) {
        let settled = match self.agent.tools.resolve(&op.name, &op.input) {
            Ok((tool, input)) => {
                let checkpoint: Option<Value> = op.checkpoint.as_deref().and_then(|it| serde_json::from_str(it).ok());
                let (tool, call) = (Arc::clone(tool), self.call(&op.key, input));
                blocking(|| tool.settle(&call, checkpoint.as_ref()))
            }
            // The tool is gone, or takes other input now. What was safe to repeat is told as a failure.
            Err(wrong) if op.effects.repeatable() => Settled::Done(Outcome::error(wrong)),
            Err(_) => Settled::Unknown,
        };
        match settled {
            Settled::Again => {
                batch.push(Write::Op { key: op.key.clone(), state: OpState::Intended, checkpoint: None, result: None })
            }
            Settled::Done(outcome) => self.finish(batch, op, outcome),
            Settled::Unknown => unknown(batch, op),
        }
    }

    /// Takes answers that came.
    pub(super) fn take_answers(&mut self) -> Result<Taken, RunError> {
        let waits = blocking(|| self.journal.waits(&self.state.id))?;
        let mut taken = Taken::Nothing;
        for wait in waits {
            let Some(answer) = &wait.answer else { continue };
            let answer = serde_json::from_str(answer)
                .map_err(|error| RunError::Broken(format!("the answer to question {}: {error}", wait.id)))?;
            taken = Taken::Some;
            if let Some(ended) = self.take_answer(&wait, answer)? {
                return Ok(Taken::Ended(ended));
            }
        }
        Ok(taken)
    }

    fn take_answer(&mut self, wait: &WaitRow, answer: Answer) -> Result<Option<Ended>, RunError> {
        let mut batch = self.batch();
        batch.push(Write::WaitClosed(wait.id));
        if self.state.session != SessionState::Running {
            batch.push(Write::Session(SessionState::Running));
        }
        let shown = serde_json::to_value(&answer).unwrap_or_default();
        batch.event(Event::Answered { wait: wait.id, answer: shown });
        if wait.kind == WaitKind::Limit {
            return self.limit_answer(batch, wait, &answer);
        }
        let op = self.state.op(&wait.key).filter(|op| op.kind == OpKind::Tool).cloned();
        if let Some(op) = op {
            match wait.kind {
                WaitKind::Approval => self.approval_answer(&mut batch, &op, wait, answer),
                WaitKind::Unknown => self.unknown_answer(&mut batch, &op, &answer),
                _ => self.finish(&mut batch, &op, question_answer(answer)),
            }
        }
        self.record(batch)
    }

    fn limit_answer(&mut self, mut batch: Batch, wait: &WaitRow, answer: &Answer) -> Result<Option<Ended>, RunError> {
        if matches!(answer, Answer::Yes { .. }) {
            let name = leave(&wait.key);
            batch.push(Write::Value(name.into(), (self.state.count(name) + 1).to_string()));
            self.commit(batch)?;
            return Ok(None);
        }
        let reason = format!("limit `{}`: the person did not go on", wait.key);
        self.end_turn(batch, TurnState::Failed, Some(reason), None).map(Some)
    }

    fn approval_answer(&self, batch: &mut Batch, op: &OpRow, wait: &WaitRow, answer: Answer) {
        let why = match answer {
            Answer::Yes { always } => {
                let prompt: Value = serde_json::from_str(&wait.prompt).unwrap_or_default();
                let lasts = always || prompt.get("once").and_then(Value::as_bool).unwrap_or_default();
                if let (true, Some(name)) = (lasts, prompt.get("leave").and_then(Value::as_str)) {
                    batch.push(Write::Value(name.to_owned(), "1".into()));
                }
                return;
            }
            Answer::No { reason } => reason,
            Answer::Text { text } => text,
            _ => String::new(),
        };
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let text = format!("the person did not allow this call of `{}`{why}. It was not run", op.name);
        self.finish(batch, op, Outcome::error(text));
    }

    fn unknown_answer(&self, batch: &mut Batch, op: &OpRow, answer: &Answer) {
        match answer {
            Answer::Again | Answer::Yes { .. } => {
                batch.push(Write::Op { key: op.key.clone(), state: OpState::Intended, checkpoint: None, result: None })
            }
            Answer::Happened => {
                let text =
                    "the program was interrupted while this ran; the person says that it did run. Its output is lost";
                self.finish(batch, op, Outcome::ok(text));
            }
            _ => {
                let text = "the program was interrupted while this ran, and nobody knows how far it came; it was not run again";
                self.finish(batch, op, Outcome::error(text));
            }
        }
    }
}

fn question_answer(answer: Answer) -> Outcome {
    match answer {
        Answer::Text { text } => Outcome::ok(text),
        Answer::Yes { .. } => Outcome::ok("yes"),
        Answer::No { reason } if reason.is_empty() => Outcome::ok("no"),
        Answer::No { reason } => Outcome::ok(format!("no: {reason}")),
        _ => Outcome::error("the person gave no answer"),
    }
}

/// Nobody can tell whether a call ran: it is asked about.
fn unknown(batch: &mut Batch, op: &OpRow) {
    let input: Value = serde_json::from_str(&op.input).unwrap_or_default();
    let prompt = json!({
        "tool": op.name,
        "input": input,
        "question": format!("the program was interrupted while `{}` ran; did it run?", op.name),
        "options": ["again", "happened", "skip"],
    });
    batch.push(Write::Op { key: op.key.clone(), state: OpState::Unknown, checkpoint: None, result: None });
    batch.event(Event::ToolUnknown { key: op.key.clone(), name: op.name.clone() });
    batch.push(Write::Wait { kind: WaitKind::Unknown, key: op.key.clone(), prompt: prompt.to_string() });
    batch.event(Event::Asked { wait: 0, kind: WaitKind::Unknown, key: op.key.clone(), prompt });
}
