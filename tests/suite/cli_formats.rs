use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{TestDir, apply_patch, restitch};

const DIFF: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
const TEXT: &str = "one\ntwo\nthree\n";

fn tree() -> TestDir {
    TestDir::new(&[("a.txt", TEXT)])
}

#[test]
fn the_language_of_a_patch_is_found_out_or_forced() {
    for (patch, format) in [
        (DIFF, "unified"),
        ("a.txt\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n", "blocks"),
        ("{\"path\": \"a.txt\", \"old_string\": \"two\", \"new_string\": \"2\"}", "edits"),
        ("*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+2\n*** End Patch\n", "envelope"),
    ] {
        for args in [&[][..], &["--format", format]] {
            let dir = tree();
            let said = apply_patch(dir.path(), args, patch).exits(0);
            assert_eq!(said.out, "Success. Updated the following files:\nM a.txt\n", "{format}");
            assert_eq!(dir.read("a.txt"), "one\n2\nthree\n", "{format}");
        }
    }
    let dir = tree();
    let said = apply_patch(dir.path(), &["--format", "envelope"], DIFF).exits(1);
    assert!(said.err.contains("looks like a unified diff"), "{}", said.err);
    apply_patch(dir.path(), &["--format", "something"], DIFF).exits(2);
}

#[test]
fn leading_directories_are_taken_off() {
    let dir = tree();
    let diff = DIFF.replace("a/a.txt", "x/y/a.txt").replace("b/a.txt", "x/z/a.txt");
    apply_patch(dir.path(), &["-p2"], &diff).exits(0);
    assert_eq!(dir.read("a.txt"), "one\n2\nthree\n");
    let said = apply_patch(dir.path(), &["--strip", "4"], &diff).exits(1);
    assert!(said.err.contains("no 4 leading directories"), "{}", said.err);
}

#[test]
fn calls_of_a_model_get_their_answers() {
    let dir = tree();
    let call = |id: &str, operation: &str| {
        format!("{{\"type\": \"apply_patch_call\", \"call_id\": \"{id}\", \"operation\": {operation}}}")
    };
    let update = call("c1", "{\"type\": \"update_file\", \"path\": \"a.txt\", \"diff\": \"@@\\n-two\\n+2\"}");
    let create = call("c2", "{\"type\": \"create_file\", \"path\": \"b.txt\", \"diff\": \"+b\"}");
    let said = restitch(dir.path(), &["apply"], &format!("[{update}, {create}]")).exits(0);
    let answers: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(answers[0]["type"], "apply_patch_call_output");
    assert_eq!((&answers[0]["call_id"], &answers[0]["status"]), (&"c1".into(), &"completed".into()));
    assert_eq!(answers[0]["output"], "M a.txt\n");
    assert_eq!(answers[1]["output"], "A b.txt\n");
    // Once more: the first does not fit now, so the third is not done either.
    let third = call("c3", "{\"type\": \"create_file\", \"path\": \"c.txt\", \"diff\": \"+c\"}");
    let said = restitch(dir.path(), &["apply"], &format!("[{update}, {third}]")).exits(1);
    let answers: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(answers[0]["status"], "failed");
    assert!(answers[0]["output"].as_str().unwrap().contains("already applied"), "{answers}");
    assert_eq!(answers[1]["status"], "failed");
    assert!(answers[1]["output"].as_str().unwrap().contains("another call"), "{answers}");
    assert_eq!(dir.tree().len(), 2);
}

#[test]
fn a_stream_tells_each_hunk_and_ends_with_the_report() {
    let dir = tree();
    let said = restitch(dir.path(), &["apply", "--stream"], DIFF).exits(0);
    let events: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: Vec<_> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["opened", "placed", "complete", "done"]);
    assert_eq!(events[1]["hunk"]["line"], 1);
    assert_eq!(events[3]["report"]["status"], "applied");
    assert_eq!(dir.read("a.txt"), "one\n2\nthree\n");
    let said = restitch(dir.path(), &["apply", "--stream"], "*** Begin Patch\n").exits(1);
    assert!(said.out.contains("\"done\"") && said.out.contains("End Patch"), "{}", said.out);
}

