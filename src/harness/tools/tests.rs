use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;

/// A project and what a session knows of it.
struct Place {
    dir: tempfile::TempDir,
    env: Arc<ToolEnv>,
    seen: Seen,
    values: BTreeMap<String, String>,
    contents: BTreeMap<Digest, Vec<u8>>,
    changes: Vec<FileChange>,
    calls: u32,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let variables = [("PATH".to_owned(), std::env::var("PATH").unwrap())].into();
        let env = Arc::new(ToolEnv::open(dir.path(), "s").unwrap().with_variables(variables));
        Place {
            dir,
            env,
            seen: Seen::new(),
            values: BTreeMap::new(),
            contents: BTreeMap::new(),
            changes: Vec::new(),
            calls: 0,
        }
    }

    fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.dir.path().join(path)).ok()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.dir.path().join(path), text).unwrap();
    }

    fn call(&self, input: &Value) -> Call {
        Call {
            key: format!("1.{}.0", self.calls),
            input: input.as_object().unwrap().clone(),
            env: Arc::clone(&self.env),
            seen: Arc::new(self.seen.clone()),
            values: Arc::new(self.values.clone()),
            cancel: CancellationToken::new(),
        }
    }

    /// What a session does with a call, journal aside.
    async fn run(&mut self, name: &str, input: Value) -> Outcome {
        self.calls += 1;
        let mut registry = Registry::new();
        registry.add(builtin(name).unwrap()).unwrap();
        let (tool, _) = match registry.resolve(name, &input.to_string()) {
            Ok(resolved) => resolved,
            Err(wrong) => return Outcome::error(wrong),
        };
        let call = self.call(&input);
        let intent = match tool.intent(&call) {
            Ok(intent) => intent,
            Err(outcome) => return *outcome,
        };
        self.contents.extend(intent.blobs);
        let outcome = tool.run(call, intent.checkpoint).await;
        self.seen.extend(outcome.seen.clone());
        self.values.extend(outcome.values.clone());
        self.changes.extend(outcome.changes.clone());
        outcome
    }

    fn content(&self) -> impl Fn(Digest) -> Option<Vec<u8>> {
        |digest| self.contents.get(&digest).cloned()
    }
}

fn update(path: &str, old: &str, new: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n")})
}

#[tokio::test]
async fn a_patch_is_applied_and_told_with_its_diff() {
    let mut place = Place::new(&[("a", "one\ntwo\n")]);
    let outcome = place.run("apply_patch", update("a", "one", "1")).await;
    assert!(outcome.ok, "{}", outcome.text);
    assert_eq!(place.file("a").unwrap(), "1\ntwo\n");
    for part in ["Success.", "M a", "-one\n+1"] {
        assert!(outcome.text.contains(part), "{}", outcome.text);
    }
    assert_eq!(outcome.changes[0].before, Some(Digest::of(b"one\ntwo\n")));
    assert_eq!(outcome.seen, [("a".into(), Some(Digest::of(b"1\ntwo\n")))]);
}

#[tokio::test]
async fn what_an_edit_broke_is_told_with_it() {
    let mut place = Place::new(&[("a.json", "{\"n\": 1}\n")]);
    let outcome = place.run("edit", json!({"path": "a.json", "old_string": "1}", "new_string": "1"})).await;
    assert!(outcome.ok && outcome.text.contains("problems") && outcome.text.contains("a.json:"), "{}", outcome.text);
    let report = outcome.report.unwrap();
    assert!(!report["diagnostics"]["findings"].as_array().unwrap().is_empty(), "{report}");
    assert_eq!(report["status"], "applied");
    let outcome = place.run("edit", json!({"path": "a.json", "old_string": "1", "new_string": "2}"})).await;
    assert!(outcome.ok && !outcome.text.contains("problems"), "{}", outcome.text);
}

