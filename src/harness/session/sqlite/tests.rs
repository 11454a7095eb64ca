use std::path::PathBuf;
use std::time::Duration;

use super::super::*;
use super::*;
use crate::harness::manifest::Effects;

const TTL: Duration = Duration::from_secs(30);

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("sessions.db")
    }

    fn open(&self) -> SqliteJournal {
        SqliteJournal::open(&self.file(), Durability::Process).unwrap()
    }
}

fn new_session(id: &str) -> NewSession {
    NewSession {
        id: id.into(),
        agent: "coder".into(),
        root: "/project".into(),
        model: "mock".into(),
        manifest: "m1".into(),
        prompt: "be brief".into(),
        tools: "[]".into(),
        title: "fix it".into(),
    }
}

fn turn(turn: u32) -> TurnRow {
    TurnRow {
        turn,
        state: TurnState::Open,
        step: 1,
        options: "{}".into(),
        spent: Spent::default(),
        started_at: now(),
        outcome: None,
    }
}

fn op(key: &str) -> OpRow {
    OpRow {
        key: key.into(),
        turn: 1,
        step: 1,
        index: 0,
        kind: OpKind::Tool,
        name: "bash".into(),
        call_id: "c1".into(),
        effects: Effects::Once,
        input: "{}".into(),
        state: OpState::Intended,
        attempt: 0,
        checkpoint: None,
        result: None,
    }
}

fn opened(journal: &mut SqliteJournal, id: &str) -> Lease {
    let lease = journal.create(&new_session(id), &this_process(), TTL).unwrap();
    let mut batch = Batch::new(1);
    batch.push(Write::TurnOpened(turn(1)));
    batch.push(Write::Message("\"one\"".into()));
    batch.event(Event::TurnStarted { text: "one".into() });
    journal.commit(&lease, &batch).unwrap();
    lease
}

#[test]
fn what_was_committed_is_what_another_process_loads() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let mut batch = Batch::new(1);
    batch.push(Write::Intended(op("1.1.0")));
    batch.push(Write::Op { key: "1.1.0".into(), state: OpState::Started, checkpoint: Some("7".into()), result: None });
    batch.push(Write::Wait { kind: WaitKind::Question, key: "1.1.0".into(), prompt: "{}".into() });
    batch.event(Event::Asked {
        wait: 0,
        kind: WaitKind::Question,
        key: "1.1.0".into(),
        prompt: serde_json::Value::Null,
    });
    batch.push(Write::Seen("a".into(), Some(Digest::of(b"a"))));
    batch.push(Write::Seen("b".into(), None));
    batch.push(Write::Value("todo".into(), "[]".into()));
    batch.push(Write::Spent(Spent { input: 5, cached: 1, output: 2 }));
    let committed = journal.commit(&lease, &batch).unwrap();
    assert_eq!(committed.waits, [1]);
    assert_eq!(committed.events[0].body["wait"], 1, "the event names the wait that was made");

    let snapshot = place.open().load("s1").unwrap();
    assert_eq!(snapshot.messages.iter().map(|m| m.body.as_str()).collect::<Vec<_>>(), ["\"one\""]);
    let loaded = &snapshot.ops[0];
    assert_eq!((loaded.state, loaded.attempt, loaded.checkpoint.as_deref()), (OpState::Started, 1, Some("7")));
    assert_eq!(snapshot.waits.len(), 1);
    assert_eq!(snapshot.seen, [("a".into(), Some(Digest::of(b"a"))), ("b".into(), None)]);
    assert_eq!(snapshot.session.spent, Spent { input: 5, cached: 1, output: 2 });
    assert_eq!(snapshot.turn.unwrap().spent.total(), 7);
    assert_eq!((snapshot.prompt.as_str(), snapshot.tools.as_str()), ("be brief", "[]"));
}

#[test]
fn the_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    let mut journal = place.open();
    opened(&mut journal, "s1");
    for file in std::fs::read_dir(place.dir.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn a_new_database_is_there_whole_or_not_at_all() {
    let place = Place::new();
    super::make::make(&place.file(), Durability::Power);
    let names = || std::fs::read_dir(place.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names().collect::<Vec<_>>(), [place.file().file_name().unwrap()], "nothing else is left");
    let made = std::fs::read(place.file()).unwrap();
    assert_eq!(&made[18..20], [2, 2], "it keeps a log");
    // What is there already is not touched, whatever it is.
    super::make::make(&place.file(), Durability::Power);
    assert_eq!(std::fs::read(place.file()).unwrap(), made);
    let mut journal = place.open();
    assert_eq!(schema::version(&journal.db).unwrap(), (schema::APPLICATION, schema::newest()));
    opened(&mut journal, "s1");
    // Of several that come at one time each gets the same file.
    let place = Place::new();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let place = &place;
            scope.spawn(move || opened(&mut place.open(), &format!("s{n}")));
        }
    });
    assert_eq!(place.open().sessions(9).unwrap().len(), 4);
}

