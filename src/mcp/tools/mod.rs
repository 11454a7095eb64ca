//! The tools: what each is called, what it takes, what it answers.

mod glob;
mod grep;
mod patch;
mod read_file;
mod undo;

use std::borrow::Cow;
use std::path::Path;

use rmcp::model::{JsonObject, Tool as Described, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::Answer;
use super::call::Call;
use super::options::ServeOptions;
use super::roots::Trees;
use crate::{SearchError, Workspace};

/// A tool.
#[derive(Debug)]
pub(super) struct Tool {
    name: &'static str,
    title: &'static str,
    description: fn() -> Cow<'static, str>,
    schema: fn() -> Value,
    /// Whether it can change files.
    writes: bool,
    run: fn(Value, &Place<'_>, &Call) -> Result<Answer, Answer>,
}

/// Every tool, in the order in which they are listed.
pub(super) const ALL: &[Tool] =
    &[patch::APPLY, patch::EDIT, patch::CHECK, grep::TOOL, glob::TOOL, read_file::TOOL, undo::TOOL];

/// The tool of that name.
pub(super) fn find(name: &str) -> Option<&'static Tool> {
    ALL.iter().find(|tool| tool.name == name)
}

/// Where a call works.
pub(super) struct Place<'p> {
    pub(super) trees: &'p Trees,
    pub(super) options: &'p ServeOptions,
}

impl Place<'_> {
    /// The tree that `path` belongs to, opened.
    fn open(&self, path: &str) -> Result<Workspace, Answer> {
        opened(self.trees.of(path))
    }

    /// The tree that a call names as its root, opened.
    fn open_root(&self, root: &str) -> Result<Workspace, Answer> {
        let tree = self.trees.named(root).ok_or_else(|| {
            let roots = self.trees.names();
            Answer::refused(format!("`{root}` is no root; the roots are: {roots}; nothing was done"))
        })?;
        opened(tree)
    }

    /// Says which tree the paths of an answer are in, when there are several.
    fn placed(&self, answer: Answer, workspace: &Workspace) -> Answer {
        if !self.trees.several() {
            return answer;
        }
        let root = workspace.path().display().to_string();
        answer.note(&format!("(paths are below {root})\n")).with("root", root)
    }
}

fn opened(root: &Path) -> Result<Workspace, Answer> {
    Workspace::open(root)
        .map_err(|error| Answer::refused(format!("the root `{}` cannot be opened: {error}", root.display())))
}

impl Tool {
    /// The tool as a client sees it.
    pub(super) fn described(&self) -> Described {
        let schema = match (self.schema)() {
            Value::Object(schema) => schema,
            _ => JsonObject::new(),
        };
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(!self.writes)
            .destructive(self.writes)
            .idempotent(!self.writes)
            .open_world(false);
        Described::new(self.name, (self.description)(), schema).with_title(self.title).with_annotations(annotations)
    }

    /// Whether a server with these options has the tool.
    pub(super) fn offered(&self, options: &ServeOptions) -> bool {
        let forbidden = self.writes && options.read_only;
        let nothing_kept = self.name == undo::TOOL.name && options.keep_undo == 0;
        !forbidden && !nothing_kept
    }

    /// Runs the tool.
    pub(super) fn run(&self, input: JsonObject, place: &Place<'_>, call: &Call) -> Answer {
        (self.run)(Value::Object(input), place, call).unwrap_or_else(|refused| refused)
    }
}

/// The arguments of a call as the tool wants them.
fn input<T: DeserializeOwned>(tool: &str, input: Value) -> Result<T, Answer> {
    serde_json::from_value(input)
        .map_err(|error| Answer::refused(format!("the arguments of `{tool}` are wrong: {error}; nothing was done")))
}

/// Why there was no search.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
fn refused(error: SearchError) -> Answer {
    Answer::refused(error.for_model())
}

/// What is written to memory, as text.
fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<String, Answer> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| Answer::refused(error.to_string()))?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_described_by_an_object_schema_that_allows_nothing_else() {
        for tool in ALL {
            let described = tool.described();
            assert_eq!(described.input_schema["type"], "object", "{}", tool.name);
            assert_eq!(described.input_schema["additionalProperties"], false, "{}", tool.name);
            let properties = described.input_schema["properties"].as_object().unwrap();
            for required in described.input_schema["required"].as_array().unwrap() {
                assert!(properties.contains_key(required.as_str().unwrap()), "{}", tool.name);
            }
        }
    }

    #[test]
    fn every_name_of_a_schema_is_known_to_the_tool() {
        let dir = tempfile::tempdir().unwrap();
        let options = ServeOptions::new(dir.path());
        let trees = Trees::only(dir.path());
        let place = Place { trees: &trees, options: &options };
        for tool in ALL {
            let described = tool.described();
            for name in described.input_schema["properties"].as_object().unwrap().keys() {
                // No tool takes `null` in place of a value that must be there, and none but `null` is of a wrong type
                // for every name: what is refused must be the value, not the name.
                let input = JsonObject::from_iter([(name.clone(), Value::from(vec![Value::from(vec![0])]))]);
                let told = format!("{:?}", tool.run(input, &place, &Call::alone()));
                assert!(!told.contains("unknown field"), "{}: {name}: {told}", tool.name);
            }
        }
    }
}
