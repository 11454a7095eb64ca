//! From a directory of files to a manifest, the only contract with the runtime.

mod agent_toml;
mod artifacts;
mod check;
mod compile;
mod config;
mod diagnostic;
mod discover;
mod doc;
mod fields;
mod front;
mod locate;
mod markdown;
mod model_id;
mod names;
mod reader;
mod slots;
mod source;
mod tool_toml;
mod types;
mod walk;
mod wire;

pub use artifacts::{Artifact, LoadError, hide_state, load};
pub use check::FileError;
pub use compile::{Compilation, CompileOptions, compile};
pub use config::{
    Api, Approval, Ask, CONTEXT_WINDOW, Cassette, CassetteMode, Compaction, Config, Effects, Limit, Limits, Model,
    Price, Reasoning, Then,
};
pub use diagnostic::{Code, Diagnostic, Place, Severity};
pub use locate::{LocateError, Located, locate};
pub use source::{DiskSource, Entry, EntryKind, MemSource, Source};
pub use types::{
    BUILTINS, Edge, Executable, Feature, FileRef, Instruction, KIND, Manifest, Node, ROOT, Role, Sandbox, Skill, Slot,
    Tool, VERSION,
};
pub use wire::{FEATURES, ManifestError};

pub(super) use diagnostic::nearest;
pub(super) use front::body;
