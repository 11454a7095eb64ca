//! Databases of released layouts stay readable, and their sessions go on.
//!
//! `tests/fixtures/journal/vN.db` was written by the first version with layout N and is never written again. It holds a
//! finished turn and one that waits for an approval. A new layout adds a file, made by running the ignored test here.

use std::path::PathBuf;

use super::*;
use crate::Digest;
use crate::harness::session::{Batch, Write};
use crate::harness::tools::FileChange;

fn fixture(layout: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/journal/v{layout}.db"))
}

fn lines() -> Vec<Line> {
    vec![
        calls(&[("put", json!({"path": "a", "text": "first"})), ("look", json!({"path": "none"}))]),
        say("written"),
        calls(&[("append", json!({"text": "asked for"}))]),
        say("appended"),
    ]
}

fn tester() -> Arc<crate::harness::Agent> {
    agent(Script::new(lines()), config(json!({"approvals": [{"tool": "append", "ask": "always"}]})))
}

#[tokio::test]
#[ignore = "writes a fixture; run it once when the layout changes, and commit what it writes"]
async fn write_the_fixture() {
    let project = Project::new();
    let mut session = project.start(&tester());
    let options = TurnOptions::default();
    assert_eq!(session.send("write a", &options).await.unwrap(), done("written"));
    let mut batch = Batch::new(1);
    let (old, new) = (b"old\n".to_vec(), b"new\n".to_vec());
    let (before, after) = (Some(Digest::of(&old)), Some(Digest::of(&new)));
    batch.push(Write::Changed("1.1.0".into(), FileChange { path: "b".into(), before, after, mode: Some(0o644) }));
    batch.push(Write::Blob(Digest::of(&old), old));
    batch.push(Write::Blob(Digest::of(&new), new));
    batch.push(Write::Seen("b".into(), after));
    batch.push(Write::Value("todo".into(), "[]".into()));
    batch.push(Write::Replace { from: 3, to: 3, body: serde_json::to_string(&session.state().messages[2]).unwrap() });
    session.commit(batch).unwrap();
    assert!(matches!(session.send("append", &options).await.unwrap(), Ended::Waiting(_)));
    let id = session.id().to_owned();
    drop(session);
    let mut journal = testkit::journal(&project.root());
    journal.post(&id, &crate::harness::session::InboxItem::Message { text: "and hurry".into() }).unwrap();
    drop(journal);
    let db = rusqlite::Connection::open(project.root().with_extension("db")).unwrap();
    db.execute("UPDATE sessions SET root = '/project'", []).unwrap();
    let root = project.root().display().to_string();
    db.execute("UPDATE events SET body = replace(body, ?1, '/project')", [root]).unwrap();
    db.execute_batch("PRAGMA journal_mode = DELETE; VACUUM").unwrap();
    let layout: u32 = db.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    drop(db);
    std::fs::copy(project.root().with_extension("db"), fixture(layout)).unwrap();
}

#[tokio::test]
async fn sessions_of_every_released_layout_go_on() {
    for layout in 1..=1 {
        let project = Project::new();
        let file = project.root().with_extension("db");
        std::fs::copy(fixture(layout), &file).unwrap();
        let db = rusqlite::Connection::open(&file).unwrap();
        db.execute("UPDATE sessions SET root = ?1", [project.root().display().to_string()]).unwrap();
        drop(db);

        let mut journal = testkit::journal(&project.root());
        let row = journal.sessions(9).unwrap().remove(0);
        assert_eq!((row.title.as_str(), row.state, row.calls), ("write a", SessionState::Waiting, 3));
        let kinds = kinds(&project, &row.id);
        assert_eq!(kinds.last().map(String::as_str), Some("asked"));
        assert_eq!(kinds.iter().filter(|kind| *kind == "turn_started").count(), 2);
        let files = crate::harness::changes(&*journal, &row.id).unwrap();
        let old = files[0].before.and_then(|digest| journal.blob(digest).unwrap());
        assert_eq!((files[0].path.as_str(), old.as_deref()), ("b", Some(b"old\n".as_slice())));
        journal.answer(&row.id, 1, &Answer::Yes { always: false }.to_json()).unwrap();

        let mut session = project.resume(&tester(), &row.id);
        assert_eq!(session.state().messages.len(), 7);
        assert_eq!(session.state().value("todo"), Some("[]"));
        assert_eq!(session.go_on().await.unwrap(), done("appended"));
        assert_eq!(project.file("log"), "2.1.0 asked for\n");
        assert!(session.state().messages.contains(&Message::user("and hurry")));
    }
}
