//! The types as a session stores them, and the stream's promises.

use serde_json::{Value, json};

use super::*;

/// What stands in journals. A change here breaks sessions that exist.
#[test]
fn the_stored_form_of_a_history_does_not_change() {
    let mut call = ToolCall::new("c1", "grep", "{\"a\": ");
    call.opaque = Some(Opaque::new("openai-chat", json!({ "s": 1 })));
    let mut reasoning = Reasoning::new("hm");
    reasoning.opaque = Some(Opaque::new("anthropic-messages", json!("x")));
    let history = [
        Message::user("look"),
        Message::notice("low budget"),
        Message::Assistant {
            content: vec![
                AssistantPart::Reasoning(reasoning),
                AssistantPart::Text(Text::new("Looking.")),
                AssistantPart::ToolCall(call),
                AssistantPart::ToolCall(ToolCall::new("c2", "f", "")),
            ],
        },
        Message::Tool(ToolResult::new("c1", "found")),
        Message::Tool(ToolResult::error("c2", "failed")),
    ];
    let form = json!([
        { "role": "user", "text": "look" },
        { "role": "notice", "text": "low budget" },
        { "role": "assistant", "content": [
            { "type": "reasoning", "text": "hm", "opaque": { "protocol": "anthropic-messages", "value": "x" } },
            { "type": "text", "text": "Looking." },
            { "type": "tool_call", "id": "c1", "name": "grep", "arguments": "{\"a\": ",
              "opaque": { "protocol": "openai-chat", "value": { "s": 1 } } },
            { "type": "tool_call", "id": "c2", "name": "f", "arguments": "" },
        ] },
        { "role": "tool", "call_id": "c1", "output": "found" },
        { "role": "tool", "call_id": "c2", "output": "failed", "is_error": true },
    ]);
    assert_eq!(serde_json::to_value(&history).unwrap(), form);
    assert_eq!(serde_json::from_value::<Vec<Message>>(form).unwrap(), history);
}

#[test]
fn the_stored_form_of_a_reply_does_not_change() {
    let mut reply = Reply::new(vec![AssistantPart::Text(Text::new("hi"))], StopReason::Other("whim".to_owned()));
    let bare = json!({ "content": [{ "type": "text", "text": "hi" }], "stop": { "other": "whim" } });
    assert_eq!(serde_json::to_value(&reply).unwrap(), bare);
    assert_eq!(serde_json::from_value::<Reply>(bare).unwrap(), reply);
    reply = reply.usage(Some(Usage { input: 5, cache_read: 4, cache_write: 1, output: 3, reasoning: 2 }));
    reply.stop = StopReason::ToolCalls;
    reply.model = "m".to_owned();
    let whole = json!({ "content": [{ "type": "text", "text": "hi" }], "stop": "tool_calls", "model": "m",
        "usage": { "input": 5, "cache_read": 4, "cache_write": 1, "output": 3, "reasoning": 2 } });
    assert_eq!(serde_json::to_value(&reply).unwrap(), whole);
    assert_eq!(serde_json::from_value::<Reply>(whole).unwrap(), reply);
}

#[test]
fn the_stored_form_of_an_error_does_not_change() {
    let error = ModelError::new(ErrorKind::RateLimited, "slow down").with_status(429);
    let form = json!({ "kind": "rate_limited", "message": "slow down", "status": 429 });
    assert_eq!(serde_json::to_value(&error).unwrap(), form);
    assert_eq!(serde_json::from_value::<ModelError>(form).unwrap(), error);
    let value: Value =
        serde_json::to_value(error.with_retry_after(Some(std::time::Duration::from_millis(1500)))).unwrap();
    assert_eq!(value["retry_after"], json!({ "secs": 1, "nanos": 500_000_000 }));
}

#[test]
fn open_calls_are_found_in_order() {
    let calls = ["a", "b", "c"].map(|id| AssistantPart::ToolCall(ToolCall::new(id, "f", "")));
    let mut history = vec![Message::user("x")];
    assert!(unanswered_calls(&history).is_empty());
    history.push(Message::Assistant { content: calls.into() });
    history.push(Message::Tool(ToolResult::new("b", "")));
    let open: Vec<_> = unanswered_calls(&history).into_iter().map(|call| call.id.as_str()).collect();
    assert_eq!(open, ["a", "c"]);
    history.push(Message::Assistant { content: vec![AssistantPart::Text(Text::new("done"))] });
    assert!(unanswered_calls(&history).is_empty());
}

#[tokio::test]
async fn a_stream_that_just_ends_is_an_error() {
    let mut stream = ReplyStream::from_events([Event::Text("half".to_owned())]);
    assert_eq!(stream.next().await, Some(Ok(Event::Text("half".to_owned()))));
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind(), ErrorKind::BadStream);
    assert!(stream.next().await.is_none());
    assert!(stream.reply().await.is_err());
}

#[test]
fn usage_adds_up_without_overflow() {
    let mut sum = Usage::new(u64::MAX, 1);
    sum += Usage { input: 5, cache_read: 4, cache_write: 1, output: 3, reasoning: 2 };
    assert_eq!(sum, Usage { input: u64::MAX, cache_read: 4, cache_write: 1, output: 4, reasoning: 2 });
    assert_eq!(sum.total(), u64::MAX);
}
