//! Scripts as files: JSON, or TOML where patches shall stay readable.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::super::error::{ErrorKind, ModelError};
use super::super::reply::{StopReason, Usage};
use super::super::types::ToolCall;
use super::ScriptedReply;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    replies: Vec<Written>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    expect: Option<String>,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    text: String,
    #[serde(default = "once")]
    repeat: u64,
    #[serde(default)]
    calls: Vec<WrittenCall>,
    #[serde(default)]
    stop: Option<StopReason>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<WrittenError>,
    #[serde(default)]
    delay_ms: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCall {
    name: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    input: Option<Map<String, Value>>,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenError {
    kind: ErrorKind,
    message: String,
}

fn once() -> u64 {
    1
}

/// The replies of a script.
pub(super) fn parse(bytes: &[u8]) -> Result<Vec<ScriptedReply>, ModelError> {
    let bad = |why: String| ModelError::new(ErrorKind::Script, format!("the script cannot be read: {why}"));
    let text = std::str::from_utf8(bytes).map_err(|error| bad(error.to_string()))?;
    let file: File = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| bad(error.to_string()))?
    } else {
        toml::from_str(text).map_err(|error| bad(error.to_string()))?
    };
    file.replies.into_iter().enumerate().map(|(place, written)| reply(place, written)).collect()
}

fn reply(place: usize, written: Written) -> Result<ScriptedReply, ModelError> {
    let calls = written.calls.into_iter().map(|call| {
        let arguments = match (call.input, call.arguments) {
            (Some(input), None) => Value::Object(input).to_string(),
            (None, arguments) => arguments.unwrap_or_default(),
            (Some(_), Some(_)) => {
                let message = format!("reply {place} of the script: `{}` has both input and arguments", call.name);
                return Err(ModelError::new(ErrorKind::Script, message));
            }
        };
        Ok(ToolCall::new(call.id, call.name, arguments))
    });
    Ok(ScriptedReply {
        calls: calls.collect::<Result<_, _>>()?,
        expect: written.expect,
        reasoning: written.reasoning,
        text: written.text,
        repeat: written.repeat,
        stop: written.stop,
        usage: written.usage,
        error: written.error.map(|error| ModelError::new(error.kind, error.message)),
        delay: Duration::from_millis(written.delay_ms),
    })
}
