//! The kills once more with the tools that ship: edits whose record tells whether they happened, commands whose marks do.

use super::kill::{kill_at, killing_journal};
use super::*;
use crate::harness::Agent;
use crate::harness::manifest::Effects;
use crate::harness::session::Moment;
use crate::harness::tools::{Registry, builtin};

fn script() -> Vec<Line> {
    let patch = |lines: &str| ("apply_patch", json!({"patch": format!("*** Begin Patch\n{lines}*** End Patch\n")}));
    vec![
        calls(&[("read_file", json!({"path": "a"})), ("grep", json!({"pattern": "two"}))]),
        // These would fit a second time.
        calls(&[patch("*** Update File: a\n@@\n one\n+more\n")]),
        calls(&[
            patch("*** Update File: a\n@@\n two\n+more\n*** Add File: d/new\n+new\n"),
            ("bash", json!({"command": "echo ran >> log"})),
        ]),
        calls(&[
            ("write_file", json!({"path": "a", "content": "all new\n"})),
            ("edit", json!({"path": "a", "old_string": "all", "new_string": "all all"})),
        ]),
        calls(&[("bash", json!({"command": "echo again >> log; cat a; exit 3"}))]),
        say("all done"),
    ]
}

fn tester() -> Arc<Agent> {
    let mut tools = Registry::new();
    for name in ["apply_patch", "bash", "edit", "grep", "read_file", "write_file"] {
        tools.add(builtin(name).unwrap()).unwrap();
    }
    assert_eq!(tools.get("bash").unwrap().def().effects, Effects::Once);
    let agent = Agent::new("tester", Script::new(script()), config(json!({}))).unwrap();
    Arc::new(agent.prompt("Work.").tools(tools).variables(std::env::vars().collect()))
}

fn project() -> Project {
    let project = Project::new();
    std::fs::write(project.root().join("a"), "one\ntwo\n").unwrap();
    project
}

#[tokio::test]
async fn child() {
    let Some((journal, root)) = killing_journal() else { return };
    let mut session = Session::start(tester(), journal, &root).unwrap();
    session.send("do it", &TurnOptions::default()).await.unwrap();
}

fn end(project: &Project, session: &Session) -> (Vec<String>, Vec<(String, bool)>) {
    let files = ["a", "d/new", "log"].iter().map(|path| project.file(path)).collect();
    // Job directories have the session's id in their names.
    (files, outputs(session).into_iter().map(|(text, failed)| (text.replace(session.id(), "ID"), failed)).collect())
}

#[tokio::test]
async fn edits_and_commands_happen_once_whenever_the_kill_comes() {
    let reference = project();
    let mut session = reference.start(&tester());
    assert_eq!(session.send("do it", &TurnOptions::default()).await.unwrap(), done("all done"));
    let reference = end(&reference, &session);
    assert_eq!(reference.0, ["all all new\n", "new\n", "ran\nagain\n"]);
    drop(session);
    for number in 3.. {
        for moment in [Moment::Before, Moment::After] {
            let project = project();
            let killed = kill_at(&project, "kill_real", number, moment);
            let id = testkit::journal(&project.root()).sessions(1).unwrap().remove(0).id;
            let mut session = project.resume(&tester(), &id);
            session.check = false;
            let place = format!("{moment:?} transaction {number}");
            if !killed {
                assert_eq!(end(&project, &session), reference, "{place}");
                assert!(number > 20, "{number} transactions");
                return;
            }
            let ended = session.go_on().await.unwrap();
            // Nothing is asked: the tree and the marks tell.
            assert!(ended == done("all done") || ended == Ended::Idle, "{place}: {ended:?}");
            assert_eq!(end(&project, &session), reference, "{place}");
        }
    }
}
