use rmcp::service::ClientLifecycleMode;
use serde_json::json;

use crate::support::{Client, Dir, Http, done, lifecycles, patch, refused, start_as};

fn dir(text: &str) -> Dir {
    Dir::new(&[("a.txt", text)])
}

#[tokio::test]
async fn the_roots_of_the_client_that_started_the_server_are_served() {
    for lifecycle in lifecycles() {
        let (here, there) = (dir("here\n"), dir("there\n"));
        let client = Client::new(Some(vec![there.uri()])).0;
        let session = start_as(client, here.path(), &[], lifecycle).await;
        let (text, _) = done(&session, "read_file", json!({"path": "a.txt"})).await;
        assert!(text.contains("there"), "{text}");
        done(&session, "apply_patch", patch("a.txt", "there", "changed")).await;
        assert_eq!((here.read("a.txt"), there.read("a.txt")), ("here\n".into(), "changed\n".into()));
        let outside = here.path().join("a.txt");
        refused(&session, "read_file", json!({"path": outside.to_str().unwrap()})).await;
    }
}

#[tokio::test]
async fn absolute_paths_choose_between_several_roots() {
    let (one, two) = (dir("one\n"), dir("two\n"));
    let client = Client::new(Some(vec![one.uri(), two.uri()])).0;
    let session = start_as(client, one.path(), &[], ClientLifecycleMode::Initialize).await;
    let second = two.path().canonicalize().unwrap();
    let named = second.join("a.txt");
    let named = named.to_str().unwrap();
    let (_, data) = done(&session, "grep", json!({"pattern": "t", "path": second.to_str().unwrap()})).await;
    assert_eq!(data["root"].as_str(), second.to_str());
    done(&session, "apply_patch", patch(named, "two", "2")).await;
    done(&session, "apply_patch", patch("a.txt", "one", "1")).await;
    assert_eq!((one.read("a.txt"), two.read("a.txt")), ("1\n".into(), "2\n".into()));
}

#[tokio::test]
async fn the_root_of_the_server_bounds_those_of_the_client() {
    let (here, there) = (Dir::new(&[("in/a.txt", "inner\n"), ("a.txt", "outer\n")]), dir("there\n"));
    let root = here.path().to_str().unwrap();
    for lifecycle in lifecycles() {
        let inner = format!("{}/in", here.uri());
        let client = Client::new(Some(vec![inner, there.uri()])).0;
        let session = start_as(client, there.path(), &["--root", root], lifecycle.clone()).await;
        let (text, _) = done(&session, "read_file", json!({"path": "a.txt"})).await;
        assert!(text.contains("inner"), "{text}");
        let client = Client::new(Some(vec![there.uri()])).0;
        let session = start_as(client, there.path(), &["--root", root], lifecycle.clone()).await;
        let (text, _) = refused(&session, "read_file", json!({"path": "a.txt"})).await;
        assert!(text.contains("nothing in common"), "{text}");
        let client = Client::new(Some(vec![there.uri()])).0;
        let args = ["--root", root, "--ignore-client-roots"];
        let session = start_as(client, there.path(), &args, lifecycle).await;
        let (text, _) = done(&session, "read_file", json!({"path": "a.txt"})).await;
        assert!(text.contains("outer"), "{text}");
    }
}

#[tokio::test]
async fn roots_that_change_are_asked_for_again() {
    let (one, two) = (dir("one\n"), dir("two\n"));
    let client = Client::new(Some(vec![one.uri()])).0;
    let session = start_as(client, one.path(), &[], ClientLifecycleMode::Initialize).await;
    let (text, _) = done(&session, "read_file", json!({"path": "a.txt"})).await;
    assert!(text.contains("one"), "{text}");
    *session.service().roots.as_ref().unwrap().lock().unwrap() = vec![two.uri()];
    session.notify_roots_list_changed().await.unwrap();
    // The protocol does not order a notification and the call after it, so a call or two may be answered from the old root.
    let mut text = String::new();
    for _ in 0..1000 {
        text = done(&session, "read_file", json!({"path": "a.txt"})).await.0;
        if text.contains("two") {
            break;
        }
    }
    assert!(text.contains("two"), "{text}");
}

#[tokio::test]
async fn over_http_the_root_of_the_server_bounds_those_of_the_client() {
    let (here, there) = (Dir::new(&[("in/a.txt", "inner\n")]), dir("there\n"));
    let server = Http::start(here.path(), &[]).await;
    for lifecycle in lifecycles() {
        let inner = format!("{}/in", here.uri());
        let session = server.session(Client::new(Some(vec![inner])).0, lifecycle.clone()).await;
        let (text, _) = done(&session, "read_file", json!({"path": "a.txt"})).await;
        assert!(text.contains("inner"), "{text}");
        let session = server.session(Client::new(Some(vec![there.uri()])).0, lifecycle).await;
        refused(&session, "read_file", json!({"path": "a.txt"})).await;
    }
}
