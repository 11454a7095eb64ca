//! What is said about a tool, and what is said to it: plain data that models, sessions and tools share.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name to call it by.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of its input, of type `object`.
    pub input_schema: Value,
}

impl ToolSpec {
    /// A tool with the JSON Schema of its input.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>, input_schema: Value) -> Self {
        Self { name: name.into(), description: description.into(), input_schema }
    }
}

/// The arguments that a model wrote for a call of `tool`, as a JSON object. Nothing written counts as the empty object,
/// as models leave the arguments of tools without parameters empty.
///
/// # Errors
/// They are not JSON, or JSON but no object. The message is meant for the model.
pub fn parse_input(tool: &str, arguments: &str) -> Result<Map<String, Value>, ArgumentsError> {
    if arguments.trim().is_empty() {
        return Ok(Map::new());
    }
    let wrong = |what| ArgumentsError { tool: tool.to_owned(), what };
    match serde_json::from_str(arguments) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(wrong(What::NotObject(type_name(&other)))),
        Err(error) => Err(wrong(What::NotJson(error.to_string()))),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The arguments of a tool call that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the arguments of `{tool}` {what}; nothing was run, send the call again with one JSON object")]
pub struct ArgumentsError {
    tool: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum What {
    #[error("are {0}, not a JSON object")]
    NotObject(&'static str),
    #[error("are not valid JSON ({0})")]
    NotJson(String),
}
