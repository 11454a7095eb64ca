//! The events of chat completions.
//!
//! Each event is a chunk with a `delta`; calls grow by `index`, the usage comes in a last chunk without choices,
//! `[DONE]` ends the stream. What imitations do differently and is understood here: one `index` for several
//! calls (a new id then means a new call), no `index`, no id, the name or the id repeated in each piece,
//! arguments as an object, `finish_reason` "stop" in spite of calls, no `[DONE]`, an error as an event.

use serde_json::Value;

use super::super::{
    Assembler, Decoder, ModelError, Opaque, Progress, Protocol, SseEvent, StopReason, Usage, count, cut_short, parse,
    payload_error, text,
};

/// Keys of the two parts that are not calls; calls follow.
const REASONING: u64 = 0;
const TEXT: u64 = 1;
const FIRST_CALL: u64 = 2;

/// Reads one answer.
#[derive(Debug, Default)]
pub(in super::super) struct ChatDecoder {
    calls: Vec<OpenCall>,
    refused: bool,
}

/// A call as the server tells it.
#[derive(Debug)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    /// Pieces that came before the call's name, which it cannot begin without.
    waiting: String,
    named: bool,
    opaque: Option<Value>,
}

impl Decoder for ChatDecoder {
    fn event(&mut self, event: &SseEvent, answer: &mut Assembler) -> Result<Progress, ModelError> {
        if event.data.trim_ascii() == b"[DONE]" {
            self.name_rest(answer)?;
            return Ok(Progress::Complete);
        }
        let chunk = parse(event)?;
        if event.name == b"error" || chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(payload_error(&chunk, None));
        }
        answer.started(text(&chunk, "model"));
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            answer.used(read_usage(usage));
        }
        // More than one choice was never asked for.
        if let Some(choice) = chunk["choices"].as_array().and_then(|choices| choices.first()) {
            self.delta(&choice["delta"], answer)?;
            self.finish(text(choice, "finish_reason"), answer);
        }
        Ok(Progress::More)
    }

    fn end(&mut self, answer: &mut Assembler) -> Result<(), ModelError> {
        if !answer.has_stopped() {
            return Err(cut_short());
        }
        self.name_rest(answer)
    }
}

impl ChatDecoder {
    /// Begins the calls that never got a name; the answer to them is that there is no such tool.
    fn name_rest(&mut self, answer: &mut Assembler) -> Result<(), ModelError> {
        (0..self.calls.len()).try_for_each(|place| self.name_call(place, "", answer))
    }

    fn delta(&mut self, delta: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|key| delta.get(*key)?.as_str());
        if let Some(words) = reasoning.filter(|words| !words.is_empty()) {
            answer.reasoning(REASONING, words)?;
        }
        let refusal = text(delta, "refusal");
        self.refused |= !refusal.is_empty();
        for words in [text(delta, "content"), refusal] {
            if !words.is_empty() {
                answer.text(TEXT, words)?;
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, answer)?;
        }
        Ok(())
    }

    fn call(&mut self, piece: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        let function = &piece["function"];
        let name = text(function, "name");
        let place = self.place(piece.get("index").and_then(Value::as_u64), text(piece, "id"), name);
        if let Some(extra) = piece.get("extra_content").filter(|extra| !extra.is_null()) {
            self.calls[place].opaque = Some(extra.clone());
        }
        if !name.is_empty() {
            self.name_call(place, name, answer)?;
        }
        match &function["arguments"] {
            Value::String(delta) => self.arguments(place, delta, answer),
            Value::Object(object) => self.arguments(place, &Value::Object(object.clone()).to_string(), answer),
            _ => Ok(()),
        }
    }

    /// Which call a piece belongs to.
    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> usize {
        let begins = |open: &OpenCall| !id.is_empty() && !name.is_empty() && !open.id.is_empty() && open.id != id;
        let found = match index {
            Some(_) => self.calls.iter().rposition(|open| open.index == index),
            None if id.is_empty() && name.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|open| !id.is_empty() && open.id == id),
        };
        if let Some(place) = found.filter(|place| !begins(&self.calls[*place])) {
            return place;
        }
        self.calls.push(OpenCall { index, id: id.to_owned(), waiting: String::new(), named: false, opaque: None });
        self.calls.len() - 1
    }

    fn name_call(&mut self, place: usize, name: &str, answer: &mut Assembler) -> Result<(), ModelError> {
        let open = &mut self.calls[place];
        let key = FIRST_CALL + place as u64;
        if !std::mem::replace(&mut open.named, true) {
            answer.call_started(key, &open.id, name)?;
            answer.call_delta(key, &std::mem::take(&mut open.waiting))?;
        }
        if let Some(extra) = open.opaque.take() {
            answer.set_opaque(key, Opaque::new(Protocol::OpenaiChat.name(), extra));
        }
        Ok(())
    }

    fn arguments(&mut self, place: usize, delta: &str, answer: &mut Assembler) -> Result<(), ModelError> {
        if self.calls[place].named {
            return answer.call_delta(FIRST_CALL + place as u64, delta);
        }
        self.calls[place].waiting.push_str(delta);
        Ok(())
    }

    fn finish(&mut self, reason: &str, answer: &mut Assembler) {
        answer.stopped(match reason {
            "" => return,
            "stop" if self.refused => StopReason::Refused,
            "stop" => StopReason::EndTurn,
            "tool_calls" | "function_call" => StopReason::ToolCalls,
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refused,
            other => StopReason::Other(other.to_owned()),
        });
    }
}

fn read_usage(usage: &Value) -> Usage {
    let cached = count(&usage["prompt_tokens_details"], "cached_tokens");
    Usage {
        input: count(usage, "prompt_tokens"),
        // DeepSeek's name for it.
        cache_read: cached.max(count(usage, "prompt_cache_hit_tokens")),
        cache_write: 0,
        output: count(usage, "completion_tokens"),
        reasoning: count(&usage["completion_tokens_details"], "reasoning_tokens"),
    }
}
