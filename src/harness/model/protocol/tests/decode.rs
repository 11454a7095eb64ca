//! Answers of servers that only imitate a protocol, or cut their answers short.

use serde_json::{Value, json};

use super::super::super::assemble::{Assembler, ReplyLimits};
use super::super::super::error::{ErrorKind, ModelError};
use super::super::super::reply::{Event, Reply, StopReason};
use super::super::super::sse::SseEvent;
use super::super::{Progress, Protocol};

/// The answer that these events make, in the fifth call of a session.
fn decode(protocol: Protocol, events: &[Value]) -> Result<Reply, ModelError> {
    let mut decoder = protocol.decoder();
    let mut answer = Assembler::new(ReplyLimits { bytes: 1000, parts: 6 }, 5);
    let mut complete = false;
    for event in events {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned).into_bytes();
        complete |= decoder.event(&SseEvent { name: Vec::new(), data }, &mut answer)? == Progress::Complete;
    }
    if !complete {
        decoder.end(&mut answer)?;
    }
    answer.finish()?;
    let done = std::iter::from_fn(|| answer.pop()).find_map(|event| match event {
        Event::Done(reply) => Some(*reply),
        _ => None,
    });
    Ok(done.unwrap())
}

fn chat(deltas: &[Value], reason: &str) -> Result<Reply, ModelError> {
    let mut events: Vec<Value> = deltas.iter().map(|delta| json!({ "choices": [{ "delta": delta }] })).collect();
    events.push(json!({ "choices": [{ "delta": {}, "finish_reason": reason }] }));
    decode(Protocol::OpenaiChat, &events)
}

fn calls(reply: &Reply) -> Vec<(&str, &str, &str)> {
    reply.calls().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect()
}

/// A name, the pieces, and the id, name and arguments of each call that they make.
type Case = (&'static str, Vec<Value>, Vec<(&'static str, &'static str, &'static str)>);

#[test]
fn chat_calls_are_told_apart_whatever_the_server_leaves_out() {
    let call = |index: Value, id: Value, name: Value, arguments: Value| json!({ "tool_calls": [{ "index": index, "id": id, "function": { "name": name, "arguments": arguments } }] });
    let none = Value::Null;
    let cases: &[Case] = &[
        (
            "one index for all calls",
            vec![
                call(json!(0), json!("x"), json!("f"), json!("{}")),
                call(json!(0), json!("y"), json!("g"), json!("{\"a\":")),
                call(json!(0), json!(""), none.clone(), json!("1}")),
            ],
            vec![("x", "f", "{}"), ("y", "g", "{\"a\":1}")],
        ),
        (
            "no index",
            vec![
                call(none.clone(), json!("x"), json!("f"), json!("{\"a\":")),
                call(none.clone(), none.clone(), none.clone(), json!("1}")),
                call(none.clone(), json!("y"), json!("g"), json!("{}")),
            ],
            vec![("x", "f", "{\"a\":1}"), ("y", "g", "{}")],
        ),
        (
            "no ids",
            vec![
                call(json!(0), none.clone(), json!("f"), json!("{}")),
                call(json!(1), none.clone(), json!("g"), json!("{}")),
            ],
            vec![("call_5_0", "f", "{}"), ("call_5_1", "g", "{}")],
        ),
        (
            "the same id twice",
            vec![
                call(json!(0), json!("x"), json!("f"), json!("{}")),
                call(json!(1), json!("x"), json!("g"), json!("{}")),
            ],
            vec![("x", "f", "{}"), ("call_5_1", "g", "{}")],
        ),
        (
            "id and name in every piece",
            vec![
                call(json!(0), json!("x"), json!("f"), json!("{\"a\"")),
                call(json!(0), json!("x"), json!("f"), json!(":1}")),
            ],
            vec![("x", "f", "{\"a\":1}")],
        ),
        (
            "the name late",
            vec![
                call(json!(0), json!("x"), none.clone(), json!("{\"a\"")),
                call(json!(0), none, json!("f"), json!(":1}")),
            ],
            vec![("x", "f", "{\"a\":1}")],
        ),
        ("no name at all", vec![call(json!(0), json!("x"), Value::Null, json!("{}"))], vec![("x", "", "{}")]),
        (
            "arguments as an object",
            vec![call(json!(0), json!("x"), json!("f"), json!({ "a": 1 }))],
            vec![("x", "f", "{\"a\":1}")],
        ),
        (
            "arguments that are not JSON",
            vec![call(json!(0), json!("x"), json!("f"), json!("{\"a\": oops"))],
            vec![("x", "f", "{\"a\": oops")],
        ),
    ];
    for (name, deltas, expected) in cases {
        for reason in ["stop", "tool_calls"] {
            let reply = chat(deltas, reason).unwrap();
            assert_eq!(&calls(&reply), expected, "{name}");
            assert_eq!(reply.stop, StopReason::ToolCalls, "{name}");
        }
    }
}