#[tokio::test]
async fn a_patch_of_a_file_that_changed_since_it_was_read_is_stale() {
    let mut place = Place::new(&[("a", "one\ntwo\n")]);
    assert!(place.run("read_file", json!({"path": "a"})).await.ok);
    place.write("a", "zero\none\ntwo\n");
    let outcome = place.run("apply_patch", update("a", "one", "1")).await;
    assert!(!outcome.ok && outcome.text.contains("changed since"), "{}", outcome.text);
    assert_eq!(place.file("a").unwrap(), "zero\none\ntwo\n");
    assert!(place.run("read_file", json!({"path": "a"})).await.ok);
    assert!(place.run("apply_patch", update("a", "one", "1")).await.ok);
    // Its own edit renews what it has seen.
    assert!(place.run("apply_patch", update("a", "two", "2")).await.ok);
    assert_eq!(place.file("a").unwrap(), "zero\n1\n2\n");
}

#[tokio::test]
async fn generated_files_and_our_own_are_refused_with_the_remedy() {
    let mut place = Place::new(&[("Cargo.lock", "x\n"), (".restitch/x", "x\n")]);
    let outcome = place.run("apply_patch", update("Cargo.lock", "x", "y")).await;
    assert!(!outcome.ok && outcome.text.contains("cargo update"), "{}", outcome.text);
    for (tool, input) in [
        ("apply_patch", update(".restitch/x", "x", "y")),
        ("edit", json!({"path": ".restitch/x", "old_string": "x", "new_string": "y"})),
        ("write_file", json!({"path": "node_modules/a", "content": "y"})),
    ] {
        let outcome = place.run(tool, input).await;
        assert!(!outcome.ok, "{tool}: {}", outcome.text);
    }
    assert_eq!(place.file(".restitch/x").unwrap(), "x\n");
}

#[tokio::test]
async fn a_patch_that_is_none_and_one_that_does_not_fit_change_nothing() {
    let mut place = Place::new(&[("a", "one\n")]);
    for patch in ["no patch", "*** Begin Patch\n*** Update File: a\n@@\n-two\n+2\n*** End Patch\n"] {
        let outcome = place.run("apply_patch", json!({"patch": patch})).await;
        assert!(!outcome.ok && outcome.text.contains("nothing was changed"), "{}", outcome.text);
    }
    assert_eq!(place.file("a").unwrap(), "one\n");
}

#[tokio::test]
async fn after_a_crash_the_tree_tells_on_which_side_of_an_edit_it_is() {
    let mut place = Place::new(&[("a", "one\n"), ("b", "b\n")]);
    let patch =
        json!({"patch": "*** Begin Patch\n*** Update File: a\n@@\n one\n+more\n*** Delete File: b\n*** End Patch\n"});
    let call = place.call(&patch);
    let tool = builtin("apply_patch").unwrap();
    let intent = tool.intent(&call).unwrap();
    let checkpoint = intent.checkpoint.clone();
    assert_eq!(tool.settle(&call, checkpoint.as_ref()), Settled::Again);
    let ran = tool.run(call.clone(), checkpoint.clone()).await;
    // The patch would fit a second time: only the record keeps it from being applied twice.
    assert!(
        place
            .run(
                "apply_patch",
                json!({"patch": "*** Begin Patch\n*** Update File: a\n@@\n one\n+more\n*** End Patch\n"})
            )
            .await
            .ok
    );
    place.write("a", "one\nmore\n");
    assert_eq!(tool.settle(&call, checkpoint.as_ref()), Settled::Done(ran));
    place.write("b", "b\n");
    assert_eq!(tool.settle(&call, checkpoint.as_ref()), Settled::Unknown);
}

#[tokio::test]
async fn an_edit_needs_exactly_one_place_or_leave_for_all() {
    let mut place = Place::new(&[("a", "x = 1\ny = 1\n"), ("w", "a\r\nb\r\n")]);
    let edit = |old: &str, new: &str| json!({"path": "a", "old_string": old, "new_string": new});
    for (input, part) in [
        (edit("z", "q"), "does not stand"),
        (edit("= 1", "= 2"), "2 times"),
        (edit("x", "x"), "the same"),
        (json!({"path": "none", "old_string": "a", "new_string": "b"}), "there is no file"),
        (json!({"path": "../a", "old_string": "a", "new_string": "b"}), "`..`"),
    ] {
        let outcome = place.run("edit", input).await;
        assert!(!outcome.ok && outcome.text.contains(part), "{part}: {}", outcome.text);
    }
    let mut all = edit("= 1", "= 2");
    all["replace_all"] = true.into();
    assert!(place.run("edit", all).await.ok);
    assert!(place.run("edit", edit("x = 2", "z = 2")).await.ok);
    assert_eq!(place.file("a").unwrap(), "z = 2\ny = 2\n");
    let outcome = place.run("edit", json!({"path": "w", "old_string": "a\nb", "new_string": "a\nc\nb"})).await;
    assert!(outcome.ok, "{}", outcome.text);
    assert_eq!(place.file("w").unwrap(), "a\r\nc\r\nb\r\n");
}

