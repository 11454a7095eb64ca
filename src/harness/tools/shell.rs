//! `bash`: a command, and a background job when it takes long.
//!
//! The command writes to a file of its job, never through a pipe of ours, so it outlives this process. Its directory
//! tells what became of it: no `pid`: it never began; `exit`: it ended; else it runs, or was killed. After a crash
//! of ours that is read off, so a command is neither run twice nor asked about without need.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::process::{Group, Program, is_alive};
use super::{Bounds, Call, Intent, Outcome, Running, Settled, Tool, ToolDef};
use crate::harness::manifest::Effects;

/// How long the answer waits for the command.
const WAIT: Duration = Duration::from_secs(30);

/// The longest a model can ask to wait.
const LONGEST_MS: u64 = 600_000;

/// How long the answer waits for a command that shall run in the background: long enough to see it fail at once.
const GLANCE: Duration = Duration::from_millis(300);

/// How much is read of an output, from its beginning and from its end.
const READ: u64 = 256 << 10;

/// Runs `$1` with its output in `$2`, and leaves marks of beginning and end there.
const WRAPPER: &str = r#"echo $$ > "$2/pid" && { bash -c "$1" > "$2/output" 2>&1 < /dev/null; code=$?; echo $code > "$2/exit"; exit $code; }"#;

/// The tool `bash`.
#[derive(Debug)]
pub struct Bash {
    def: ToolDef,
}

impl Default for Bash {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "minLength": 1},
                "wait_ms": {"type": "integer", "minimum": 0, "maximum": LONGEST_MS, "description": "How long to wait before it becomes a background job. Default: 30000."},
                "background": {"type": "boolean", "description": "Do not wait: for servers and watchers."}
            },
            "required": ["command"],
            "additionalProperties": false
        });
        let description = "Runs a command with bash in the workspace, without input. After 30 s it becomes a background \
                           job: the answer then names the file its output goes to. To search or read files use grep, \
                           glob and read_file; to change them apply_patch.";
        let timeout = Duration::from_millis(LONGEST_MS) + Duration::from_secs(30);
        Bash { def: ToolDef::new("bash", description, schema, Effects::Once).timeout(timeout) }
    }
}

/// The directory of a job.
struct Job {
    shown: String,
    dir: PathBuf,
}

impl Job {
    fn named(call: &Call, name: &str) -> std::io::Result<Job> {
        let (shown, dir) = call.env.private("jobs")?;
        Ok(Job { shown: format!("{shown}/{name}"), dir: dir.join(name) })
    }

    fn of(call: &Call, checkpoint: Option<&Value>) -> std::io::Result<Job> {
        let name = checkpoint.and_then(|it| it.get("job")).and_then(Value::as_str);
        Job::named(call, name.unwrap_or(&call.key))
    }

    fn mark(&self, name: &str) -> Option<String> {
        super::env::read_text(&self.dir.join(name))
    }

    /// The exit code, once the command has ended.
    fn exit(&self) -> Option<i32> {
        // The line feed shows that it is whole.
        self.mark("exit")?.strip_suffix('\n')?.parse().ok()
    }

    fn output(&self) -> String {
        super::env::read_ends(&self.dir.join("output"), READ)
    }

    /// What the model reads of a command that ended.
    fn ended(&self, code: Option<i32>) -> Outcome {
        let mut text = self.shown_output();
        match code {
            Some(0) => return Outcome::ok(text),
            Some(code) => text.push_str(&format!("[exit code {code}]\n")),
            None => text.push_str("[killed]\n"),
        }
        Outcome::error(text)
    }

    /// What the model reads of a command that still runs.
    fn runs(&self, group: i32, why: &str) -> Outcome {
        let text = format!(
            "{}[{why}: it is background job {group}. Its output goes on in `{shown}/output`; when it ends, its exit code is in `{shown}/exit`; `kill -- -{group}` ends it]\n",
            self.shown_output(),
            shown = self.shown,
        );
        Outcome::ok(text)
    }

    fn shown_output(&self) -> String {
        let output = self.output();
        if output.is_empty() {
            return "(no output)\n".into();
        }
        let rest = || format!("[the whole output is in `{}/output`: read or search that file]\n", self.shown);
        let bounds = Bounds { bytes: 48 << 10, lines: 1900, ..Bounds::default() };
        let (mut text, _) = super::bounded(&output, bounds, rest);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

async fn run(call: Call, checkpoint: Option<Value>) -> Outcome {
    let failed = |error: std::io::Error| Outcome::error(format!("the command could not be started: {error}"));
    let job = match Job::of(&call, checkpoint.as_ref()).and_then(|job| super::env::make_dir(&job.dir).map(|()| job)) {
        Ok(job) => job,
        Err(error) => return failed(error),
    };
    let dir = job.dir.display().to_string();
    let program = Program {
        name: Path::new("bash"),
        args: vec!["-c", WRAPPER, "bash", call.text("command").unwrap_or_default(), &dir],
        dir: call.env.root(),
        env: call.env.plain_variables().collect(),
    };
    let mut group =
        match program.command().stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn() {
            Ok(child) => Group::new(child),
            Err(error) => return failed(error),
        };
    let wait =
        if call.flag("background") { GLANCE } else { call.number("wait_ms").map_or(WAIT, Duration::from_millis) };
    match tokio::time::timeout(wait, group.wait()).await {
        Ok(Ok(status)) => job.ended(status.code()),
        Ok(Err(error)) => failed(error),
        Err(_) => {
            let number = group.number();
            group.let_go();
            let why = if call.flag("background") { "it runs".into() } else { format!("still running after {wait:?}") };
            job.runs(number, &why)
        }
    }
}

impl Tool for Bash {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn intent(&self, call: &Call) -> Result<Intent, Box<Outcome>> {
        // A new name for every attempt: marks of an earlier one must not be taken for this one's.
        let name = (1..)
            .map(|n| format!("{}-{n}", call.key))
            .find(|name| Job::named(call, name).map_or(true, |job| !super::env::is_there(&job.dir)));
        Ok(Intent { checkpoint: Some(json!({ "job": name })), blobs: Vec::new() })
    }

    fn run(&self, call: Call, intent: Option<Value>) -> Running {
        Box::pin(run(call, intent))
    }

    fn settle(&self, call: &Call, checkpoint: Option<&Value>) -> Settled {
        let Ok(job) = Job::of(call, checkpoint) else { return Settled::Unknown };
        let Some(pid) = job.mark("pid") else { return Settled::Again };
        if let Some(code) = job.exit() {
            return Settled::Done(job.ended(Some(code)));
        }
        match pid.trim().parse() {
            Ok(group) if is_alive(group) => {
                Settled::Done(job.runs(group, "the program was interrupted while this ran, and it still runs"))
            }
            _ => Settled::Unknown,
        }
    }
}
