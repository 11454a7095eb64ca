//! The tools of a node of the manifest.

use std::path::Path;
use std::sync::Arc;

use super::edit::{Edit, WriteFile};
use super::executable::ExecutableTool;
use super::look::{FindFiles, Grep, ReadFile};
use super::patch::ApplyPatch;
use super::plain::{AskQuestion, LoadSkill, Todo};
use super::shell::Bash;
use super::{Registry, RegistryError, Tool};
use crate::harness::manifest::{self, Node};

/// The built-in tool of a name.
#[must_use]
pub fn builtin(name: &str) -> Option<Arc<dyn Tool>> {
    Some(match name {
        "apply_patch" => Arc::new(ApplyPatch::default()),
        "ask_question" => Arc::new(AskQuestion::default()),
        "bash" => Arc::new(Bash::default()),
        "edit" => Arc::new(Edit::default()),
        "glob" => Arc::new(FindFiles::default()),
        "grep" => Arc::new(Grep::default()),
        "load_skill" => Arc::new(LoadSkill::default()),
        "read_file" => Arc::new(ReadFile::default()),
        "todo" => Arc::new(Todo::default()),
        "write_file" => Arc::new(WriteFile::default()),
        _ => return None,
    })
}

impl Registry {
    /// The tools of a node; `agent` is the directory of the agent's files. Kinds that this version does not run are left
    /// out; compiling has told of them.
    ///
    /// # Errors
    /// [`RegistryError`] when two tools have one name, or there is no built-in tool of a name.
    pub fn of_node(node: &Node, agent: &Path) -> Result<Self, RegistryError> {
        let mut registry = Registry::new();
        for tool in &node.tools {
            match tool {
                manifest::Tool::Builtin { name } => {
                    let tool = builtin(name).ok_or_else(|| RegistryError::Unknown(name.clone()))?;
                    registry.add(tool)?;
                }
                manifest::Tool::Executable(tool) => registry.add(Arc::new(ExecutableTool::new(tool, agent)))?,
                manifest::Tool::Module { .. } => {}
            }
        }
        Ok(registry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::manifest::BUILTINS;

    #[test]
    fn every_built_in_name_has_a_tool_whose_schema_holds() {
        for name in BUILTINS {
            let tool = builtin(name).unwrap_or_else(|| panic!("{name} has no tool"));
            assert_eq!(tool.def().spec.name, *name);
            super::super::Checked::new(tool.def().spec.input_schema.clone()).compile().unwrap();
        }
        assert!(builtin("web_fetch").is_none());
    }
}
