//! What a model answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::types::{AssistantPart, Message, ToolCall};

/// One thing that happened while an answer arrived.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The server took the call.
    Started {
        /// The model that answers, as the server names it.
        model: String,
    },
    /// More visible text.
    Text(String),
    /// More readable reasoning.
    Reasoning(String),
    /// A tool call begins.
    ToolCallStarted {
        /// Its place among the calls of this answer, from 0. Parallel calls may grow in turns.
        call: usize,
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a call's arguments.
    ToolCallDelta {
        /// The call's place.
        call: usize,
        /// The next piece of raw JSON text; it may split anywhere but within a character.
        delta: String,
    },
    /// A call's arguments are complete.
    ToolCallFinished {
        /// The call's place.
        call: usize,
    },
    /// The call failed and is made again after a pause. Whatever of the answer came before is void.
    Retry {
        /// The number of the try that will follow, from 2.
        attempt: u32,
        /// The pause.
        wait: Duration,
        /// Why.
        error: ModelError,
    },
    /// The whole answer. Always the last event.
    Done(Box<Reply>),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// Text, reasoning and tool calls, in order. Never empty.
    pub content: Vec<AssistantPart>,
    /// Why the model stopped.
    pub stop: StopReason,
    /// What it cost; absent when the server does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, as the server names it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
}

impl Reply {
    /// An answer of unknown cost.
    #[must_use]
    pub fn new(content: Vec<AssistantPart>, stop: StopReason) -> Self {
        Self { content, stop, usage: None, model: String::new() }
    }

    /// Adds what the answer cost.
    #[must_use]
    pub fn usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(AssistantPart::call)
    }

    /// The visible text, all parts joined.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for part in &self.content {
            if let AssistantPart::Text(part) = part {
                text.push_str(&part.text);
            }
        }
        text
    }

    /// The message to add to the history.
    #[must_use]
    pub fn into_message(self) -> Message {
        Message::Assistant { content: self.content }
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// It had said what it had to say.
    EndTurn,
    /// It waits for the results of its tool calls.
    ToolCalls,
    /// It hit the bound on the answer; the last part may be cut, arguments included.
    MaxTokens,
    /// It, or a filter, declined.
    Refused,
    /// Something else; the provider's own word.
    Other(String),
}

/// What one call cost, in tokens. Zero where the provider does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Everything read, whether from a cache or not.
    pub input: u64,
    /// The part of `input` that came from the prompt cache.
    #[serde(default)]
    pub cache_read: u64,
    /// The part of `input` that was written to the prompt cache.
    #[serde(default)]
    pub cache_write: u64,
    /// Everything written, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning.
    #[serde(default)]
    pub reasoning: u64,
}

impl Usage {
    /// A call that read and wrote so many tokens, without any cache.
    #[must_use]
    pub fn new(input: u64, output: u64) -> Self {
        Self { input, output, ..Self::default() }
    }

    /// The tokens of the call, which is what fills the context window.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.output = self.output.saturating_add(other.output);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }
}