#[test]
fn what_is_said_is_synced_after_a_session_was_made_without() {
    for (durability, full) in [(Durability::Power, 2), (Durability::Process, 1)] {
        let place = Place::new();
        let mut journal = SqliteJournal::open(&place.file(), durability).unwrap();
        let level = |journal: &SqliteJournal| -> i64 {
            journal.db.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
        };
        assert_eq!(level(&journal), full);
        opened(&mut journal, "s1");
        assert_eq!(level(&journal), full);
        // Also when it fails: there is one of that name.
        assert!(journal.create(&new_session("s1"), &this_process(), TTL).is_err());
        assert_eq!(level(&journal), full);
    }
}

#[test]
fn events_are_numbered_without_gaps_and_resumable() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    for text in ["a", "b", "c"] {
        let mut batch = Batch::new(1);
        batch.event(Event::Note { text: text.into() });
        journal.commit(&lease, &batch).unwrap();
    }
    let all = journal.events("s1", 0, 100).unwrap();
    assert_eq!(all.iter().map(|event| event.seq).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let mut pages = Vec::new();
    while let Ok(page) = journal.events("s1", pages.len() as u64, 2) {
        if page.is_empty() {
            break;
        }
        pages.extend(page);
    }
    assert_eq!(pages, all);
}

#[test]
fn a_replacement_stands_where_the_replaced_stood_and_they_stay_in_the_file() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let mut batch = Batch::new(1);
    for text in ["two", "three", "four"] {
        batch.push(Write::Message(text.into()));
    }
    journal.commit(&lease, &batch).unwrap();
    let mut batch = Batch::new(1);
    batch.push(Write::Replace { from: 1, to: 3, body: "summary".into() });
    journal.commit(&lease, &batch).unwrap();
    let bodies = |journal: &SqliteJournal| -> Vec<String> {
        journal.load("s1").unwrap().messages.into_iter().map(|message| message.body).collect()
    };
    assert_eq!(bodies(&journal), ["summary", "four"]);
    let mut batch = Batch::new(1);
    batch.push(Write::Replace { from: 3, to: 3, body: "summary 2".into() });
    batch.push(Write::Message("five".into()));
    journal.commit(&lease, &batch).unwrap();
    assert_eq!(bodies(&journal), ["summary 2", "four", "five"]);
    let kept: i64 = journal.db.query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 7);
}

#[test]
fn a_second_process_gets_no_lease_while_the_first_may_live() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let other = Owner { place: "another machine".into(), pid: 7 };
    let refused = place.open().acquire("s1", &other, TTL).unwrap_err();
    assert!(matches!(&refused, JournalError::Busy { pid, .. } if *pid == std::process::id().to_string()), "{refused}");
    journal.release(&lease).unwrap();
    assert_eq!(place.open().acquire("s1", &other, TTL).unwrap().fence, lease.fence + 1);
}

#[test]
fn whoever_lost_the_lease_writes_nothing() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = journal.create(&new_session("s1"), &this_process(), Duration::ZERO).unwrap();
    // It has run out, so another may take it, and then the first one comes back.
    let newer = place.open().acquire("s1", &Owner { place: "other".into(), pid: 7 }, TTL).unwrap();
    let mut batch = Batch::new(0);
    batch.event(Event::Note { text: "late".into() });
    assert!(matches!(journal.commit(&lease, &batch), Err(JournalError::Fenced { .. })));
    assert!(matches!(journal.renew(&lease), Err(JournalError::Fenced { .. })));
    journal.release(&lease).unwrap();
    assert_eq!(journal.events("s1", 0, 9).unwrap().len(), 1);
    journal.renew(&newer).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn the_lease_of_a_dead_process_is_taken_over_at_once() {
    let place = Place::new();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    let dead = Owner { pid: child.id(), ..this_process() };
    child.wait().unwrap();
    let lease = place.open().create(&new_session("s1"), &dead, TTL).unwrap();
    assert_eq!(place.open().acquire("s1", &this_process(), TTL).unwrap().fence, lease.fence + 1);
}

#[test]
fn a_wait_is_answered_once_and_by_anyone() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let mut batch = Batch::new(1);
    batch.push(Write::Wait { kind: WaitKind::Approval, key: "k".into(), prompt: "{}".into() });
    journal.commit(&lease, &batch).unwrap();
    let mut other = place.open();
    assert!(matches!(other.answer("s1", 9, "1"), Err(JournalError::NoWait { .. })));
    other.answer("s1", 1, "true").unwrap();
    let again = other.answer("s1", 1, "false").unwrap_err();
    assert!(matches!(&again, JournalError::Answered { answer, .. } if answer == "true"), "{again}");
    assert_eq!(journal.waits("s1").unwrap()[0].answer.as_deref(), Some("true"));
}

