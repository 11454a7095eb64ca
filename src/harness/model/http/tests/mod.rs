//! The clients against servers that speak, misspeak and fall silent.

pub(crate) mod server;

mod trouble;

use std::time::Duration;

use reqwest::Url;
use serde_json::{Value, json};

use self::server::{Act, Server, cut, head, stream_of};
use super::super::error::ModelError;
use super::super::protocol::Protocol;
use super::super::reply::{Event, Reply, StopReason, Usage};
use super::super::request::Request;
use super::super::retry::RetryPolicy;
use super::super::types::{AssistantPart, Message};
use super::super::{Model as _, ModelInfo};
use super::{Endpoint, HttpModel, HttpOptions};
use crate::harness::credentials::Secret;
use crate::harness::tools::ToolSpec;

const KEY: &str = "sk-test-0123456789";

fn endpoint(server: &str, protocol: Protocol) -> Endpoint {
    Endpoint {
        provider: "test".to_owned(),
        protocol,
        base_url: Url::parse(&format!("{server}/v1")).unwrap(),
        key: Some(Secret::new(KEY)),
        key_variable: Some("TEST_KEY".to_owned()),
        headers: Vec::new(),
        first_party: false,
        // Nothing listens there: a call that took the proxy would fail.
        proxy: Some(("http://127.0.0.1:1".to_owned(), String::new())),
    }
}

/// Pauses that cost a test no time; the wait itself is told by the events.
fn options() -> HttpOptions {
    HttpOptions::default().retry(RetryPolicy::default().first_wait(Duration::ZERO))
}

fn model(server: &Server, protocol: Protocol, options: HttpOptions) -> HttpModel {
    HttpModel::new(ModelInfo::new("test/m"), "m", endpoint(&server.origin, protocol), options).unwrap()
}

/// All events of one call.
async fn call(model: &HttpModel) -> Vec<Result<Event, ModelError>> {
    let tools = [ToolSpec::new("grep", "Finds text.", json!({ "type": "object" }))];
    let messages = [Message::user("look")];
    let request = Request::new("You look.", &messages).tools(&tools).call("session", 7);
    let mut stream = model.stream(&request);
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event);
    }
    assert!(stream.next().await.is_none(), "nothing follows the end");
    events
}

fn reply(events: &[Result<Event, ModelError>]) -> Reply {
    match events.last() {
        Some(Ok(Event::Done(reply))) => (**reply).clone(),
        other => panic!("no answer: {other:?}"),
    }
}

fn error(events: &[Result<Event, ModelError>]) -> ModelError {
    match events.last() {
        Some(Err(error)) => error.clone(),
        other => panic!("no error: {other:?}"),
    }
}

fn retries(events: &[Result<Event, ModelError>]) -> Vec<(u32, Duration, ModelError)> {
    let retry = |event: &Result<Event, ModelError>| match event {
        Ok(Event::Retry { attempt, wait, error }) => Some((*attempt, *wait, error.clone())),
        _ => None,
    };
    events.iter().filter_map(retry).collect()
}

