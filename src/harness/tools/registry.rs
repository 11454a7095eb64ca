//! The tools of a session by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Checked, Tool, ToolSpec, parse_input};
use crate::harness::manifest::nearest;

/// The tools of a session, sorted by name.
#[derive(Debug, Default)]
pub struct Registry {
    tools: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    tool: Arc<dyn Tool>,
    schema: Checked,
}

/// A tool and the checked input of a call of it.
pub type Resolved<'a> = (&'a Arc<dyn Tool>, Map<String, Value>);

/// A tool that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two tools of one name.
    #[error("two tools are named `{0}`")]
    Twice(String),
    /// No built-in tool of that name.
    #[error("this version has no built-in tool `{0}`")]
    Unknown(String),
}

impl Registry {
    /// No tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// [`RegistryError::Twice`].
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let spec = &tool.def().spec;
        let (name, schema) = (spec.name.clone(), Checked::new(spec.input_schema.clone()));
        match self.tools.insert(name.clone(), Entry { tool, schema }) {
            None => Ok(()),
            Some(_) => Err(RegistryError::Twice(name)),
        }
    }

    /// What the model sees, sorted by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|entry| entry.tool.def().spec.clone()).collect()
    }

    /// The tool of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).map(|entry| &entry.tool)
    }

    /// The tool that a call names and the call's input, checked; `arguments` as the model wrote them.
    ///
    /// # Errors
    /// In words for the model: no such tool (with near names), no JSON, not what the schema says.
    pub fn resolve(&self, name: &str, arguments: &str) -> Result<Resolved<'_>, String> {
        let Some(entry) = self.tools.get(name) else { return Err(self.no_such(name)) };
        let input = Value::Object(parse_input(name, arguments).map_err(|error| error.to_string())?);
        entry
            .schema
            .check(&input)
            .map_err(|wrong| format!("the input of `{name}` is not what its schema says; nothing was run:\n{wrong}"))?;
        match input {
            Value::Object(input) => Ok((&entry.tool, input)),
            _ => Err(format!("the input of `{name}` is no object; nothing was run")),
        }
    }

    fn no_such(&self, name: &str) -> String {
        let shown: String = name.chars().take(64).collect();
        let near = nearest(name, self.tools.keys().map(String::as_str));
        match near {
            Some(near) => format!("there is no tool `{shown}`; did you mean `{near}`? Nothing was run"),
            None => {
                let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
                format!("there is no tool `{shown}`; nothing was run. The tools are: {}", names.join(", "))
            }
        }
    }
}
