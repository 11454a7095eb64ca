//! From settings to a model.

use std::io;

use serde_json::{Value, json};

use super::super::http::tests::server::{Server, stream_of};
use super::super::reply::Reply;
use super::super::request::Request;
use super::super::scripted::ScriptedReply;
use super::super::types::Message;
use super::*;

fn settings(written: Value) -> Settings {
    let mut whole = json!({ "id": "x/y", "provider": "x", "target": "y", "context_window": 1000 });
    whole.as_object_mut().unwrap().extend(written.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

fn file(path: &str) -> io::Result<Vec<u8>> {
    match path {
        "script.toml" => Ok(b"[[replies]]\ntext = \"scripted\"\n".to_vec()),
        "bad.toml" => Ok(b"[[replies]]\ntxt = 1\n".to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    }
}

fn open(written: Value, variables: &[(&str, &str)]) -> Result<Arc<dyn Model>, ModelError> {
    let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    ModelSetup::new(&variable, &file, Path::new("/nowhere")).open(&settings(written))
}

async fn ask(model: &dyn Model) -> Reply {
    model.stream(&Request::new("", &[Message::user("hello")])).reply().await.unwrap()
}

fn chat() -> Vec<super::super::http::tests::server::Act> {
    stream_of(&[r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#, "[DONE]"])
}

#[tokio::test]
async fn models_without_a_server_need_nothing() {
    let echo = open(json!({ "id": "bootstrap", "api": "bootstrap" }), &[]).unwrap();
    assert_eq!(ask(&*echo).await.text(), "hello");
    let script = json!({ "path": "script.toml", "hash": "", "bytes": 0 });
    let mock = open(json!({ "id": "mock", "api": "mock", "script": script }), &[]).unwrap();
    assert_eq!((ask(&*mock).await.text().as_str(), mock.info().id.as_str()), ("scripted", "mock"));
    assert_eq!(mock.info().context_window, Some(1000));
}

#[test]
fn no_http_client_is_made_for_a_model_without_a_server() {
    let script = json!({ "path": "script.toml", "hash": "", "bytes": 0 });
    let made = || super::super::http::clients_made();
    let before = made();
    open(json!({ "id": "bootstrap", "api": "bootstrap" }), &[]).unwrap();
    open(json!({ "id": "mock", "api": "mock", "script": script }), &[]).unwrap();
    assert_eq!(made(), before);
    open(json!({ "api": "openai-chat", "base_url": "http://127.0.0.1:9/v1" }), &[]).unwrap();
    assert_eq!(made(), before + 1);
}

#[test]
fn what_is_missing_is_named_in_one_sentence() {
    let script = |path: &str| json!({ "api": "mock", "script": { "path": path, "hash": "", "bytes": 0 } });
    let cases = [
        (
            json!({ "provider": "openai", "api": "openai-responses", "key_env": "OPENAI_API_KEY" }),
            "no key for openai: set the variable OPENAI_API_KEY, or set base_url in agent.toml to a server that needs none",
        ),
        (
            json!({ "provider": "vllm", "api": "openai-chat", "key_env": "K", "base_url": "http://h/v1" }),
            "no key for vllm: set the variable K, or take key_env out of agent.toml",
        ),
        (
            json!({ "provider": "house", "api": "openai-chat" }),
            "base_url in agent.toml is missing: set it to the address of house",
        ),
        (
            json!({ "api": "openai-chat", "base_url": "ftp://h" }),
            "base_url in agent.toml must begin with http:// or https://",
        ),
        (
            json!({ "api": "openai-chat", "base_url": "h:99999" }),
            "base_url in agent.toml must begin with http:// or https://",
        ),
        (
            json!({ "api": "openai-chat", "base_url": "http://me:pw@h" }),
            "base_url in agent.toml holds a name or password: put the key in a variable and name it in key_env",
        ),
        (json!({ "api": "mock" }), "the mock model has no script: set model.script in agent.toml"),
        (script("gone.toml"), "the script gone.toml cannot be read: entity not found"),
        (
            json!({ "api": "mock", "cassette": { "mode": "replay", "path": "c.jsonl" } }),
            "the cassette /nowhere/c.jsonl: does not exist; record it first, with `record:` before the model's id",
        ),
    ];
    for (written, told) in cases {
        // An empty variable is as good as none.
        let error = open(written.clone(), &[("OPENAI_API_KEY", " ")]).unwrap_err();
        assert_eq!(error.to_string(), told, "{written}");
    }
    let bad = open(script("bad.toml"), &[]).unwrap_err().to_string();
    assert!(bad.starts_with("bad.toml: the script cannot be read"), "{bad}");
    let key = open(json!({ "api": "anthropic", "key_env": "K" }), &[("K", "a\u{e9}\nb")]).unwrap_err();
    assert_eq!(key.to_string(), "the key in K holds characters no key may have");
}

#[tokio::test]
async fn a_server_is_asked_with_the_key_of_its_variable() {
    let server = Server::start(vec![chat(), chat()]);
    for (base_url, key_env, sent) in
        [(server.origin.clone(), Some("K"), Some("Bearer secret-key")), (format!("{}/v1/", server.origin), None, None)]
    {
        let written = json!({ "api": "openai-chat", "base_url": base_url, "key_env": key_env });
        // A proxy is for servers elsewhere; this one would not answer.
        let model = open(written, &[("K", "secret-key\n"), ("http_proxy", "http://127.0.0.1:1")]).unwrap();
        assert_eq!(ask(&*model).await.text(), "hi");
        let seen = server.seen().remove(0);
        assert_eq!((seen.path.as_str(), seen.header("authorization")), ("/v1/chat/completions", sent));
        assert!(!format!("{model:?}").contains("secret-key"));
    }
}

#[tokio::test]
async fn a_model_defined_in_code_comes_before_a_provider() {
    let own = Arc::new(super::super::ScriptedModel::new(vec![ScriptedReply::text("own")]));
    let setup = ModelSetup::new(&|_| None, &file, Path::new("/nowhere")).define("x/y", own);
    let written = settings(json!({ "api": "openai-responses", "key_env": "K" }));
    assert_eq!(ask(&*setup.open(&written).unwrap()).await.text(), "own");
}

#[tokio::test]
async fn a_recording_is_replayed_without_key_or_server() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(vec![chat()]);
    let written = |id: &str, mode: &str, url: &str| {
        let cassette = json!({ "mode": mode, "path": "c/a.jsonl" });
        settings(json!({ "id": id, "api": "openai-chat", "key_env": "K", "base_url": url, "cassette": cassette }))
    };
    let with_key = |name: &str| (name == "K").then(|| "secret-key".to_owned());
    let setup = ModelSetup::new(&with_key, &file, dir.path());
    let recording = setup.open(&written("record:x/y", "record", &server.origin)).unwrap();
    let reply = ask(&*recording).await;
    let setup = ModelSetup::new(&|_| None, &file, dir.path());
    let replay = setup.open(&written("replay:x/y", "replay", "http://127.0.0.1:1")).unwrap();
    assert_eq!(ask(&*replay).await, reply);
    #[expect(clippy::disallowed_methods, reason = "the test looks at the file")]
    let kept = std::fs::read_to_string(dir.path().join("c/a.jsonl")).unwrap();
    assert!(kept.contains("\"hi\"") && !kept.contains("secret-key"));
}
