use serde_json::json;

use crate::support::{Client, Dir, call, done, lifecycles, patch, refused, start, start_as, text};

fn tree() -> Dir {
    Dir::new(&[
        (
            "src/greet.py",
            "def greet(name):\n    return \"Hello \" + name\n\n\ndef part(name):\n    return \"Bye \" + name\n",
        ),
        ("src/other.py", "# nothing\n"),
        ("notes.txt", "one\ntwo\nthree\n"),
    ])
}

#[tokio::test]
async fn a_patch_changes_the_files_and_says_which() {
    for lifecycle in lifecycles() {
        let dir = tree();
        let session = start_as(Client::new(None).0, dir.path(), &[], lifecycle).await;
        let (text, data) = done(&session, "apply_patch", patch("notes.txt", "two", "2")).await;
        assert_eq!(text, "Success. Updated the following files:\nM notes.txt\n");
        assert_eq!(data["status"], "applied");
        assert_eq!(data["files"][0]["path"], "notes.txt");
        assert_eq!(dir.read("notes.txt"), "one\n2\nthree\n");
        session.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn a_refused_patch_changes_nothing_and_shows_the_file() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let (text, data) = refused(&session, "apply_patch", patch("notes.txt", "twq", "2")).await;
    assert!(text.contains("notes.txt") && text.contains("two"), "{text}");
    assert_eq!(data["status"], "refused");
    assert_eq!(data["failures"][0]["code"], "not-found");
    assert_eq!(dir.read("notes.txt"), "one\ntwo\nthree\n");
    let (text, _) = refused(&session, "apply_patch", json!({"patch": "change it, please"})).await;
    assert!(text.contains("*** Begin Patch"), "{text}");
    let (_, data) = refused(&session, "apply_patch", patch("../outside", "a", "b")).await;
    assert_eq!(data["failures"][0]["path"], "../outside");
}

#[tokio::test]
async fn a_check_shows_the_diff_and_writes_nothing() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let (text, data) = done(&session, "check_patch", patch("notes.txt", "two", "2")).await;
    assert!(text.contains("-two\n+2\n"), "{text}");
    assert_eq!(data["status"], "checked");
    assert!(data["diff"].as_str().unwrap().contains("-two\n+2\n"));
    assert_eq!(dir.read("notes.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn what_was_read_can_be_expected() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let (text, data) = done(&session, "read_file", json!({"path": "notes.txt", "first_line": 2, "lines": 1})).await;
    assert!(text.contains("two") && !text.contains("three"), "{text}");
    let hash = data["hash"].as_str().unwrap();
    let mut change = patch("notes.txt", "two", "2");
    change["expect"] = json!({"notes.txt": hash});
    std::fs::write(dir.path().join("notes.txt"), "one\ntwo\n").unwrap();
    let (_, data) = refused(&session, "apply_patch", change.clone()).await;
    assert_eq!(data["failures"][0]["code"], "stale");
    std::fs::write(dir.path().join("notes.txt"), "one\ntwo\nthree\n").unwrap();
    done(&session, "apply_patch", change.clone()).await;
    change["expect"] = json!({"notes.txt": "nonsense"});
    let (text, _) = refused(&session, "apply_patch", change).await;
    assert!(text.contains("nonsense"), "{text}");
}

#[tokio::test]
async fn files_and_lines_are_found() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let (text, data) = done(&session, "grep", json!({"pattern": "return .*name", "mode": "content"})).await;
    assert!(text.contains("src/greet.py:2:"), "{text}");
    assert_eq!(data["total"], json!({"value": 2, "exact": true}));
    let (_, data) =
        done(&session, "grep", json!({"pattern": "def", "glob": ["*.py"], "limit": 1, "mode": "content"})).await;
    assert_eq!((data["truncated"].as_bool(), data["next_offset"].as_u64()), (Some(true), Some(1)));
    let (text, _) = done(&session, "glob", json!({"pattern": "*.py"})).await;
    assert!(text.starts_with("src/greet.py\nsrc/other.py\n"), "{text}");
    let (text, data) = done(&session, "grep", json!({"pattern": "absent"})).await;
    assert!(text.contains("absent") && data["rows"] == json!([]), "{text}");
    for (arguments, part) in [
        (json!({"pattern": "a("}), "set `literal`"),
        (json!({"pattern": "a\nb"}), "set `multiline`"),
        (json!({"pattern": "a", "path": "absent"}), "does not exist"),
        (json!({"pattern": "a", "path": "/"}), "outside"),
    ] {
        let (text, _) = refused(&session, "grep", arguments).await;
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn arguments_that_are_wrong_are_named_and_nothing_is_done() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    for (tool, arguments, part) in [
        ("apply_patch", json!({}), "patch"),
        ("apply_patch", json!({"patch": 1}), "string"),
        ("apply_patch", json!({"input": "x"}), "input"),
        ("grep", json!({"pattern": "a", "mode": "everything"}), "everything"),
        ("grep", json!({"pattern": "a", "limit": -1}), "-1"),
        ("read_file", json!({}), "path"),
        ("glob", json!({"pattern": ["*"]}), "string"),
    ] {
        let (text, data) = refused(&session, tool, arguments).await;
        assert!(text.contains(tool) && text.contains(part), "{text}");
        assert_eq!(data["message"], text.as_str());
    }
}

#[tokio::test]
async fn the_list_tells_the_truth_about_what_tools_do() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let tools = session.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["apply_patch", "edit", "check_patch", "grep", "glob", "read_file", "undo"]);
    for tool in &tools {
        let writes = ["apply_patch", "edit", "undo"].contains(&tool.name.as_ref());
        let hints = tool.annotations.clone().unwrap();
        assert_eq!(hints.read_only_hint, Some(!writes), "{}", tool.name);
        assert_eq!(hints.destructive_hint, Some(writes), "{}", tool.name);
        assert_eq!(hints.idempotent_hint, Some(!writes), "{}", tool.name);
        assert_eq!(hints.open_world_hint, Some(false), "{}", tool.name);
    }
}

