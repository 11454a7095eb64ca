use std::sync::Arc;

use serde_json::{Value, json};

use super::super::agent::TurnOptions;
use super::super::answer::Answer;
use super::super::model::{ErrorKind, Message};
use super::super::session::{InboxItem, Journal as _, JournalError, SessionState, WaitKind};
use super::super::testkit::{self, Line, Project, Script, agent, calls, config, say};
use super::{Ended, RunError, Session};

mod kill;
mod kill_real;
mod long;
mod stored;

fn outputs(session: &Session) -> Vec<(String, bool)> {
    let results = session.state().messages.iter().filter_map(|message| match message {
        Message::Tool(result) => Some((result.output.clone(), result.is_error)),
        _ => None,
    });
    results.collect()
}

fn kinds(project: &Project, id: &str) -> Vec<String> {
    let events = testkit::journal(&project.root()).events(id, 0, 10_000).unwrap();
    events.iter().map(|event| event.kind().to_owned()).collect()
}

async fn run(project: &Project, lines: Vec<Line>, settings: Value) -> (Session, Ended) {
    let agent = agent(Script::new(lines), config(settings));
    let mut session = project.start(&agent);
    let ended = session.send("do it", &TurnOptions::default()).await.unwrap();
    (session, ended)
}

fn done(text: &str) -> Ended {
    Ended::Done { answer: text.into() }
}

#[tokio::test]
async fn a_turn_is_steps_until_there_is_an_answer() {
    let project = Project::new();
    let lines = vec![
        calls(&[("put", json!({"path": "a", "text": "one"}))]),
        calls(&[("look", json!({"path": "a"}))]),
        say("it says one"),
    ];
    let (session, ended) = run(&project, lines, json!({})).await;
    assert_eq!(ended, done("it says one"));
    assert_eq!(outputs(&session), [("written".into(), false), ("one".into(), false)]);
    assert_eq!(session.state().session, SessionState::Idle);
    let want = [
        "session_started",
        "turn_started",
        "step_started",
        "model_replied",
        "tool_started",
        "tool_finished",
        "step_started",
        "model_replied",
        "tool_started",
        "tool_finished",
        "step_started",
        "model_replied",
        "turn_ended",
    ];
    assert_eq!(kinds(&project, session.id()), want);
}

#[tokio::test]
async fn results_of_parallel_calls_come_in_the_order_of_request() {
    let project = Project::new();
    std::fs::write(project.root().join("a"), "A").unwrap();
    std::fs::write(project.root().join("b"), "B").unwrap();
    let look = |path: &str| ("look", json!({"path": path}));
    let lines = vec![
        calls(&[look("a"), ("put", json!({"path": "a", "text": "new"})), look("a"), look("b"), look("none")]),
        say("done"),
    ];
    let (session, _) = run(&project, lines, json!({})).await;
    let results = outputs(&session);
    let texts: Vec<&str> = results.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts[..4], ["A", "written", "new", "B"], "a change is a border between what is read before and after");
    assert!(results[4].1);
}

#[tokio::test]
async fn calls_that_make_no_sense_are_told_and_run_nothing() {
    let project = Project::new();
    let lines = vec![
        Line::Say(
            String::new(),
            vec![
                ("put", "{\"path\": ".into()),
                ("put", "[1]".into()),
                ("put", json!({"path": "a", "colour": "red"}).to_string()),
                ("putt", json!({}).to_string()),
                ("unlike_any", json!({}).to_string()),
            ],
        ),
        say("sorry"),
    ];
    let (session, ended) = run(&project, lines, json!({})).await;
    assert_eq!(ended, done("sorry"));
    let results = outputs(&session);
    for (n, part) in
        ["not valid JSON", "an array", "colour", "did you mean `put`", "The tools are: "].iter().enumerate()
    {
        assert!(results[n].1 && results[n].0.contains(part), "{part}: {}", results[n].0);
    }
    assert!(!project.root().join("a").exists());
}

