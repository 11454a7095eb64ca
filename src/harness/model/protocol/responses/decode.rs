//! The Responses API's events.
//!
//! An answer is a list of items; `output_index` names the item in every event. Items begin
//! (`output_item.added`), grow by deltas and end (`output_item.done`, with the whole item). The answer ends with
//! `response.completed`, `.incomplete` or `.failed`. Servers that only imitate the protocol leave out some of
//! these, so whatever a whole item says and the deltas did not is added when it comes.

use serde_json::{Value, json};

use super::super::{
    Assembler, Decoder, ErrorKind, ModelError, Opaque, Progress, Protocol, SseEvent, StopReason, Usage, count,
    cut_short, parse, payload_error, text,
};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in super::super) struct ResponsesDecoder {
    refused: bool,
    /// The part of a reasoning summary that is being written, as (item, part).
    summary: Option<(u64, u64)>,
}

impl Decoder for ResponsesDecoder {
    fn event(&mut self, event: &SseEvent, answer: &mut Assembler) -> Result<Progress, ModelError> {
        if event.data == b"[DONE]" {
            return Ok(Progress::More);
        }
        let value = parse(event)?;
        let key = count(&value, "output_index");
        let delta = text(&value, "delta");
        match text(&value, "type") {
            "response.created" => answer.started(text(&value["response"], "model")),
            "response.output_text.delta" => answer.text(key, delta)?,
            "response.refusal.delta" => {
                self.refused = true;
                answer.text(key, delta)?;
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoning(key, &value, delta, answer)?;
            }
            "response.output_item.added" => Self::begin(key, &value["item"], answer)?,
            "response.function_call_arguments.delta" => answer.call_delta(key, delta)?,
            "response.function_call_arguments.done" => answer.call_arguments(key, text(&value, "arguments"))?,
            "response.output_item.done" => self.whole_item(key, &value["item"], answer)?,
            "response.completed" | "response.incomplete" => return self.complete(&value["response"], answer),
            "response.failed" => return Err(payload_error(&value["response"], None)),
            "error" => return Err(payload_error(&value, None)),
            "" if value.get("error").is_some() => return Err(payload_error(&value, None)),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn end(&mut self, _: &mut Assembler) -> Result<(), ModelError> {
        Err(cut_short())
    }
}

impl ResponsesDecoder {
    fn reasoning(&mut self, key: u64, value: &Value, delta: &str, answer: &mut Assembler) -> Result<(), ModelError> {
        let part = (key, count(value, "summary_index") + count(value, "content_index"));
        if self.summary.is_some_and(|last| last.0 == key && last != part) {
            answer.reasoning(key, "\n\n")?;
        }
        self.summary = Some(part);
        answer.reasoning(key, delta)
    }

    fn begin(key: u64, item: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        match text(item, "type") {
            "function_call" => {
                answer.call_started(key, text(item, "call_id"), text(item, "name"))?;
                answer.call_delta(key, text(item, "arguments"))
            }
            "message" => answer.text(key, ""),
            "reasoning" => answer.reasoning(key, ""),
            _ => Ok(()),
        }
    }

    fn whole_item(&mut self, key: u64, item: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        match text(item, "type") {
            "function_call" => {
                if !answer.has_call(key) {
                    answer.call_started(key, text(item, "call_id"), text(item, "name"))?;
                }
                answer.call_arguments(key, text(item, "arguments"))?;
                answer.call_finished(key);
            }
            "message" => self.whole_message(key, item, answer)?,
            "reasoning" => whole_reasoning(key, item, answer)?,
            _ => {}
        }
        Ok(())
    }

    fn whole_message(&mut self, key: u64, item: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        let mut words = String::new();
        for part in item["content"].as_array().into_iter().flatten() {
            self.refused |= text(part, "type") == "refusal";
            words.push_str(text(part, "text"));
            words.push_str(text(part, "refusal"));
        }
        let missing = words.strip_prefix(answer.words(key)).unwrap_or_default();
        answer.text(key, missing)?;
        if let Some(phase) = item.get("phase").filter(|phase| phase.is_string()) {
            answer.set_opaque(key, Opaque::new(Protocol::OpenaiResponses.name(), json!({ "phase": phase })));
        }
        Ok(())
    }

    fn complete(&mut self, response: &Value, answer: &mut Assembler) -> Result<Progress, ModelError> {
        if answer.is_empty() {
            for (key, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
                self.whole_item(key, item, answer)?;
            }
        }
        answer.started(text(response, "model"));
        if let Some(usage) = response.get("usage").filter(|usage| usage.is_object()) {
            answer.used(read_usage(usage));
        }
        answer.stopped(match text(&response["incomplete_details"], "reason") {
            "max_output_tokens" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refused,
            _ if self.refused => StopReason::Refused,
            "" if text(response, "status") == "incomplete" => {
                return Err(ModelError::new(
                    ErrorKind::BadStream,
                    "the server broke the answer off and gave no reason",
                ));
            }
            "" => StopReason::EndTurn,
            other => StopReason::Other(other.to_owned()),
        });
        Ok(Progress::Complete)
    }
}

fn whole_reasoning(key: u64, item: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
    answer.reasoning(key, "")?;
    for list in ["summary", "content"] {
        if answer.words(key).is_empty() {
            let parts = item[list].as_array().into_iter().flatten().map(|part| text(part, "text"));
            answer.reasoning(key, &parts.collect::<Vec<_>>().join("\n\n"))?;
        }
    }
    // Without the encrypted form the server would look for an item it was told not to store.
    if item.get("encrypted_content").is_some_and(Value::is_string) {
        let mut item = item.clone();
        if let Some(fields) = item.as_object_mut() {
            fields.remove("status");
        }
        answer.set_opaque(key, Opaque::new(Protocol::OpenaiResponses.name(), item));
    }
    Ok(())
}

fn read_usage(usage: &Value) -> Usage {
    Usage {
        input: count(usage, "input_tokens"),
        cache_read: count(&usage["input_tokens_details"], "cached_tokens"),
        cache_write: 0,
        output: count(usage, "output_tokens"),
        reasoning: count(&usage["output_tokens_details"], "reasoning_tokens"),
    }
}
