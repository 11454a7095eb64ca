use crate::support::{TestDir, apply_patch, restitch};

const PATCH: &str = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: d/new.txt\n+new\n*** Delete File: old.txt\n*** End Patch\n";

fn tree() -> TestDir {
    TestDir::new(&[("a.txt", "one\ntwo\nthree\n"), ("old.txt", "old\n")])
}

#[test]
fn success_lines_are_the_drop_in_ones() {
    let dir = tree();
    let said = apply_patch(dir.path(), &[], PATCH).exits(0);
    assert_eq!(said.out, "Success. Updated the following files:\nA d/new.txt\nM a.txt\nD old.txt\n");
    assert_eq!(said.err, "");
    assert_eq!(dir.read("a.txt"), "one\n2\nthree\n");
    assert_eq!(dir.read("d/new.txt"), "new\n");
    assert_eq!(dir.tree().len(), 3, "{:?}", dir.tree());
}

#[test]
fn the_patch_may_be_the_argument() {
    let dir = tree();
    apply_patch(dir.path(), &[PATCH], "").exits(0);
    assert_eq!(dir.read("a.txt"), "one\n2\nthree\n");
}

#[test]
fn another_root_is_named_with_a_flag() {
    let dir = tree();
    let elsewhere = TestDir::new(&[]);
    let root = dir.path().to_str().unwrap();
    apply_patch(elsewhere.path(), &["-C", root], PATCH).exits(0);
    assert_eq!(dir.read("a.txt"), "one\n2\nthree\n");
    assert!(elsewhere.tree().is_empty());
}

#[test]
fn a_check_writes_nothing_and_says_what_would_happen() {
    let dir = tree();
    let before = dir.tree();
    for said in [apply_patch(dir.path(), &["--check"], PATCH), restitch(dir.path(), &["check"], PATCH)] {
        let said = said.exits(0);
        assert!(said.out.contains("would") && said.out.contains("M a.txt"), "{}", said.out);
        assert_eq!(dir.tree(), before);
    }
    restitch(dir.path(), &["check"], &PATCH.replace("-two", "-zwei")).exits(1);
}

#[test]
fn the_diff_shows_every_change() {
    let dir = tree();
    let said = apply_patch(dir.path(), &["--check", "--diff"], PATCH).exits(0);
    let want = "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
                diff --git a/d/new.txt b/d/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/d/new.txt\n@@ -0,0 +1 @@\n+new\n\
                diff --git a/old.txt b/old.txt\ndeleted file mode 100644\n--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n";
    assert!(said.out.ends_with(want), "{}", said.out);
}

