//! From a directory of files to a manifest, the only contract with the runtime.

mod agent_toml;
mod compile;
mod config;
mod diagnostic;
mod discover;
mod doc;
mod fields;
mod front;
mod markdown;
mod model_id;
mod names;
mod reader;
mod slots;
mod source;
mod tool_toml;
mod types;
mod walk;

pub use compile::{Compilation, CompileOptions, compile};
pub use config::{
    Api, Approval, Ask, CONTEXT_WINDOW, Cassette, CassetteMode, Compaction, Config, Effects, Limit, Limits, Model,
    Price, Reasoning, Then,
};
pub use diagnostic::{Code, Diagnostic, Place, Severity};
pub use source::{DiskSource, Entry, EntryKind, MemSource, Source};
pub use types::{
    BUILTINS, Edge, Executable, Feature, FileRef, Instruction, KIND, Manifest, Node, ROOT, Role, Sandbox, Skill, Slot,
    Tool, VERSION,
};
