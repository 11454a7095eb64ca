//! The bootstrap model: a deterministic echo that needs nothing.

use super::reply::{Reply, StopReason, Usage};
use super::request::Request;
use super::scripted::events_of;
use super::stream::ReplyStream;
use super::types::{AssistantPart, Message, Text};
use super::{Model, ModelInfo};

/// Answers with the words it was last told. For cold starts and fixtures; it never calls a tool.
#[derive(Clone, Debug)]
pub struct BootstrapModel {
    info: ModelInfo,
}

impl BootstrapModel {
    /// The id by which it is configured.
    pub const ID: &'static str = "bootstrap";
}

impl Default for BootstrapModel {
    fn default() -> Self {
        Self { info: ModelInfo::new(Self::ID) }
    }
}

impl Model for BootstrapModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: &Request<'_>) -> ReplyStream {
        let told = request.messages.iter().rev().find_map(|message| match message {
            Message::User { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        });
        let text = told.unwrap_or("ready");
        // Four bytes to a token is what is commonly reckoned; what counts is that it never changes.
        let tokens = |bytes: usize| bytes as u64 / 4 + 1;
        let read: usize = request.system.len() + request.messages.iter().map(size).sum::<usize>();
        let usage = Usage::new(tokens(read), tokens(text.len()));
        let mut reply = Reply::new(vec![AssistantPart::Text(Text::new(text))], StopReason::EndTurn).usage(Some(usage));
        Self::ID.clone_into(&mut reply.model);
        ReplyStream::from_events(events_of(reply))
    }
}

fn size(message: &Message) -> usize {
    match message {
        Message::User { text } | Message::Notice { text } => text.len(),
        Message::Tool(result) => result.output.len(),
        Message::Assistant { content } => content.iter().map(part_size).sum(),
    }
}

fn part_size(part: &AssistantPart) -> usize {
    match part {
        AssistantPart::Text(part) => part.text.len(),
        AssistantPart::Reasoning(part) => part.text.len(),
        AssistantPart::ToolCall(call) => call.name.len() + call.arguments.len(),
    }
}