#[test]
fn the_json_report_is_one_object() {
    let dir = tree();
    let said = apply_patch(dir.path(), &["--json", "--diff"], PATCH).exits(0);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["version"], 1);
    assert_eq!(report["status"], "applied");
    let actions: Vec<_> =
        report["files"].as_array().unwrap().iter().map(|file| file["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["update", "add", "delete"]);
    assert_eq!(report["files"][0]["hunks"][0]["line"], 1);
    assert_eq!(report["files"][0]["hunks"][0]["tier"], "exact");
    assert!(report["diff"].as_str().unwrap().contains("+2\n"));
}

#[test]
fn a_refusal_as_json_names_file_hunk_and_lines() {
    let dir = tree();
    let said = apply_patch(dir.path(), &["--json"], &PATCH.replace("-two", "-twq")).exits(1);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(report["status"], "refused");
    let failure = &report["failures"][0];
    assert_eq!((failure["path"].as_str(), failure["hunk"].as_u64()), (Some("a.txt"), Some(1)));
    assert_eq!(failure["expected"], "twq");
    assert_eq!(failure["found"]["text"], "two");
    assert_eq!(failure["found"]["line"], 2);
    assert!(report["files"].as_array().unwrap().is_empty());
}

#[test]
fn one_wrong_character_in_a_long_file_is_shown() {
    let text: String = (0..2000).map(|n| format!("line {n} of the file\n")).collect();
    let dir = TestDir::new(&[("long.txt", &text)]);
    let patch = "*** Begin Patch\n*** Update File: long.txt\n@@\n line 1233 of the file\n-line 1234 of the fike\n+x\n line 1235 of the file\n*** End Patch\n";
    let said = apply_patch(dir.path(), &[], patch).exits(1);
    for part in ["long.txt", "hunk 1", "line 1234 of the fike", "line 1234 of the file", "1235"] {
        assert!(said.err.contains(part), "{part:?} is not in\n{}", said.err);
    }
    assert!(said.err.len() < 8192);
}

#[test]
fn two_failing_files_are_both_told() {
    let dir = TestDir::new(&[("a", "1\n"), ("b", "1\n")]);
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Update File: b\n@@\n-z\n+y\n*** Update File: c\n@@\n-z\n+y\n*** End Patch\n";
    let said = apply_patch(dir.path(), &[], patch).exits(1);
    for part in ["a: hunk 1", "b: hunk 1", "c (patch line 10)", "*** Add File:"] {
        assert!(said.err.contains(part), "{part:?} is not in\n{}", said.err);
    }
}

#[test]
fn a_thousand_failures_stay_within_the_bound() {
    let files: Vec<(String, String)> = (0..1000).map(|n| (format!("f{n}"), "something\n".repeat(50))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let dir = TestDir::new(&files);
    let sections: String =
        (0..1000).map(|n| format!("*** Update File: f{n}\n@@\n something\n-nothing\n+x\n")).collect();
    let said = apply_patch(dir.path(), &[], &format!("*** Begin Patch\n{sections}*** End Patch\n")).exits(1);
    assert!(said.err.len() <= 8192 + "error: ".len(), "{}", said.err.len());
    assert!(said.err.contains("more that do not fit"), "{}", said.err);
}

#[test]
fn failures_as_json_are_bounded_too_and_the_rest_is_counted() {
    let dir = tree();
    let ops: String = (0..250).map(|n| format!("*** Delete File: absent{n}\n")).collect();
    let said = apply_patch(dir.path(), &["--json"], &format!("*** Begin Patch\n{ops}*** End Patch\n")).exits(1);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((json["failures"].as_array().unwrap().len(), &json["failures_left_out"]), (200, &50.into()));
}

#[test]
fn what_fits_but_may_not_be_meant_so_is_a_warning_on_standard_error() {
    let twice =
        ("use a;\nuse b;\nfn main() {}\n", " use a;\n+use b;\n", "hunk 1 (line 1) adds lines that already stood there");
    let off = (
        "def f():\n\tif a:\n            b\n",
        " def f():\n-    if a:\n+    if c:\n         b\n",
        "keep the indentation of the patch",
    );
    let clean = ("use a;\nfn main() {}\n", " use a;\n+use b;\n", "");
    for (before, rows, warning) in [twice, off, clean] {
        let dir = TestDir::new(&[("a.txt", before)]);
        let text = format!("*** Begin Patch\n*** Update File: a.txt\n@@\n{rows}*** End Patch\n");
        let said = apply_patch(dir.path(), &[], &text).exits(0);
        assert_eq!(said.out, "Success. Updated the following files:\nM a.txt\n");
        if warning.is_empty() {
            assert_eq!(said.err, "");
        } else {
            assert!(said.err.starts_with("warning: a.txt: hunk 1 ") && said.err.contains(warning), "{}", said.err);
        }
    }
}

#[test]
fn a_patch_that_does_not_parse_exits_1_with_line_text_and_advice() {
    let dir = tree();
    let said = apply_patch(dir.path(), &[], &PATCH.replace("+new", "new")).exits(1);
    for part in ["line 8", "`new`", "+"] {
        assert!(said.err.contains(part), "{part:?} is not in\n{}", said.err);
    }
    apply_patch(dir.path(), &[], "").exits(1);
}

#[test]
fn wrong_use_exits_2() {
    let dir = tree();
    for args in [&["--no-such-flag"][..], &["a", "b"], &["--tier", "loose"], &["--read", "a.txt"], &["-C", "missing"]] {
        let said = apply_patch(dir.path(), args, PATCH).exits(2);
        assert!(!said.err.is_empty());
    }
    restitch(dir.path(), &["no-such-command"], "").exits(2);
    restitch(dir.path(), &[], "").exits(2);
}

#[test]
fn help_and_version_go_to_standard_output() {
    let dir = tree();
    let said = apply_patch(dir.path(), &["--help"], "").exits(0);
    assert!(said.out.contains("*** Begin Patch") && said.out.contains("--check"), "{}", said.out);
    let said = restitch(dir.path(), &["--version"], "").exits(0);
    assert_eq!(said.out, format!("restitch {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_stale_file_is_refused_by_its_hash() {
    let dir = tree();
    let right = restitch_hash(b"one\ntwo\nthree\n");
    apply_patch(dir.path(), &["--check", "--read", &format!("a.txt={right}")], PATCH).exits(0);
    let wrong = restitch_hash(b"something else");
    let said = apply_patch(dir.path(), &["--read", &format!("a.txt={wrong}")], PATCH).exits(1);
    assert!(said.err.contains("changed since it was read") && said.err.contains(&right), "{}", said.err);
    // Whatever name it was read by.
    std::os::unix::fs::symlink("a.txt", dir.path().join("link")).unwrap();
    for name in ["link", "./a.txt", dir.path().canonicalize().unwrap().join("a.txt").to_str().unwrap()] {
        apply_patch(dir.path(), &["--check", "--read", &format!("{name}={right}")], PATCH).exits(0);
        apply_patch(dir.path(), &["--check", "--read", &format!("{name}={wrong}")], PATCH).exits(1);
    }
    let said = apply_patch(dir.path(), &["--read", "a.txt=xyz"], PATCH).exits(2);
    assert_eq!(said.err.matches("no content hash").count(), 1, "{}", said.err);
}

fn restitch_hash(bytes: &[u8]) -> String {
    restitch::Digest::of(bytes).to_string()
}

#[test]
fn a_link_named_apply_patch_is_that_program() {
    let dir = tree();
    for name in ["apply_patch", "applypatch"] {
        let bin = TestDir::new(&[]);
        let link = bin.path().join(name);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_restitch"), &link).unwrap();
        let said = crate::support::run(
            std::process::Command::new(&link).arg("--check").current_dir(dir.path()),
            PATCH.as_bytes(),
        );
        assert!(said.exits(0).out.contains("M a.txt"));
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    let dir = tree();
    let script = format!("'{}' --check --diff | true", env!("CARGO_BIN_EXE_apply_patch"));
    let said = crate::support::run(
        std::process::Command::new("sh").args(["-c", &script]).current_dir(dir.path()),
        PATCH.as_bytes(),
    );
    assert_eq!(said.exits(0).err, "");
}

#[test]
fn protected_paths_are_refused_with_the_rule() {
    let dir = tree();
    let said = apply_patch(dir.path(), &["--protect", "*.txt"], PATCH).exits(1);
    assert!(said.err.contains("protected by the rule `*.txt`"), "{}", said.err);
}

#[test]
fn what_the_patch_broke_is_said_and_never_fails_it() {
    let dir = TestDir::new(&[("a.json", "{\n  \"a\": 1\n}\n"), ("old.json", "{ broken\n")]);
    let patch = "*** Begin Patch\n*** Update File: a.json\n@@\n-  \"a\": 1\n+  \"a\": ,\n*** Update File: old.json\n@@\n { broken\n+x\n*** End Patch\n";
    let said = apply_patch(dir.path(), &["--check", "--diagnose"], patch).exits(0);
    assert!(said.out.contains("a.json:2:") && !said.out.contains("old.json:"), "{}", said.out);
    let said = apply_patch(dir.path(), &["--diagnose=syntax", "--json"], patch).exits(0);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let findings = report["diagnostics"]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{report}");
    assert_eq!((findings[0]["path"].as_str(), findings[0]["line"].as_u64()), (Some("a.json"), Some(2)));
}

#[test]
fn a_clean_patch_is_said_to_be_clean() {
    let dir = tree();
    let said = apply_patch(dir.path(), &["--diagnose"], PATCH).exits(0);
    assert!(said.out.ends_with("No new problems found.\n"), "{}", said.out);
}