#[tokio::test]
async fn a_call_that_needs_a_yes_parks_the_turn_without_a_process() {
    let project = Project::new();
    let lines = vec![
        calls(&[("append", json!({"text": "x"})), ("look", json!({"path": "none"}))]),
        calls(&[("append", json!({"text": "y"}))]),
        say("done"),
    ];
    let agent = agent(Script::new(lines), config(json!({"approvals": []})));
    let mut session = project.start(&agent);
    let ended = session.send("do it", &TurnOptions::default()).await.unwrap();
    let Ended::Waiting(waits) = ended else { panic!("{ended:?}") };
    assert_eq!((waits.len(), waits[0].kind), (1, WaitKind::Approval));
    assert_eq!(project.file("log"), "");
    let id = session.id().to_owned();
    assert_eq!(session.state().session, SessionState::Waiting);
    drop(session);

    // Another process answers, and yet another goes on.
    testkit::journal(&project.root()).answer(&id, 1, &Answer::Yes { always: false }.to_json()).unwrap();
    let mut session = project.resume(&agent, &id);
    let ended = session.go_on().await.unwrap();
    let Ended::Waiting(waits) = ended else { panic!("{ended:?}") };
    assert_eq!(project.file("log"), "1.1.0 x\n");
    session.answer(waits[0].id, &Answer::No { reason: "not that".into() }).unwrap();
    assert_eq!(session.go_on().await.unwrap(), done("done"));
    assert_eq!(project.file("log"), "1.1.0 x\n");
    assert!(outputs(&session)[2].0.contains("not that"));
}

#[tokio::test]
async fn a_leave_for_the_session_is_asked_for_once() {
    for (settings, answer) in [
        (json!({"approvals": [{"tool": "append", "ask": "once"}]}), Answer::Yes { always: false }),
        (json!({"approvals": []}), Answer::Yes { always: true }),
    ] {
        let project = Project::new();
        let append = || calls(&[("append", json!({"text": "x"}))]);
        let agent = agent(Script::new(vec![append(), append(), append(), say("done")]), config(settings));
        let mut session = project.start(&agent);
        let ended = session.send("do it", &TurnOptions::default()).await.unwrap();
        assert!(matches!(&ended, Ended::Waiting(waits) if waits.len() == 1), "{ended:?}");
        session.answer(1, &answer).unwrap();
        assert_eq!(session.go_on().await.unwrap(), done("done"));
        assert_eq!(project.file("log").lines().count(), 3);
    }
}

#[tokio::test]
async fn a_question_parks_and_its_answer_is_the_result() {
    let project = Project::new();
    let lines = vec![calls(&[("ask", json!({"text": "which?"}))]), say("left it is")];
    let (mut session, ended) = run(&project, lines, json!({})).await;
    let Ended::Waiting(waits) = ended else { panic!("{ended:?}") };
    assert_eq!(waits[0].kind, WaitKind::Question);
    assert!(waits[0].prompt.contains("which?"));
    session.answer(waits[0].id, &Answer::Text { text: "left".into() }).unwrap();
    assert_eq!(session.go_on().await.unwrap(), done("left it is"));
    assert_eq!(outputs(&session), [("left".into(), false)]);
}

#[tokio::test]
async fn limits_stop_with_a_named_reason_or_ask() {
    let fail = |n: u32| calls(&[("look", json!({"path": n.to_string()}))]);
    let stop = json!({"limits": {"steps": {"max": 2, "then": "stop"}}});
    let (session, ended) = run(&Project::new(), vec![fail(1), fail(2), fail(3)], stop).await;
    let Ended::Failed { reason } = ended else { panic!("{ended:?}") };
    assert_eq!(reason, "limit `steps`: 2 of 2 steps of the turn are used");
    assert_eq!(session.state().session, SessionState::Idle);

    let ask = json!({"limits": {"steps": {"max": 1, "then": "ask"}}});
    let project = Project::new();
    let (mut session, ended) = run(&project, vec![fail(1), fail(2), fail(3)], ask).await;
    assert!(matches!(&ended, Ended::Waiting(waits) if waits[0].kind == WaitKind::Limit), "{ended:?}");
    session.answer(1, &Answer::Yes { always: false }).unwrap();
    let ended = session.go_on().await.unwrap();
    assert!(matches!(&ended, Ended::Waiting(waits) if waits[0].id == 2), "one more step, then asked again: {ended:?}");
    session.answer(2, &Answer::No { reason: String::new() }).unwrap();
    assert!(matches!(session.go_on().await.unwrap(), Ended::Failed { reason } if reason.contains("steps")));
}

#[tokio::test]
async fn a_call_that_fails_again_and_again_is_noticed_and_ends_the_turn() {
    let project = Project::new();
    let lines = (0..20).map(|_| calls(&[("fail", json!({}))])).collect();
    let (session, ended) = run(&project, lines, json!({})).await;
    assert!(matches!(&ended, Ended::Failed { reason } if reason.contains("`fail` has failed 6 times")), "{ended:?}");
    let results = outputs(&session);
    assert_eq!(results.len(), 6);
    assert!(!results[1].0.contains("failed 2 times"));
    assert!(results[2].0.contains("failed 3 times"), "{}", results[2].0);
    assert!(kinds(&project, session.id()).contains(&"loop_noticed".to_owned()));
}

