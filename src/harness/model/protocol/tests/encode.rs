//! Requests as the servers see them.

use serde_json::{Value, json};

use super::super::super::request::{Effort, OutputFormat, Request, ToolChoice};
use super::super::super::types::{AssistantPart, Message, Opaque, Reasoning, Text, ToolCall, ToolResult};
use super::super::{EncodeOptions, Protocol};
use crate::harness::tools::ToolSpec;

const ALL: [Protocol; 3] = [Protocol::OpenaiResponses, Protocol::OpenaiChat, Protocol::AnthropicMessages];

fn encode(protocol: Protocol, model: &str, request: &Request<'_>, first_party: bool) -> Value {
    serde_json::from_slice(&protocol.encode(model, request, &EncodeOptions { first_party })).unwrap()
}

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec::new("f", "Does f.", json!({ "type": "object", "properties": {} }))]
}

/// A step with everything: reasoning of `protocol`, text, a good call, a broken one, results, a notice.
fn history(protocol: Protocol, reasoning: Value) -> Vec<Message> {
    let mut thought = Reasoning::new("hm");
    thought.opaque = Some(Opaque::new(protocol.name(), reasoning));
    vec![
        Message::user("look"),
        Message::Assistant {
            content: vec![
                AssistantPart::Reasoning(thought),
                AssistantPart::Text(Text::new("Looking.")),
                AssistantPart::ToolCall(ToolCall::new("x", "f", "{\"b\": 1,  \"a\": 2}")),
                AssistantPart::ToolCall(ToolCall::new("y", "f", "{oops")),
            ],
        },
        Message::Tool(ToolResult::new("x", "found")),
        Message::Tool(ToolResult::error("y", "error: no JSON")),
        Message::notice("The budget is low."),
    ]
}

