//! For tests: a scripted model that remembers what it was asked, and tools whose effects can be counted.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::agent::Agent;
use super::manifest::{Config, Effects};
use super::model::{
    AssistantPart, ErrorKind, Event, Message, Model, ModelError, ModelInfo, Reply, ReplyStream, Request, StopReason,
    Text, ToolCall, Usage,
};
use super::session::{Durability, SqliteJournal};
use super::tools::{Call, Outcome, Registry, Running, Tool, ToolDef};
use super::turn::Session;

/// One scripted reply.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// Text, and calls of tools with their arguments as the model writes them.
    Say(String, Vec<(&'static str, String)>),
    /// The call fails.
    Fail(ErrorKind),
    /// The answer never comes.
    Hang,
    /// The model declines.
    Refuse,
}

/// Text without calls.
pub(crate) fn say(text: &str) -> Line {
    Line::Say(text.into(), Vec::new())
}

/// Calls without text.
pub(crate) fn calls(calls: &[(&'static str, Value)]) -> Line {
    Line::Say(String::new(), calls.iter().map(|(name, input)| (*name, input.to_string())).collect())
}

/// What a request looked like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) call: u64,
    pub(crate) prefix: String,
    pub(crate) messages: Vec<Message>,
}

/// A model that answers call N with line N.
#[derive(Debug)]
pub(crate) struct Script {
    info: ModelInfo,
    lines: Vec<Line>,
    asked: Mutex<Vec<Asked>>,
}

impl Script {
    pub(crate) fn new(lines: Vec<Line>) -> Arc<Self> {
        Arc::new(Script { info: ModelInfo::new("script"), lines, asked: Mutex::default() })
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Script {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: &Request<'_>) -> ReplyStream {
        let prefix = format!("{}\n{}", request.system, serde_json::to_string(request.tools).unwrap());
        let mut asked = self.asked.lock().unwrap();
        asked.push(Asked { call: request.step, prefix, messages: request.messages.to_vec() });
        let size: usize = request.messages.iter().map(|message| serde_json::to_string(message).unwrap().len()).sum();
        match self.lines.get(usize::try_from(request.step).unwrap()) {
            None => ReplyStream::failed(ModelError::new(ErrorKind::Script, format!("no line {}", request.step))),
            Some(Line::Fail(kind)) => ReplyStream::failed(ModelError::new(*kind, "scripted failure")),
            Some(Line::Hang) => ReplyStream::new(futures_util::stream::pending()),
            Some(Line::Refuse) => ReplyStream::from_events([Event::Done(Box::new(Reply::new(
                vec![AssistantPart::Text(Text::new("I won't"))],
                StopReason::Refused,
            )))]),
            Some(Line::Say(text, calls)) => {
                let mut content = Vec::new();
                if !text.is_empty() || calls.is_empty() {
                    content.push(AssistantPart::Text(Text::new(text)));
                }
                content.extend(calls.iter().enumerate().map(|(n, (name, arguments))| {
                    AssistantPart::ToolCall(ToolCall::new(format!("call-{}-{n}", request.step), *name, arguments))
                }));
                let stop = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolCalls };
                let reply = Reply::new(content, stop).usage(Some(Usage::new(size as u64 / 4, 10)));
                ReplyStream::from_events([Event::Text(text.clone()), Event::Done(Box::new(reply))])
            }
        }
    }
}

/// What a test tool does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// Adds a line to `log`; a second run adds a second one.
    Append,
    /// Writes `path`.
    Put,
    /// Reads `path`.
    Look,
    /// Fails.
    Fail,
    /// Never ends.
    Hang,
    /// Asks the person.
    Ask,
}

#[derive(Debug)]
struct TestTool {
    def: ToolDef,
    what: What,
}

impl Tool for TestTool {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn question(&self, call: &Call) -> Option<Value> {
        (self.what == What::Ask).then(|| json!({"question": call.text("text")}))
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        let what = self.what;
        Box::pin(async move {
            let root = call.env.root().to_owned();
            let text = call.text("text").unwrap_or_default().to_owned();
            match what {
                What::Append => {
                    use std::io::Write as _;
                    let mut log = std::fs::File::options().create(true).append(true).open(root.join("log")).unwrap();
                    writeln!(log, "{} {text}", call.key).unwrap();
                    Outcome::ok("appended")
                }
                What::Put => {
                    std::fs::write(root.join(call.text("path").unwrap()), &text).unwrap();
                    Outcome::ok("written")
                }
                What::Look => match std::fs::read_to_string(root.join(call.text("path").unwrap())) {
                    Ok(text) => Outcome::ok(text),
                    Err(error) => Outcome::error(error.to_string()),
                },
                What::Fail => Outcome::error("it does not work"),
                What::Hang => std::future::pending().await,
                What::Ask => Outcome::error("asked without an answer"),
            }
        })
    }
}

/// The test tools.
pub(crate) fn tools() -> Registry {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "additionalProperties": false
    });
    let mut registry = Registry::new();
    for (name, effects, what) in [
        ("append", Effects::Once, What::Append),
        ("put", Effects::Idempotent, What::Put),
        ("look", Effects::Read, What::Look),
        ("fail", Effects::Read, What::Fail),
        ("hang", Effects::Read, What::Hang),
        ("ask", Effects::Pure, What::Ask),
    ] {
        let def = ToolDef::new(name, "a test tool", schema.clone(), effects).timeout(Duration::from_secs(600));
        registry.add(Arc::new(TestTool { def, what })).unwrap();
    }
    registry
}

/// Settings from JSON; anything but questions about tools is left at its default.
pub(crate) fn config(mut json: Value) -> Config {
    if json.get("approvals").is_none() {
        json["approvals"] = json!([{"tool": "*", "ask": "never"}]);
    }
    serde_json::from_value(json).unwrap()
}

pub(crate) fn agent(model: Arc<Script>, config: Config) -> Arc<Agent> {
    Arc::new(Agent::new("tester", model, config).unwrap().prompt("You are a test.").tools(tools()))
}

/// The journal beside the directory `root`.
pub(crate) fn journal(root: &Path) -> Box<SqliteJournal> {
    Box::new(SqliteJournal::open(&root.with_extension("db"), Durability::Process).unwrap())
}

/// A directory for a project; the journal stands beside it.
pub(crate) struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let project = Project { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(project.root()).unwrap();
        project
    }

    pub(crate) fn root(&self) -> std::path::PathBuf {
        self.dir.path().join("project")
    }

    pub(crate) fn file(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap_or_default()
    }

    pub(crate) fn start(&self, agent: &Arc<Agent>) -> Session {
        let mut session = Session::start(Arc::clone(agent), journal(&self.root()), &self.root()).unwrap();
        session.check = true;
        session
    }

    pub(crate) fn resume(&self, agent: &Arc<Agent>, id: &str) -> Session {
        let mut session = Session::resume(Arc::clone(agent), journal(&self.root()), id).unwrap();
        session.check = true;
        session
    }
}
