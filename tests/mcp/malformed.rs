use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::support::{Dir, program};

/// A session that is spoken line by line.
struct Raw {
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    child: Child,
}

impl Raw {
    async fn start(dir: &Dir) -> Self {
        let mut child = program(dir.path(), &[])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Raw { input, output, child }
    }

    async fn begun(dir: &Dir) -> Self {
        let mut raw = Raw::start(dir).await;
        let params =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let answer = raw.asks(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "restitch");
        raw.says(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        raw
    }

    async fn says(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn hears(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn asks(&mut self, message: Value) -> Value {
        self.says(&message.to_string()).await;
        self.hears().await
    }

    /// The session still works.
    async fn works(&mut self) {
        let answer = self.asks(json!({"jsonrpc": "2.0", "id": "last", "method": "tools/list"})).await;
        assert_eq!(answer["id"], "last", "{answer}");
        assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 7, "{answer}");
    }
}

#[tokio::test]
async fn lines_that_are_no_json_are_passed_over() {
    let dir = Dir::new(&[]);
    let mut raw = Raw::begun(&dir).await;
    for line in ["nonsense", "{", "", "\u{0}", "]"] {
        raw.says(line).await;
    }
    raw.says(&"x".repeat(17 << 20)).await;
    raw.works().await;
}

#[tokio::test]
async fn json_that_is_no_message_is_answered_with_an_error() {
    let dir = Dir::new(&[]);
    let mut raw = Raw::begun(&dir).await;
    for message in [
        json!({"jsonrpc": "2.0", "id": 1}),
        json!(7),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}),
    ] {
        let answer = raw.asks(message.clone()).await;
        assert!(answer["error"]["code"].as_i64().unwrap() < 0, "{message} {answer}");
    }
    raw.works().await;
}

#[tokio::test]
async fn requests_for_what_is_not_there_are_errors_of_the_protocol() {
    let dir = Dir::new(&[]);
    let mut raw = Raw::begun(&dir).await;
    for (method, params, code) in [
        ("tools/call", json!({"name": "rm"}), -32602),
        ("resources/list", json!({}), -32601),
        ("prompts/get", json!({"name": "x"}), -32601),
        ("no/such", json!({}), -32601),
    ] {
        let answer = raw.asks(json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params})).await;
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
    }
    let answer = raw.asks(json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "grep"}})).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    raw.works().await;
}

#[tokio::test]
async fn a_client_that_closes_its_end_ends_the_server() {
    let dir = Dir::new(&[]);
    let Raw { input, mut child, .. } = Raw::begun(&dir).await;
    drop(input);
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    let Raw { input, mut child, .. } = Raw::start(&dir).await;
    drop(input);
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_call_before_the_session_begins_is_refused() {
    let dir = Dir::new(&[]);
    let mut raw = Raw::start(&dir).await;
    let answer = raw.asks(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("_meta"), "{answer}");
}
