//! Language models: one trait, and the clients that implement it.
//!
//! A [`Request`] borrows the session's history, [`Model::stream`] turns it into bytes at once and hands back a
//! [`ReplyStream`] that owns everything it needs. Its events are for showing progress; the last one,
//! [`Event::Done`], carries the whole [`Reply`], and that alone belongs in the history.

mod assemble;
mod bootstrap;
mod cassette;
mod error;
mod http;
mod protocol;
mod reply;
mod request;
mod resolve;
mod retry;
mod scripted;
mod sse;
mod stream;
#[cfg(test)]
mod tests;
mod types;

pub use bootstrap::BootstrapModel;
pub use cassette::{RecordingModel, ReplayModel};
pub use error::{ErrorClass, ErrorKind, ModelError};
pub use http::HttpOptions;
pub use protocol::Protocol;
pub use reply::{Event, Reply, StopReason, Usage};
pub use request::{Effort, OutputFormat, Request, ToolChoice};
pub use resolve::ModelSetup;
pub use retry::RetryPolicy;
pub use scripted::{ScriptedModel, ScriptedReply};
pub use stream::ReplyStream;
pub use types::{AssistantPart, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, unanswered_calls};

/// What is known about a model before it is asked anything.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelInfo {
    /// The id as it was configured, `openai/gpt-5` or `mock:demo.toml`.
    pub id: String,
    /// Tokens the model can hold, question and answer together, when it is known.
    pub context_window: Option<u64>,
}

impl ModelInfo {
    /// Names a model of unknown context size.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), context_window: None }
    }

    /// Sets the size of the context window in tokens. Unknown by default.
    #[must_use]
    pub fn context_window(mut self, tokens: Option<u64>) -> Self {
        self.context_window = tokens;
        self
    }
}

/// Something that answers requests: a model server's client, a script, or a wrapper around another model.
///
/// # Guarantees
///
/// `stream` reads the request before it returns and keeps no borrow of it. The stream ends after its first
/// `Err` or after [`Event::Done`]; dropping it earlier cancels the call.
pub trait Model: Send + Sync + std::fmt::Debug {
    /// What is known about this model.
    fn info(&self) -> &ModelInfo;

    /// Starts one call. Whatever goes wrong, bad configuration included, arrives as the stream's error.
    fn stream(&self, request: &Request<'_>) -> ReplyStream;
}
