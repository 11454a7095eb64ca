//! From pieces to an answer: what every protocol's decoder writes into, and what makes sure of the promises of
//! [`Reply`]: never empty, bounded, every call with an id of its own.

use std::collections::{BTreeMap, VecDeque};

use super::error::{ErrorKind, ModelError};
use super::reply::{Event, Reply, StopReason, Usage};
use super::types::{AssistantPart, Opaque, Reasoning, Text, ToolCall};

/// Bounds of one answer. An answer that goes past them is cut off and reported, never cut silently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReplyLimits {
    /// Text, reasoning and arguments together, in bytes.
    pub(super) bytes: usize,
    /// Parts (texts, pieces of reasoning, calls).
    pub(super) parts: usize,
}

impl Default for ReplyLimits {
    fn default() -> Self {
        Self { bytes: 4 << 20, parts: 512 }
    }
}

/// An answer under construction. Parts are named by a key of the protocol's own (a block's index) and keep the
/// order in which they began.
#[derive(Debug)]
pub(super) struct Assembler {
    limits: ReplyLimits,
    step: u64,
    bytes: usize,
    parts: Vec<AssistantPart>,
    /// Key to place in `parts`.
    places: BTreeMap<u64, usize>,
    /// Place in `parts` of each call.
    calls: Vec<usize>,
    open: Vec<bool>,
    events: VecDeque<Event>,
    model: String,
    stop: Option<StopReason>,
    usage: Option<Usage>,
}

impl Assembler {
    /// An empty answer to the model call `step`.
    pub(super) fn new(limits: ReplyLimits, step: u64) -> Self {
        Self {
            limits,
            step,
            bytes: 0,
            parts: Vec::new(),
            places: BTreeMap::new(),
            calls: Vec::new(),
            open: Vec::new(),
            events: VecDeque::new(),
            model: String::new(),
            stop: None,
            usage: None,
        }
    }

    /// The next event that has become known.
    pub(super) fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether nothing has been said yet.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether the model has said why it stopped.
    pub(super) fn has_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// The server took the call. Said once, however often the server repeats it.
    pub(super) fn started(&mut self, model: &str) {
        if self.model.is_empty() && !model.is_empty() {
            model.clone_into(&mut self.model);
            self.events.push_back(Event::Started { model: model.to_owned() });
        }
    }

    /// More text of the part `key`.
    pub(super) fn text(&mut self, key: u64, delta: &str) -> Result<(), ModelError> {
        self.grow(delta.len())?;
        let place = self.place(key, || AssistantPart::Text(Text::default()))?;
        if let AssistantPart::Text(part) = &mut self.parts[place] {
            part.text.push_str(delta);
            if !delta.is_empty() {
                self.events.push_back(Event::Text(delta.to_owned()));
            }
        }
        Ok(())
    }

    /// More readable reasoning of the part `key`.
    pub(super) fn reasoning(&mut self, key: u64, delta: &str) -> Result<(), ModelError> {
        self.grow(delta.len())?;
        let place = self.place(key, || AssistantPart::Reasoning(Reasoning::default()))?;
        if let AssistantPart::Reasoning(part) = &mut self.parts[place] {
            part.text.push_str(delta);
            if !delta.is_empty() {
                self.events.push_back(Event::Reasoning(delta.to_owned()));
            }
        }
        Ok(())
    }

    /// The words of the text or reasoning part `key` so far.
    pub(super) fn words(&self, key: u64) -> &str {
        match self.places.get(&key).map(|place| &self.parts[*place]) {
            Some(AssistantPart::Text(part)) => &part.text,
            Some(AssistantPart::Reasoning(part)) => &part.text,
            _ => "",
        }
    }

    /// What the provider wants back with the part `key`.
    pub(super) fn set_opaque(&mut self, key: u64, opaque: Opaque) {
        let Some(place) = self.places.get(&key) else { return };
        match &mut self.parts[*place] {
            AssistantPart::Text(part) => part.opaque = Some(opaque),
            AssistantPart::Reasoning(part) => part.opaque = Some(opaque),
            AssistantPart::ToolCall(part) => part.opaque = Some(opaque),
        }
    }

    /// The call `key` begins. An id that is missing or was used before in this answer is replaced by one made
    /// of the step and the call's place. A key that is taken already begins nothing.
    pub(super) fn call_started(&mut self, key: u64, id: &str, name: &str) -> Result<(), ModelError> {
        if self.places.contains_key(&key) {
            return Ok(());
        }
        let call = self.calls.len();
        let taken = |id: &str| self.calls.iter().any(|place| self.parts[*place].call().is_some_and(|c| c.id == id));
        let id = if id.is_empty() || taken(id) { format!("call_{}_{call}", self.step) } else { id.to_owned() };
        self.grow(id.len() + name.len())?;
        let place = self.place(key, || AssistantPart::ToolCall(ToolCall::new(id.as_str(), name, "")))?;
        self.calls.push(place);
        self.open.push(true);
        self.events.push_back(Event::ToolCallStarted { call, id, name: name.to_owned() });
        Ok(())
    }

    /// Whether the call `key` has begun.
    pub(super) fn has_call(&self, key: u64) -> bool {
        self.places.get(&key).is_some_and(|place| self.parts[*place].call().is_some())
    }

