//! The Messages API's events.
//!
//! `message_start`, then per block `content_block_start`, `content_block_delta`s and `content_block_stop`, then
//! `message_delta` with the reason for stopping and the final usage, then `message_stop`. `ping` and an `error`
//! may come at any time. `input_tokens` counts only what neither came from the cache nor went into it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::{
    Assembler, Decoder, ModelError, Opaque, Progress, Protocol, SseEvent, StopReason, Usage, count, cut_short, parse,
    payload_error, text,
};

/// Reads one answer.
#[derive(Debug, Default)]
pub(in super::super) struct MessagesDecoder {
    /// Signatures of the thinking blocks, which come in pieces too.
    signatures: BTreeMap<u64, String>,
    usage: Value,
}

impl Decoder for MessagesDecoder {
    fn event(&mut self, event: &SseEvent, answer: &mut Assembler) -> Result<Progress, ModelError> {
        let value = parse(event)?;
        let key = count(&value, "index");
        match text(&value, "type") {
            "message_start" => {
                let message = &value["message"];
                answer.started(text(message, "model"));
                self.add_usage(&message["usage"], answer);
            }
            "content_block_start" => self.begin(key, &value["content_block"], answer)?,
            "content_block_delta" => self.delta(key, &value["delta"], answer)?,
            "content_block_stop" => self.stop(key, answer),
            "message_delta" => {
                stopped(text(&value["delta"], "stop_reason"), answer);
                self.add_usage(&value["usage"], answer);
            }
            "message_stop" => return Ok(Progress::Complete),
            "error" => return Err(payload_error(&value, None)),
            "" if value.get("error").is_some() => return Err(payload_error(&value, None)),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn end(&mut self, answer: &mut Assembler) -> Result<(), ModelError> {
        if answer.has_stopped() { Ok(()) } else { Err(cut_short()) }
    }
}

impl MessagesDecoder {
    fn begin(&mut self, key: u64, block: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        match text(block, "type") {
            "text" => answer.text(key, text(block, "text")),
            "thinking" => {
                self.signatures.insert(key, text(block, "signature").to_owned());
                answer.reasoning(key, text(block, "thinking"))
            }
            "redacted_thinking" => {
                answer.reasoning(key, "")?;
                answer.set_opaque(key, Opaque::new(Protocol::AnthropicMessages.name(), block.clone()));
                Ok(())
            }
            "tool_use" => {
                answer.call_started(key, text(block, "id"), text(block, "name"))?;
                match block.get("input").and_then(Value::as_object) {
                    Some(input) if !input.is_empty() => answer.call_delta(key, &block["input"].to_string()),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn delta(&mut self, key: u64, delta: &Value, answer: &mut Assembler) -> Result<(), ModelError> {
        match text(delta, "type") {
            "text_delta" => answer.text(key, text(delta, "text")),
            "thinking_delta" => answer.reasoning(key, text(delta, "thinking")),
            "input_json_delta" => answer.call_delta(key, text(delta, "partial_json")),
            "signature_delta" => {
                self.signatures.entry(key).or_default().push_str(text(delta, "signature"));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn stop(&mut self, key: u64, answer: &mut Assembler) {
        answer.call_finished(key);
        // A signature vouches for the exact words; thinking without one would be refused.
        if let Some(signature) = self.signatures.remove(&key).filter(|signature| !signature.is_empty()) {
            let block = json!({ "type": "thinking", "thinking": answer.words(key), "signature": signature });
            answer.set_opaque(key, Opaque::new(Protocol::AnthropicMessages.name(), block));
        }
    }

    /// The last event repeats some figures of the first; what it does not repeat stays.
    fn add_usage(&mut self, usage: &Value, answer: &mut Assembler) {
        let Some(new) = usage.as_object() else { return };
        if !self.usage.is_object() {
            self.usage = json!({});
        }
        for (name, figure) in new.iter().filter(|(_, figure)| !figure.is_null()) {
            self.usage[name] = figure.clone();
        }
        let cache_read = count(&self.usage, "cache_read_input_tokens");
        let cache_write = count(&self.usage, "cache_creation_input_tokens");
        answer.used(Usage {
            input: count(&self.usage, "input_tokens") + cache_read + cache_write,
            cache_read,
            cache_write,
            output: count(&self.usage, "output_tokens"),
            reasoning: count(&self.usage["output_tokens_details"], "thinking_tokens"),
        });
    }
}

fn stopped(reason: &str, answer: &mut Assembler) {
    answer.stopped(match reason {
        "" => return,
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refused,
        other => StopReason::Other(other.to_owned()),
    });
}
