//! Tools that are programs of the author.
//!
//! The program gets the input, one JSON object, on standard input, and `RESTITCH_CALL` (the idempotency key),
//! `RESTITCH_SESSION` and `RESTITCH_ROOT` in its environment. It runs in the workspace. It answers in JSON lines on
//! standard output, each an object with one of `output` (the result, text or any value), `error` (the result, a
//! failure) or `progress` (a text that is not part of the result). Other lines are taken as text of the result. An
//! exit code other than 0 is a failure, and standard error is shown then.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use super::process::{Group, Program};
use super::{Call, Outcome, Running, Tool, ToolDef};
use crate::harness::manifest::Executable;

/// How much of each stream is kept; the rest is read and dropped.
const MOST: usize = 4 << 20;

/// How much of standard error is shown.
const SHOWN: usize = 4 << 10;

/// A tool that is a program.
#[derive(Debug)]
pub struct ExecutableTool {
    def: ToolDef,
    program: PathBuf,
    args: Vec<String>,
    env: Vec<String>,
}

impl ExecutableTool {
    /// The tool as the manifest has it; `agent` is the directory that its paths are relative to.
    #[must_use]
    pub fn new(tool: &Executable, agent: &std::path::Path) -> Self {
        let (first, args) = tool.command.split_first().map(|(first, args)| (first.as_str(), args)).unwrap_or_default();
        let program = match &tool.program {
            Some(file) => agent.join(&file.path),
            None => PathBuf::from(first),
        };
        let def = ToolDef::new(&tool.name, &tool.description, tool.input.clone(), tool.effects)
            .ask(tool.ask)
            .timeout(Duration::from_millis(tool.timeout_ms));
        ExecutableTool { def, program, args: args.to_vec(), env: tool.env.clone() }
    }
}

impl Tool for ExecutableTool {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn run(&self, call: Call, _intent: Option<Value>) -> Running {
        let (program, args, env) = (self.program.clone(), self.args.clone(), self.env.clone());
        Box::pin(async move {
            match run(&call, &program, &args, &env).await {
                Ok(outcome) => outcome,
                Err(error) => Outcome::error(format!("the program of this tool could not be run: {error}")),
            }
        })
    }
}

async fn run(call: &Call, program: &std::path::Path, args: &[String], env: &[String]) -> std::io::Result<Outcome> {
    let root = call.env.root().display().to_string();
    let own = [("RESTITCH_CALL", &*call.key), ("RESTITCH_SESSION", call.env.session()), ("RESTITCH_ROOT", &*root)];
    let program = Program {
        name: program,
        args: args.iter().map(String::as_str).collect(),
        dir: call.env.root(),
        env: call.env.few_variables(env).chain(own).collect(),
    };
    let mut command = program.command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::new(command.spawn()?);
    let (stdin, stdout, stderr) = (group.child.stdin.take(), group.child.stdout.take(), group.child.stderr.take());
    let input = Value::Object(call.input.clone()).to_string();
    let write = async move {
        if let Some(mut stdin) = stdin {
            // A program that does not read its input has closed it.
            drop(stdin.write_all(input.as_bytes()).await);
        }
    };
    // Its own end ends the call, whatever processes it left that hold its output open: they are ended with it.
    let streams = async { tokio::join!(write, all(stdout), all(stderr)) };
    tokio::pin!(streams);
    let (status, (), stdout, stderr) = tokio::select! {
        ((), stdout, stderr) = &mut streams => (group.wait().await?, (), stdout, stderr),
        status = group.child.wait() => {
            let status = status?;
            drop(group);
            let ((), stdout, stderr) = streams.await;
            (status, (), stdout, stderr)
        }
    };
    Ok(outcome(&stdout, &stderr, status.code()))
}

/// The beginning of a stream; all of it is read, so that the program is never held up.
async fn all(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut stream) = stream else { return kept };
    let mut chunk = vec![0; 16 << 10];
    while let Ok(read) = stream.read(&mut chunk).await {
        if read == 0 {
            break;
        }
        kept.extend_from_slice(&chunk[..read.min(MOST - kept.len())]);
    }
    kept
}

/// What a program's output and end come to.
fn outcome(stdout: &[u8], stderr: &[u8], code: Option<i32>) -> Outcome {
    let (mut said, mut failed) = (String::new(), None);
    for line in String::from_utf8_lossy(stdout).lines() {
        let object = serde_json::from_str::<Value>(line).ok().filter(Value::is_object);
        let field = |name: &str| object.as_ref().and_then(|object| object.get(name));
        if let Some(error) = field("error") {
            failed = Some(words(error));
        } else if let Some(output) = field("output") {
            push_line(&mut said, &words(output));
        } else if field("progress").is_none() {
            push_line(&mut said, line);
        }
    }
    let exit = match code {
        Some(0) => None,
        Some(code) => Some(format!("the program of this tool ended with exit code {code}")),
        None => Some("the program of this tool was killed".to_owned()),
    };
    let Some(why) = failed.or(exit) else { return Outcome::ok(said) };
    push_line(&mut said, &why);
    let stderr = String::from_utf8_lossy(stderr);
    let tail = stderr.char_indices().rev().nth(SHOWN).map_or(0, |(at, _)| at);
    if !stderr.trim().is_empty() {
        push_line(&mut said, &format!("standard error:\n{}", stderr[tail..].trim_end()));
    }
    Outcome::error(said)
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_the_protocol_says() {
        let table: &[(&str, &str, Option<i32>, bool, &str)] = &[
            ("{\"output\": \"done\"}\n", "", Some(0), true, "done\n"),
            ("{\"progress\": \"half\"}\n{\"output\": {\"n\": 1}}\n", "", Some(0), true, "{\"n\":1}\n"),
            ("plain\n[1]\n", "noise", Some(0), true, "plain\n[1]\n"),
            ("{\"error\": \"no such issue\"}\n", "", Some(0), false, "no such issue\n"),
            ("", "trace\n", Some(3), false, "exit code 3\nstandard error:\ntrace\n"),
            ("part\n", "", None, false, "part\nthe program of this tool was killed\n"),
            ("", "", Some(0), true, ""),
        ];
        for (stdout, stderr, code, ok, want) in table {
            let found = outcome(stdout.as_bytes(), stderr.as_bytes(), *code);
            assert_eq!(found.ok, *ok, "{stdout}");
            assert!(found.text.ends_with(want), "{stdout:?}: {:?}", found.text);
        }
    }
}
