//! What a tool answers: text for the model and the same as data, both bounded.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

/// The longest text, in bytes; the tools' own budgets are below it.
const MAX_TEXT: usize = 128 << 10;

/// The longest data, in bytes of JSON.
const MAX_DATA: usize = 256 << 10;

/// The answer of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    text: String,
    data: Option<Value>,
    refused: bool,
}

impl Answer {
    /// Done.
    pub(super) fn done(text: impl Into<String>) -> Self {
        Answer { text: text.into(), data: None, refused: false }
    }

    /// Not done, and why, for the model to read.
    pub(super) fn refused(text: impl Into<String>) -> Self {
        Answer { text: text.into(), data: None, refused: true }
    }

    /// Adds the data: one JSON object as text.
    pub(super) fn with_json(mut self, json: &str) -> Self {
        self.data = serde_json::from_str(json).ok();
        self
    }

    /// Adds one key to the data.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let data = self.data.get_or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(map) = data {
            map.insert(key.to_owned(), value.into());
        }
        self
    }

    /// Adds a line to the text.
    pub(super) fn note(mut self, line: &str) -> Self {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(line);
        self
    }

    /// The answer as the protocol has it. Data of a refusal always has its message.
    pub(super) fn result(self, structured: bool) -> CallToolResult {
        let Answer { text, mut data, refused } = self;
        let text = cut(text);
        if refused && data.is_none() {
            data = Some(json!({"version": 1, "status": "refused", "message": text}));
        }
        let content = vec![ContentBlock::text(text)];
        let mut result = if refused { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = data.filter(|_| structured).map(bounded);
        result
    }
}

/// Cuts a text that is too long, and says so.
fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("\n[cut: {left_out} bytes more]\n"));
    }
    text
}

/// The data, or, when that is too long, its short members and a word about the others.
fn bounded(data: Value) -> Value {
    if length(&data) <= MAX_DATA {
        return data;
    }
    let Value::Object(mut map) = data else { return json!({"cut": true}) };
    let mut cut = Vec::new();
    let mut longest: Vec<(usize, String)> = map.iter().map(|(key, value)| (length(value), key.clone())).collect();
    longest.sort_unstable();
    let mut left: usize = longest.iter().map(|(length, key)| length + key.len() + 4).sum();
    while left > MAX_DATA
        && let Some((length, key)) = longest.pop()
    {
        left -= length + key.len() + 4;
        map.remove(&key);
        cut.push(key);
    }
    map.insert("cut".to_owned(), json!(cut));
    Value::Object(map)
}

fn length(value: &Value) -> usize {
    value.to_string().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: &CallToolResult) -> &str {
        &result.content[0].as_text().unwrap().text
    }

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        let result = Answer::done("é".repeat(MAX_TEXT)).result(true);
        assert!(text(&result).len() < MAX_TEXT + 64);
        assert!(text(&result).ends_with("bytes more]\n"));
        assert_eq!(result.structured_content, None);
    }

    #[test]
    fn long_data_lose_their_longest_members_and_name_them() {
        let long = "x".repeat(MAX_DATA);
        let answer = Answer::done("ok").with("status", "applied").with("diff", long);
        let data = answer.result(true).structured_content.unwrap();
        assert_eq!(data, json!({"status": "applied", "cut": ["diff"]}));
    }

    #[test]
    fn a_refusal_has_its_message_as_data_too() {
        let result = Answer::refused("no such file").result(true);
        assert_eq!(result.is_error, Some(true));
        assert_eq!(result.structured_content.unwrap()["message"], "no such file");
        assert_eq!(Answer::refused("no").result(false).structured_content, None);
    }
}