#[tokio::test]
async fn calls_of_a_tool_that_does_not_exist_end_the_turn_too() {
    let lines = (0..20).map(|_| calls(&[("nothing", json!({}))])).collect();
    let (_, ended) = run(&Project::new(), lines, json!({})).await;
    assert!(matches!(&ended, Ended::Failed { reason } if reason.contains("loop")), "{ended:?}");
}

#[tokio::test]
async fn an_answer_that_does_not_fit_its_schema_is_asked_for_again() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    let options = TurnOptions::default().output_schema(Some(schema));
    let lines = vec![say("seven"), say("{\"n\": \"7\"}"), say("{\"n\": 7}")];
    let model = Script::new(lines.clone());
    let mut session = Project::new().start(&agent(Arc::clone(&model), config(json!({}))));
    assert_eq!(session.send("count", &options).await.unwrap(), done("{\"n\": 7}"));
    let last = model.asked().pop().unwrap();
    assert!(matches!(last.messages.last(), Some(Message::Notice { text }) if text.contains("`/n`")), "{last:?}");

    let mut session = Project::new().start(&agent(Script::new(vec![say("a"), say("b"), say("c")]), config(json!({}))));
    let ended = session.send("count", &options).await.unwrap();
    assert!(matches!(&ended, Ended::Failed { reason } if reason.contains("after 3 tries")), "{ended:?}");
}

#[tokio::test]
async fn a_reply_of_nothing_is_asked_for_again_and_a_refusal_ends_the_turn() {
    let (_, ended) = run(&Project::new(), vec![say(" "), say("here")], json!({})).await;
    assert_eq!(ended, done("here"));
    let (_, ended) = run(&Project::new(), vec![Line::Refuse], json!({})).await;
    assert!(matches!(&ended, Ended::Failed { reason } if reason.contains("I won't")), "{ended:?}");
}

#[tokio::test]
async fn a_model_that_cannot_be_reached_leaves_the_turn_open() {
    let project = Project::new();
    let (session, ended) = run(&project, vec![Line::Fail(ErrorKind::Network)], json!({})).await;
    assert!(matches!(ended, Ended::Stuck { .. }));
    let id = session.id().to_owned();
    drop(session);
    let mut session = project.resume(&agent(Script::new(vec![say("back")]), config(json!({}))), &id);
    assert_eq!(session.go_on().await.unwrap(), done("back"));
}

#[tokio::test]
async fn a_message_while_the_turn_is_open_steers_it() {
    let project = Project::new();
    let lines = vec![calls(&[("ask", json!({"text": "?"}))]), say("first"), say("second")];
    let model = Script::new(lines);
    let mut session = project.start(&agent(Arc::clone(&model), config(json!({}))));
    session.send("do it", &TurnOptions::default()).await.unwrap();
    session.steer("do the other thing").unwrap();
    session.answer(1, &Answer::Text { text: "yes".into() }).unwrap();
    assert_eq!(session.go_on().await.unwrap(), done("first"));
    let asked = model.asked().pop().unwrap();
    assert_eq!(asked.messages.last(), Some(&Message::user("do the other thing")));
    assert!(kinds(&project, session.id()).contains(&"steered".to_owned()));
}

#[tokio::test]
async fn a_wish_to_stop_that_comes_too_late_does_not_stop_the_next_turn() {
    let project = Project::new();
    let model = Script::new(vec![say("first"), say("second")]);
    let mut session = project.start(&agent(Arc::clone(&model), config(json!({}))));
    assert_eq!(session.send("one", &TurnOptions::default()).await.unwrap(), done("first"));
    let mut other = testkit::journal(&project.root());
    other.post(session.id(), &InboxItem::Cancel).unwrap();
    // A word that came late is kept, though.
    other.post(session.id(), &InboxItem::Message { text: "and this".into() }).unwrap();
    assert_eq!(session.send("two", &TurnOptions::default()).await.unwrap(), done("second"));
    assert_eq!(model.asked()[1].messages.last(), Some(&Message::user("and this")));
    assert!(other.inbox(session.id()).unwrap().is_empty());
}

