//! OpenAI's Responses API.
//!
//! Stateless: `store` is false and the whole history travels with each call. Reasoning items come back to the
//! server encrypted, as it sent them; without them a reasoning model forgets why it called its tools.

mod decode;

use serde::Serialize;
use serde_json::{Value, json};

pub(super) use self::decode::ResponsesDecoder;
use super::super::request::{Effort, OutputFormat, Request, ToolChoice};
use super::super::types::{AssistantPart, Message};
use super::{EncodeOptions, Protocol, arguments, own};
use crate::harness::tools::ToolSpec;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    instructions: &'a str,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    store: bool,
    stream: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: [Content<'a>; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a Value>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
    #[serde(untagged)]
    AsSent(&'a Value),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    strict: bool,
}

/// The request's body.
pub(super) fn encode(model: &str, request: &Request<'_>, options: &EncodeOptions) -> serde_json::Result<Vec<u8>> {
    let tools: Vec<Tool<'_>> = request.tools.iter().map(tool).collect();
    let reasons = !options.first_party || reasons(model);
    serde_json::to_vec(&Body {
        model,
        instructions: request.system,
        input: input(request.messages),
        tool_choice: (!tools.is_empty()).then(|| tool_choice(request.tool_choice)).flatten(),
        parallel_tool_calls: (!tools.is_empty()).then_some(request.parallel_calls),
        tools,
        reasoning: request.effort.filter(|_| reasons).map(|effort| json!({ "effort": effort_name(effort) })),
        text: request.output.map(text_format),
        include: if reasons { vec!["reasoning.encrypted_content"] } else { Vec::new() },
        max_output_tokens: request.max_output_tokens,
        temperature: request.temperature,
        prompt_cache_key: Some(request.session).filter(|session| options.first_party && !session.is_empty()),
        store: false,
        stream: true,
    })
}

/// OpenAI refuses reasoning options for its models without reasoning.
fn reasons(model: &str) -> bool {
    !["gpt-3", "gpt-4", "chatgpt-"].iter().any(|family| model.starts_with(family))
}

fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "none",
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::Max => "xhigh",
    }
}

fn tool(spec: &ToolSpec) -> Tool<'_> {
    Tool {
        r#type: "function",
        name: &spec.name,
        description: &spec.description,
        parameters: &spec.input_schema,
        strict: false,
    }
}

fn tool_choice(choice: ToolChoice<'_>) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "name": name })),
    }
}

fn text_format(format: OutputFormat<'_>) -> Value {
    json!({ "format": { "type": "json_schema", "name": format.name, "schema": format.schema, "strict": false } })
}

fn input(messages: &[Message]) -> Vec<Item<'_>> {
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            Message::User { text } => items.push(said("user", text)),
            Message::Notice { text } => items.push(said("developer", text)),
            Message::Assistant { content } => assistant(content, &mut items),
            Message::Tool(result) => {
                items.push(Item::FunctionCallOutput { call_id: &result.call_id, output: &result.output });
            }
        }
    }
    items
}

fn said<'a>(role: &'static str, text: &'a str) -> Item<'a> {
    Item::Message { role, content: [Content::InputText { text }], phase: None }
}

fn assistant<'a>(content: &'a [AssistantPart], items: &mut Vec<Item<'a>>) {
    // The server refuses a reasoning item that nothing follows.
    let end = content.iter().rposition(|part| !matches!(part, AssistantPart::Reasoning(_))).map_or(0, |last| last + 1);
    for part in &content[..end] {
        match part {
            AssistantPart::Text(part) => items.push(Item::Message {
                role: "assistant",
                content: [Content::OutputText { text: &part.text }],
                phase: own(Protocol::OpenaiResponses, part.opaque.as_ref()).and_then(|value| value.get("phase")),
            }),
            AssistantPart::Reasoning(part) => {
                items.extend(own(Protocol::OpenaiResponses, part.opaque.as_ref()).map(Item::AsSent));
            }
            AssistantPart::ToolCall(call) => {
                items.push(Item::FunctionCall { call_id: &call.id, name: &call.name, arguments: arguments(call) })
            }
        }
    }
}