#[test]
fn responses_bodies_are_as_documented() {
    let reasoning = json!({ "type": "reasoning", "id": "r", "summary": [], "encrypted_content": "xyz" });
    let (messages, tools) = (history(Protocol::OpenaiResponses, reasoning.clone()), tools());
    let request = Request::new("Be good.", &messages).tools(&tools).effort(Some(Effort::Max)).call("s1", 1);
    let said = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": "input_text", "text": text }] });
    assert_eq!(
        encode(Protocol::OpenaiResponses, "gpt-5", &request, true),
        json!({
            "model": "gpt-5",
            "instructions": "Be good.",
            "input": [
                said("user", "look"),
                reasoning,
                { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Looking." }] },
                { "type": "function_call", "call_id": "x", "name": "f", "arguments": "{\"b\": 1,  \"a\": 2}" },
                { "type": "function_call", "call_id": "y", "name": "f", "arguments": "{\"invalid_arguments\":\"{oops\"}" },
                { "type": "function_call_output", "call_id": "x", "output": "found" },
                { "type": "function_call_output", "call_id": "y", "output": "error: no JSON" },
                said("developer", "The budget is low."),
            ],
            "tools": [{ "type": "function", "name": "f", "description": "Does f.",
                "parameters": { "type": "object", "properties": {} }, "strict": false }],
            "parallel_tool_calls": true,
            "reasoning": { "effort": "xhigh" },
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "s1",
            "store": false,
            "stream": true,
        })
    );
    let plain = encode(Protocol::OpenaiResponses, "gpt-4.1", &request, true);
    assert_eq!((plain.get("reasoning"), plain.get("include")), (None, None), "a model without reasoning");
    assert_eq!(encode(Protocol::OpenaiResponses, "gpt-5", &request, false).get("prompt_cache_key"), None);
}

#[test]
fn chat_bodies_are_as_documented() {
    let (messages, tools) = (history(Protocol::OpenaiResponses, json!({ "x": 1 })), tools());
    let request =
        Request::new("Be good.", &messages).tools(&tools).effort(Some(Effort::Minimal)).max_output_tokens(Some(9));
    let call = |id: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": arguments } });
    assert_eq!(
        encode(Protocol::OpenaiChat, "qwen", &request, false),
        json!({
            "model": "qwen",
            "messages": [
                { "role": "system", "content": "Be good." },
                { "role": "user", "content": "look" },
                { "role": "assistant", "content": "Looking.", "tool_calls": [
                    call("x", "{\"b\": 1,  \"a\": 2}"), call("y", "{\"invalid_arguments\":\"{oops\"}") ] },
                { "role": "tool", "tool_call_id": "x", "content": "found" },
                { "role": "tool", "tool_call_id": "y", "content": "error: no JSON" },
                { "role": "user", "content": "<notice>\nThe budget is low.\n</notice>" },
            ],
            "tools": [{ "type": "function", "function": { "name": "f", "description": "Does f.",
                "parameters": { "type": "object", "properties": {} } } }],
            "reasoning_effort": "low",
            "max_tokens": 9,
            "stream": true,
            "stream_options": { "include_usage": true },
        })
    );
    let own = encode(Protocol::OpenaiChat, "gpt-5", &request, true);
    assert_eq!((own.get("max_tokens"), &own["max_completion_tokens"]), (None, &json!(9)));
}

#[test]
fn messages_bodies_are_as_documented() {
    let reasoning = json!({ "type": "thinking", "thinking": "hm", "signature": "xyz" });
    let (messages, tools) = (history(Protocol::AnthropicMessages, reasoning.clone()), tools());
    let request = Request::new("Be good.", &messages).tools(&tools).effort(Some(Effort::Medium));
    let mark = json!({ "type": "ephemeral" });
    assert_eq!(
        encode(Protocol::AnthropicMessages, "claude-opus-4-7", &request, true),
        json!({
            "model": "claude-opus-4-7",
            "max_tokens": 32_000,
            "tools": [{ "name": "f", "description": "Does f.", "input_schema": { "type": "object", "properties": {} } }],
            "system": [{ "type": "text", "text": "Be good.", "cache_control": mark }],
            "messages": [
                { "role": "user", "content": [{ "type": "text", "text": "look", "cache_control": mark }] },
                { "role": "assistant", "content": [
                    reasoning,
                    { "type": "text", "text": "Looking." },
                    { "type": "tool_use", "id": "x", "name": "f", "input": { "b": 1, "a": 2 } },
                    { "type": "tool_use", "id": "y", "name": "f", "input": { "invalid_arguments": "{oops" } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "x", "content": "found" },
                    { "type": "tool_result", "tool_use_id": "y", "content": "error: no JSON", "is_error": true },
                    { "type": "text", "text": "<notice>\nThe budget is low.\n</notice>", "cache_control": mark },
                ] },
            ],
            "thinking": { "type": "adaptive" },
            "output_config": { "effort": "medium" },
            "stream": true,
        })
    );
}

#[test]
fn older_thinkers_get_a_budget_below_the_bound() {
    let messages = [Message::user("look")];
    for (model, effort, bound, expected) in [
        ("claude-sonnet-4-5", Effort::Medium, None, Some(10_000)),
        ("claude-sonnet-4-5", Effort::High, None, Some(16_000)),
        ("claude-sonnet-4-5", Effort::High, Some(9_000), Some(4_500)),
        ("claude-sonnet-4-5", Effort::High, Some(2_000), None),
        ("claude-sonnet-4-20250514", Effort::Minimal, None, Some(1_024)),
        ("claude-sonnet-4-5", Effort::None, None, None),
    ] {
        let request = Request::new("", &messages).effort(Some(effort)).max_output_tokens(bound).temperature(Some(0.5));
        let body = encode(Protocol::AnthropicMessages, model, &request, true);
        let expected = expected.map(|budget| json!({ "type": "enabled", "budget_tokens": budget }));
        assert_eq!(body.get("thinking"), expected.as_ref(), "{model} {effort:?}");
        assert_eq!(
            body.get("temperature").is_some(),
            expected.is_none(),
            "thinking and temperature exclude each other"
        );
        assert_eq!(body.get("output_config"), None);
    }
}

#[test]
fn tools_are_chosen_in_each_servers_words() {
    let (messages, tools) = ([Message::user("look")], tools());
    let plain = Request::new("", &messages).tools(&tools);
    for (choice, expected) in [
        (ToolChoice::Auto, [Value::Null, Value::Null, Value::Null]),
        (ToolChoice::None, [json!("none"), json!("none"), json!({ "type": "none" })]),
        (ToolChoice::Required, [json!("required"), json!("required"), json!({ "type": "any" })]),
        (
            ToolChoice::Tool("f"),
            [
                json!({ "type": "function", "name": "f" }),
                json!({ "type": "function", "function": { "name": "f" } }),
                json!({ "type": "tool", "name": "f" }),
            ],
        ),
    ] {
        for (protocol, expected) in ALL.into_iter().zip(expected) {
            let body = encode(protocol, "m", &plain.tool_choice(choice), false);
            assert_eq!(body["tool_choice"], expected, "{protocol:?}");
        }
    }
    let one = plain.parallel_calls(false);
    assert_eq!(encode(Protocol::OpenaiResponses, "m", &one, false)["parallel_tool_calls"], json!(false));
    assert_eq!(encode(Protocol::OpenaiChat, "m", &one, false)["parallel_tool_calls"], json!(false));
    let expected = json!({ "type": "auto", "disable_parallel_tool_use": true });
    assert_eq!(encode(Protocol::AnthropicMessages, "m", &one, false)["tool_choice"], expected);
    let bare = Request::new("", &messages).tool_choice(ToolChoice::Required).parallel_calls(false);
    for protocol in ALL {
        let body = encode(protocol, "m", &bare, false);
        let named = ["tools", "tool_choice", "parallel_tool_calls"].map(|key| body.get(key));
        assert_eq!(named, [None; 3], "{protocol:?}: nothing about tools where there are none");
    }
}

#[test]
fn a_form_is_asked_for_in_each_servers_words() {
    let (messages, schema) = ([Message::user("look")], json!({ "type": "object" }));
    let request = Request::new("", &messages).output(Some(OutputFormat::new("answer", &schema)));
    assert_eq!(
        encode(Protocol::OpenaiResponses, "m", &request, false)["text"]["format"],
        json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": false })
    );
    assert_eq!(
        encode(Protocol::OpenaiChat, "m", &request, false)["response_format"],
        json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema } })
    );
    assert_eq!(
        encode(Protocol::AnthropicMessages, "m", &request, false)["output_config"]["format"],
        json!({ "type": "json_schema", "schema": schema })
    );
}

