use std::process::Stdio;

use serde_json::json;

use crate::support::{Client, Dir, Http, done, lifecycles, patch, program};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn post(headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn clients_of_both_protocols_are_served() {
    let dir = Dir::new(&[("a.txt", "0\n")]);
    let server = Http::start(dir.path(), &[]).await;
    for (count, lifecycle) in lifecycles().into_iter().enumerate() {
        let session = server.session(Client::new(None).0, lifecycle).await;
        assert_eq!(session.list_all_tools().await.unwrap().len(), 7);
        done(&session, "apply_patch", patch("a.txt", &count.to_string(), &(count + 1).to_string())).await;
        done(&session, "glob", json!({"pattern": "*"})).await;
        session.cancel().await.unwrap();
    }
    assert_eq!(dir.read("a.txt"), "2\n");
}

#[tokio::test]
async fn nobody_without_the_token_from_a_page_or_by_another_name_is_let_in() {
    let dir = Dir::new(&[]);
    let server = Http::start(dir.path(), &[]).await;
    let with = "Authorization: Bearer TOKEN\r\n";
    for (headers, status) in [
        ("Host: HOST\r\n".to_owned(), "401"),
        ("Host: HOST\r\nAuthorization: Bearer 0000000000000000000000000000\r\n".to_owned(), "401"),
        ("Host: HOST\r\nAuthorization: Basic TOKEN\r\n".to_owned(), "401"),
        (format!("Host: evil.example\r\n{with}"), "403"),
        (format!("Host: HOST\r\nOrigin: http://evil.example\r\n{with}"), "403"),
    ] {
        let answer = server.raw(&post(&headers, PING)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{headers}\n{answer}");
        assert!(!answer.contains("apply_patch"), "{answer}");
    }
    for path in ["/", "/other"] {
        let answer = server.raw(&format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{with}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
    }
}

#[tokio::test]
async fn bodies_that_are_no_messages_are_refused_and_the_server_goes_on() {
    let dir = Dir::new(&[("a.txt", "a\n")]);
    let server = Http::start(dir.path(), &[]).await;
    let headers = "Host: HOST\r\nAuthorization: Bearer TOKEN\r\n";
    for body in [
        "",
        "{",
        "nonsense",
        "[]",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":7}",
    ] {
        let answer = server.raw(&post(headers, body)).await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{body}\n{answer}");
    }
    let long = format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 99999999999\r\n\r\n{{"
    );
    let answer = server.raw(&long).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    let [lifecycle, _] = lifecycles();
    let session = server.session(Client::new(None).0, lifecycle).await;
    done(&session, "read_file", json!({"path": "a.txt"})).await;
}

#[tokio::test]
async fn a_wrong_address_or_token_is_said_at_once() {
    let dir = Dir::new(&[("token", "short\n")]);
    for (args, part) in [
        (&["--http", "0.0.0.0:0"][..], "this machine alone"),
        (&["--http", "elsewhere"], "127.0.0.1"),
        (&["--http", "0", "--token-file", "token"], "at least 16"),
        (&["--http", "0", "--token-file", "absent"], "absent"),
        (&["--root", "absent"], "absent"),
        (&["--token-file", "token"], "--http"),
    ] {
        let said = program(dir.path(), args).stdin(Stdio::null()).output().await.unwrap();
        let err = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains(part), "{args:?}: {err}");
    }
}
