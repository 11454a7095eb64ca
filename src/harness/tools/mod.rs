//! Tools: one contract for all kinds, and the tools that ship.
//!
//! # The contract
//! A tool declares a [`ToolDef`]: name, description, JSON Schema of its input, [`Effects`], deadline. The input of a
//! call is checked against the schema before anything else. Then, in this order:
//!
//! 1. [`Tool::intent`] looks and changes nothing. What it returns is recorded before the tool runs: enough to tell
//!    after a crash whether it ran, and the contents it is about to change.
//! 2. [`Tool::run`] does it and returns an [`Outcome`]; a failure is an outcome too, in words for the model.
//! 3. Only after a crash: [`Tool::settle`] looks at the recorded intent and the world and says what happened.
//!
//! Tools do not write to the session. What shall be remembered is part of the outcome and recorded with it.

mod arguments;
mod builtin;
mod change;
mod edit;
mod env;
mod executable;
mod look;
mod output;
mod patch;
mod plain;
mod preview;
mod process;
mod registry;
mod schema;
mod shell;
mod spec;
#[cfg(test)]
mod tests;
mod undo;

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

pub use builtin::builtin;
pub use edit::{Edit, WriteFile};
pub use env::ToolEnv;
pub use executable::ExecutableTool;
pub use look::{FindFiles, Grep, ReadFile};
pub use output::{Bounds, bounded};
pub use patch::ApplyPatch;
pub use plain::{AskQuestion, LoadSkill, TODO, Todo};
pub use preview::Preview;
pub use registry::{Registry, RegistryError, Resolved};
pub use schema::Checked;
pub use shell::Bash;
pub use spec::{ArgumentsError, ToolSpec, parse_input};
pub use undo::{Net, UndoError, diff, net, undo};

use crate::harness::manifest::{Ask, Effects};
use crate::{CancelToken, Digest};

/// How long a call may take unless the tool says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// What a tool is.
#[derive(Clone, Debug)]
pub struct ToolDef {
    /// What the model sees.
    pub spec: ToolSpec,
    /// What running it twice does.
    pub effects: Effects,
    /// Whether it must run alone. Otherwise calls of one reply run at the same time.
    pub exclusive: bool,
    /// When a person is asked before a call, unless a rule decides; `None`: as its effects imply.
    pub ask: Option<Ask>,
    /// After how long a call is ended.
    pub timeout: Duration,
}

impl ToolDef {
    /// A tool that runs alone if it changes anything, asks as its effects imply and ends after [`TIMEOUT`].
    #[must_use]
    pub fn new(name: &str, description: &str, input_schema: Value, effects: Effects) -> Self {
        ToolDef {
            spec: ToolSpec::new(name, description, input_schema),
            effects,
            exclusive: !effects.harmless(),
            ask: None,
            timeout: TIMEOUT,
        }
    }

    /// Sets whether it must run alone. Default: if it changes anything.
    #[must_use]
    pub fn exclusive(mut self, exclusive: bool) -> Self {
        self.exclusive = exclusive;
        self
    }

    /// Sets when a person is asked. Default: as its effects imply.
    #[must_use]
    pub fn ask(mut self, ask: Option<Ask>) -> Self {
        self.ask = ask;
        self
    }

    /// Sets after how long a call is ended. Default: [`TIMEOUT`].
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// The files a session has seen, with the content it saw (`None`: that there is none).
pub type Seen = BTreeMap<String, Option<Digest>>;

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its name in the session: equal for every attempt of one call, unlike that of any other call.
    pub key: String,
    /// Its input, checked against the schema.
    pub input: Map<String, Value>,
    /// What it may use.
    pub env: Arc<ToolEnv>,
    /// What the session has seen of the files.
    pub seen: Arc<Seen>,
    /// What the session keeps under names.
    pub values: Arc<BTreeMap<String, String>>,
    /// Ends when the turn is stopped.
    pub cancel: CancellationToken,
}

