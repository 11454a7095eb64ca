//! From a directory of files to a manifest, the only contract with the runtime.
//!
//! `walk → discover → read → check → Manifest`: names first, contents after, and all findings in one run. Nothing of
//! the author's is run. Files come through a [`Source`], on disk or in memory; the chain is [`compile`].
//!
//! # Guarantees
//! Equal trees give equal findings and equal manifest bytes, whatever the order in which directories are listed.
//! Each finding has a stable [`Code`], a file, a place where there is one, and what to do. Secrets that were written
//! where they do not belong are not repeated.
//!
//! ```
//! use restitch::RelPath;
//! use restitch::harness::manifest::{CompileOptions, MemSource, compile};
//!
//! let path = |text: &str| RelPath::new(text.as_bytes()).expect("a relative path");
//! let tree = MemSource::new()
//!     .file(path("agent.toml"), "modle = \"ollama/small\"\n")
//!     .file(path("instructions.md"), "You answer in one sentence.\n");
//! let compilation = compile(&tree, CompileOptions::new());
//! assert!(compilation.manifest.is_none());
//! assert_eq!(
//!     compilation.diagnostics[0].to_string(),
//!     "agent.toml:1:1: error: there is no field `modle` [compile/unknown-field]\n  help: did you mean `model`?"
//! );
//! ```

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