#[tokio::test]
async fn a_file_is_replaced_only_by_who_has_read_it_as_it_is() {
    let mut place = Place::new(&[("a", "one\n")]);
    let write = |text: &str| json!({"path": "a", "content": text});
    let outcome = place.run("write_file", write("two\n")).await;
    assert!(!outcome.ok && outcome.text.contains("was not read"), "{}", outcome.text);
    place.run("read_file", json!({"path": "a"})).await;
    place.write("a", "other\n");
    let outcome = place.run("write_file", write("two\n")).await;
    assert!(!outcome.ok && outcome.text.contains("has changed"), "{}", outcome.text);
    place.run("read_file", json!({"path": "a"})).await;
    assert!(place.run("write_file", write("two\n")).await.ok);
    assert!(place.run("write_file", write("three\n")).await.ok, "its own write counts as read");
    assert!(place.run("write_file", json!({"path": "new/b", "content": "b\n"})).await.ok);
    assert_eq!((place.file("a").unwrap().as_str(), place.file("new/b").unwrap().as_str()), ("three\n", "b\n"));
}

#[tokio::test]
async fn looking_finds_reads_and_bounds() {
    let long: String = (1..=3000).map(|n| format!("line {n}\n")).collect();
    let mut place = Place::new(&[("src/a.rs", "fn main() {}\n"), ("b.txt", "main\n"), ("long", &long)]);
    let grep = place.run("grep", json!({"pattern": "fn main", "mode": "content"})).await;
    assert!(grep.ok && grep.text.contains("src/a.rs:1:fn main() {}"), "{}", grep.text);
    let grep = place.run("grep", json!({"pattern": "main", "glob": ["*.txt"]})).await;
    assert_eq!(grep.text.lines().next(), Some("b.txt"));
    let wrong = place.run("grep", json!({"pattern": "("})).await;
    assert!(!wrong.ok && wrong.text.contains("literal"), "{}", wrong.text);
    let glob = place.run("glob", json!({"pattern": "*.rs"})).await;
    assert_eq!(glob.text.lines().next(), Some("src/a.rs"));
    let read = place.run("read_file", json!({"path": "long"})).await;
    assert!(read.ok && read.text.contains("line 2000") && !read.text.contains("line 2500"), "{}", read.text.len());
    let read = place.run("read_file", json!({"path": "long", "first_line": 2500, "lines": 1})).await;
    assert!(read.text.contains("line 2500\n") && !read.text.contains("\tline 2501"), "{}", read.text);
    assert!(!place.run("read_file", json!({"path": "none"})).await.ok);
}