#[test]
fn a_misfit_is_printed_while_the_patch_is_still_being_written() {
    use std::io::{BufRead as _, BufReader};
    let dir = tree();
    let mut child = Command::new(env!("CARGO_BIN_EXE_restitch"))
        .args(["apply", "--stream"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    stdin.write_all(b"*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-zwei\n+2\n@@\n").unwrap();
    stdin.flush().unwrap();
    let told: Vec<String> = lines.by_ref().take(2).map(Result::unwrap).collect();
    assert!(told[1].contains("misfit") && told[1].contains("zwei"), "{told:?}");
    // The writer stops here.
    drop(stdin);
    assert!(lines.next().unwrap().unwrap().contains("\"done\""));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert_eq!(dir.read("a.txt"), TEXT);
}

#[test]
fn a_patch_is_written_in_another_language() {
    let dir = tree();
    let envelope = restitch(dir.path(), &["convert", "--to", "envelope"], DIFF).exits(0).out;
    assert_eq!(
        envelope,
        "*** Begin Patch\n*** Update File: a.txt\n@@ -1 +1 @@\n one\n-two\n+2\n three\n*** End Patch\n"
    );
    // What has no line numbers is looked for in the files.
    let edit = "{\"path\": \"a.txt\", \"old_string\": \"wo\", \"new_string\": \"oo\"}";
    let unified = restitch(dir.path(), &["convert", "--from", "edits", "--to", "unified"], edit).exits(0).out;
    assert!(unified.contains("@@ -1,3 +1,3 @@\n one\n-two\n+too\n three\n"), "{unified}");
    let envelope = restitch(dir.path(), &["convert", "--to", "envelope"], edit).exits(0).out;
    assert!(envelope.contains("-two\n+too\n"), "{envelope}");
    let said = restitch(dir.path(), &["convert", "--to", "unified"], &edit.replace("wo", "xx")).exits(1);
    assert!(said.err.contains("not in the file"), "{}", said.err);
    let copy = "diff --git a/a.txt b/b.txt\ncopy from a.txt\ncopy to b.txt\n";
    let said = restitch(dir.path(), &["convert", "--to", "envelope"], copy).exits(1);
    assert!(said.err.contains("a copy of `a.txt` cannot be said"), "{}", said.err);
    restitch(dir.path(), &["convert"], DIFF).exits(2);
    assert_eq!(dir.read("a.txt"), TEXT);
}

#[test]
fn two_directories_make_a_patch() {
    let dir = TestDir::new(&[("old/a", "x\ny\n"), ("old/b", "gone\n"), ("new/a", "x\nz\n"), ("new/c", "gone\n")]);
    let said = restitch(dir.path(), &["diff", "old", "new"], "").exits(0);
    assert!(said.out.contains("rename from b\nrename to c\n") && said.out.contains("-y\n+z\n"), "{}", said.out);
    apply_patch(dir.path(), &["-C", "old"], &said.out).exits(0);
    assert_eq!(dir.read("old/a"), "x\nz\n");
    assert_eq!(restitch(dir.path(), &["diff", "old", "new"], "").exits(0).out, "");
    let said = restitch(dir.path(), &["diff", "--format", "envelope", "new", "old"], "").exits(0);
    assert_eq!(said.out, "");
    dir.write("new/i.png", b"\x89PNG\0");
    let said = restitch(dir.path(), &["diff", "old", "new"], "").exits(1);
    assert!(said.err.contains("i.png (a binary file)"), "{}", said.err);
    restitch(dir.path(), &["diff", "old", "nowhere"], "").exits(2);
}

#[test]
fn the_tool_of_each_language_is_defined() {
    let dir = tree();
    for (args, part) in [
        (&["schema"][..], "*** Begin Patch"),
        (&["schema", "--for", "openai"], "\"grammar\""),
        (&["schema", "--for", "anthropic", "--format", "edits"], "\"input_schema\""),
        (&["schema", "--for", "mcp", "--format", "unified"], "\"inputSchema\""),
        (&["schema", "--for", "plain", "--format", "blocks"], "<<<<<<< SEARCH"),
        (&["schema", "--grammar"], "start: begin operation+ end"),
    ] {
        let said = restitch(dir.path(), args, "").exits(0);
        assert!(said.out.contains(part), "{args:?}: {}", said.out);
    }
    restitch(dir.path(), &["schema", "--grammar", "--format", "edits"], "").exits(2);
}
