//! What a session and reading along cost, counted in allocations: exact on every machine, unlike times.
//!
//! One test function, because the counters belong to the whole process.
#![cfg(feature = "harness")]
#![allow(clippy::disallowed_methods, reason = "tests build trees on the disk")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::alloc::System;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use cap::Cap;
use restitch::harness::compaction::SUMMARISE;
use restitch::harness::manifest::Config;
use restitch::harness::model::{Message, Request, ScriptedModel, ScriptedReply};
use restitch::harness::session::{Durability, SqliteJournal};
use restitch::harness::tools::{Call, Registry, ToolEnv, builtin};
use restitch::harness::{Agent, Ended, Session, TurnOptions};
use serde_json::json;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static MEMORY: Cap<&StatsAlloc<System>> = Cap::new(&INSTRUMENTED_SYSTEM, usize::MAX);

/// The counters when a step began.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    allocations: usize,
    bytes: usize,
    held: usize,
}

fn now() -> At {
    let stats = INSTRUMENTED_SYSTEM.stats();
    let allocations = stats.allocations + stats.reallocations;
    At { allocations, bytes: stats.bytes_allocated, held: MEMORY.allocated() }
}

/// A session that reads a file, patches it and searches it, for so many steps; the counters at each of them.
fn session(steps: u64) -> Vec<At> {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("project");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("a"), format!("0\n{}", "a line of the file\n".repeat(100))).unwrap();
    let seen = Arc::new(Mutex::new(Vec::<At>::with_capacity(4096)));
    let counted = Arc::clone(&seen);
    let script = move |request: &Request<'_>| {
        if request.messages.last() == Some(&Message::user(SUMMARISE)) {
            return Ok(ScriptedReply::text("what was done so far"));
        }
        let mut counted = counted.lock().unwrap();
        counted.push(now());
        let step = counted.len() as u64;
        if step > steps {
            return Ok(ScriptedReply::text("done"));
        }
        let patch = format!("*** Begin Patch\n*** Update File: a\n@@\n-{}\n+{step}\n*** End Patch\n", step - 1);
        let reply = ScriptedReply::silent().call("apply_patch", &json!({ "patch": patch }));
        Ok(reply.call("read_file", &json!({"path": "a"})).call("grep", &json!({"pattern": "nowhere"})))
    };
    let settings: Config = serde_json::from_value(json!({
        "model": {"id": "mock", "provider": "mock", "api": "mock", "context_window": 10_000},
        "compaction": {"keep_tokens": 2_000},
        "limits": {"steps": null},
    }))
    .unwrap();
    let mut tools = Registry::new();
    ["apply_patch", "read_file", "grep"].iter().for_each(|name| tools.add(builtin(name).unwrap()).unwrap());
    let agent = Agent::new("worker", Arc::new(ScriptedModel::from_fn(script)), settings).unwrap().tools(tools);
    let journal = SqliteJournal::open(&dir.path().join("sessions.db"), Durability::Process).unwrap();
    let mut session = Session::start(Arc::new(agent), Box::new(journal), &root).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ended = runtime.block_on(session.send("work", &TurnOptions::default())).unwrap();
    assert_eq!(ended, Ended::Done { answer: "done".into() });
    assert!(std::fs::read_to_string(root.join("a")).unwrap().starts_with(&format!("{steps}\n")));
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len() as u64, steps + 1);
    seen
}

fn the_last_steps_of_a_long_session_cost_what_the_first_did() {
    let at = session(500);
    // The mean of a hundred steps, which hold several compactions.
    let mean = |from: usize, of: fn(At) -> usize| (of(at[from + 100]) - of(at[from])) / 100;
    for (what, of) in [("allocations", (|at: At| at.allocations) as fn(At) -> usize), ("bytes", |at: At| at.bytes)] {
        let (early, late) = (mean(50, of), mean(400, of));
        assert!(late * 100 < early * 115, "{what} a step: {early}, then {late}");
    }
    let most = |from: usize| at[from..from + 100].iter().map(|at| at.held).max().unwrap();
    let (early, late) = (most(50), most(400));
    assert!(late * 100 < early * 115, "bytes held: {early}, then {late}");
}

/// What reading along with a patch of so many hunks in one file costs, in allocations and bytes.
fn reading_along(dir: &Path, hunks: usize) -> (usize, usize) {
    let lines: String = (0..hunks).map(|n| format!("line {n}\nbetween\n")).collect();
    std::fs::write(dir.join("a"), lines).unwrap();
    let hunks: String = (0..hunks).map(|n| format!("@@\n-line {n}\n+new {n}\n")).collect();
    let patch = format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
    let arguments = json!({ "patch": patch }).to_string();
    let call = Call {
        key: "preview".into(),
        input: serde_json::Map::new(),
        env: Arc::new(ToolEnv::open(dir, "s").unwrap()),
        seen: Arc::default(),
        values: Arc::new(BTreeMap::new()),
        cancel: tokio_util::sync::CancellationToken::new(),
    };
    let tool = builtin("apply_patch").unwrap();
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    let mut preview = tool.preview(call).unwrap();
    for piece in arguments.as_bytes().chunks(16) {
        assert_eq!(preview.feed(std::str::from_utf8(piece).unwrap()), None);
    }
    let change = region.change();
    (change.allocations + change.reallocations, change.bytes_allocated)
}

fn reading_along_is_linear_in_the_hunks_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    reading_along(dir.path(), 10);
    let (few, many) = (reading_along(dir.path(), 300), reading_along(dir.path(), 1200));
    assert!(many.0 < few.0 * 5 && many.1 < few.1 * 5, "four times the hunks: {few:?}, then {many:?}");
}

#[test]
fn costs() {
    reading_along_is_linear_in_the_hunks_of_a_file();
    the_last_steps_of_a_long_session_cost_what_the_first_did();
}