#[tokio::test]
async fn the_list_is_kept_and_shown() {
    let mut place = Place::new(&[]);
    let items = json!({"items": [{"text": "find", "state": "done"}, {"text": "mend", "state": "doing"}]});
    assert!(place.run("todo", items).await.ok);
    assert_eq!(place.run("todo", json!({})).await.text, "[x] find\n[>] mend\n");
    assert!(!place.run("todo", json!({"items": [{"text": "x", "state": "perhaps"}]})).await.ok);
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_and_its_end_is_told() {
    let mut place = Place::new(&[("a", "hello\n")]);
    let outcome = place.run("bash", json!({"command": "cat a; echo err >&2; pwd"})).await;
    let root = place.env.root().display().to_string();
    assert_eq!((outcome.ok, outcome.text), (true, format!("hello\nerr\n{root}\n")));
    let outcome = place.run("bash", json!({"command": "echo bad; exit 3"})).await;
    assert_eq!((outcome.ok, outcome.text.as_str()), (false, "bad\n[exit code 3]\n"));
    let outcome = place.run("bash", json!({"command": "true"})).await;
    assert_eq!(outcome.text, "(no output)\n");
    let outcome = place.run("bash", json!({"command": "cat"})).await;
    assert!(outcome.ok, "there is no input to wait for: {}", outcome.text);
    let outcome = place.run("bash", json!({"command": "seq 100000"})).await;
    assert!(outcome.text.len() < 60_000 && outcome.text.contains("/output`"), "{}", outcome.text.len());
    assert!(outcome.text.contains("\n100000\n"));
}

#[tokio::test]
async fn a_long_command_becomes_a_background_job_that_can_be_followed() {
    let mut place = Place::new(&[]);
    let outcome = place
        .run(
            "bash",
            json!({"command": "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended", "wait_ms": 100}),
        )
        .await;
    assert!(outcome.ok && outcome.text.starts_with("begun\n"), "{}", outcome.text);
    let dir = outcome.text.split('`').find(|part| part.ends_with("/output")).unwrap().to_owned();
    place.write("go", "");
    let exit = dir.replace("/output", "/exit");
    while place.file(&exit).is_none_or(|text| text.is_empty()) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((place.file(&dir).unwrap().as_str(), place.file(&exit).unwrap().as_str()), ("begun\nended\n", "0\n"));
}

#[tokio::test]
async fn a_command_nobody_waits_for_is_killed_with_all_its_children() {
    let place = Place::new(&[]);
    let call = place.call(&json!({"command": "sleep 600 & echo $! > child; sleep 600"}));
    let tool = builtin("bash").unwrap();
    let intent = tool.intent(&call).unwrap().checkpoint;
    let running = tokio::spawn(tool.run(call, intent));
    let child = loop {
        match place.file("child").and_then(|text| text.trim().parse::<i32>().ok()) {
            Some(child) => break child,
            None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    };
    running.abort();
    assert!(running.await.is_err());
    let pid = rustix::process::Pid::from_raw(child).unwrap();
    // It is gone, or a zombie that the system has yet to reap.
    while rustix::process::test_kill_process(pid).is_ok() && !is_zombie(child) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn is_zombie(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[tokio::test]
async fn after_a_crash_the_marks_of_a_job_tell_what_became_of_it() {
    let mut place = Place::new(&[]);
    let call = place.call(&json!({"command": "echo out; exit 4"}));
    let tool = builtin("bash").unwrap();
    let intent = tool.intent(&call).unwrap().checkpoint;
    assert_eq!(tool.settle(&call, intent.as_ref()), Settled::Again, "it never began");
    let ran = tool.run(call.clone(), intent.clone()).await;
    assert_eq!(tool.settle(&call, intent.as_ref()), Settled::Done(ran), "it ended");
    assert_ne!(tool.intent(&call).unwrap().checkpoint, intent, "a second attempt leaves marks of its own");
    let job = intent.as_ref().unwrap()["job"].as_str().unwrap();
    let dir = place.dir.path().join(".restitch/jobs/s").join(job);
    std::fs::remove_file(dir.join("exit")).unwrap();
    assert_eq!(tool.settle(&call, intent.as_ref()), Settled::Unknown, "it was killed");
    let own = rustix::process::getpgrp().as_raw_nonzero();
    std::fs::write(dir.join("pid"), format!("{own}\n")).unwrap();
    let settled = tool.settle(&call, intent.as_ref());
    assert!(matches!(&settled, Settled::Done(outcome) if outcome.text.contains("still runs")), "{settled:?}");
    place.calls += 1;
}

#[tokio::test]
async fn the_diff_of_a_session_has_links_modes_and_moves() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let mut place = Place::new(&[("run", "go\n"), ("old", "stays\n")]);
    let root = place.dir.path().to_owned();
    std::fs::set_permissions(root.join("run"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(root.join("old"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("nowhere", root.join("link")).unwrap();
    let patch = "*** Begin Patch\n*** Delete File: link\n*** Delete File: run\n*** Update File: old\n*** Move to: new\n*** End Patch\n";
    assert!(place.run("apply_patch", json!({"patch": patch})).await.ok);
    let shown = String::from_utf8(diff(&net(&place.changes), place.content()).unwrap()).unwrap();
    for want in [
        "deleted file mode 120000\n",
        "-nowhere\n",
        "diff --git a/run b/run\ndeleted file mode 100755\n",
        "rename from old\nrename to new\n",
    ] {
        assert!(shown.contains(want), "{want:?} is not in {shown}");
    }
    assert!(!shown.contains("symbolic link to"), "{shown}");
}

#[tokio::test]
async fn what_a_session_changed_is_shown_and_put_back() {
    let mut place = Place::new(&[("a", "one\n"), ("b", "keep\n"), ("c", "gone\n")]);
    assert!(place.run("apply_patch", update("a", "one", "two")).await.ok);
    assert!(place.run("apply_patch", update("a", "two", "three")).await.ok);
    let patch = "*** Begin Patch\n*** Add File: d\n+new\n*** Delete File: c\n*** Update File: b\n*** Move to: e\n*** End Patch\n";
    assert!(place.run("apply_patch", json!({"patch": patch})).await.ok);
    assert!(place.run("write_file", json!({"path": "tmp", "content": "x"})).await.ok);
    assert!(
        place.run("apply_patch", json!({"patch": "*** Begin Patch\n*** Delete File: tmp\n*** End Patch\n"})).await.ok
    );

    let files = net(&place.changes);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a", "b", "c", "d", "e"], "what came and went is no change");
    let shown = String::from_utf8(diff(&files, place.content()).unwrap()).unwrap();
    assert!(shown.contains("-one\n+three") && !shown.contains("two"), "{shown}");

    place.write("a", "someone else\n");
    let refused = undo(&place.env, &files, place.content()).unwrap_err();
    assert!(matches!(&refused, UndoError::Changed(paths) if *paths == ["a"]), "{refused}");
    assert_eq!(place.file("d").unwrap(), "new\n", "then nothing is put back");

    place.write("a", "three\n");
    let back = undo(&place.env, &files, place.content()).unwrap();
    assert_eq!(place.file("a").unwrap(), "one\n");
    assert_eq!(place.file("b").unwrap(), "keep\n");
    assert_eq!(place.file("c").unwrap(), "gone\n");
    assert_eq!((place.file("d"), place.file("e")), (None, None));
    place.changes.extend(back);
    assert_eq!(net(&place.changes), []);
}

#[tokio::test]
async fn a_link_that_was_deleted_or_moved_is_put_back() {
    let mut place = Place::new(&[("a", "one\n")]);
    for link in ["l", "m"] {
        std::os::unix::fs::symlink("a", place.dir.path().join(link)).unwrap();
    }
    let patch = "*** Begin Patch\n*** Delete File: l\n*** Update File: m\n*** Move to: n\n*** End Patch\n";
    let outcome = place.run("apply_patch", json!({"patch": patch})).await;
    assert!(outcome.ok, "{}", outcome.text);
    undo(&place.env, &net(&place.changes), place.content()).unwrap();
    for link in ["l", "m"] {
        assert_eq!(std::fs::read_link(place.dir.path().join(link)).unwrap(), std::path::Path::new("a"));
    }
    assert!(place.dir.path().join("n").symlink_metadata().is_err());
}

#[tokio::test]
async fn what_someone_else_changed_in_between_is_not_put_back() {
    let mut place = Place::new(&[("a", "one\n")]);
    assert!(place.run("apply_patch", update("a", "one", "two")).await.ok);
    place.write("a", "two\ntheirs\n");
    place.seen.clear();
    assert!(place.run("apply_patch", update("a", "two", "three")).await.ok);
    assert!(matches!(undo(&place.env, &net(&place.changes), place.content()), Err(UndoError::Changed(_))));
    assert_eq!(place.file("a").unwrap(), "three\ntheirs\n");
}

fn executable(command: &[&str], effects: &str, timeout_ms: u64) -> ExecutableTool {
    let tool: crate::harness::manifest::Executable = serde_json::from_value(json!({
        "name": "t", "description": "d", "file": {"path": "tools/t.toml", "hash": "", "bytes": 0},
        "command": command, "input": {"type": "object"}, "effects": effects, "timeout_ms": timeout_ms, "env": ["SHOWN"],
    }))
    .unwrap();
    ExecutableTool::new(&tool, std::path::Path::new("/nowhere"))
}

#[tokio::test]
async fn a_program_gets_its_input_and_its_key_and_answers_in_lines() {
    let place = Place::new(&[]);
    let script = r#"read input; echo '{"progress": "half"}'; printf '{"output": "%s %s"}\n' "$RESTITCH_CALL" "$(echo $input | tr -d '"{}')""#;
    let outcome = executable(&["sh", "-c", script], "once", 9000).run(place.call(&json!({"n": 5})), None).await;
    assert_eq!((outcome.ok, outcome.text.as_str()), (true, "1.0.0 n:5\n"));
    let outcome = executable(&["no-such-program"], "read", 9000).run(place.call(&json!({})), None).await;
    assert!(!outcome.ok && outcome.text.contains("could not be run"), "{}", outcome.text);
    let script = "sleep 600 & echo answer";
    let outcome = executable(&["sh", "-c", script], "read", 9000).run(place.call(&json!({})), None).await;
    assert_eq!(outcome.text, "answer\n", "a process it left behind holds nothing up");
    let script = "head -c 20000000 /dev/zero | tr '\\0' x; echo";
    let outcome = executable(&["sh", "-c", script], "read", 9000).run(place.call(&json!({})), None).await;
    assert!(outcome.ok && outcome.text.len() <= 5 << 20, "{}", outcome.text.len());
}

#[test]
fn an_unknown_outcome_is_left_to_the_person_only_where_it_must() {
    let place = Place::new(&[]);
    let call = place.call(&json!({}));
    for (effects, want) in [("read", Settled::Again), ("idempotent", Settled::Again), ("once", Settled::Unknown)] {
        assert_eq!(executable(&["true"], effects, 1).settle(&call, None), want, "{effects}");
    }
}

/// Feeds the arguments of a call in pieces and says after which byte of the patch it was told to fail.
fn fails_at(place: &Place, patch: &str, piece: usize) -> Option<(usize, String)> {
    let arguments = json!({ "patch": patch }).to_string();
    let mut preview = builtin("apply_patch").unwrap().preview(place.call(&json!({}))).unwrap();
    let mut fed = 0;
    for part in arguments.as_bytes().chunks(piece) {
        fed += part.len();
        if let Some(why) = preview.feed(std::str::from_utf8(part).unwrap()) {
            return Some((fed, why));
        }
    }
    None
}

#[test]
fn a_patch_that_will_not_fit_is_known_while_it_is_written() {
    let mut place = Place::new(&[("a", "one\ntwo\n"), ("b", "x\n")]);
    let rest = format!("*** Add File: new\n{}*** End Patch\n", "+a line of a long new file\n".repeat(50));
    let fits = format!(
        "*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n@@\n-two\n+2\n*** Update File: a\n@@\n-1\n+3\n{rest}"
    );
    let misfits = [
        (format!("*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n@@\n-three\n+3\n{rest}"), "hunk 2"),
        (format!("*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Delete File: none\n{rest}"), "none"),
        (format!("*** Begin Patch\n*** Change File: a\n{rest}"), "Change File"),
        (
            format!("*** Begin Patch\n*** Update File: a\n@@\n-one\n+1\n*** Update File: a\n@@\n-one\n+2\n{rest}"),
            "hunk 1",
        ),
    ];
    for piece in [1, 3, 1000] {
        assert_eq!(fails_at(&place, &fits, piece), None);
        for (patch, part) in &misfits {
            let (at, why) = fails_at(&place, patch, piece).unwrap();
            assert!(why.contains(part), "{part}: {why}");
            assert!(piece == 1000 || at < patch.len() / 2, "known at {at} of {}", patch.len());
        }
    }
    // However much came before.
    place.write("long", &(0..400).map(|n| format!("line {n}\nbetween\n")).collect::<String>());
    let hunks: String = (0..400).map(|n| format!("@@\n-line {n}\n+new {n}\n")).collect();
    let late = format!("*** Begin Patch\n*** Update File: long\n{hunks}@@\n-line 400\n+x\n{rest}");
    assert!(fails_at(&place, &late, 7).unwrap().1.contains("hunk 401"));
    place.seen.insert("b".into(), Some(Digest::of(b"old\n")));
    let stale = format!("*** Begin Patch\n*** Update File: b\n@@\n-x\n+y\n{rest}");
    assert!(fails_at(&place, &stale, 7).unwrap().1.contains("changed since"));
}
