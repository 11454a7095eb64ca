use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// What `restitch agent` said: exit code, standard output, standard error.
pub(crate) fn agent(dir: &Path, words: &[&str]) -> (i32, String, String) {
    talk(dir, words, "")
}

/// As [`agent`], with an input.
pub(crate) fn talk(dir: &Path, words: &[&str], input: &str) -> (i32, String, String) {
    let mut child = start(dir, words);
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

pub(crate) fn start(dir: &Path, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_restitch"))
        .arg("agent")
        .args(words)
        .current_dir(dir)
        .env_remove("OPENAI_API_KEY")
        .env_remove("ANTHROPIC_API_KEY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A project with an agent that says what the script says.
pub(crate) fn project(settings: &str, replies: &Value) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("agent")).unwrap();
    let toml = format!("{settings}\n[model]\nid = \"mock/test\"\nscript = \"script.json\"\n");
    fs::write(dir.path().join("agent/agent.toml"), toml).unwrap();
    fs::write(dir.path().join("agent/instructions.md"), "Do as you are told.\n").unwrap();
    fs::write(dir.path().join("agent/script.json"), json!({ "replies": replies }).to_string()).unwrap();
    dir
}

pub(crate) fn call(name: &str, input: Value) -> Value {
    json!({"calls": [{"name": name, "input": input}]})
}

pub(crate) fn say(text: &str) -> Value {
    json!({ "text": text })
}

/// The id of the only session.
pub(crate) fn id(dir: &Path) -> String {
    let (_, out, _) = agent(dir, &["sessions", "--json"]);
    let row: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    row["id"].as_str().unwrap().to_owned()
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Waits until a file is there.
pub(crate) fn wait_for(path: &Path) {
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
}
