//! `todo`, `ask_question` and `load_skill`: tools that touch nothing but the session.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Call, Outcome, Running, Tool, ToolDef};
use crate::harness::manifest::Effects;

/// The value under which the list is kept.
pub const TODO: &str = "todo";

/// The tool `todo`: the model's own list of what is to be done.
#[derive(Debug)]
pub struct Todo {
    def: ToolDef,
}

/// The tool `ask_question`: asks the person, who may answer days later.
#[derive(Debug)]
pub struct AskQuestion {
    def: ToolDef,
}

/// The tool `load_skill`: gives the text of a skill.
#[derive(Debug)]
pub struct LoadSkill {
    def: ToolDef,
}

impl Default for Todo {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "maxItems": 100,
                    "description": "The whole list; it replaces the last one. Leave it out to read the list.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string", "maxLength": 500},
                            "state": {"enum": ["open", "doing", "done"]}
                        },
                        "required": ["text", "state"],
                        "additionalProperties": false
                    }
                }
            },
            "additionalProperties": false
        });
        let description = "Keeps a list of what is to be done, for work of several steps. Keep it up to date.";
        Todo { def: ToolDef::new("todo", description, schema, Effects::Idempotent).exclusive(false) }
    }
}

impl Default for AskQuestion {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "question": {"type": "string", "minLength": 1},
                "options": {"type": "array", "items": {"type": "string"}, "maxItems": 20, "description": "Answers to choose from; the person may give another."}
            },
            "required": ["question"],
            "additionalProperties": false
        });
        let description = "Asks the person one question and waits for the answer. Only for what you cannot find out.";
        AskQuestion { def: ToolDef::new("ask_question", description, schema, Effects::Pure) }
    }
}

impl Default for LoadSkill {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": false
        });
        let description = "Gives the text of a skill from the list of skills.";
        LoadSkill { def: ToolDef::new("load_skill", description, schema, Effects::Read) }
    }
}

fn todo(call: &Call) -> Outcome {
    let (items, values) = match call.input.get("items") {
        Some(items) => (items.clone(), vec![(TODO.to_owned(), items.to_string())]),
        None => {
            let kept = call.values.get(TODO).and_then(|text| serde_json::from_str(text).ok());
            (kept.unwrap_or_else(|| json!([])), Vec::new())
        }
    };
    let mut text = String::new();
    for item in items.as_array().into_iter().flatten() {
        let mark = match item["state"].as_str() {
            Some("done") => "x",
            Some("doing") => ">",
            _ => " ",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "[{mark}] {}", item["text"].as_str().unwrap_or_default());
    }
    if text.is_empty() {
        text.push_str("the list is empty\n");
    }
    Outcome { values, ..Outcome::ok(text) }
}

impl Tool for Todo {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        Box::pin(async move { todo(&call) })
    }
}

impl Tool for AskQuestion {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn question(&self, call: &Call) -> Option<Value> {
        Some(Value::Object(call.input.clone()))
    }

    fn run(&self, _call: Call, _intent: Option<Value>) -> Running {
        Box::pin(async { Outcome::error("nobody was asked") })
    }
}

impl Tool for LoadSkill {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        Box::pin(async move {
            match call.env.skills().load_skill(call.text("name").unwrap_or_default()) {
                Ok(text) => Outcome::ok(text),
                Err(error) => Outcome::error(error.to_string()),
            }
        })
    }
}
