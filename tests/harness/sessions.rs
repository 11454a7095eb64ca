use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::play::{agent, call, copy, id, project, say, start, talk, wait_for};

fn tests_pass(dir: &Path) -> bool {
    Command::new("sh").arg("test.sh").current_dir(dir).output().unwrap().status.success()
}

#[test]
fn the_demo_mends_its_project_and_can_be_put_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    copy(Path::new("examples/agents/coder"), dir);
    assert!(!tests_pass(dir));
    let (code, out, error) = agent(dir, &["run", "The tests fail. Mend the bug."]);
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("The bug is mended") && !error.contains("The bug is mended"), "{out}\n{error}");
    assert!(tests_pass(dir));
    let (code, diff, _) = agent(dir, &["diff"]);
    assert_eq!(code, 0);
    assert!(diff.contains("-        if [ \"$n\" -gt \"$least\" ]; then\n+        if [ \"$n\" -lt"), "{diff}");
    let (code, shown, _) = agent(dir, &["show"]);
    assert!(
        code == 0 && shown.contains("> The tests fail. Mend the bug.") && shown.contains("→ apply_patch"),
        "{shown}"
    );
    assert_eq!(agent(dir, &["undo"]), (0, "put back lib/stats.sh\n".into(), String::new()));
    assert!(!tests_pass(dir));
    assert_eq!(agent(dir, &["undo"]), (0, "nothing to put back\n".into(), String::new()));
    assert_eq!(agent(dir, &["diff"]), (0, String::new(), String::new()));
}

#[test]
fn exit_codes_tell_how_it_ended() {
    let dir = project("", &json!([say("here you are")]));
    assert_eq!(agent(dir.path(), &["run", "do it"]), (0, "here you are\n".into(), String::new()));
    // One message in the file of the command line, or on standard input.
    assert_eq!(talk(dir.path(), &["run"], "do it"), (0, "here you are\n".into(), String::new()));
    assert_eq!(talk(dir.path(), &["run"], "  \n").0, 2);
    assert_eq!(agent(dir.path(), &["run", "--no-such-flag"]).0, 2);

    let dir = project("", &json!([{"error": {"kind": "unauthorized", "message": "the key is refused"}}]));
    let (code, out, error) = agent(dir.path(), &["run", "do it"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("the key is refused") && error.contains("restitch agent resume"), "{error}");

    // What this version leaves out is told before it works without it.
    let dir = project("", &json!([say("here you are")]));
    fs::create_dir(dir.path().join("agent/hooks")).unwrap();
    fs::write(dir.path().join("agent/hooks/guard.js"), "").unwrap();
    let told = "1 warning about the agent: `restitch agent check` shows it\n";
    assert_eq!(agent(dir.path(), &["run", "do it"]), (0, "here you are\n".into(), told.into()));

    let dir = project("modle = 1", &json!([]));
    let (code, _, error) = agent(dir.path(), &["run", "do it"]);
    assert!(code == 2 && error.contains("compile/unknown-field"), "{code} {error}");

    let dir = tempfile::tempdir().unwrap();
    assert_eq!(agent(dir.path(), &["run", "do it"]).0, 2);
    fs::create_dir(dir.path().join("agent")).unwrap();
    fs::write(dir.path().join("agent/agent.toml"), "model = \"openai/some\"\n").unwrap();
    fs::write(dir.path().join("agent/instructions.md"), "Help.\n").unwrap();
    let (code, _, error) = agent(dir.path(), &["run", "do it"]);
    assert!(code == 2 && error.contains("OPENAI_API_KEY"), "{code} {error}");
    assert_eq!(error.lines().count(), 1, "one clear sentence: {error}");
}

#[test]
fn a_question_ends_the_process_and_its_answer_goes_on() {
    let replies = json!([
        call("ask_question", json!({"question": "Left or right?", "options": ["left", "right"]})),
        call("bash", json!({"command": "echo ran >> log"})),
        say("done"),
    ]);
    let dir = project("", &replies);
    let (code, out, error) = agent(dir.path(), &["run", "do it"]);
    let id = id(dir.path());
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(error.contains("Left or right?\n  1. left\n  2. right\n"), "{error}");
    assert!(error.contains(&format!("restitch agent answer {id} --wait 1")), "{error}");

    let (code, _, error) = agent(dir.path(), &["answer", &id, "2"]);
    assert!(code == 3 && error.contains("May `bash` run?\n  command: echo ran >> log\n"), "{code} {error}");
    assert!(!dir.path().join("log").exists());
    let (code, _, error) = agent(dir.path(), &["answer", &id, "perhaps"]);
    assert!(code == 2 && error.contains("`yes`"), "{code} {error}");
    let (code, _, _) = agent(dir.path(), &["answer", &id, "--no-resume", "yes"]);
    assert_eq!(code, 0);
    assert_eq!(agent(dir.path(), &["answer", &id, "no"]).0, 1, "the first answer counts");
    let (code, out, _) = agent(dir.path(), &["resume", &id]);
    assert_eq!((code, out.as_str()), (0, "done\n"));
    assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "ran\n");
    let (code, _, error) = agent(dir.path(), &["resume"]);
    assert!(code == 0 && error.contains("nothing is left to do"), "{error}");
    assert_eq!(agent(dir.path(), &["answer", &id, "yes"]).0, 1);
    assert_eq!(agent(dir.path(), &["show", "no-such-session"]).0, 1);
}

