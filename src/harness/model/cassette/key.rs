//! What makes two requests the same.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::request::{Request, ToolChoice};
use super::super::types::Message;

/// Hashes of a request's parts. Session and step do not count: another session may ask the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Key {
    system: String,
    tools: String,
    options: String,
    count: usize,
    messages: String,
}

impl Key {
    /// The key of a request; linear in its size.
    pub(super) fn of(request: &Request<'_>) -> Self {
        let choice = match request.tool_choice {
            ToolChoice::Auto => json!("auto"),
            ToolChoice::None => json!("none"),
            ToolChoice::Required => json!("required"),
            ToolChoice::Tool(name) => json!({ "tool": name }),
        };
        let options = json!([
            choice,
            request.parallel_calls,
            request.output.map(|format| json!([format.name, format.schema])),
            request.effort,
            request.max_output_tokens,
            request.temperature,
        ]);
        Self {
            system: hash(request.system.as_bytes()),
            tools: hash_json(&request.tools),
            options: hash_json(&options),
            count: request.messages.len(),
            messages: hash_json(&request.messages),
        }
    }

    /// The first part in which this request differs from a recorded one.
    pub(super) fn difference(&self, recorded: &Self) -> String {
        if self.system != recorded.system {
            "the system text differs".to_owned()
        } else if self.tools != recorded.tools {
            "the tools differ".to_owned()
        } else if self.options != recorded.options {
            "the options differ".to_owned()
        } else if self.count != recorded.count {
            format!("the history has {} messages and not {}", self.count, recorded.count)
        } else {
            "the messages differ".to_owned()
        }
    }
}

fn hash_json(value: &impl Serialize) -> String {
    hash(&serde_json::to_vec(value).expect("plain data with string keys always serialises"))
}

fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", rapidhash::v3::rapidhash_v3(bytes))
}

/// The start of the newest message.
pub(super) fn last_words(messages: &[Message]) -> String {
    let words = match messages.last() {
        Some(Message::User { text } | Message::Notice { text }) => text.as_str(),
        Some(Message::Tool(result)) => result.output.as_str(),
        Some(Message::Assistant { .. }) | None => "",
    };
    super::super::protocol::words(words, 120)
}
