//! The history a model sees: messages, tool calls and their results.
//!
//! These types are what a session stores, so their JSON form is a contract: a later version may add optional
//! fields and variants but keeps reading what earlier ones wrote. Text the model wrote (tool arguments above
//! all) is kept exactly as it arrived, valid or not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::harness::tools::{ArgumentsError, parse_input};

/// One entry of the history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// Words of the person, or of the program that stands for one.
    User {
        /// The text.
        text: String,
    },
    /// Words of the harness, added while the session runs (a summary, a changed setting). The unchanging
    /// system text is not a message: it is [`Request::system`](super::Request).
    Notice {
        /// The text.
        text: String,
    },
    /// What the model answered, in the order it said it.
    Assistant {
        /// Text, reasoning and tool calls.
        content: Vec<AssistantPart>,
    },
    /// The result of one tool call. The results of parallel calls follow each other in the order of the calls.
    Tool(ToolResult),
}

impl Message {
    /// Words of the person.
    #[must_use]
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { text: text.into() }
    }

    /// Words of the harness.
    #[must_use]
    pub fn notice(text: impl Into<String>) -> Self {
        Self::Notice { text: text.into() }
    }

    /// The tool calls in this message; none unless the model wrote it.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        let content: &[AssistantPart] = match self {
            Self::Assistant { content } => content,
            _ => &[],
        };
        content.iter().filter_map(AssistantPart::call)
    }
}

/// One piece of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssistantPart {
    /// Visible text.
    Text(Text),
    /// Thinking, or the provider's stand-in for it.
    Reasoning(Reasoning),
    /// A wish to run a tool.
    ToolCall(ToolCall),
}

impl AssistantPart {
    /// The tool call, if this is one.
    #[must_use]
    pub fn call(&self) -> Option<&ToolCall> {
        match self {
            Self::ToolCall(call) => Some(call),
            _ => None,
        }
    }
}

/// Visible text of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Text {
    /// The words.
    pub text: String,
    /// What the provider wants back with them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

impl Text {
    /// Plain words.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), opaque: None }
    }
}

/// Reasoning of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reasoning {
    /// The readable part: thinking or its summary. Empty when the provider shows none.
    pub text: String,
    /// Signature or encrypted form; the provider refuses or forgets reasoning that comes back without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

impl Reasoning {
    /// Readable reasoning without a signature.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), opaque: None }
    }
}

/// Data only its provider understands. It goes back unchanged to the same protocol, and to no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Opaque {
    /// The protocol that wrote it.
    pub protocol: String,
    /// The data.
    pub value: Value,
}

impl Opaque {
    /// Data of `protocol`.
    #[must_use]
    pub fn new(protocol: impl Into<String>, value: Value) -> Self {
        Self { protocol: protocol.into(), value }
    }
}

/// A wish to run a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id its result must name; unique within the answer.
    pub id: String,
    /// The tool's name as the model wrote it; there may be no such tool.
    pub name: String,
    /// The arguments exactly as the model wrote them; may be invalid JSON.
    pub arguments: String,
    /// What the provider wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

impl ToolCall {
    /// A call with its arguments as raw text.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.into(), opaque: None }
    }

    /// The arguments as a JSON object. Nothing written counts as the empty object, as models leave the
    /// arguments of tools without parameters empty.
    ///
    /// # Errors
    ///
    /// The arguments are not JSON, or JSON but no object. The message is meant for the model.
    pub fn input(&self) -> Result<Map<String, Value>, ArgumentsError> {
        parse_input(&self.name, &self.arguments)
    }

    /// The arguments as an object that is always valid, for servers that refuse a history with broken JSON:
    /// broken arguments are kept as a string under `invalid_arguments`, so that the model sees what it wrote.
    pub(crate) fn input_for_replay(&self) -> Value {
        match self.input() {
            Ok(object) => Value::Object(object),
            Err(_) => json!({ "invalid_arguments": self.arguments }),
        }
    }
}

/// The result of one tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolResult {
    /// The [`ToolCall::id`] this answers.
    pub call_id: String,
    /// What the model reads. Some protocols have no error mark, so an error must say that it is one.
    pub output: String,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolResult {
    /// A result of a call that worked.
    #[must_use]
    pub fn new(call_id: impl Into<String>, output: impl Into<String>) -> Self {
        Self { call_id: call_id.into(), output: output.into(), is_error: false }
    }

    /// A result of a call that failed.
    #[must_use]
    pub fn error(call_id: impl Into<String>, output: impl Into<String>) -> Self {
        Self { call_id: call_id.into(), output: output.into(), is_error: true }
    }
}

/// The calls of the last answer that have no result yet, in the order of the calls. Every protocol refuses a
/// request that leaves one open.
///
/// # Complexity
///
/// Looks back to the last answer only: calls times results of one step.
#[must_use]
pub fn unanswered_calls(messages: &[Message]) -> Vec<&ToolCall> {
    let Some(last) = messages.iter().rposition(|message| matches!(message, Message::Assistant { .. })) else {
        return Vec::new();
    };
    let answered = |call: &&ToolCall| {
        !messages[last..].iter().any(|message| matches!(message, Message::Tool(result) if result.call_id == call.id))
    };
    messages[last].calls().filter(answered).collect()
}