#[test]
fn events_are_json_lines_numbered_and_resumable() {
    let dir = project("", &json!([call("glob", json!({"pattern": "*.md"})), say("done")]));
    let (code, out, error) = agent(dir.path(), &["run", "--json", "do it"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let run: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (_, shown, _) = agent(dir.path(), &["show", "--json"]);
    let shown: Vec<Value> = shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = shown.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(run, shown, "what was streamed is what is recorded");
    let (_, rest, _) = agent(dir.path(), &["show", "--json", "--after", "3"]);
    let rest: Vec<Value> = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rest, shown[3..]);
    let last = shown.last().unwrap();
    assert_eq!((last["type"].as_str(), last["answer"].as_str()), (Some("turn_ended"), Some("done")));
}

#[test]
fn a_session_keeps_its_prompt_when_the_agent_changes_and_says_so_once() {
    let dir = project("", &json!([call("ask_question", json!({"question": "?"})), say("done"), say("more")]));
    assert_eq!(agent(dir.path(), &["run", "do it"]).0, 3);
    fs::write(dir.path().join("agent/instructions.md"), "Do something else.\n").unwrap();
    let id = id(dir.path());
    let (code, out, error) = agent(dir.path(), &["answer", &id, "yes"]);
    assert_eq!((code, out.as_str()), (0, "done\n"));
    assert!(error.contains("keeps the prompt"), "{error}");
    let (code, _, error) = agent(dir.path(), &["run", "--session", &id, "more"]);
    assert!(code == 0 && !error.contains("keeps the prompt"), "{error}");
}

#[test]
fn an_answer_that_must_fit_a_schema_does() {
    let dir = project("", &json!([say("seven"), say("{\"n\": 7}")]));
    fs::write(dir.path().join("schema.json"), r#"{"type": "object", "required": ["n"]}"#).unwrap();
    let words = ["run", "--output-schema", "schema.json", "count"];
    assert_eq!(agent(dir.path(), &words), (0, "{\"n\": 7}\n".into(), String::new()));
    fs::write(dir.path().join("schema.json"), r#"{"type": 7}"#).unwrap();
    assert_eq!(agent(dir.path(), &words).0, 2);
}

#[test]
fn a_killed_process_leaves_a_session_that_goes_on_without_repeating() {
    let settings = "[[approvals]]\ntool = \"bash\"\nask = \"never\"";
    let command = "echo ran >> log; while [ ! -e go ]; do sleep 0.05; done; echo waited";
    let replies = json!([call("bash", json!({"command": command})), {"expect": "waited", "text": "it waited"}]);
    let dir = project(settings, &replies);
    let mut child = start(dir.path(), &["run", "do it"]);
    wait_for(&dir.path().join("log"));
    let id = id(dir.path());

    // While it runs no other process may run the session.
    let (code, _, error) = agent(dir.path(), &["resume", &id]);
    assert!(code == 1 && error.contains(&format!("is being run by process {}", child.id())), "{error}");

    child.kill().unwrap();
    child.wait().unwrap();
    // The command outlived the process; it is found again by its marks.
    fs::write(dir.path().join("go"), "").unwrap();
    let jobs = dir.path().join(".restitch/jobs").join(&id);
    wait_for(&jobs.join("1.1.0-1/exit"));
    let (code, out, error) = agent(dir.path(), &["resume", &id]);
    assert_eq!((code, out.as_str()), (0, "it waited\n"), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "ran\n");
}

#[test]
fn a_disk_that_takes_no_more_loses_and_repeats_nothing() {
    let settings = "[[approvals]]\ntool = \"bash\"\nask = \"never\"";
    let mut replies: Vec<Value> =
        (0..20).map(|n| call("bash", json!({"command": format!("echo {n} >> log")}))).collect();
    replies.push(say("all done"));
    let dir = project(settings, &json!(replies));
    let dir = dir.path();
    // No file may grow beyond 400 KiB: the log of the database does, after some steps.
    let script = format!("trap '' XFSZ; ulimit -f 400; exec '{}' agent run go", env!("CARGO_BIN_EXE_restitch"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(dir).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("sessions.db") && error.contains("restitch agent resume"), "{error}");
    let lines = || fs::read_to_string(dir.join("log")).unwrap_or_default().lines().count();
    assert!((1..20).contains(&lines()), "{} of 20", lines());

    let (code, out, error) = agent(dir, &["resume"]);
    assert_eq!((code, out.as_str()), (0, "all done\n"), "{error}");
    let want: String = (0..20).map(|n| format!("{n}\n")).collect();
    assert_eq!(fs::read_to_string(dir.join("log")).unwrap(), want);
}

#[test]
fn an_interrupt_stops_the_turn_and_what_it_runs() {
    let settings = "[[approvals]]\ntool = \"bash\"\nask = \"never\"";
    let command = "echo $$ > pid; sleep 600";
    let dir = project(settings, &json!([call("bash", json!({"command": command})), say("never said")]));
    let child = start(dir.path(), &["run", "do it"]);
    wait_for(&dir.path().join("pid"));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("stopping"));
    let (_, shown, _) = agent(dir.path(), &["show"]);
    assert!(shown.contains("cancelled: stopped by the person"), "{shown}");
    let (_, rows, _) = agent(dir.path(), &["sessions"]);
    assert!(rows.contains("idle"), "{rows}");
}

#[test]
fn a_chat_asks_inline_and_goes_on_later() {
    let replies = json!([
        say("hello"),
        call("bash", json!({"command": "echo ran >> log"})),
        say("ran it"),
        call("bash", json!({"command": "echo no >> log"})),
        {"expect": "too much", "text": "then not"},
        say("back again"),
    ]);
    let dir = project("", &replies);
    let input = "hi\n\nrun it\nwhat?\nyes\nand again\nno, too much\n/help\n/quit\n";
    let (code, out, error) = talk(dir.path(), &["chat"], input);
    assert_eq!((code, out.as_str()), (0, "hello\nran it\nthen not\n"), "{error}");
    assert!(error.contains("May `bash` run?") && error.contains("`what?` is no answer"), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), "ran\n");
    let (code, out, _) = talk(dir.path(), &["chat", "--session", "-"], "still there?\n");
    assert_eq!((code, out.as_str()), (0, "back again\n"));
}

#[test]
fn a_chat_survives_a_model_that_fails() {
    let fails = json!({"error": {"kind": "unauthorized", "message": "the key is refused"}});
    let dir = project("", &json!([fails, say("hello")]));
    let (code, out, error) = talk(dir.path(), &["chat"], "hi\nwhat?\nyes\nn\nhi again\n");
    assert_eq!((code, out.as_str()), (0, "hello\n"), "{error}");
    // Said for each of the two tries, and once only.
    assert_eq!(error.matches("the key is refused").count(), 2, "{error}");
    assert!(error.contains("`n` ends this turn") && error.contains("stopped\n"), "{error}");
}

#[test]
fn a_database_of_something_else_is_named_and_left_alone() {
    let dir = project("", &json!([say("x")]));
    fs::write(dir.path().join("other.db"), "not a database, but of some length all the same, so that it is read")
        .unwrap();
    let (code, _, error) = agent(dir.path(), &["run", "--db", "other.db", "do it"]);
    assert!(code == 2 && error.contains("other.db") && error.contains("left as it is"), "{code} {error}");
}

/// A server that speaks chat completions and answers each request with the next reply of a script.
fn serve(replies: Vec<Value>) -> (String, std::thread::JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let answer = |(step, reply): (usize, Value)| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let mut events = Vec::new();
            if let Some(text) = reply["text"].as_str() {
                events.push(json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}));
            }
            let calls = reply["calls"].as_array().cloned().unwrap_or_default();
            for (index, call) in calls.iter().enumerate() {
                let function = json!({"name": call["name"], "arguments": call["input"].to_string()});
                let call =
                    json!({"index": index, "id": format!("c{step}-{index}"), "type": "function", "function": function});
                events.push(json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}));
            }
            let why = if calls.is_empty() { "stop" } else { "tool_calls" };
            events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": why}]}));
            let lines: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{lines}data: [DONE]\n\n"
            )
            .unwrap();
            serde_json::from_slice(&body).unwrap()
        };
        replies.into_iter().enumerate().map(answer).collect()
    });
    (address, server)
}