fn responses() -> Vec<String> {
    [
        json!({ "type": "response.created", "response": { "model": "m-1" } }),
        json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "reasoning", "id": "rs_1", "summary": [] } }),
        json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Hm, é" }),
        json!({ "type": "response.output_item.done", "output_index": 0,
            "item": { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Hm, é" }], "encrypted_content": "xyz" } }),
        json!({ "type": "response.output_item.added", "output_index": 1, "item": { "type": "message", "content": [] } }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Look" }),
        json!({ "type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "ing." }),
        json!({ "type": "response.output_item.added", "output_index": 2,
            "item": { "type": "function_call", "call_id": "c1", "name": "grep", "arguments": "" } }),
        json!({ "type": "response.output_item.added", "output_index": 3,
            "item": { "type": "function_call", "call_id": "c2", "name": "grep", "arguments": "" } }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "{\"pattern\":" }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 3, "delta": "{\"pattern\": \"b\"}" }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 2, "delta": "\"a\"}" }),
        json!({ "type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"pattern\":\"a\"}" }),
        json!({ "type": "response.output_item.done", "output_index": 2,
            "item": { "type": "function_call", "call_id": "c1", "name": "grep", "arguments": "{\"pattern\":\"a\"}" } }),
        json!({ "type": "response.completed", "response": { "model": "m-1", "status": "completed", "usage": {
            "input_tokens": 90, "input_tokens_details": { "cached_tokens": 60 },
            "output_tokens": 30, "output_tokens_details": { "reasoning_tokens": 10 } } } }),
    ]
    .iter()
    .map(Value::to_string)
    .collect()
}

fn chat() -> Vec<String> {
    let chunk =
        |delta: Value| json!({ "model": "m-1", "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    let mut events: Vec<String> = [
        chunk(json!({ "role": "assistant", "content": null, "reasoning_content": "Hm, " })),
        chunk(json!({ "reasoning_content": "é" })),
        chunk(json!({ "content": "Look" })),
        chunk(json!({ "content": "ing." })),
        chunk(json!({ "tool_calls": [{ "index": 0, "id": "c1", "type": "function", "function": { "name": "grep", "arguments": "" } }] })),
        chunk(json!({ "tool_calls": [{ "index": 0, "function": { "arguments": "{\"pattern\":" } }] })),
        chunk(json!({ "tool_calls": [{ "index": 1, "id": "c2", "type": "function", "function": { "name": "grep", "arguments": "{\"pattern\": " } }] })),
        chunk(json!({ "tool_calls": [
            { "index": 0, "function": { "arguments": "\"a\"}" } },
            { "index": 1, "function": { "arguments": "\"b\"}" } } ] })),
        json!({ "model": "m-1", "choices": [{ "index": 0, "delta": {}, "finish_reason": "tool_calls" }] }),
        json!({ "model": "m-1", "choices": [], "usage": {
            "prompt_tokens": 90, "prompt_tokens_details": { "cached_tokens": 60 },
            "completion_tokens": 30, "completion_tokens_details": { "reasoning_tokens": 10 } } }),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    events.push("[DONE]".to_owned());
    events
}

fn messages() -> Vec<String> {
    let start =
        |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index: u64| json!({ "type": "content_block_stop", "index": index });
    let json_delta = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
    [
        json!({ "type": "message_start", "message": { "model": "m-1", "content": [], "usage": {
            "input_tokens": 20, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 1 } } }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        json!({ "type": "ping" }),
        delta(0, json!({ "type": "thinking_delta", "thinking": "Hm, é" })),
        delta(0, json!({ "type": "signature_delta", "signature": "x" })),
        delta(0, json!({ "type": "signature_delta", "signature": "yz" })),
        stop(0),
        start(1, json!({ "type": "text", "text": "" })),
        delta(1, json!({ "type": "text_delta", "text": "Looking." })),
        stop(1),
        start(2, json!({ "type": "tool_use", "id": "c1", "name": "grep", "input": {} })),
        delta(2, json_delta("")),
        delta(2, json_delta("{\"pattern\":")),
        delta(2, json_delta("\"a\"}")),
        stop(2),
        start(3, json!({ "type": "tool_use", "id": "c2", "name": "grep", "input": {} })),
        delta(3, json_delta("{\"pattern\": \"b\"}")),
        stop(3),
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 30 } }),
        json!({ "type": "message_stop" }),
    ]
    .iter()
    .map(Value::to_string)
    .collect()
}

fn transcript(protocol: Protocol) -> Vec<String> {
    match protocol {
        Protocol::OpenaiResponses => responses(),
        Protocol::OpenaiChat => chat(),
        Protocol::AnthropicMessages => messages(),
    }
}

const ALL: [Protocol; 3] = [Protocol::OpenaiResponses, Protocol::OpenaiChat, Protocol::AnthropicMessages];

fn acts(protocol: Protocol) -> Vec<Act> {
    let events = transcript(protocol);
    stream_of(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn check(protocol: Protocol, reply: &Reply) {
    let [
        AssistantPart::Reasoning(reasoning),
        AssistantPart::Text(text),
        AssistantPart::ToolCall(first),
        AssistantPart::ToolCall(second),
    ] = reply.content.as_slice()
    else {
        panic!("{protocol:?}: {:?}", reply.content);
    };
    assert_eq!((reasoning.text.as_str(), text.text.as_str()), ("Hm, é", "Looking."), "{protocol:?}");
    assert_eq!(
        (first.id.as_str(), first.name.as_str(), first.arguments.as_str()),
        ("c1", "grep", "{\"pattern\":\"a\"}")
    );
    assert_eq!((second.id.as_str(), second.arguments.as_str()), ("c2", "{\"pattern\": \"b\"}"), "{protocol:?}");
    assert_eq!(reply.stop, StopReason::ToolCalls, "{protocol:?}");
    assert_eq!(reply.model, "m-1");
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input, usage.cache_read, usage.output), (90, 60, 30), "{protocol:?}");
    let signed = reasoning.opaque.as_ref().map(|opaque| opaque.value.clone());
    match protocol {
        Protocol::OpenaiResponses => {
            assert_eq!(signed.unwrap()["encrypted_content"], "xyz");
            assert_eq!(usage.reasoning, 10);
        }
        Protocol::OpenaiChat => assert_eq!((signed, usage.reasoning), (None, 10)),
        Protocol::AnthropicMessages => {
            let block = json!({ "type": "thinking", "thinking": "Hm, é", "signature": "xyz" });
            assert_eq!((signed, usage.cache_write), (Some(block), 10));
        }
    }
}

#[tokio::test]
async fn each_protocol_gives_the_same_answer_however_it_is_cut() {
    for protocol in ALL {
        let whole = vec![Act::Send(acts(protocol).into_iter().flat_map(bytes).collect())];
        let server = Server::start(vec![acts(protocol), whole, cut(acts(protocol), 1), cut(acts(protocol), 7)]);
        let model = model(&server, protocol, options());
        let mut replies = Vec::new();
        for _ in 0..4 {
            let events = call(&model).await;
            assert_eq!(retries(&events), Vec::new(), "{protocol:?}");
            check(protocol, &reply(&events));
            replies.push(reply(&events));
        }
        assert!(replies.iter().all(|reply| *reply == replies[0]), "{protocol:?}");
    }
}

fn bytes(act: Act) -> Vec<u8> {
    match act {
        Act::Send(bytes) => bytes,
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn the_deltas_are_the_answer() {
    for protocol in ALL {
        let server = Server::start(vec![acts(protocol)]);
        let events = call(&model(&server, protocol, options())).await;
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for event in events.iter().flatten() {
            match event {
                Event::Text(delta) => text.push_str(delta),
                Event::Reasoning(delta) => reasoning.push_str(delta),
                Event::ToolCallStarted { call, id, name } => {
                    assert_eq!((*call, name.as_str()), (calls.len(), "grep"));
                    calls.push((id.clone(), String::new(), false));
                }
                Event::ToolCallDelta { call, delta } => calls[*call].1.push_str(delta),
                Event::ToolCallFinished { call } => calls[*call].2 = true,
                _ => {}
            }
        }
        assert_eq!((text.as_str(), reasoning.as_str()), ("Looking.", "Hm, é"), "{protocol:?}");
        let expected = [("c1", "{\"pattern\":\"a\"}"), ("c2", "{\"pattern\": \"b\"}")];
        let expected: Vec<_> = expected.map(|(id, args)| (id.to_owned(), args.to_owned(), true)).into();
        assert_eq!(calls, expected, "{protocol:?}");
    }
}

#[tokio::test]
async fn the_request_goes_to_its_address_with_its_key() {
    for (protocol, path, key, value) in [
        (Protocol::OpenaiResponses, "/v1/responses", "authorization", format!("Bearer {KEY}")),
        (Protocol::OpenaiChat, "/v1/chat/completions", "authorization", format!("Bearer {KEY}")),
        (Protocol::AnthropicMessages, "/v1/messages", "x-api-key", KEY.to_owned()),
    ] {
        let server = Server::start(vec![acts(protocol)]);
        call(&model(&server, protocol, options())).await;
        let seen = server.seen().remove(0);
        assert_eq!(seen.path, path);
        assert_eq!(seen.header(key), Some(value.as_str()));
        assert_eq!(seen.header("content-type"), Some("application/json"));
        let version = (protocol == Protocol::AnthropicMessages).then_some("2023-06-01");
        assert_eq!(seen.header("anthropic-version"), version);
        let body: Value = serde_json::from_str(&seen.body).unwrap();
        assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(true)));
    }
}

#[tokio::test]
async fn keep_alives_and_unknown_events_are_read_over() {
    let noise = |text: &str| Act::Send(text.as_bytes().to_vec());
    for protocol in ALL {
        let mut noisy = vec![head(), noise(": keep-alive\n\n"), noise("event: news\ndata: {\"type\":\"news\"}\n\n")];
        for act in acts(protocol).into_iter().skip(1) {
            noisy.extend([act, noise(":\n\n"), noise("\n")]);
        }
        let server = Server::start(vec![noisy]);
        check(protocol, &reply(&call(&model(&server, protocol, options())).await));
    }
}

#[tokio::test]
async fn usage_that_is_not_told_is_absent() {
    let server = Server::start(vec![stream_of(&[
        r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ])]);
    let reply = reply(&call(&model(&server, Protocol::OpenaiChat, options())).await);
    assert_eq!((reply.text().as_str(), reply.usage), ("hi", None::<Usage>));
}