#[tokio::test]
async fn a_read_only_server_neither_lists_nor_runs_what_writes() {
    let dir = tree();
    let session = start(dir.path(), &["--read-only", "--text-only"]).await;
    let tools = session.list_all_tools().await.unwrap();
    assert!(tools.iter().all(|tool| tool.annotations.as_ref().unwrap().read_only_hint == Some(true)));
    let error =
        session.call_tool(crate::support::params("apply_patch", patch("notes.txt", "two", "2"))).await.unwrap_err();
    assert!(error.to_string().contains("no tool `apply_patch`"), "{error}");
    assert_eq!(dir.read("notes.txt"), "one\ntwo\nthree\n");
    let result = call(&session, "glob", json!({"pattern": "*.txt"})).await;
    assert_eq!(result.structured_content, None);
    assert!(text(&result).starts_with("notes.txt\n"));
}

#[tokio::test]
async fn protected_files_are_refused() {
    let dir = Dir::new(&[("Cargo.lock", "a\n"), ("secret/key", "a\n")]);
    let session = start(dir.path(), &["--protect-generated", "--protect", "secret/**"]).await;
    for path in ["Cargo.lock", "secret/key"] {
        let (_, data) = refused(&session, "apply_patch", patch(path, "a", "b")).await;
        assert_eq!(data["failures"][0]["code"], "protected", "{path}");
    }
}

#[tokio::test]
async fn long_answers_stay_within_their_bounds() {
    let text = "a line of some length that is met again and again\n".repeat(20_000);
    let dir = Dir::new(&[("long.txt", &text)]);
    let session = start(dir.path(), &[]).await;
    let (text, _) = done(&session, "read_file", json!({"path": "long.txt"})).await;
    assert!(text.len() <= 52 << 10, "{}", text.len());
    let (text, data) =
        done(&session, "grep", json!({"pattern": "line", "mode": "content", "limit": 1_000_000, "context": 1000}))
            .await;
    assert!(text.len() <= 64 << 10, "{}", text.len());
    assert!(data["truncated"].as_bool().unwrap());
    let add: String = (0..20_000).map(|line| format!("+line {line}\n")).collect();
    let add = json!({"patch": format!("*** Begin Patch\n*** Add File: new.txt\n{add}*** End Patch\n")});
    let (text, data) = done(&session, "check_patch", add).await;
    assert!(text.len() <= 50 << 10 && text.contains("[cut: "), "{}", text.len());
    assert!(data["diff"].as_str().unwrap().contains("[cut: "));
}