#[tokio::test]
async fn a_stopped_turn_leaves_a_whole_history() {
    for lines in [
        vec![Line::Hang],
        vec![calls(&[
            ("put", json!({"path": "a", "text": "x"})),
            ("hang", json!({})),
            ("append", json!({"text": "y"})),
        ])],
    ] {
        let project = Project::new();
        let agent = agent(Script::new(lines), config(json!({})));
        let mut session = project.start(&agent);
        let cancel = session.cancel_token();
        let stopper = async {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            cancel.cancel();
        };
        let options = TurnOptions::default();
        let (ended, ()) = tokio::join!(session.send("do it", &options), stopper);
        assert_eq!(ended.unwrap(), Ended::Cancelled);
        assert!(super::super::model::unanswered_calls(&session.state().messages).is_empty());
        assert_eq!(session.state().session, SessionState::Idle);
        assert_eq!(project.file("log"), "");
    }
}

#[tokio::test]
async fn two_processes_cannot_run_one_session() {
    let project = Project::new();
    let agent = agent(Script::new(vec![calls(&[("ask", json!({}))]), say("done")]), config(json!({})));
    let mut session = project.start(&agent);
    session.send("do it", &TurnOptions::default()).await.unwrap();
    let refused = Session::resume(Arc::clone(&agent), testkit::journal(&project.root()), session.id()).unwrap_err();
    assert!(matches!(refused, RunError::Journal(JournalError::Busy { .. })), "{refused}");
    let id = session.id().to_owned();
    drop(session);
    project.resume(&agent, &id);
}

#[tokio::test]
async fn a_turn_is_not_begun_while_one_is_open() {
    let (mut session, _) = run(&Project::new(), vec![calls(&[("ask", json!({}))])], json!({})).await;
    let refused = session.send("more", &TurnOptions::default()).await;
    assert!(matches!(refused, Err(RunError::TurnOpen)));
}

/// What is told while a reply is on its way.
#[derive(Clone, Default)]
struct Heard(Arc<std::sync::Mutex<Vec<crate::harness::Live>>>);

impl crate::harness::Watch for Heard {
    fn live(&mut self, live: crate::harness::Live) {
        self.0.lock().unwrap().push(live);
    }
}

/// A model that writes a patch in pieces and never ends it, and answers once it is told something.
#[derive(Debug)]
struct Writer(crate::harness::model::ModelInfo);

impl crate::harness::model::Model for Writer {
    fn info(&self) -> &crate::harness::model::ModelInfo {
        &self.0
    }

    fn stream(&self, request: &crate::harness::model::Request<'_>) -> crate::harness::model::ReplyStream {
        use crate::harness::model::{AssistantPart, Event, Reply, ReplyStream, StopReason, Text};
        if request.step > 0 {
            let reply = Reply::new(vec![AssistantPart::Text(Text::new("I see"))], StopReason::EndTurn);
            return ReplyStream::from_events([Event::Done(Box::new(reply))]);
        }
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-not there\n+x\n@@\n-more\n";
        let arguments = json!({ "patch": patch }).to_string();
        let mut events = vec![Event::ToolCallStarted { call: 0, id: "c".into(), name: "apply_patch".into() }];
        events.extend(arguments.chars().map(|c| Event::ToolCallDelta { call: 0, delta: c.into() }));
        let events = futures_util::stream::iter(events.into_iter().map(Ok));
        ReplyStream::new(futures_util::StreamExt::chain(events, futures_util::stream::pending()))
    }
}

#[tokio::test]
async fn a_certain_misfit_is_told_and_can_cut_the_reply_short() {
    let project = Project::new();
    std::fs::write(project.root().join("a"), "one\n").unwrap();
    let mut tools = crate::harness::tools::Registry::new();
    tools.add(crate::harness::tools::builtin("apply_patch").unwrap()).unwrap();
    let model = Arc::new(Writer(crate::harness::model::ModelInfo::new("writer")));
    let settings = config(json!({"cut_short": true}));
    let agent = crate::harness::Agent::new("writer", model, settings).unwrap().tools(tools);
    let heard = Heard::default();
    let mut session = project.start(&Arc::new(agent)).watch(Box::new(heard.clone()));
    // Without the cut this would wait for ever.
    assert_eq!(session.send("do it", &TurnOptions::default()).await.unwrap(), done("I see"));
    let told = heard.0.lock().unwrap();
    assert!(told.iter().any(|live| matches!(live, crate::harness::Live::Misfit { name, .. } if name == "apply_patch")));
    let results = outputs(&session);
    assert!(results[0].1 && results[0].0.contains("cut off") && results[0].0.contains("hunk 1"), "{}", results[0].0);
}
