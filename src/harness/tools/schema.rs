//! Is an input what the tool's schema says? The answer is for the model: every mistake, with its place.

use std::fmt::Write as _;
use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

/// The most mistakes that are told.
const MOST: usize = 8;

/// The longest mistake that is told, in characters.
const LONGEST: usize = 400;

/// A JSON Schema, compiled when it is first used.
#[derive(Debug)]
pub struct Checked {
    schema: Value,
    compiled: OnceLock<Result<Validator, String>>,
}

impl Checked {
    /// A schema. Costs nothing until [`Checked::check`].
    #[must_use]
    pub fn new(schema: Value) -> Self {
        Checked { schema, compiled: OnceLock::new() }
    }

    /// Compiles the schema, if that has not been done.
    ///
    /// # Errors
    /// What is wrong with the schema.
    pub fn compile(&self) -> Result<(), String> {
        self.validator().map(|_| ())
    }

    fn validator(&self) -> Result<&Validator, String> {
        let compile = || jsonschema::validator_for(&self.schema).map_err(|error| error.to_string());
        self.compiled.get_or_init(compile).as_ref().map_err(Clone::clone)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// What is wrong, each with its place in the value; at most eight.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let validator = self.validator().map_err(|error| format!("the schema itself is wrong: {error}"))?;
        let mut text = String::new();
        let mut errors = validator.iter_errors(value);
        for error in errors.by_ref().take(MOST) {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the input".to_owned() } else { format!("`{place}`") };
            let message: String = error.to_string().chars().take(LONGEST).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {place}: {message}");
        }
        match errors.count() {
            _ if text.is_empty() => Ok(()),
            0 => Err(text),
            more => Err(format!("{text}- and {more} more\n")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_mistake_is_named_with_its_place() {
        let schema = Checked::new(json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
            "required": ["path"],
            "additionalProperties": false
        }));
        assert_eq!(schema.check(&json!({"path": "a"})), Ok(()));
        let wrong = schema.check(&json!({"lines": [1, "two"], "colour": 1})).unwrap_err();
        for part in ["`/lines/1`", "path", "colour"] {
            assert!(wrong.contains(part), "{part} is not in: {wrong}");
        }
    }

    #[test]
    fn a_long_list_of_mistakes_and_a_long_value_are_cut() {
        let schema = Checked::new(json!({"items": {"type": "string"}}));
        let wrong = schema.check(&json!(vec![1; 100])).unwrap_err();
        assert!(wrong.ends_with("and 92 more\n"), "{wrong}");
        let schema = Checked::new(json!({"type": "object"}));
        assert!(schema.check(&json!("x".repeat(100_000))).unwrap_err().len() < 1000);
    }

    #[test]
    fn a_schema_that_is_none_is_said() {
        assert!(Checked::new(json!({"type": 7})).compile().is_err());
    }
}
