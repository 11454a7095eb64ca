//! The tool calls of a step: started with a record, run beside each other, their results recorded and delivered.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::task::{Id, JoinError, JoinSet};

use super::super::model::{Message, ToolResult};
use super::super::repeats;
use super::super::session::{Batch, Event, OpRow, OpState, TurnState, Write, to_json};
use super::super::tools::{Call, Intent, Outcome, Tool};
use super::TICK;
use super::running::{Ended, RunError, Session, message_write};

/// The longest part of an input or output that goes into an event, in characters.
const PREVIEW: usize = 400;

/// A result as an operation keeps it until the history holds it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Kept {
    pub(super) ok: bool,
    pub(super) text: String,
}

/// The tasks that run.
#[derive(Default)]
struct Tasks {
    set: JoinSet<Outcome>,
    ops: HashMap<Id, OpRow>,
    alone: bool,
}

/// A call whose intent is recorded next.
struct Ready {
    op: OpRow,
    tool: Arc<dyn Tool>,
    call: Call,
    intent: Intent,
}

impl Session {
    /// Runs the calls of the step that can run, until none runs.
    pub(super) async fn run_tools(&mut self) -> Result<Option<Ended>, RunError> {
        let mut tasks = Tasks::default();
        let mut tick = tokio::time::interval(TICK);
        tick.tick().await;
        loop {
            if let Some(ended) = self.start_ready(&mut tasks).await? {
                return Ok(Some(ended));
            }
            if tasks.set.is_empty() {
                return Ok(None);
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    tasks.set.shutdown().await;
                    return self.cancel_turn().map(Some);
                }
                Some(done) = tasks.set.join_next_with_id() => {
                    if let Some(ended) = self.task_ended(&mut tasks, done)? {
                        return Ok(Some(ended));
                    }
                }
                _ = tick.tick() => self.sign_of_life()?,
            }
        }
    }

    /// Starts what can be started: first the record, all in one commit, then the tasks.
    async fn start_ready(&mut self, tasks: &mut Tasks) -> Result<Option<Ended>, RunError> {
        loop {
            let ready = self.can_start(tasks.alone, tasks.set.len());
            if ready.is_empty() {
                return Ok(None);
            }
            let mut batch = self.batch();
            let (mut started, mut refused) = (Vec::new(), false);
            for op in ready {
                match self.intend(op).await {
                    Ok(ready) => {
                        record_start(&mut batch, &ready);
                        started.push(ready);
                    }
                    Err((op, outcome)) => {
                        refused = true;
                        self.finish(&mut batch, &op, outcome);
                    }
                }
            }
            if let Some(ended) = self.record(batch)? {
                return Ok(Some(ended));
            }
            for ready in started {
                tasks.spawn(ready);
            }
            if !refused {
                return Ok(None);
            }
        }
    }

    /// The calls that can start now, in order of request. One that must run alone starts only when nothing else runs,
    /// and nothing overtakes it: not while it runs, and not while it waits for a person.
    pub(super) fn can_start(&self, alone: bool, running: usize) -> Vec<OpRow> {
        let most = (self.agent.config.limits.fan_out as usize).max(1);
        let mut out = Vec::new();
        for op in self.state.tools().filter(|op| !op.state.is_over()) {
            let exclusive = self.agent.tools.get(&op.name).is_some_and(|tool| tool.def().exclusive);
            let can = op.state == OpState::Intended && !self.state.waits_for(&op.key);
            if alone || out.len() + running >= most {
                break;
            }
            if exclusive {
                if can && out.is_empty() && running == 0 {
                    out.push(op.clone());
                }
                break;
            }
            if can {
                out.push(op.clone());
            }
        }
        out
    }

    /// Lets the tool look at what it will do.
    async fn intend(&self, op: OpRow) -> Result<Ready, (OpRow, Outcome)> {
        let (tool, input) = match self.agent.tools.resolve(&op.name, &op.input) {
            Ok((tool, input)) => (Arc::clone(tool), input),
            Err(wrong) => return Err((op, Outcome::error(wrong))),
        };
        let call = self.call(&op.key, input);
        let looked = {
            let (tool, call) = (Arc::clone(&tool), call.clone());
            tokio::task::spawn_blocking(move || tool.intent(&call)).await
        };
        match looked {
            Ok(Ok(intent)) => Ok(Ready { op, tool, call, intent }),
            Ok(Err(outcome)) => Err((op, *outcome)),
            Err(error) => Err((op, broken(&error))),
        }
    }

    /// A call as a tool gets it.
    pub(super) fn call(&self, key: &str, input: Map<String, Value>) -> Call {
        Call {
            key: key.to_owned(),
            input,
            env: Arc::clone(&self.env),
            seen: Arc::clone(&self.state.seen),
            values: Arc::clone(&self.state.values),
            cancel: self.cancel.child_token(),
        }
    }

    fn task_ended(
        &mut self,
        tasks: &mut Tasks,
        done: Result<(Id, Outcome), JoinError>,
    ) -> Result<Option<Ended>, RunError> {
        let (id, outcome) = match done {
            Ok(done) => done,
            Err(error) => (error.id(), broken(&error)),
        };
        let Some(op) = tasks.ops.remove(&id) else { return Ok(None) };
        tasks.alone = false;
        let mut batch = self.batch();
        self.count_time(&mut batch);
        self.finish(&mut batch, &op, outcome);
        self.record(batch)
    }

    /// Adds the result of a call and all that it leads to.
    pub(super) fn finish(&self, batch: &mut Batch, op: &OpRow, outcome: Outcome) {
        let mut text = self.env.fit(&op.key, &outcome.text);
        if !outcome.ok {
            text = self.remarked(&op.name, &op.input, text);
        }
        for (path, digest) in outcome.seen {
            batch.push(Write::Seen(path, digest));
        }
        let changed: Vec<String> = outcome.changes.iter().map(|change| change.path.clone()).collect();
        for change in outcome.changes {
            batch.push(Write::Changed(op.key.clone(), change));
        }
        for (name, value) in outcome.values {
            batch.push(Write::Value(name, value));
        }
        batch.event(Event::ToolFinished {
            key: op.key.clone(),
            name: op.name.clone(),
            ok: outcome.ok,
            output: preview(&text),
            changed,
            report: outcome.report,
        });
        let state = if outcome.ok { OpState::Done } else { OpState::Failed };
        let result = Some(to_json(&Kept { ok: outcome.ok, text }));
        batch.push(Write::Op { key: op.key.clone(), state, checkpoint: None, result });
    }

    /// A failure with a remark if the same call has failed before.
    pub(super) fn remarked(&self, name: &str, arguments: &str, mut text: String) -> String {
        let times = repeats::failures_before(&self.state.messages, name, arguments) + 1;
        if let Some(remark) = repeats::remark(times) {
            text.push_str(&remark);
        }
        text
    }

    /// Records a batch, and with it the end of the step if all its calls have a result now.
    pub(super) fn record(&mut self, mut batch: Batch) -> Result<Option<Ended>, RunError> {
        let after = after(&self.state.ops, &batch);
        if after.is_empty() || after.iter().any(|op| !op.state.is_over()) {
            if !batch.writes.is_empty() {
                self.commit(batch)?;
            }
            return Ok(None);
        }
        let worst = self.worst(&after);
        self.deliver(&mut batch);
        if let Some((name, times)) = worst {
            batch.event(Event::LoopNoticed { name: name.clone(), times });
            if times >= repeats::ENDS {
                let reason = format!("loop: the same call of `{name}` has failed {times} times");
                return self.end_turn(batch, TurnState::Failed, Some(reason), None).map(Some);
            }
        }
        batch.push(Write::TurnStep(self.state.step() + 1));
        self.commit(batch)?;
        Ok(None)
    }

    /// Adds the results of the step to the history, in the order of request.
    pub(super) fn deliver(&self, batch: &mut Batch) {
        for op in after(&self.state.ops, batch) {
            let kept = kept(op.result.as_deref());
            let result =
                if kept.ok { ToolResult::new(op.call_id, kept.text) } else { ToolResult::error(op.call_id, kept.text) };
            batch.push(message_write(&Message::Tool(result)));
        }
        batch.push(Write::Delivered { step: self.state.step() });
    }

    /// The call that failed most often, if that is worth a word.
    fn worst(&self, ops: &[OpRow]) -> Option<(String, u32)> {
        let failed = ops.iter().filter(|op| op.state == OpState::Failed);
        let times = failed.map(|op| {
            let before = repeats::failures_before(&self.state.messages, &op.name, &op.input);
            (op.name.clone(), before + 1)
        });
        times.max_by_key(|(_, times)| *times).filter(|(_, times)| *times >= repeats::TOLD)
    }
}

