//! The scripted model: answers written beforehand, for tests and demonstrations.
//!
//! The answer is chosen by [`Request::step`] alone, so a session that was killed goes on where its script was.

mod file;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use serde_json::Value;

use super::assemble::{Assembler, ReplyLimits};
use super::error::{ErrorKind, ModelError};
use super::reply::{Event, Reply, StopReason, Usage};
use super::request::Request;
use super::stream::ReplyStream;
use super::types::{AssistantPart, Message, ToolCall};
use super::{Model, ModelInfo};

/// Answers arrive in pieces of about this many bytes, so that what reads along has something to do.
const PIECE: usize = 64;

/// One answer of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScriptedReply {
    expect: Option<String>,
    reasoning: String,
    text: String,
    repeat: u64,
    calls: Vec<ToolCall>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
    error: Option<ModelError>,
    delay: Duration,
}

impl ScriptedReply {
    /// An answer in words.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), repeat: 1, ..Self::default() }
    }

    /// An answer that is still to get its calls.
    #[must_use]
    pub fn silent() -> Self {
        Self::text("")
    }

    /// A failure.
    #[must_use]
    pub fn failure(error: ModelError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Adds a call with valid arguments. Its id is made of the step and its place.
    #[must_use]
    pub fn call(self, name: &str, input: &Value) -> Self {
        self.raw_call(name, &input.to_string())
    }

    /// Adds a call with arguments as raw text, valid or not.
    #[must_use]
    pub fn raw_call(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push(ToolCall::new("", name, arguments));
        self
    }

    /// Adds reasoning before everything else.
    #[must_use]
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.reasoning = text.into();
        self
    }

    /// Says the text so many times. Once by default; an answer without end is cut off at the usual bound.
    #[must_use]
    pub fn repeat(mut self, times: u64) -> Self {
        self.repeat = times;
        self
    }

    /// Sets why the model stopped. By default what fits the content.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Sets what the answer cost. Nothing is told by default.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Demands words in the newest results (or message); the script fails if they are not there. So a script
    /// notices that the world it was written for has changed.
    #[must_use]
    pub fn expect(mut self, words: impl Into<String>) -> Self {
        self.expect = Some(words.into());
        self
    }

    /// Waits before it answers. Not at all by default.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The answer as a model would give it, or why it is none.
    fn play(&self, request: &Request<'_>) -> Result<Reply, ModelError> {
        if let Some(words) = &self.expect {
            check_expected(words, request)?;
        }
        if let Some(error) = &self.error {
            return Err(error.clone());
        }
        let mut answer = Assembler::new(ReplyLimits::default(), request.step);
        answer.started("scripted");
        answer.reasoning(0, &self.reasoning)?;
        for _ in 0..self.repeat {
            answer.text(1, &self.text)?;
            while answer.pop().is_some() {}
            if self.text.is_empty() {
                break;
            }
        }
        for (key, call) in (2..).zip(&self.calls) {
            answer.call_started(key, &call.id, &call.name)?;
            answer.call_delta(key, &call.arguments)?;
        }
        answer.stopped(self.stop.clone().unwrap_or(StopReason::EndTurn));
        if let Some(usage) = self.usage {
            answer.used(usage);
        }
        answer.finish()?;
        let done = std::iter::from_fn(|| answer.pop()).find_map(|event| match event {
            Event::Done(reply) => Some(*reply),
            _ => None,
        });
        done.ok_or_else(|| ModelError::new(ErrorKind::Script, "the scripted answer did not end"))
    }
}

fn check_expected(words: &str, request: &Request<'_>) -> Result<(), ModelError> {
    let messages = request.messages;
    let newest =
        messages.iter().rposition(|message| matches!(message, Message::Assistant { .. })).map_or(0, |at| at + 1);
    let said = |message: &Message| match message {
        Message::User { text } | Message::Notice { text } => text.contains(words),
        Message::Tool(result) => result.output.contains(words),
        Message::Assistant { .. } => false,
    };
    if messages[newest..].iter().any(said) {
        return Ok(());
    }
    let message =
        format!("the script expects {words:?} in what it is told before answer {}, and it is not there", request.step);
    Err(ModelError::new(ErrorKind::Script, message))
}