#[test]
fn arguments_that_cannot_be_used_say_why() {
    for (arguments, told) in [
        ("{\"a\": oops", "the arguments of `f` are not valid JSON (expected value at line 1 column 7)"),
        ("[1]", "the arguments of `f` are an array, not a JSON object"),
        ("\"x\"", "the arguments of `f` are a string, not a JSON object"),
    ] {
        let delta =
            json!({ "tool_calls": [{ "index": 0, "id": "x", "function": { "name": "f", "arguments": arguments } }] });
        let reply = chat(&[delta], "tool_calls").unwrap();
        let error = reply.calls().next().unwrap().input().unwrap_err().to_string();
        assert_eq!(error, format!("{told}; nothing was run, send the call again with one JSON object"));
    }
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "x", "function": { "name": "f", "arguments": " " } }] });
    let reply = chat(&[delta], "tool_calls").unwrap();
    assert!(reply.calls().next().unwrap().input().unwrap().is_empty());
}

#[test]
fn a_call_cut_off_before_its_arguments_is_not_taken_for_one_without() {
    let cut = |arguments: &str| json!({ "content": "a", "tool_calls": [{ "index": 0, "id": "x", "function": { "name": "f", "arguments": arguments } }] });
    assert_eq!(calls(&chat(&[cut("")], "length").unwrap()), []);
    assert_eq!(calls(&chat(&[cut("{\"a")], "length").unwrap()), [("x", "f", "{\"a")]);
    assert_eq!(calls(&chat(&[cut("")], "stop").unwrap()), [("x", "f", "")]);
}

#[test]
fn an_answer_without_words_or_calls_is_an_error_of_its_own() {
    for (deltas, reason, kind) in [
        (vec![], "stop", ErrorKind::EmptyReply),
        (vec![json!({ "content": "" })], "stop", ErrorKind::EmptyReply),
        (vec![json!({ "reasoning": "hm" })], "stop", ErrorKind::EmptyReply),
        (vec![json!({ "reasoning": "hm" })], "length", ErrorKind::ReplyTooLarge),
        (vec![], "content_filter", ErrorKind::Refused),
    ] {
        assert_eq!(chat(&deltas, reason).unwrap_err().kind(), kind, "{deltas:?} {reason}");
    }
}

#[test]
fn the_bounds_hold_for_every_kind_of_part() {
    let long = "x".repeat(600);
    for deltas in [
        vec![json!({ "content": long }), json!({ "content": long })],
        vec![json!({ "reasoning": long }), json!({ "content": long })],
        vec![
            json!({ "tool_calls": [{ "index": 0, "id": "x", "function": { "name": "f", "arguments": long } }] }),
            json!({ "tool_calls": [{ "index": 0, "function": { "arguments": long } }] }),
        ],
        (0..9)
            .map(|i| json!({ "tool_calls": [{ "index": i, "id": format!("{i}"), "function": { "name": "f" } }] }))
            .collect(),
    ] {
        assert_eq!(chat(&deltas, "stop").unwrap_err().kind(), ErrorKind::ReplyTooLarge);
    }
}

#[test]
fn the_end_mark_of_chat_is_the_end_even_without_a_reason() {
    let text = json!({ "choices": [{ "delta": { "content": "hi" } }] });
    let reply = decode(Protocol::OpenaiChat, &[text.clone(), json!("[DONE]")]).unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("hi", StopReason::EndTurn));
    assert_eq!(decode(Protocol::OpenaiChat, &[text]).unwrap_err().kind(), ErrorKind::BadStream);
}

