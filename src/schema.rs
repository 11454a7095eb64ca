//! What a model is told of each language: name, description, usage, JSON schema and grammar of the tool.
//!
//! The texts are short, since they are sent with every request, and precise, since a model does what they say. Tests feed
//! the examples to the parser and generate texts from the grammars: each one parses.

use serde_json::{Value, json};

use crate::patch::Format;

/// Who the definition of a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Audience {
    /// The Responses API of OpenAI: a custom tool with a grammar, or a function.
    OpenAi,
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Model Context Protocol.
    Mcp,
    /// Text for the instructions of a model.
    Plain,
}

/// The tool that takes patches of one language.
#[derive(Clone, Copy, Debug)]
pub struct PatchTool {
    format: Format,
}

impl PatchTool {
    /// The tool for a language; [`Format::Auto`] is taken as [`Format::Envelope`].
    #[must_use]
    pub fn new(format: Format) -> Self {
        PatchTool { format: if format == Format::Auto { Format::Envelope } else { format } }
    }

    /// The name by which a model calls the tool.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.format {
            Format::Unified => "apply_diff",
            Format::Blocks => "apply_blocks",
            Format::Edits => "edit_files",
            Format::Envelope | Format::Auto => "apply_patch",
        }
    }

    /// What the tool does, in a sentence or two.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self.format {
            Format::Unified => "Changes files by a unified diff: all of it, or nothing if a part does not fit.",
            Format::Blocks => "Changes files by SEARCH/REPLACE blocks: all of them, or nothing if one does not fit.",
            Format::Edits => "Changes files by replacing quoted text: all edits are made, or none if one does not fit.",
            Format::Envelope | Format::Auto => {
                "Changes, adds, deletes and renames files by a patch: all of it, or nothing if a part does not fit."
            }
        }
    }

    /// How to write what the tool takes.
    #[must_use]
    pub fn usage(self) -> &'static str {
        match self.format {
            Format::Unified => include_str!("schema/unified.txt"),
            Format::Blocks => include_str!("schema/blocks.txt"),
            Format::Edits => include_str!("schema/edits.txt"),
            Format::Envelope | Format::Auto => include_str!("schema/envelope.txt"),
        }
    }

    /// An example of what the tool takes.
    #[must_use]
    pub fn example(self) -> &'static str {
        match self.format {
            Format::Unified => {
                "--- a/src/greet.py\n+++ b/src/greet.py\n@@ ... @@\n def greet(name):\n-    return \"Hello \" + name\n\
                 +    return f\"Hello, {name}!\"\n"
            }
            Format::Blocks => {
                "src/greet.py\n<<<<<<< SEARCH\n    return \"Hello \" + name\n=======\n    return f\"Hello, {name}!\"\n\
                 >>>>>>> REPLACE\n"
            }
            Format::Edits => {
                "{\"edits\": [{\"path\": \"src/greet.py\", \"old_string\": \"\\\"Hello \\\" + name\", \"new_string\": \
                 \"f\\\"Hello, {name}!\\\"\"}]}\n"
            }
            Format::Envelope | Format::Auto => {
                "*** Begin Patch\n*** Update File: src/greet.py\n@@ def greet(name):\n-    return \"Hello \" + name\n\
                 +    return f\"Hello, {name}!\"\n*** End Patch\n"
            }
        }
    }

    /// A Lark grammar of the language: everything it accepts parses, if no header of an envelope is repeated and both names of
    /// a file in a unified diff are equal, which no such grammar can ask for. Hunks of a diff have no numbers in it, since
    /// numbers could be wrong. There is none for JSON, which has a schema.
    #[must_use]
    pub fn grammar(self) -> Option<&'static str> {
        match self.format {
            Format::Envelope | Format::Auto => Some(include_str!("schema/envelope.lark")),
            Format::Blocks => Some(include_str!("schema/blocks.lark")),
            Format::Unified => Some(include_str!("schema/unified.lark")),
            _ => None,
        }
    }

    /// The JSON schema of the tool's input, as JSON text.
    #[must_use]
    pub fn input_schema(self) -> String {
        self.schema().to_string()
    }

    fn schema(self) -> Value {
        if self.format == Format::Edits {
            return edits_schema();
        }
        let what = format!("{}\n\nExample:\n\n{}", self.usage().trim_end(), self.example().trim_end());
        json!({
            "type": "object",
            "properties": {"patch": {"type": "string", "description": what}},
            "required": ["patch"],
            "additionalProperties": false,
        })
    }

    /// The definition in the form that an audience expects: one JSON object, or text.
    #[must_use]
    pub fn definition(self, audience: Audience) -> String {
        let long = format!("{}\n\n{}\nExample:\n\n{}", self.description(), self.usage(), self.example());
        let value = match (audience, self.grammar()) {
            (Audience::Plain, _) => return format!("# {}\n\n{long}", self.name()),
            (Audience::OpenAi, Some(grammar)) => json!({
                "type": "custom",
                "name": self.name(),
                "description": long,
                "format": {"type": "grammar", "syntax": "lark", "definition": grammar},
            }),
            (Audience::OpenAi, None) => json!({
                "type": "function",
                "name": self.name(),
                "description": self.short(),
                "parameters": self.schema(),
                "strict": false,
            }),
            (Audience::Anthropic, _) => json!({
                "name": self.name(),
                "description": self.short(),
                "input_schema": self.schema(),
            }),
            (Audience::Mcp, _) => json!({
                "name": self.name(),
                "description": self.short(),
                "inputSchema": self.schema(),
                "annotations": {"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false},
            }),
        };
        format!("{value:#}\n")
    }

    /// The description where the schema does not hold the usage, it; else the sentence alone.
    fn short(self) -> String {
        if self.format == Format::Edits {
            format!("{}\n\n{}\nExample:\n\n{}", self.description(), self.usage(), self.example())
        } else {
            self.description().to_owned()
        }
    }
}

fn edits_schema() -> Value {
    let path = json!({"type": "string", "minLength": 1, "description": "relative to the root of the project"});
    let hash = json!({"type": "string", "pattern": "^[0-9a-fA-F]{32}$", "description": "what reading the file gave"});
    json!({
        "type": "object",
        "properties": {"edits": {"type": "array", "minItems": 1, "items": {"anyOf": [
            {
                "type": "object",
                "properties": {
                    "path": path,
                    "old_string": {"type": "string", "minLength": 1, "description": "as it stands in the file, once"},
                    "new_string": {"type": "string", "description": "what to put there; must differ"},
                    "replace_all": {"type": "boolean", "description": "replace every occurrence"},
                    "expected_replacements": {"type": "integer", "minimum": 1},
                    "expected_hash": hash,
                },
                "required": ["path", "old_string", "new_string"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {
                    "path": path,
                    "insert_line": {"type": "integer", "minimum": 0, "description": "the line to insert below"},
                    "text": {"type": "string"},
                    "expected_hash": hash,
                },
                "required": ["path", "insert_line", "text"],
                "additionalProperties": false,
            },
            {
                "type": "object",
                "properties": {
                    "path": path,
                    "content": {"type": "string", "description": "the whole file"},
                    "expected_hash": hash,
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            },
        ]}}},
        "required": ["edits"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
