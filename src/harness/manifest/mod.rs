//! From a directory of files to a manifest, the only contract with the runtime.

mod config;
mod types;

pub use config::{
    Api, Approval, Ask, CONTEXT_WINDOW, Cassette, CassetteMode, Compaction, Config, Effects, Limit, Limits, Model,
    Price, Reasoning, Then,
};
pub use types::{
    BUILTINS, Edge, Executable, Feature, FileRef, Instruction, KIND, Manifest, Node, ROOT, Role, Sandbox, Skill, Slot,
    Tool, VERSION,
};
