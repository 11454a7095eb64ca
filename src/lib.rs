//! Safe patches and fast search for coding agents and scripts.
//!
//! An edit changes exactly the bytes the patch names, all of them or none of them, in the one place they belong, or it
//! changes nothing and says why.
//!
//! ```
//! use restitch::{ApplyOptions, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let root = std::env::temp_dir().join(format!("restitch-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&root)?;
//! # std::fs::write(root.join("greet.py"), "def greet(name):\n    return 'Hi ' + name\n")?;
//! let workspace = Workspace::open(&root)?;
//! let patch = b"*** Begin Patch
//! *** Update File: greet.py
//! @@ def greet(name):
//! -    return 'Hi ' + name
//! +    return f'Hello, {name}!'
//! *** End Patch
//! ";
//! let report = ApplyOptions::default().apply(&workspace, patch)?;
//! assert_eq!(report.text(), "Success. Updated the following files:\nM greet.py\n");
//! # assert_eq!(std::fs::read(root.join("greet.py"))?, b"def greet(name):\n    return f'Hello, {name}!'\n");
//! # std::fs::remove_dir_all(&root)?;
//! # Ok(())
//! # }
//! ```
//!
//! # The road of the data
//!
//! `bytes → parse → Patch → plan → Plan → prepare → Prepared → commit → Outcome → report → text, JSON, diff`
//!
//! Each stage is a type; you cannot commit what was not planned. [`ApplyOptions`] runs the whole chain; alone, the stages
//! leave room for a look at what would happen:
//!
//! ```
//! use restitch::{CommitOptions, DiffOptions, Patch, Plan, PlanOptions, Report, Workspace, prepare};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let root = std::env::temp_dir().join(format!("restitch-stages-{}", std::process::id()));
//! # std::fs::create_dir_all(&root)?;
//! # std::fs::write(root.join("a.txt"), "one\n")?;
//! let workspace = Workspace::open(&root)?;
//! let patch = Patch::parse(b"*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch\n")?;
//! let plan = Plan::new(patch, &workspace, &PlanOptions::default())?; // reads, and never writes
//! let report = Report::planned(plan, Vec::new());
//! assert!(report.diff(&DiffOptions::default()).ends_with(b"-one\n+two\n"));
//! prepare(&workspace, report.plan().steps(), &CommitOptions::default())?.commit()?;
//! # assert_eq!(std::fs::read(root.join("a.txt"))?, b"two\n");
//! # std::fs::remove_dir_all(&root)?;
//! # Ok(())
//! # }
//! ```
//!
//! Files are found with [`Search`] and [`Glob`], and read with [`ReadOptions`]. What a model writes can be placed while it is
//! written ([`LiveApply`]). [`seek_sequence`] and [`update`] are the matcher alone, on strings, without a file system.
//!
//! # Guarantees and limits
//!
//! See [`Prepared`] for what the transaction promises and [`Workspace`] for confinement. Names that are not UTF-8 cannot
//! be patched; files may hold any bytes but UTF-16 and UTF-32. Unix only for now.
//!
//! The library never prints, never reads the environment, never exits, and has no global state. Its types are `Send` and
//! `Sync`.
//!
//! # Features
//!
//! | Feature | What it adds |
//! | --- | --- |
//! | `cli` (default) | the programs; nothing of the library |
//! | `syntax` | syntax checks for YAML and thirteen languages in `Diagnose` |
//! | `shell` | `Detected`: calls of `apply_patch` in shell scripts |
//! | `mcp` | the module `mcp`: the tools as a server of the Model Context Protocol; async |
//! | `harness` | the module `harness`: a directory of files is an agent; async |
//! | `mcp-client`, `fault` | for this crate's own tests |
//!
//! # Stability
//!
//! What is public and documented is covered by Semantic Versioning. Before 1.0 a minor version may break it, and the changelog
//! says how to go on. Structs and enums that may grow are `#[non_exhaustive]`; enums that are not name all there can be.
//! Options are made with `Default` and setters, so that new ones break nobody. The JSON forms (`Report::json`, answers of
//! searches, events of streams, manifests and journals) have a `version` of their own: within a version keys are added and
//! never change their meaning. Texts for people and models, among them error messages, may change in any version; the success
//! lines of [`Report::text`] do not. The oldest compiler supported is the `rust-version` of the manifest, and raising it is a minor
//! change.

// The doors are guarded in the library itself, which is linted without its tests too; tests build
// their own trees, and a table of cases is as long as it is.
#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::too_many_lines, let_underscore_drop))]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!(
    "restitch runs on Unix systems only for now: it confines paths and swaps files through directory handles"
);

mod apply;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod commit;
mod diagnose;
mod frame;
#[cfg(feature = "harness")]
pub mod harness;
mod limits;
mod look;
mod matching;
#[cfg(feature = "mcp")]
pub mod mcp;
mod patch;
mod path;
mod plan;
mod policy;
mod process;
mod read;
mod report;
mod schema;
mod search;
mod text;
mod undo;
mod workspace;

/// Runs the README's Rust examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use apply::{AfterError, ApplyError, ApplyOptions, LiveApply, LiveFiles};
pub use commit::{
    Change as StaleChange, CommitError, CommitErrorKind, CommitNote, CommitOptions, Direction, DiskState, Durability,
    Holder, Leftover, LeftoverKind, Outcome, Prepared, RecoverOptions, Recovered, RecoveryReport, prepare, recover,
};
pub use diagnose::{
    Baseline, ChangedFile, Checks, Diagnose, DiagnoseOptions, Diagnosis, Diagnostic, FileImage, Severity, Skipped,
};
pub use limits::{CancelToken, Deadline};
pub use look::{GlobArgs, ReadArgs, SearchArgs};
pub use matching::{Found, seek_sequence};
pub use patch::{
    Action, Call, Count, Event, FileOp, Format, Hunk, Note, NoteKind, OpHead, OpKind, ParseError, ParseOptions, Parser,
    Patch, ReadError, Row, Rows, Sign, TextEdit, WriteError,
};
#[cfg(feature = "shell")]
pub use patch::{Detected, Invocation};
pub use path::{PathError, RelPath};
pub use plan::{
    After, Before, BetweenError, Change, CutLine, Difference, Excerpt, Expectations, Failure, FailureKind, FileChange,
    FoundAt, GENERATED, HunkFailure, HunkFailureKind, HunkPlacer, NewContent, NewMode, Placed, PlacedNote, Plan,
    PlanError, PlanOptions, Stale, Step, Unsayable, UpdateError, Updated, update,
};
pub use policy::{Ambiguity, FinalNewline, HardLinks, Overwrite, Policy, Symlinks, Tier};
pub use process::{End as ProgramEnd, Output as ProgramOutput, PASSED_ON, ProcessError, Program};
pub use read::{Endings, FileLine, FileView, ReadFileError, ReadOptions};
pub use report::{DiffOptions, LiveEvent, Report};
pub use schema::{Audience, PatchTool};
pub use search::{
    Answer, AnswerForm, Glob, GlobOptions, Mode, Notice, NoticeCode, RowKind, Search, SearchError, SearchOptions,
    SearchRow, Sort, Syntax, Total,
};
pub use text::{Piece, Spliced, WideEncoding};
pub use undo::{UndoEntry, UndoError, Undone, undo, undo_list};
pub use workspace::{
    Abilities, Bytes, Digest, DigestError, FileData, Loaded, MemSource, PathRefused, RefusedReason, Source,
    SourceError, Stamp, State, Workspace,
};