#[test]
fn reasoning_goes_back_to_its_own_protocol_only() {
    for protocol in ALL {
        for from in ALL {
            let messages = history(from, json!({ "type": "thinking", "mark": "xyz" }));
            let body = encode(protocol, "m", &Request::new("", &messages), false).to_string();
            let kept = protocol == from && protocol != Protocol::OpenaiChat;
            assert_eq!(body.contains("xyz"), kept, "{from:?} to {protocol:?}");
        }
    }
}

#[test]
fn what_a_provider_wants_back_with_a_call_goes_back() {
    let mut call = ToolCall::new("x", "f", "");
    call.opaque = Some(Opaque::new("openai-chat", json!({ "signature": "xyz" })));
    let messages = [Message::user("a"), Message::Assistant { content: vec![AssistantPart::ToolCall(call)] }];
    let body = encode(Protocol::OpenaiChat, "m", &Request::new("", &messages), false);
    let expected = json!([{ "id": "x", "type": "function", "function": { "name": "f", "arguments": "{}" },
        "extra_content": { "signature": "xyz" } }]);
    assert_eq!(body["messages"][1], json!({ "role": "assistant", "content": null, "tool_calls": expected }));
}

#[test]
fn nothing_is_sent_that_the_servers_refuse() {
    let foreign = Message::Assistant { content: vec![AssistantPart::Reasoning(Reasoning::new("hm"))] };
    let blank = Message::Assistant { content: vec![AssistantPart::Text(Text::new(" \n"))] };
    let messages = [Message::user("a"), foreign, Message::user("b"), blank, Message::user(" ")];
    let body = encode(Protocol::AnthropicMessages, "m", &Request::new("", &messages), false);
    assert_eq!(body.get("system"), None);
    let turns = body["messages"].as_array().unwrap();
    assert!(turns.iter().all(|turn| !turn["content"].as_array().unwrap().is_empty()), "{turns:?}");
    assert!(!body.to_string().contains("\\n\""), "no blank text: {body}");

    let mut thought = Reasoning::new("");
    thought.opaque = Some(Opaque::new("openai-responses", json!({ "type": "reasoning", "encrypted_content": "xyz" })));
    let last =
        [Message::Assistant { content: vec![AssistantPart::Text(Text::new("a")), AssistantPart::Reasoning(thought)] }];
    let body = encode(Protocol::OpenaiResponses, "m", &Request::new("", &last), false);
    assert_eq!(body["input"].as_array().unwrap().len(), 1, "no reasoning that nothing follows");
}

#[test]
fn the_bytes_depend_on_the_request_alone_and_the_prefix_does_not_change() {
    let tools = tools();
    let mut messages = vec![Message::user("look")];
    for protocol in ALL {
        let first = protocol.encode("m", &Request::new("Be good.", &messages).tools(&tools), &EncodeOptions::default());
        for step in 0..20 {
            let call = ToolCall::new(format!("c{step}"), "f", "{\"z\": 1, \"a\": 2}");
            messages.push(Message::Assistant { content: vec![AssistantPart::ToolCall(call)] });
            messages.push(Message::Tool(ToolResult::new(format!("c{step}"), "ok")));
            let request = Request::new("Be good.", &messages).tools(&tools).call("s", step);
            let (body, again) = (
                protocol.encode("m", &request, &EncodeOptions::default()),
                protocol.encode("m", &request, &EncodeOptions::default()),
            );
            assert_eq!(body, again);
            let value: Value = serde_json::from_slice(&body).unwrap();
            let old: Value = serde_json::from_slice(&first).unwrap();
            for part in ["system", "instructions", "tools"] {
                assert_eq!(value[part], old[part], "{protocol:?} {part}");
            }
            assert!(body.len() < 400 * (messages.len() + 3), "linear in the history");
        }
        messages.truncate(1);
    }
}
