use restitch::{CommitOptions, Patch, Plan, PlanOptions, Workspace, prepare};
use rmcp::model::{CallToolRequest, ClientRequest};
use rmcp::service::{ClientLifecycleMode, PeerRequestOptions};
use serde_json::json;

use crate::support::{Client, Dir, Http, done, lifecycles, params, patch, refused, start, start_as};

/// A patch that nobody commits: while it is prepared it holds the lock of the tree.
const HELD: &[u8] = b"*** Begin Patch\n*** Add File: held\n+x\n*** End Patch\n";

fn request(tool: &str, arguments: serde_json::Value) -> ClientRequest {
    ClientRequest::CallToolRequest(CallToolRequest::new(params(tool, arguments)))
}

#[tokio::test]
async fn a_call_that_waits_tells_its_progress_and_can_be_cancelled() {
    let dir = Dir::new(&[("a.txt", "one\n")]);
    let workspace = Workspace::open(dir.path()).unwrap();
    let plan = Plan::new(Patch::parse(HELD).unwrap(), &workspace, &PlanOptions::default()).unwrap();
    let held = prepare(&workspace, plan.steps(), &CommitOptions::default()).unwrap();
    let (client, mut progress) = Client::new(None);
    let session = start_as(client, dir.path(), &[], ClientLifecycleMode::Initialize).await;

    let waiting = request("apply_patch", patch("a.txt", "one", "two"));
    let waiting = session.send_cancellable_request(waiting, PeerRequestOptions::no_options()).await.unwrap();
    let first = progress.recv().await.unwrap();
    let second = progress.recv().await.unwrap();
    assert!(second.progress > first.progress, "{first:?} {second:?}");
    assert_eq!(first.progress_token, waiting.progress_token);
    assert!(first.message.unwrap().contains("applying the patch"));
    waiting.cancel(Some("changed my mind".into())).await.unwrap();
    // The server answers other calls meanwhile, and has heard of the cancellation before this one.
    done(&session, "read_file", json!({"path": "a.txt"})).await;
    drop(held);
    // The cancelled call gives the lock back without having changed anything.
    done(&session, "apply_patch", patch("a.txt", "one", "three")).await;
    assert_eq!(dir.read("a.txt"), "three\n");
}

#[tokio::test]
async fn a_call_whose_time_is_over_says_so_and_changes_nothing() {
    let dir = Dir::new(&[("a.txt", "one\n")]);
    let workspace = Workspace::open(dir.path()).unwrap();
    let plan = Plan::new(Patch::parse(HELD).unwrap(), &workspace, &PlanOptions::default()).unwrap();
    let held = prepare(&workspace, plan.steps(), &CommitOptions::default()).unwrap();
    let session = start(dir.path(), &["--timeout", "0.2"]).await;
    let (text, data) = refused(&session, "apply_patch", patch("a.txt", "one", "two")).await;
    assert!(text.contains("lock") || text.contains("at work"), "{text}");
    assert_eq!(data["status"], "refused");
    drop(held);
    assert_eq!(dir.read("a.txt"), "one\n");
}

#[tokio::test]
async fn patches_of_many_clients_are_applied_one_after_the_other() {
    let lines: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let dir = Dir::new(&[("a.txt", &lines)]);
    let server = Http::start(dir.path(), &[]).await;
    let mut sessions = Vec::new();
    for lifecycle in lifecycles() {
        sessions.push(server.session(Client::new(None).0, lifecycle).await);
        sessions.push(start(dir.path(), &[]).await);
    }
    let calls = (0..40).map(|line| {
        let session = &sessions[line % sessions.len()];
        let change = patch("a.txt", &format!("line {line}"), &format!("changed {line}"));
        async move { done(session, "apply_patch", change).await }
    });
    futures_util::future::join_all(calls).await;
    let want: String = (0..40).map(|line| format!("changed {line}\n")).collect();
    assert_eq!(dir.read("a.txt"), want);
}
