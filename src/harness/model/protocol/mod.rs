//! The wire protocols: a request to a JSON body, a stream of events to an answer. No I/O here.

mod chat;
mod fault;
mod messages;
mod responses;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(super) use self::fault::{classify, payload_error, words};
use super::assemble::Assembler;
use super::error::{ErrorKind, ModelError};
use super::reply::{StopReason, Usage};
use super::request::Request;
use super::sse::SseEvent;
use super::types::{Opaque, ToolCall};

/// A wire protocol of model servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Protocol {
    /// OpenAI's Responses API. Stateless here: nothing is stored on the server, reasoning travels encrypted.
    OpenaiResponses,
    /// Chat completions as OpenAI defined them and Ollama, vLLM, LM Studio, llama.cpp and others speak them.
    OpenaiChat,
    /// Anthropic's Messages API.
    AnthropicMessages,
}

impl Protocol {
    /// The name in settings and in stored [`Opaque`] data.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiResponses => "openai-responses",
            Self::OpenaiChat => "openai-chat",
            Self::AnthropicMessages => "anthropic-messages",
        }
    }

    /// The address of the call, below the base URL.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::OpenaiResponses => "responses",
            Self::OpenaiChat => "chat/completions",
            Self::AnthropicMessages => "messages",
        }
    }

    /// The request's body. The same request gives the same bytes.
    pub(super) fn encode(self, model: &str, request: &Request<'_>, options: &EncodeOptions) -> Vec<u8> {
        let body = match self {
            Self::OpenaiResponses => responses::encode(model, request, options),
            Self::OpenaiChat => chat::encode(model, request, options),
            Self::AnthropicMessages => messages::encode(model, request, options),
        };
        body.expect("plain data with string keys always serialises")
    }

    /// A decoder for one answer.
    pub(super) fn decoder(self) -> Box<dyn Decoder> {
        match self {
            Self::OpenaiResponses => Box::new(responses::ResponsesDecoder::default()),
            Self::OpenaiChat => Box::new(chat::ChatDecoder::default()),
            Self::AnthropicMessages => Box::new(messages::MessagesDecoder::default()),
        }
    }
}

/// What a request does not say and a body must.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EncodeOptions {
    /// Whether the server is the protocol's own maker, whose rules differ from those of the compatible ones.
    pub(super) first_party: bool,
}

/// Whether more of an answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// More may come.
    More,
    /// The protocol's last event was seen.
    Complete,
}

/// Reads the events of one answer.
pub(super) trait Decoder: Send + Sync {
    /// Takes in one event.
    fn event(&mut self, event: &SseEvent, answer: &mut Assembler) -> Result<Progress, ModelError>;

    /// The connection ended without [`Progress::Complete`]: fine for a few servers, else an error.
    fn end(&mut self, answer: &mut Assembler) -> Result<(), ModelError>;
}

/// The JSON of an event.
fn parse(event: &SseEvent) -> Result<Value, ModelError> {
    serde_json::from_slice(&event.data).map_err(|error| {
        let shown = words(&String::from_utf8_lossy(&event.data), 120);
        ModelError::new(ErrorKind::BadStream, format!("the server sent an event that is not JSON ({error}): {shown}"))
    })
}

fn cut_short() -> ModelError {
    ModelError::new(ErrorKind::BadStream, "the connection ended before the answer was complete")
}

/// A string member, or nothing.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number member, or zero.
fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// Data of this protocol, if that is where it came from.
fn own(protocol: Protocol, opaque: Option<&Opaque>) -> Option<&Value> {
    opaque.filter(|opaque| opaque.protocol == protocol.name()).map(|opaque| &opaque.value)
}

/// Words of the harness for protocols that have no role for them.
fn notice(text: &str) -> String {
    format!("<notice>\n{text}\n</notice>")
}

/// The arguments as a string that is always JSON: as the model wrote them where possible.
fn arguments(call: &ToolCall) -> String {
    if !call.arguments.trim().is_empty() && call.input().is_ok() {
        call.arguments.clone()
    } else {
        call.input_for_replay().to_string()
    }
}