impl Tasks {
    fn spawn(&mut self, Ready { op, tool, call, intent }: Ready) {
        self.alone = tool.def().exclusive;
        let limit = tool.def().timeout;
        let name = op.name.clone();
        let work = tool.run(call, intent.checkpoint);
        let task = self.set.spawn(async move {
            match tokio::time::timeout(limit, work).await {
                Ok(outcome) => outcome,
                Err(_) => Outcome::error(format!(
                    "`{name}` took longer than {} s and was ended; what it had done until then stays",
                    limit.as_secs_f32()
                )),
            }
        });
        self.ops.insert(task.id(), op);
    }
}

/// The tool calls of the step as they will be after a batch.
fn after(ops: &[OpRow], batch: &Batch) -> Vec<OpRow> {
    let tools = |op: &&OpRow| op.kind == super::OpKind::Tool;
    let mut ops: Vec<OpRow> = ops.iter().filter(tools).cloned().collect();
    for write in &batch.writes {
        match write {
            Write::Intended(op) if tools(&op) => ops.push(op.clone()),
            Write::Op { key, state, result, .. } => {
                if let Some(op) = ops.iter_mut().find(|op| op.key == *key) {
                    op.state = *state;
                    op.result.clone_from(result);
                }
            }
            _ => {}
        }
    }
    ops.sort_by_key(|op| op.index);
    ops
}

/// Adds that a call starts, and the contents it is about to change.
fn record_start(batch: &mut Batch, ready: &Ready) {
    for (digest, bytes) in &ready.intent.blobs {
        batch.push(Write::Blob(*digest, bytes.clone()));
    }
    batch.push(Write::Op {
        key: ready.op.key.clone(),
        state: OpState::Started,
        checkpoint: ready.intent.checkpoint.as_ref().map(to_json),
        result: None,
    });
    batch.event(Event::ToolStarted {
        key: ready.op.key.clone(),
        name: ready.op.name.clone(),
        effects: ready.op.effects,
        input: preview(&ready.op.input),
        attempt: ready.op.attempt + 1,
    });
}

/// The beginning of a text, for events.
pub(super) fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A kept result; one that is missing or not understood is an error for the model.
fn kept(result: Option<&str>) -> Kept {
    let read = result.and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| Kept { ok: false, text: "the result of this call was lost".into() })
}

/// A tool that failed inside.
fn broken(error: &JoinError) -> Outcome {
    Outcome::error(format!("the tool failed inside ({error}); look at what it left before you go on"))
}
