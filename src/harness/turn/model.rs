//! The model call of a step: asked, heard, recorded.

use super::super::approval::Decision;
use super::super::manifest::Effects;
use super::super::model::{
    Effort, ErrorKind, Message, ModelError, OutputFormat, Reply, Request, StopReason, ToolCall, Usage,
};
use super::super::model::{Event as ModelEvent, ReplyStream};
use super::super::session::{
    Batch, Event, InboxItem, OpKind, OpRow, OpState, Spent, TurnState, WaitKind, Write, to_json,
};
use super::super::tools::Checked;
use super::super::watch::Live;
use super::TICK;
use super::along::Along;
use super::running::{Ended, RunError, Session, blocking, message_write};
use super::tools::{Kept, preview};

/// How often an answer that does not fit its schema, or is empty, is asked for again.
const TRIES: u64 = 3;

/// What came of a model call.
pub(super) enum Heard {
    Reply(Box<Reply>),
    Failed(ModelError),
    Stopped,
    /// The reply was cut off: what had come, and why the last call in it would fail.
    Cut(Box<Reply>, String),
}

impl Session {
    /// Asks the model, and records its reply with the calls it makes.
    pub(super) async fn call_model(&mut self) -> Result<Option<Ended>, RunError> {
        let Some(op) = self.state.ops.iter().rev().find(|op| op.kind == OpKind::Model).cloned() else {
            return Err(RunError::Broken("the step has no model call".into()));
        };
        if op.state != OpState::Started {
            let mut batch = self.batch();
            batch.push(Write::Op { key: op.key.clone(), state: OpState::Started, checkpoint: None, result: None });
            self.commit(batch)?;
        }
        let schema = self.options().output_schema;
        let stream = {
            let format = schema.as_ref().map(|schema| OutputFormat::new("answer", schema));
            let request = self.request(&self.state.messages, op.index).output(format);
            self.agent.model.stream(&request)
        };
        match self.hear(stream).await? {
            Heard::Reply(reply) => self.replied(&op, *reply, None, schema.as_ref()),
            Heard::Cut(reply, why) => self.replied(&op, *reply, Some(why), schema.as_ref()),
            Heard::Stopped => {
                let mut batch = self.batch();
                batch.push(Write::Op { key: op.key, state: OpState::Failed, checkpoint: None, result: None });
                self.commit(batch)?;
                Ok(None)
            }
            Heard::Failed(error) if error.kind() == ErrorKind::ContextTooLong && !self.was_squeezed() => {
                let mut batch = self.batch();
                batch.push(Write::Value("squeeze".into(), op.key.clone()));
                batch.push(Write::Op { key: op.key, state: OpState::Failed, checkpoint: None, result: None });
                self.commit(batch)?;
                self.squeeze(&error).await
            }
            Heard::Failed(error) => self.model_failed(&op, &error).map(Some),
        }
    }

    /// What the model is asked, the same way for every call of the session.
    pub(super) fn request<'a>(&'a self, messages: &'a [Message], call: u32) -> Request<'a> {
        let config = &self.agent.config.model;
        let effort = config.reasoning.map(Effort::from);
        Request::new(&self.prompt, messages)
            .tools(&self.specs)
            .effort(effort)
            .max_output_tokens(config.max_output_tokens)
            .call(&self.state.id, u64::from(call))
    }