impl Call {
    /// A text of the input.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.input.get(name).and_then(Value::as_str)
    }

    /// A whole number of the input.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<u64> {
        self.input.get(name).and_then(Value::as_u64)
    }

    /// A truth value of the input; `false` when it is not there.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.input.get(name).and_then(Value::as_bool).unwrap_or_default()
    }
}

/// What is recorded before a tool runs.
#[derive(Clone, Debug, Default)]
pub struct Intent {
    /// What [`Tool::settle`] needs.
    pub checkpoint: Option<Value>,
    /// Contents that changes of the outcome will refer to.
    pub blobs: Vec<(Digest, Vec<u8>)>,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FileChange {
    /// The path below the root.
    pub path: String,
    /// The content before, by its fingerprint; `None` when there was no file.
    #[serde(with = "digest_text")]
    pub before: Option<Digest>,
    /// The content after; `None` when the file is gone.
    #[serde(with = "digest_text")]
    pub after: Option<Digest>,
    /// Permission bits before.
    pub mode: Option<u32>,
}

/// Fingerprints in JSON are texts.
mod digest_text {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use crate::Digest;

    pub(super) fn serialize<S: Serializer>(digest: &Option<Digest>, to: S) -> Result<S::Ok, S::Error> {
        digest.map(|digest| digest.to_string()).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Digest>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Whether it did what it was asked.
    pub ok: bool,
    /// What the model reads.
    pub text: String,
    /// Files it has looked at or written, with their content now.
    pub seen: Vec<(String, Option<Digest>)>,
    /// Files it changed.
    pub changes: Vec<FileChange>,
    /// Values to keep.
    pub values: Vec<(String, String)>,
    /// The outcome as data, for programs that watch.
    pub report: Option<Value>,
}

impl Outcome {
    /// It worked.
    #[must_use]
    pub fn ok(text: impl Into<String>) -> Self {
        Outcome { ok: true, text: text.into(), ..Outcome::default() }
    }

    /// It did not; the text says why, what is true now and what to do next.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Outcome { ok: false, text: text.into(), ..Outcome::default() }
    }
}

/// What became of a call whose process died.
#[derive(Clone, Debug, PartialEq)]
pub enum Settled {
    /// It had not begun, or can be made again: run it.
    Again,
    /// It happened, with this outcome.
    Done(Outcome),
    /// Nobody can tell.
    Unknown,
}

/// The outcome of a running call.
pub type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A tool of any kind.
pub trait Tool: Send + Sync + std::fmt::Debug {
    /// What it is. The same for the tool's whole life.
    fn def(&self) -> &ToolDef;

    /// What to ask a person before it can go on; the answer then is the call's result. Nothing by default.
    fn question(&self, _call: &Call) -> Option<Value> {
        None
    }

    /// Reads along while the model writes a call; the call's input is still empty. Nothing by default.
    fn preview(&self, _call: Call) -> Option<Box<dyn Preview>> {
        None
    }

    /// Looks at what the call will do, and changes nothing. Empty by default.
    ///
    /// # Errors
    /// The outcome of a call that cannot be made; it is not run then. Boxed because it is rare and large.
    fn intent(&self, _call: &Call) -> Result<Intent, Box<Outcome>> {
        Ok(Intent::default())
    }

    /// Does it. Dropping the future ends the call, its processes included.
    fn run(&self, call: Call, intent: Option<Value>) -> Running;

    /// Says what became of a call that was started by a process that died. By default it is made again if that does no
    /// harm.
    fn settle(&self, _call: &Call, _checkpoint: Option<&Value>) -> Settled {
        if self.def().effects.repeatable() { Settled::Again } else { Settled::Unknown }
    }
}

/// Runs work of the synchronous core on a thread for such work.
fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> Running {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| {
            Outcome::error(format!("the tool failed inside ({error}); look at what it left before you go on"))
        })
    })
}

/// Tells work of the core to end when nobody waits for it any more.
struct CancelOnDrop(CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