/// A model that answers by a script.
#[derive(Clone)]
pub struct ScriptedModel {
    info: ModelInfo,
    script: Script,
}

#[derive(Clone)]
enum Script {
    List(Arc<[ScriptedReply]>),
    #[expect(clippy::type_complexity, reason = "one use")]
    Function(Arc<dyn Fn(&Request<'_>) -> Result<ScriptedReply, ModelError> + Send + Sync>),
}

impl ScriptedModel {
    /// Answers call `n` of a session with reply `n`.
    #[must_use]
    pub fn new(replies: Vec<ScriptedReply>) -> Self {
        Self { info: ModelInfo::new("mock"), script: Script::List(replies.into()) }
    }

    /// Answers by a function of the request, for long scripts and for tests that look at every request.
    #[must_use]
    pub fn from_fn(answer: impl Fn(&Request<'_>) -> Result<ScriptedReply, ModelError> + Send + Sync + 'static) -> Self {
        Self { info: ModelInfo::new("mock"), script: Script::Function(Arc::new(answer)) }
    }

    /// Reads a script from JSON or TOML.
    ///
    /// The file holds a list `replies`. A reply may have `reasoning`, `text`, `repeat`, `calls` (each with `name`
    /// and `input`, an object, or `arguments`, raw text), `stop`, `usage`, `expect`, `delay_ms`, or `error` (with
    /// `kind` and `message`).
    ///
    /// # Errors
    ///
    /// The file is neither; the message names the place.
    pub fn parse(bytes: &[u8]) -> Result<Self, ModelError> {
        Ok(Self::new(file::parse(bytes)?))
    }

    /// Sets the id and the context window it reports. `mock` and unknown by default.
    #[must_use]
    pub fn info(mut self, info: ModelInfo) -> Self {
        self.info = info;
        self
    }

    fn reply(&self, request: &Request<'_>) -> Result<ScriptedReply, ModelError> {
        match &self.script {
            Script::Function(answer) => answer(request),
            Script::List(replies) => {
                let place = usize::try_from(request.step).unwrap_or(usize::MAX);
                replies.get(place).cloned().ok_or_else(|| {
                    let message = format!(
                        "the script has {} replies and this is call {} of the session (counted from 0)",
                        replies.len(),
                        request.step
                    );
                    ModelError::new(ErrorKind::Script, message)
                })
            }
        }
    }
}

impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: &Request<'_>) -> ReplyStream {
        let (delay, played) = match self.reply(request) {
            Ok(reply) => (reply.delay, reply.play(request)),
            Err(error) => (Duration::ZERO, Err(error)),
        };
        let answer = match played {
            Ok(reply) => stream::iter(events_of(reply)).map(Ok).left_stream(),
            Err(error) => stream::iter([Err(error)]).right_stream(),
        };
        let pause = stream::once(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
        });
        ReplyStream::new(pause.filter_map(|()| async { None }).chain(answer))
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("info", &self.info).finish_non_exhaustive()
    }
}

/// The events by which a known answer arrives.
pub(super) fn events_of(reply: Reply) -> Vec<Event> {
    let mut events = Vec::new();
    if !reply.model.is_empty() {
        events.push(Event::Started { model: reply.model.clone() });
    }
    let mut call = 0;
    for part in &reply.content {
        match part {
            AssistantPart::Text(part) => events.extend(pieces(&part.text).map(Event::Text)),
            AssistantPart::Reasoning(part) => events.extend(pieces(&part.text).map(Event::Reasoning)),
            AssistantPart::ToolCall(part) => {
                events.push(Event::ToolCallStarted { call, id: part.id.clone(), name: part.name.clone() });
                events.extend(pieces(&part.arguments).map(|delta| Event::ToolCallDelta { call, delta }));
                events.push(Event::ToolCallFinished { call });
                call += 1;
            }
        }
    }
    events.push(Event::Done(Box::new(reply)));
    events
}

fn pieces(mut text: &str) -> impl Iterator<Item = String> {
    std::iter::from_fn(move || {
        let end = (PIECE..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        let (piece, rest) = text.split_at(end);
        text = rest;
        (!piece.is_empty()).then(|| piece.to_owned())
    })
}