#[test]
fn the_demo_runs_unchanged_against_a_server_that_speaks_chat_completions() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    copy(Path::new("examples/agents/coder"), dir);
    let script: Value = toml::from_str(&fs::read_to_string(dir.join("agent/script.toml")).unwrap()).unwrap();
    let replies = script["replies"].as_array().unwrap().clone();
    let steps = replies.len();
    let (address, server) = serve(replies);
    let settings = fs::read_to_string(dir.join("agent/agent.toml")).unwrap();
    let settings = settings
        .replace("id = \"mock/demo\"", &format!("id = \"openai-compatible/some\"\nbase_url = \"{address}\""))
        .replace("script = \"script.toml\"\n", "");
    fs::write(dir.join("agent/agent.toml"), settings).unwrap();
    let (code, out, error) = agent(dir, &["run", "The tests fail. Mend the bug."]);
    assert_eq!(code, 0, "{error}");
    assert!(out.starts_with("The bug is mended"), "{out}");
    assert!(tests_pass(dir));
    let asked = server.join().unwrap();
    assert_eq!(asked.len(), steps);
    // The prompt and the tools have the same bytes in every request.
    let prefix = |body: &Value| (body["messages"][0].to_string(), body["tools"].to_string());
    assert!(asked.iter().all(|body| prefix(body) == prefix(&asked[0])));
    assert!(asked[0]["messages"][0].to_string().contains("You mend bugs"));
}