    /// Follows a reply as it arrives. Meanwhile the lease is renewed and a wish to stop is heard.
    pub(super) async fn hear(&mut self, mut stream: ReplyStream) -> Result<Heard, RunError> {
        let mut tick = tokio::time::interval(TICK);
        tick.tick().await;
        let mut along = Along::default();
        loop {
            let event = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Heard::Stopped),
                event = stream.next() => event,
                _ = tick.tick() => {
                    self.sign_of_life()?;
                    continue;
                }
            };
            match event {
                Some(Ok(ModelEvent::Done(reply))) => return Ok(Heard::Reply(reply)),
                Some(Ok(event)) => {
                    if let Some((name, why)) = along.follow(self, &event) {
                        self.watch.live(Live::Misfit { name, why: why.clone() });
                        if self.agent.config.cut_short {
                            return Ok(Heard::Cut(Box::new(along.reply()), why));
                        }
                    }
                    self.show(event);
                }
                Some(Err(error)) => return Ok(Heard::Failed(error)),
                None => {
                    let error = ModelError::new(ErrorKind::BadStream, "the model's answer ended early");
                    return Ok(Heard::Failed(error));
                }
            }
        }
    }

    fn show(&mut self, event: ModelEvent) {
        let live = match event {
            ModelEvent::Text(text) => Live::Text(text),
            ModelEvent::Reasoning(text) => Live::Reasoning(text),
            ModelEvent::ToolCallStarted { name, .. } => Live::Call { name },
            ModelEvent::Retry { attempt, wait, error } => Live::Retry { attempt, wait, error: error.to_string() },
            _ => return,
        };
        self.watch.live(live);
    }

    /// Renews the lease, and stops the turn if somebody asked for it.
    pub(super) fn sign_of_life(&mut self) -> Result<(), RunError> {
        blocking(|| self.journal.renew(&self.lease))?;
        let inbox = blocking(|| self.journal.inbox(&self.state.id))?;
        if let Some(entry) = inbox.iter().find(|entry| entry.item == InboxItem::Cancel) {
            let mut batch = self.batch();
            batch.push(Write::Taken(entry.id));
            self.commit(batch)?;
            self.cancel.cancel();
        }
        Ok(())
    }

    /// The model could not be asked. The turn stays open.
    pub(super) fn model_failed(&mut self, op: &OpRow, error: &ModelError) -> Result<Ended, RunError> {
        let error = error.to_string();
        let mut batch = self.batch();
        self.count_time(&mut batch);
        batch.push(Write::Op { key: op.key.clone(), state: OpState::Failed, checkpoint: None, result: None });
        batch.event(Event::ModelFailed { step: op.step, error: error.clone() });
        self.commit(batch)?;
        Ok(Ended::Stuck { error })
    }

    /// Records a reply: the message, what it cost, the calls it makes and what they wait for.
    fn replied(
        &mut self,
        op: &OpRow,
        reply: Reply,
        cut: Option<String>,
        schema: Option<&serde_json::Value>,
    ) -> Result<Option<Ended>, RunError> {
        let mut batch = self.batch();
        self.count_time(&mut batch);
        let spent = spent(reply.usage);
        batch.push(Write::Spent(spent));
        batch.push(Write::Op { key: op.key.clone(), state: OpState::Done, checkpoint: None, result: None });
        if let Some(usage) = reply.usage {
            let known = format!("{} {}", self.state.messages.len() + 1, usage.total());
            batch.push(Write::Value("context".into(), known));
        }
        let (text, stop, calls) = (reply.text(), reply.stop.clone(), reply.calls().cloned().collect::<Vec<_>>());
        let names = calls.iter().map(|call| call.name.clone()).collect();
        batch.push(message_write(&reply.into_message()));
        batch.event(Event::ModelReplied { step: op.step, text: text.clone(), calls: names, spent });
        if calls.is_empty() {
            return self.answered(batch, text, &stop, schema);
        }
        for (index, call) in calls.iter().enumerate() {
            let cut = cut.as_ref().filter(|_| index + 1 == calls.len());
            self.plan_call(&mut batch, index, call, cut);
        }
        self.record(batch)
    }

    /// A reply without calls: the answer, unless it cannot be one or somebody has said something in the meantime.
    fn answered(
        &mut self,
        mut batch: Batch,
        text: String,
        stop: &StopReason,
        schema: Option<&serde_json::Value>,
    ) -> Result<Option<Ended>, RunError> {
        if *stop == StopReason::Refused {
            let reason =
                if text.is_empty() { "the model declined".into() } else { format!("the model declined: {text}") };
            return self.end_turn(batch, TurnState::Failed, Some(reason), None).map(Some);
        }
        let before = batch.writes.len();
        let stopped = self.take_inbox(&mut batch)?;
        if stopped {
            self.cancel.cancel();
        }
        if stopped || batch.writes.len() > before {
            return self.go_further(batch);
        }
        let wrong = match schema {
            _ if text.trim().is_empty() => Some("your reply held neither text nor a tool call".to_owned()),
            Some(schema) => unfit(schema, &text).err(),
            None => None,
        };
        let Some(wrong) = wrong else {
            return self.end_turn(batch, TurnState::Done, None, Some(text)).map(Some);
        };
        let tries = self.state.count("turn.output_tries") + 1;
        if tries >= TRIES {
            let reason = format!("no usable answer after {tries} tries: {wrong}");
            return self.end_turn(batch, TurnState::Failed, Some(reason), None).map(Some);
        }
        batch.push(Write::Value("turn.output_tries".into(), tries.to_string()));
        batch.push(message_write(&Message::notice(format!("{wrong}\nAnswer again."))));
        self.go_further(batch)
    }

    /// On to the next step without calls.
    fn go_further(&mut self, mut batch: Batch) -> Result<Option<Ended>, RunError> {
        batch.push(Write::TurnStep(self.state.step() + 1));
        self.commit(batch)?;
        Ok(None)
    }

    /// Records the intent of one call, or why it cannot be made, or what it waits for.
    ///
    /// `cut`: why the call would have failed, when it was cut off for that.
    fn plan_call(&self, batch: &mut Batch, index: usize, call: &ToolCall, cut: Option<&String>) {
        let (turn, step) = (self.state.turn_number(), self.state.step());
        let mut op = OpRow {
            key: format!("{turn}.{step}.{index}"),
            turn,
            step,
            index: u32::try_from(index).unwrap_or(u32::MAX),
            kind: OpKind::Tool,
            name: call.name.clone(),
            call_id: call.id.clone(),
            effects: Effects::Read,
            input: call.arguments.clone(),
            state: OpState::Intended,
            attempt: 0,
            checkpoint: None,
            result: None,
        };
        let resolved = match cut {
            Some(why) => Err(format!(
                "your reply was cut off while you wrote this call, since it could not work any more:\n{why}"
            )),
            None => self.agent.tools.resolve(&call.name, &call.arguments),
        };
        let (tool, input) = match resolved {
            Ok(resolved) => resolved,
            Err(wrong) => {
                let text = self.remarked(&call.name, &call.arguments, wrong);
                op.state = OpState::Failed;
                op.result = Some(to_json(&Kept { ok: false, text: text.clone() }));
                batch.event(Event::ToolFinished {
                    key: op.key.clone(),
                    name: call.name.clone(),
                    ok: false,
                    output: preview(&text),
                    changed: Vec::new(),
                    report: None,
                });
                batch.push(Write::Intended(op));
                return;
            }
        };
        op.effects = tool.def().effects;
        let leave = |name: &str| self.state.value(name).is_some();
        let decision = self.agent.approvals.decide(tool.def(), &input, leave);
        let question = tool.question(&self.call(&op.key, input.clone()));
        let (key, name) = (op.key.clone(), op.name.clone());
        batch.push(Write::Intended(op));
        let (kind, prompt) = match (question, decision) {
            (Some(prompt), _) => (WaitKind::Question, prompt),
            (None, Decision::Run) => return,
            (None, Decision::Ask { leave, once }) => {
                (WaitKind::Approval, serde_json::json!({"tool": name, "input": input, "leave": leave, "once": once}))
            }
        };
        batch.push(Write::Wait { kind, key: key.clone(), prompt: prompt.to_string() });
        batch.event(Event::Asked { wait: 0, kind, key, prompt });
    }
}

/// Whether a text is one JSON value that fits a schema; what is wrong, for the model.
fn unfit(schema: &serde_json::Value, text: &str) -> Result<(), String> {
    let bare = text.trim();
    let value: serde_json::Value = serde_json::from_str(bare)
        .map_err(|error| format!("your answer must be one JSON value and nothing else; it is not JSON ({error})"))?;
    Checked::new(schema.clone()).check(&value).map_err(|wrong| format!("your answer does not fit its schema:\n{wrong}"))
}

/// A model's count of tokens in ours.
pub(super) fn spent(usage: Option<Usage>) -> Spent {
    let usage = usage.unwrap_or_default();
    Spent { input: usage.input, cached: usage.cache_read, output: usage.output }
}
