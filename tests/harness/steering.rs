use std::fs;

use serde_json::{Value, json};

use crate::play::{agent, call, id, project, say, start, wait_for};

const FREE: &str = "[[approvals]]\ntool = \"bash\"\nask = \"never\"";

/// A command that tells that it runs and ends when it is told to.
fn gate() -> Value {
    call("bash", json!({"command": "echo ran >> log; while [ ! -e go ]; do sleep 0.02; done"}))
}

#[test]
fn a_word_to_a_session_that_another_process_runs_is_read_at_its_next_step() {
    let dir = project(FREE, &json!([gate(), {"expect": "and then tidy up", "text": "tidied"}]));
    let dir = dir.path();
    let child = start(dir, &["run", "do it"]);
    wait_for(&dir.join("log"));
    let id = id(dir);
    assert!(agent(dir, &["sessions"]).1.contains("  running  "));
    assert_eq!(
        agent(dir, &["say", &id, "and then tidy up"]),
        (0, "it is read at the next step\n".into(), String::new())
    );
    // Whoever would take the session over is told what can be done instead.
    let (code, _, error) = agent(dir, &["run", "--session", &id, "and then tidy up"]);
    assert!(code == 1 && error.contains(&format!("restitch agent say {id}")), "{error}");
    fs::write(dir.join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "tidied\n");
    let (_, shown, _) = agent(dir, &["show"]);
    assert_eq!(shown.matches("« and then tidy up").count(), 1, "{shown}");
    let (code, _, error) = agent(dir, &["say", &id, "too late"]);
    assert!(code == 1 && error.contains(&format!("restitch agent run --session {id}")), "{error}");
}

#[test]
fn a_word_to_a_session_that_nobody_runs_is_kept_until_it_goes_on() {
    let ask = call("ask_question", json!({"question": "Which?"}));
    let dir = project(FREE, &json!([ask, {"expect": "the small one", "text": "done"}]));
    let dir = dir.path();
    assert_eq!(agent(dir, &["run", "do it"]).0, 3);
    let id = id(dir);
    let (code, told, _) = agent(dir, &["say", &id, "the small one"]);
    assert!(code == 0 && told.contains("waits for an answer"), "{told}");
    assert_eq!(agent(dir, &["say", &id, " "]).0, 2);
    let (code, out, error) = agent(dir, &["answer", &id, "left"]);
    assert_eq!((code, out.as_str()), (0, "done\n"), "{error}");

    let dir = project(FREE, &json!([gate(), {"expect": "never mind", "text": "done"}]));
    let dir = dir.path();
    let mut child = start(dir, &["run", "do it"]);
    wait_for(&dir.join("log"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(agent(dir, &["sessions"]).1.contains("  halted  "), "nobody runs it");
    fs::write(dir.join("go"), "").unwrap();
    let (code, told, _) = agent(dir, &["say", &self::id(dir), "never mind"]);
    assert!(code == 0 && told.contains("restitch agent resume"), "{told}");
    let (code, out, error) = agent(dir, &["resume"]);
    // The command may have been running still: then the model is told so.
    assert_eq!((code, out.as_str()), (0, "done\n"), "{error}");
}

#[test]
fn a_turn_is_stopped_wherever_it_runs() {
    let dir = project(FREE, &json!([gate(), say("never said")]));
    let dir = dir.path();
    let child = start(dir, &["run", "do it"]);
    wait_for(&dir.join("log"));
    let (code, told, _) = agent(dir, &["stop"]);
    assert_eq!((code, told), (0, format!("process {} was asked to stop the turn\n", child.id())));
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(1));
    assert_eq!(agent(dir, &["stop"]), (0, "no turn is open\n".into(), String::new()));

    let dir = project("", &json!([call("bash", json!({"command": "echo ran > log"})), say("never said")]));
    let dir = dir.path();
    assert_eq!(agent(dir, &["run", "do it"]).0, 3);
    assert_eq!(agent(dir, &["stop"]), (0, "the turn was stopped\n".into(), String::new()));
    assert!(!dir.join("log").exists());
    let (_, shown, _) = agent(dir, &["show"]);
    assert!(shown.contains("cancelled: stopped by the person"), "{shown}");
    assert_eq!(agent(dir, &["answer", &id(dir), "yes"]).0, 1, "nothing is asked any more");
}

#[test]
fn whoever_lost_its_session_to_another_process_stops_and_writes_nothing() {
    let dir = project(FREE, &json!([gate(), say("taken over")]));
    let dir = dir.path();
    let child = start(dir, &["run", "do it"]);
    wait_for(&dir.join("log"));
    let id = id(dir);
    let db = rusqlite::Connection::open(dir.join(".restitch/sessions.db")).unwrap();
    let (code, out, error) = loop {
        // As if the process had slept through its lease; it may renew it in between, and then keeps the session.
        db.execute("UPDATE sessions SET lease_until = 0", []).unwrap();
        let resumed = agent(dir, &["resume", &id]);
        if !resumed.2.contains("is being run by process") {
            break resumed;
        }
    };
    assert_eq!((code, out.as_str()), (0, "taken over\n"), "{error}");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("was taken over by another process"), "{error}");
    let (_, lines, _) = agent(dir, &["show", "--json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().zip(1..).all(|(event, number)| event["seq"] == number), "{lines}");
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((of("resumed"), of("tool_finished"), of("turn_ended")), (1, 1, 1), "{lines}");
    assert_eq!(fs::read_to_string(dir.join("log")).unwrap(), "ran\n");
}

#[test]
fn a_session_starts_with_the_files_of_its_agent_and_none_of_the_projects_is_touched() {
    let dir =
        project("", &json!([call("read_file", json!({"path": "notes/plan.md"})), {"expect": "Plan", "text": "read"}]));
    let dir = dir.path();
    let seeds = dir.join("agent/sandbox/workspace");
    fs::create_dir_all(seeds.join("notes")).unwrap();
    fs::write(seeds.join("notes/plan.md"), "# Plan\n").unwrap();
    fs::write(seeds.join("mine.txt"), "the agent's\n").unwrap();
    fs::write(dir.join("mine.txt"), "the project's\n").unwrap();
    let (code, out, error) = agent(dir, &["run", "do it"]);
    assert_eq!((code, out.as_str()), (0, "read\n"), "{error}");
    assert!(error.contains("+ made notes/plan.md; left as they were: mine.txt"), "{error}");
    assert_eq!(fs::read_to_string(dir.join("mine.txt")).unwrap(), "the project's\n");
    // They are no work of the session, so they are not undone; and a second session says nothing of them.
    assert_eq!(agent(dir, &["diff"]).1, "");
    let (_, lines, _) = agent(dir, &["show", "--json"]);
    assert!(lines.lines().nth(1).unwrap().contains(r#""type":"seeded""#), "{lines}");
    let (code, _, error) = agent(dir, &["run", "again"]);
    assert!(code == 0 && !error.contains("made"), "{error}");
}
