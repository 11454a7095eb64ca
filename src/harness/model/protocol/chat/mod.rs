//! Chat completions, as OpenAI defined them and many servers imitate them.
//!
//! The imitations differ, so nothing optional is sent unless it is asked for: no cache keys, no `strict`, words
//! of the harness as a user's message (many chat templates allow `system` only at the very start).

mod decode;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

pub(super) use self::decode::ChatDecoder;
use super::super::request::{Effort, OutputFormat, Request, ToolChoice};
use super::super::types::{AssistantPart, Message};
use super::{EncodeOptions, Protocol, arguments, notice, own};
use crate::harness::tools::ToolSpec;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Turn<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Cow<'a, str>,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Function<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: ToolFunction<'a>,
}

#[derive(Serialize)]
struct ToolFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// The request's body.
pub(super) fn encode(model: &str, request: &Request<'_>, options: &EncodeOptions) -> serde_json::Result<Vec<u8>> {
    let tools: Vec<Tool<'_>> = request.tools.iter().map(tool).collect();
    let system = Some(Turn::System { content: request.system }).filter(|_| !request.system.is_empty());
    serde_json::to_vec(&Body {
        model,
        messages: system.into_iter().chain(request.messages.iter().map(turn)).collect(),
        tool_choice: (!tools.is_empty()).then(|| tool_choice(request.tool_choice)).flatten(),
        parallel_tool_calls: (!tools.is_empty() && !request.parallel_calls).then_some(false),
        tools,
        response_format: request.output.map(response_format),
        reasoning_effort: request.effort.map(effort_name),
        max_tokens: request.max_output_tokens.filter(|_| !options.first_party),
        max_completion_tokens: request.max_output_tokens.filter(|_| options.first_party),
        temperature: request.temperature,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
    })
}

/// The imitations know three levels and off.
fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "none",
        Effort::Minimal | Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::Max => "high",
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        function: ToolFunction { name: &spec.name, description: &spec.description, parameters: &spec.input_schema },
    }
}

fn tool_choice(choice: ToolChoice<'_>) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "function": { "name": name } })),
    }
}

fn response_format(format: OutputFormat<'_>) -> Value {
    json!({ "type": "json_schema", "json_schema": { "name": format.name, "schema": format.schema } })
}

fn turn(message: &Message) -> Turn<'_> {
    match message {
        Message::User { text } => Turn::User { content: Cow::Borrowed(text) },
        Message::Notice { text } => Turn::User { content: Cow::Owned(notice(text)) },
        Message::Assistant { content } => assistant(content),
        Message::Tool(result) => Turn::Tool { tool_call_id: &result.call_id, content: &result.output },
    }
}

/// Reasoning stays out: servers that send it either refuse it back or have no place for it.
fn assistant(content: &[AssistantPart]) -> Turn<'_> {
    let mut words = String::new();
    let mut tool_calls = Vec::new();
    for part in content {
        match part {
            AssistantPart::Text(part) => words.push_str(&part.text),
            AssistantPart::Reasoning(_) => {}
            AssistantPart::ToolCall(call) => tool_calls.push(Call {
                id: &call.id,
                r#type: "function",
                function: Function { name: &call.name, arguments: arguments(call) },
                extra_content: own(Protocol::OpenaiChat, call.opaque.as_ref()),
            }),
        }
    }
    let content = Some(words).filter(|words| !words.is_empty() || tool_calls.is_empty());
    Turn::Assistant { content, tool_calls }
}