    /// More arguments of the call `key`. Pieces of a call that never began are dropped.
    pub(super) fn call_delta(&mut self, key: u64, delta: &str) -> Result<(), ModelError> {
        self.grow(delta.len())?;
        if let Some((call, part)) = self.call_mut(key) {
            part.arguments.push_str(delta);
            if !delta.is_empty() {
                self.events.push_back(Event::ToolCallDelta { call, delta: delta.to_owned() });
            }
        }
        Ok(())
    }

    /// The whole arguments of the call `key`, as a server repeats them at the end. They decide.
    pub(super) fn call_arguments(&mut self, key: u64, arguments: &str) -> Result<(), ModelError> {
        let Some((_, part)) = self.call_mut(key) else { return Ok(()) };
        if let Some(rest) = arguments.strip_prefix(part.arguments.as_str()) {
            return self.call_delta(key, rest);
        }
        arguments.clone_into(&mut part.arguments);
        self.grow(arguments.len())
    }

    /// The call `key` is complete.
    pub(super) fn call_finished(&mut self, key: u64) {
        if let Some((call, _)) = self.call_mut(key) {
            self.close(call);
        }
    }

    /// Why the model stopped.
    pub(super) fn stopped(&mut self, stop: StopReason) {
        self.stop = Some(stop);
    }

    /// What the answer cost so far; a later figure replaces an earlier one.
    pub(super) fn used(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// The whole answer, as the last event.
    ///
    /// # Errors
    ///
    /// There is no text and no call in it.
    pub(super) fn finish(&mut self) -> Result<(), ModelError> {
        for call in 0..self.calls.len() {
            self.close(call);
        }
        let mut content = std::mem::take(&mut self.parts);
        let stop = self.stop.take().unwrap_or(StopReason::EndTurn);
        if stop == StopReason::MaxTokens {
            drop_unbegun_call(&mut content);
        }
        let calls = content.iter().any(|part| part.call().is_some());
        let stop = match stop {
            StopReason::EndTurn if calls => StopReason::ToolCalls,
            StopReason::ToolCalls if !calls => StopReason::EndTurn,
            other => other,
        };
        content.retain(|part| !is_blank(part));
        if !content.iter().any(|part| !matches!(part, AssistantPart::Reasoning(_))) {
            return Err(empty(&stop));
        }
        let model = std::mem::take(&mut self.model);
        self.events.push_back(Event::Done(Box::new(Reply { content, stop, usage: self.usage, model })));
        Ok(())
    }

    fn close(&mut self, call: usize) {
        if std::mem::replace(&mut self.open[call], false) {
            self.events.push_back(Event::ToolCallFinished { call });
        }
    }

    fn call_mut(&mut self, key: u64) -> Option<(usize, &mut ToolCall)> {
        let place = *self.places.get(&key)?;
        let call = self.calls.iter().position(|at| *at == place)?;
        match &mut self.parts[place] {
            AssistantPart::ToolCall(part) => Some((call, part)),
            _ => None,
        }
    }

    fn place(&mut self, key: u64, new: impl FnOnce() -> AssistantPart) -> Result<usize, ModelError> {
        if let Some(place) = self.places.get(&key) {
            return Ok(*place);
        }
        if self.parts.len() >= self.limits.parts {
            return Err(self.too_large(&format!("{} parts", self.limits.parts)));
        }
        self.parts.push(new());
        self.places.insert(key, self.parts.len() - 1);
        Ok(self.parts.len() - 1)
    }

    fn grow(&mut self, by: usize) -> Result<(), ModelError> {
        self.bytes = self.bytes.saturating_add(by);
        if self.bytes > self.limits.bytes {
            return Err(self.too_large(&format!("{} bytes", self.limits.bytes)));
        }
        Ok(())
    }

    fn too_large(&self, bound: &str) -> ModelError {
        let calls = self.calls.len();
        ModelError::new(
            ErrorKind::ReplyTooLarge,
            format!("the answer grew past {bound} and was cut off, {calls} tool calls in it were not run"),
        )
    }
}

/// A call cut off before its arguments began would look like a call without arguments, and be run as one.
fn drop_unbegun_call(content: &mut Vec<AssistantPart>) {
    let unbegun = |part: &AssistantPart| part.call().is_some_and(|call| call.arguments.trim().is_empty());
    if content.last().is_some_and(unbegun) {
        content.pop();
    }
}

fn is_blank(part: &AssistantPart) -> bool {
    match part {
        AssistantPart::Text(part) => part.text.trim().is_empty(),
        AssistantPart::Reasoning(part) => part.text.is_empty() && part.opaque.is_none(),
        AssistantPart::ToolCall(_) => false,
    }
}

fn empty(stop: &StopReason) -> ModelError {
    match stop {
        StopReason::MaxTokens => ModelError::new(
            ErrorKind::ReplyTooLarge,
            "the model used up its output tokens before it answered: raise max_output_tokens or lower the effort",
        ),
        StopReason::Refused => ModelError::new(ErrorKind::Refused, "the model refused to answer and gave no reason"),
        _ => ModelError::new(ErrorKind::EmptyReply, "the model answered with neither text nor a tool call"),
    }
}