#[test]
fn the_inbox_keeps_order_and_gives_each_entry_once() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let items = [InboxItem::Message { text: "stop that".into() }, InboxItem::Cancel];
    for item in &items {
        place.open().post("s1", item).unwrap();
    }
    let found = journal.inbox("s1").unwrap();
    assert_eq!(found.iter().map(|entry| entry.item.clone()).collect::<Vec<_>>(), items);
    let mut batch = Batch::new(1);
    batch.push(Write::Taken(found[0].id));
    journal.commit(&lease, &batch).unwrap();
    assert_eq!(journal.inbox("s1").unwrap().len(), 1);
}

#[test]
fn a_session_is_found_by_either_end_of_its_id() {
    let place = Place::new();
    let mut journal = place.open();
    for id in ["ab-1", "ab-2", "ab"] {
        let lease = journal.create(&new_session(id), &this_process(), TTL).unwrap();
        journal.release(&lease).unwrap();
    }
    assert_eq!(journal.find("2").unwrap().id, "ab-2");
    assert_eq!(journal.find("ab").unwrap().id, "ab", "an id in full wins");
    assert!(matches!(journal.find("ab-"), Err(JournalError::Several { .. })));
    for none in ["x", ""] {
        assert!(matches!(journal.find(none), Err(JournalError::NoSession { .. })), "{none}");
    }
    let listed: Vec<_> = journal.sessions(2).unwrap().into_iter().map(|session| session.id).collect();
    assert_eq!(listed, ["ab", "ab-2"]);
}

#[test]
fn a_batch_that_fails_leaves_nothing() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let mut batch = Batch::new(1);
    batch.event(Event::Note { text: "half".into() });
    batch.push(Write::Op { key: "none".into(), state: OpState::Done, checkpoint: None, result: None });
    assert!(matches!(journal.commit(&lease, &batch), Err(JournalError::Unreadable { .. })));
    assert_eq!(journal.events("s1", 0, 9).unwrap().len(), 2);
}

#[test]
fn a_full_disk_is_said_and_what_was_recorded_stays() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    let pages: i64 = journal.db.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    journal.db.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    let mut batch = Batch::new(1);
    batch.event(Event::Note { text: "kept?".into() });
    batch.push(Write::Blob(Digest::of(b"big"), vec![7; 1 << 20]));
    let error = journal.commit(&lease, &batch).unwrap_err();
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    assert_eq!(journal.events("s1", 0, 9).unwrap().len(), 2);
    journal.db.pragma_update_and_check(None, "max_page_count", pages + 1000, |_| Ok(())).unwrap();
    journal.commit(&lease, &batch).unwrap();
    assert_eq!(journal.blob(Digest::of(b"big")).unwrap().map(|bytes| bytes.len()), Some(1 << 20));
}

#[test]
fn a_file_that_is_not_ours_is_named_and_left_alone() {
    let place = Place::new();
    std::fs::write(place.file(), "a text of some length, and certainly no database at all").unwrap();
    let error = SqliteJournal::open(&place.file(), Durability::Process).unwrap_err();
    assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
    std::fs::remove_file(place.file()).unwrap();

    let db = Connection::open(place.file()).unwrap();
    db.execute_batch("CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1)").unwrap();
    let before = std::fs::read(place.file()).unwrap();
    let error = SqliteJournal::open(&place.file(), Durability::Process).unwrap_err();
    assert!(matches!(error, JournalError::NotOurs { .. }), "{error}");
    assert_eq!(std::fs::read(place.file()).unwrap(), before);
}

#[test]
fn a_newer_layout_is_refused_by_number() {
    let place = Place::new();
    place.open().db.pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteJournal::open(&place.file(), Durability::Process).unwrap_err();
    assert!(matches!(error, JournalError::Newer { found: 99, known: 1, .. }), "{error}");
}

#[test]
fn damage_is_said_and_the_way_out_named() {
    let place = Place::new();
    let mut journal = place.open();
    let lease = opened(&mut journal, "s1");
    for n in 0..200 {
        let mut batch = Batch::new(1);
        batch.event(Event::Note { text: format!("{n} {}", "x".repeat(500)) });
        journal.commit(&lease, &batch).unwrap();
    }
    journal.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(journal);
    let mut bytes = std::fs::read(place.file()).unwrap();
    let from = bytes.len() / 4;
    bytes[from..].fill(0xa5);
    std::fs::write(place.file(), bytes).unwrap();
    let read = SqliteJournal::open(&place.file(), Durability::Process)
        .and_then(|journal| journal.events("s1", 0, 1000).map(|_| ()));
    let error = read.unwrap_err();
    assert!(matches!(error, JournalError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains(".recover"), "{error}");
}
