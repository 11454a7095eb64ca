//! Anthropic's Messages API.
//!
//! Turns alternate, so neighbours of one side are joined: the results of parallel calls and the words after them
//! are one user's message. Thinking goes back with its signature, exactly as it came. The prompt is cached up to
//! marks: one after the system text (which covers the tools too), one after each of the last two user's messages,
//! so that the next call finds the longest prefix of this one.

mod decode;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

pub(super) use self::decode::MessagesDecoder;
use super::super::request::{Effort, Request, ToolChoice};
use super::super::types::{AssistantPart, Message};
use super::{EncodeOptions, Protocol, notice, own};
use crate::harness::tools::ToolSpec;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Marked<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Marked<'a>>,
}

/// A block, and whether the cached prefix may end after it.
#[derive(Serialize)]
struct Marked<'a> {
    #[serde(flatten)]
    block: Block<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Ephemeral>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "ephemeral")]
struct Ephemeral {}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Value,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    #[serde(untagged)]
    AsSent(&'a Value),
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// The request's body.
pub(super) fn encode(model: &str, request: &Request<'_>, _: &EncodeOptions) -> serde_json::Result<Vec<u8>> {
    let max_tokens = request.max_output_tokens.unwrap_or_else(|| default_max_tokens(model));
    let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
    // A forced call and thinking exclude each other; so do thinking and a temperature.
    let effort = request.effort.filter(|_| !forced);
    let thinking = effort.and_then(|effort| thinking(model, effort, max_tokens));
    let system = Block::Text { text: Cow::Borrowed(request.system) };
    serde_json::to_vec(&Body {
        model,
        max_tokens,
        tools: request.tools.iter().map(tool).collect(),
        system: if request.system.is_empty() { Vec::new() } else { vec![marked(system)] },
        messages: turns(request.messages),
        tool_choice: tool_choice(request),
        temperature: request.temperature.filter(|_| thinking.is_none()),
        output_config: output_config(model, request, effort),
        thinking,
        stream: true,
    })
}

/// The protocol demands a bound; this is what each family surely allows.
fn default_max_tokens(model: &str) -> u64 {
    if model.starts_with("claude-3-haiku") || model.starts_with("claude-3-opus") {
        4_096
    } else if model.starts_with("claude-3-5") {
        8_192
    } else {
        32_000
    }
}

/// Whether a model thinks within a budget of tokens, as all did before they learned to judge by themselves.
fn thinks_by_budget(model: &str) -> bool {
    const FAMILIES: &[&str] = &[
        "claude-3",
        "claude-opus-4-0",
        "claude-opus-4-1",
        "claude-opus-4-2",
        "claude-opus-4-5",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    ];
    FAMILIES.iter().any(|family| model.starts_with(family))
}

fn thinking(model: &str, effort: Effort, max_tokens: u64) -> Option<Value> {
    if effort == Effort::None {
        return None;
    }
    if !thinks_by_budget(model) {
        return Some(json!({ "type": "adaptive" }));
    }
    let budget = match effort {
        Effort::None | Effort::Minimal => 1_024,
        Effort::Low => 4_096,
        Effort::Medium => 10_000,
        Effort::High => 20_000,
        Effort::Max => 30_000,
    };
    // The budget is a part of the answer's bound, and no less than 1,024 is taken.
    let budget = budget.min(max_tokens / 2);
    (budget >= 1_024).then(|| json!({ "type": "enabled", "budget_tokens": budget }))
}

fn output_config(model: &str, request: &Request<'_>, effort: Option<Effort>) -> Option<Value> {
    let mut config = serde_json::Map::new();
    let level = effort.filter(|_| !thinks_by_budget(model)).and_then(|effort| match effort {
        Effort::None => None,
        Effort::Minimal | Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
        Effort::Max => Some("max"),
    });
    config.extend(level.map(|level| ("effort".to_owned(), json!(level))));
    let format = request.output.map(|format| json!({ "type": "json_schema", "schema": format.schema }));
    config.extend(format.map(|format| ("format".to_owned(), format)));
    (!config.is_empty()).then_some(Value::Object(config))
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool { name: &spec.name, description: &spec.description, input_schema: &spec.input_schema }
}

fn tool_choice(request: &Request<'_>) -> Option<Value> {
    if request.tools.is_empty() {
        return None;
    }
    let mut choice = match request.tool_choice {
        ToolChoice::Auto if request.parallel_calls => return None,
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => return Some(json!({ "type": "none" })),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    };
    if !request.parallel_calls {
        choice["disable_parallel_tool_use"] = json!(true);
    }
    Some(choice)
}

fn marked(block: Block<'_>) -> Marked<'_> {
    Marked { block, cache_control: Some(Ephemeral {}) }
}

fn turns(messages: &[Message]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for message in messages {
        let role = if matches!(message, Message::Assistant { .. }) { "assistant" } else { "user" };
        if turns.last().is_none_or(|turn| turn.role != role) {
            turns.push(Turn { role, content: Vec::new() });
        }
        let last = turns.len() - 1;
        let content = &mut turns[last].content;
        match message {
            Message::User { text } => content.extend(words(Cow::Borrowed(text))),
            Message::Notice { text } => content.extend(words(Cow::Owned(notice(text)))),
            Message::Assistant { content: parts } => content.extend(parts.iter().filter_map(part)),
            Message::Tool(result) => content.push(plain(Block::ToolResult {
                tool_use_id: &result.call_id,
                content: &result.output,
                is_error: result.is_error,
            })),
        }
    }
    // The server refuses turns without content; an answer of foreign reasoning alone has none left.
    turns.retain(|turn| !turn.content.is_empty());
    for turn in turns.iter_mut().rev().filter(|turn| turn.role == "user").take(2) {
        if let Some(last) = turn.content.last_mut() {
            last.cache_control = Some(Ephemeral {});
        }
    }
    turns
}

fn plain(block: Block<'_>) -> Marked<'_> {
    Marked { block, cache_control: None }
}

/// The server refuses blank text.
fn words(text: Cow<'_, str>) -> Option<Marked<'_>> {
    (!text.trim().is_empty()).then(|| plain(Block::Text { text }))
}

fn part(part: &AssistantPart) -> Option<Marked<'_>> {
    match part {
        AssistantPart::Text(part) => words(Cow::Borrowed(&part.text)),
        AssistantPart::Reasoning(part) => {
            own(Protocol::AnthropicMessages, part.opaque.as_ref()).map(|block| plain(Block::AsSent(block)))
        }
        AssistantPart::ToolCall(call) => {
            Some(plain(Block::ToolUse { id: &call.id, name: &call.name, input: call.input_for_replay() }))
        }
    }
}