#[test]
fn refusals_are_words_with_a_reason() {
    let reply = chat(&[json!({ "refusal": "I will not." })], "stop").unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("I will not.", StopReason::Refused));
    let reply = decode(
        Protocol::OpenaiResponses,
        &[
            json!({ "type": "response.refusal.delta", "output_index": 0, "delta": "I will not." }),
            json!({ "type": "response.completed", "response": { "status": "completed" } }),
        ],
    )
    .unwrap();
    assert_eq!((reply.text().as_str(), reply.stop), ("I will not.", StopReason::Refused));
}

#[test]
fn responses_may_tell_all_at_the_end() {
    let items = json!([
        { "type": "reasoning", "id": "r", "summary": [{ "type": "summary_text", "text": "a" }, { "type": "summary_text", "text": "b" }] },
        { "type": "message", "phase": "commentary", "content": [{ "type": "output_text", "text": "hi" }] },
        { "type": "function_call", "call_id": "x", "name": "f", "arguments": "{}" },
    ]);
    let completed = json!({ "type": "response.completed", "response": { "model": "m", "output": items } });
    let at_the_end = decode(Protocol::OpenaiResponses, &[completed]).unwrap();
    let mut events: Vec<Value> = (0..)
        .zip(items.as_array().unwrap())
        .map(|(index, item): (u64, _)| json!({ "type": "response.output_item.done", "output_index": index, "item": item }))
        .collect();
    events.push(json!({ "type": "response.completed", "response": { "model": "m" } }));
    assert_eq!(decode(Protocol::OpenaiResponses, &events).unwrap(), at_the_end);
    assert_eq!(calls(&at_the_end), [("x", "f", "{}")]);
    let form = serde_json::to_value(&at_the_end.content).unwrap();
    assert_eq!(
        form,
        json!([
            { "type": "reasoning", "text": "a\n\nb" },
            { "type": "text", "text": "hi", "opaque": { "protocol": "openai-responses", "value": { "phase": "commentary" } } },
            { "type": "tool_call", "id": "x", "name": "f", "arguments": "{}" },
        ])
    );
}

#[test]
fn responses_that_stop_early_say_why() {
    let text = json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "a" });
    let end = |reason: Value| json!({ "type": "response.incomplete", "response": { "status": "incomplete", "incomplete_details": reason } });
    let stop = |reason: &str| {
        decode(Protocol::OpenaiResponses, &[text.clone(), end(json!({ "reason": reason }))]).unwrap().stop
    };
    assert_eq!(stop("max_output_tokens"), StopReason::MaxTokens);
    assert_eq!(stop("content_filter"), StopReason::Refused);
    assert_eq!(stop("whim"), StopReason::Other("whim".to_owned()));
    let unexplained = decode(Protocol::OpenaiResponses, &[text, end(Value::Null)]).unwrap_err();
    assert_eq!(unexplained.kind(), ErrorKind::BadStream);
}

#[test]
fn thinking_that_is_hidden_is_kept() {
    let hidden = json!({ "type": "redacted_thinking", "data": "secret" });
    let reply = decode(
        Protocol::AnthropicMessages,
        &[
            json!({ "type": "content_block_start", "index": 0, "content_block": hidden }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "hi" } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
        ],
    )
    .unwrap();
    let form = serde_json::to_value(&reply.content[0]).unwrap();
    let opaque = json!({ "protocol": "anthropic-messages", "value": hidden });
    assert_eq!(form, json!({ "type": "reasoning", "text": "", "opaque": opaque }));
}

#[test]
fn wild_events_never_panic() {
    let wild = [
        json!(null),
        json!(1),
        json!([]),
        json!({ "choices": {} }),
        json!({ "choices": [1] }),
        json!({ "choices": [{ "delta": 1 }] }),
        json!({ "choices": [{ "delta": { "tool_calls": [1, { "index": -1 }, { "index": "x", "function": 3 }] } }] }),
        json!({ "type": "response.function_call_arguments.delta", "output_index": 9, "delta": "x" }),
        json!({ "type": "response.output_item.done", "item": [] }),
        json!({ "type": "content_block_stop", "index": 4 }),
        json!({ "type": "content_block_delta", "index": 4, "delta": { "type": "input_json_delta", "partial_json": "x" } }),
        json!({ "type": "message_delta", "usage": 3 }),
    ];
    for protocol in [Protocol::OpenaiResponses, Protocol::OpenaiChat, Protocol::AnthropicMessages] {
        for event in &wild {
            assert!(decode(protocol, std::slice::from_ref(event)).is_err(), "{protocol:?} {event}");
        }
    }
}