/// The fenced blocks of a language in the part of a page below a heading.
fn blocks(page: &str, heading: &str, language: &str) -> Vec<String> {
    let part = page.split_once(&format!("\n{heading}\n")).unwrap().1;
    let part = part.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    let fenced = part.split(&fence).skip(1);
    fenced.map(|block| block.split_once("```").unwrap().0.to_owned()).collect()
}

#[test]
fn the_guides_first_ten_minutes_work_as_written() {
    let page = fs::read_to_string("docs/harness.md").unwrap();
    let of = |language| blocks(&page, "## Ten minutes", language);
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("my-project");
    fs::create_dir(&project).unwrap();
    let commands = |block: &str, from: &Path| -> Vec<(String, i32, String, String)> {
        let lines = block.lines().filter(|line| line.starts_with("restitch agent "));
        lines
            .map(|line| {
                let words = line.split(" #").next().unwrap().trim();
                let program = env!("CARGO_BIN_EXE_restitch");
                let script = format!("restitch() {{ '{program}' \"$@\"; }}; {words}");
                let output = Command::new("bash").args(["-c", &script]).current_dir(from).output().unwrap();
                let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
                (words.to_owned(), output.status.code().unwrap(), text(output.stdout), text(output.stderr))
            })
            .collect()
    };
    let [first, second] = &of("sh")[..] else { panic!("two blocks of commands") };
    let begun = commands(first, &project);
    assert_eq!(begun.len(), 5);
    for (words, code, _, error) in &begun {
        assert_eq!(*code, 0, "{words}: {error}");
    }
    assert_eq!(begun[4].2, "Say hello\n");

    let config = fs::read_to_string(project.join("agent/agent.toml")).unwrap();
    let [real, mock] = &of("toml")[..] else { panic!("two blocks of settings") };
    let key = config.lines().find(|line| line.starts_with("id = ")).unwrap();
    for (settings, code) in [(real, 2), (mock, 0)] {
        let model = settings.strip_prefix("[model]\n").unwrap();
        fs::write(project.join("agent/agent.toml"), config.replace(key, model)).unwrap();
        fs::write(project.join("agent/script.json"), &of("json")[0]).unwrap();
        assert_eq!(agent(&project, &["check"]).0, 0, "{settings}");
        // Without a key nothing is sent anywhere.
        assert_eq!(agent(&project, &["run", "--db", "other.db", "x"]).0, if code == 0 { 3 } else { code });
    }
    let shown = commands(second, &project);
    let codes: Vec<i32> = shown.iter().map(|(_, code, ..)| *code).collect();
    assert_eq!(codes, [3, 0, 0, 0, 0], "{shown:?}");
    assert!(shown[0].3.contains("May `bash` run?"), "{}", shown[0].3);
    assert_eq!(shown[1].2, "I made hello.txt.\n");
    assert!(shown[3].2.contains("+hello"), "{}", shown[3].2);
    assert_eq!(shown[4].2, "put back hello.txt\n");
    assert!(!project.join("hello.txt").exists());
}