#[tokio::test]
async fn patches_are_undone_one_after_the_other() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    done(&session, "apply_patch", patch("notes.txt", "two", "2")).await;
    done(&session, "apply_patch", patch("notes.txt", "three", "3")).await;
    let (text, data) = done(&session, "undo", json!({})).await;
    assert!(text.contains("M notes.txt"), "{text}");
    assert_eq!(data["status"], "undone");
    assert_eq!(dir.read("notes.txt"), "one\n2\nthree\n");
    done(&session, "undo", json!({})).await;
    assert_eq!(dir.read("notes.txt"), "one\ntwo\nthree\n");
    refused(&session, "undo", json!({})).await;
    done(&session, "apply_patch", patch("notes.txt", "two", "2")).await;
    std::fs::write(dir.path().join("notes.txt"), "someone else's\n").unwrap();
    let (text, _) = refused(&session, "undo", json!({})).await;
    assert!(text.contains("notes.txt"), "{text}");
    assert_eq!(dir.read("notes.txt"), "someone else's\n");
}

#[tokio::test]
async fn an_undo_is_of_a_root_that_the_server_has() {
    let (dir, other) = (tree(), tree());
    let session = start(dir.path(), &[]).await;
    done(&session, "apply_patch", patch("notes.txt", "two", "2")).await;
    let below = dir.path().join("src").display().to_string();
    for root in [other.path().display().to_string(), below, "nonsense".into(), "../other".into()] {
        let (text, _) = refused(&session, "undo", json!({"root": root})).await;
        assert!(text.contains("is no root") && text.contains(&*dir.path().to_string_lossy()), "{text}");
    }
    assert_eq!(dir.read("notes.txt"), "one\n2\nthree\n");
    done(&session, "undo", json!({"root": dir.path()})).await;
    assert_eq!(dir.read("notes.txt"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_server_that_keeps_nothing_has_no_undo() {
    let dir = tree();
    let session = start(dir.path(), &["--keep-undo", "0"]).await;
    let tools = session.list_all_tools().await.unwrap();
    assert!(tools.iter().all(|tool| tool.name != "undo"));
    done(&session, "apply_patch", patch("notes.txt", "two", "2")).await;
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[tokio::test]
async fn quoted_text_is_replaced_and_other_languages_are_taken() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let edits = json!({"edits": [
        {"path": "notes.txt", "old_string": "two", "new_string": "2"},
        {"path": "src/other.py", "content": "# new\n", "expected_hash": restitch::Digest::of(b"# nothing\n").to_string()},
    ]});
    let (text, _) = done(&session, "edit", edits.clone()).await;
    assert!(text.contains("M notes.txt\nM src/other.py\n"), "{text}");
    assert_eq!((dir.read("notes.txt"), dir.read("src/other.py")), ("one\n2\nthree\n".into(), "# new\n".into()));
    let (text, data) = refused(&session, "edit", edits).await;
    assert!(text.contains("notes.txt") && data["status"] == "refused", "{text}");
    done(&session, "edit", json!({"path": "notes.txt", "old_string": "2", "new_string": "two"})).await;
    let (text, _) = refused(&session, "edit", json!({"path": "notes.txt", "old": "2"})).await;
    assert!(text.contains("old"), "{text}");
    let diff = "--- a/notes.txt\n+++ b/notes.txt\n@@ -2 +2 @@\n-two\n+zwei\n";
    done(&session, "apply_patch", json!({"patch": diff})).await;
    assert_eq!(dir.read("notes.txt"), "one\nzwei\nthree\n");
}

#[tokio::test]
async fn the_schemas_are_those_that_the_program_prints() {
    let dir = tree();
    let session = start(dir.path(), &[]).await;
    let tools = session.list_all_tools().await.unwrap();
    for (name, format) in [("apply_patch", "envelope"), ("edit", "edits")] {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let printed = tokio::process::Command::new(env!("CARGO_BIN_EXE_restitch"))
            .args(["schema", "--for", "mcp", "--format", format])
            .output()
            .await
            .unwrap();
        let printed: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
        assert_eq!(printed["description"].as_str(), tool.description.as_deref(), "{name}");
        let mut schema = tool.schema_as_json_value();
        schema["properties"].as_object_mut().unwrap().remove("expect");
        assert_eq!(schema, printed["inputSchema"], "{name}");
        assert_eq!(
            serde_json::to_value(&tool.annotations).unwrap()["destructiveHint"],
            printed["annotations"]["destructiveHint"]
        );
    }
}
