//! Programs that judge the tree before and after a commit: only what is new in what they say comes back.

use std::path::Path;
use std::time::Duration;

use restitch::{CancelToken, ChangedFile, Checks, Diagnose, DiagnoseOptions, Diagnosis, FileImage, RelPath, Workspace};

/// A tree on disk and the edits made to it.
struct Tree {
    dir: tempfile::TempDir,
    options: DiagnoseOptions,
}

/// A file's content, or `None` for no file.
type Content<'c> = Option<&'c str>;

impl Tree {
    fn new(table: &str) -> Self {
        let tree = Tree { dir: tempfile::tempdir().expect("a directory"), options: DiagnoseOptions::default() };
        tree.write(".restitch.toml", Some(table));
        tree.select("checkers")
    }

    fn select(self, list: &str) -> Self {
        let options = self.options.checks(Checks::parse(list));
        Tree { options, ..self }
    }

    fn write(&self, path: &str, content: Content<'_>) {
        let path = self.dir.path().join(path);
        match content {
            Some(content) => {
                std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
                std::fs::write(path, content).expect("a file");
            }
            None => std::fs::remove_file(path).expect("no file"),
        }
    }

    /// Writes the old files, checks, writes the new ones, checks again.
    fn diagnose(&self, edits: &[(&str, Content<'_>, Content<'_>)]) -> Diagnosis {
        let change = |(path, before, after): &(&str, Content<'_>, Content<'_>)| {
            let path = RelPath::new(path.as_bytes()).expect("a path");
            ChangedFile::new(path, before.map(FileImage::new), after.map(FileImage::new))
        };
        self.between(edits.iter().map(change).collect(), |tree, write_new| {
            for (path, before, after) in edits {
                match (write_new, before) {
                    (true, _) => tree.write(path, *after),
                    (false, Some(before)) => tree.write(path, Some(before)),
                    (false, None) => {}
                }
            }
        })
    }

    fn between(&self, changes: Vec<ChangedFile>, write: impl Fn(&Tree, bool)) -> Diagnosis {
        write(self, false);
        let workspace = Workspace::open(self.dir.path()).expect("a workspace");
        let baseline = Diagnose::new(&workspace, self.options.clone()).before(changes);
        write(self, true);
        baseline.after()
    }
}

fn fake(name: &str, format: &str, files: &str) -> String {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/diagnose/checkers/fake.sh");
    let program = program.display();
    format!("[[checker]]\nname='{name}'\nglob='src/*'\nformat='{format}'\ncommand=['{program}','{format}',{files}]\n")
}

fn shell(script: &str, more: &str) -> String {
    format!("[[checker]]\nname='it'\nglob='*'\nformat='gcc'\ncommand=['/bin/sh','-c','''{script}''']\n{more}\n")
}

fn found(diagnosis: &Diagnosis) -> Vec<String> {
    assert!(diagnosis.skipped.is_empty(), "{:?}", diagnosis.skipped);
    diagnosis.findings.iter().map(|f| format!("{}:{}", f.line.expect("a line"), f.code)).collect()
}

fn skipped(diagnosis: &Diagnosis) -> Vec<String> {
    assert!(diagnosis.findings.is_empty(), "{:?}", diagnosis.findings);
    diagnosis.skipped.iter().map(|s| format!("{}: {}", s.check, s.because)).collect()
}

#[test]
fn each_format_tells_new_from_old() {
    let cases = [
        ("breaks", "a\nb\n", "a\nBAD T1 wrong\n", &["2:T1"][..]),
        ("leaves an old one alone", "a\nBAD T1 wrong\nb\n", "a\nBAD T1 wrong\nc\n", &[]),
        ("repairs", "BAD T1 wrong\n", "right\n", &[]),
        ("moves lines with an old one", "BAD T1 wrong\na\nb\n", "new\na\nb\nBAD T1 wrong\n", &[]),
        ("adds one that looks like an old one", "a\nBAD T1 wrong\n", "BAD T1 wrong\na\nBAD T1 wrong\n", &["1:T1"]),
        ("changes the kind", "BAD T1 wrong\n", "BAD T2 wrong\n", &["1:T2"]),
        ("says another line number", "BAD T1 as at line 9\n", "a\nBAD T1 as at line 10\n", &[]),
    ];
    for format in ["rustc-json", "tsc", "gcc", "ruff-json", "eslint-json", "sarif"] {
        for (name, before, after, want) in cases {
            // tsc's codes are its own.
            let (before, after) = (before.replace("BAD T", "BAD TS"), after.replace("BAD T", "BAD TS"));
            let want: Vec<String> = want.iter().map(|want| want.replace(":T", ":TS")).collect();
            let tree = Tree::new(&fake("it", format, "'{files}'"));
            let diagnosis = tree.diagnose(&[("src/a", Some(&before), Some(&after))]);
            assert_eq!(found(&diagnosis), want, "{format} {name}");
        }
    }
}

#[test]
fn two_of_a_thousand_and_two_type_errors_are_the_patchs() {
    let tree = Tree::new(&fake("types", "tsc", "'src/old.ts','src/a.ts'"));
    let old: String = (0..500).map(|n| format!("BAD TS{n} no {n}\nBAD TS2322 not assignable\n")).collect();
    tree.write("src/old.ts", Some(&old));
    let before: String = (0..500).map(|n| format!("line {n} BAD TS2322 not assignable\n")).collect();
    let after = format!("import x\nnew BAD TS2322 not assignable\n{before}BAD TS7006 implicit any\n");
    let diagnosis = tree.diagnose(&[("src/a.ts", Some(&before), Some(&after))]);
    assert_eq!(found(&diagnosis), ["2:TS2322", "503:TS7006"]);
    assert_eq!(diagnosis.left_out, 0);
    let text =
        "src/a.ts:2:5: error: not assignable (types TS2322)\nsrc/a.ts:503:1: error: implicit any (types TS7006)\n";
    assert_eq!(diagnosis.text(), text);
}

#[test]
fn new_deleted_renamed_and_oddly_named_files_are_followed() {
    let tree = || Tree::new(&fake("it", "gcc", "'--','{files}'").replace("'gcc','--'", "'gcc'"));
    let bad = Some("BAD T1 wrong\n");
    assert_eq!(found(&tree().diagnose(&[("src/new", None, bad)])), ["1:T1"]);
    assert_eq!(found(&tree().diagnose(&[("src/gone", bad, None)])), [""; 0]);
    assert_eq!(found(&tree().diagnose(&[("src/-x = 'y' $(z)", Some("a\n"), bad)])), ["1:T1"]);
    assert_eq!(found(&tree().diagnose(&[("other/a", Some("a\n"), bad)])), [""; 0], "no file of its glob has changed");
    let path = |path: &str| RelPath::new(path.as_bytes()).expect("a path");
    let image = |text: &str| Some(FileImage::new(text));
    let (old, new) = ("BAD T1 wrong\n", "BAD T1 wrong\nBAD T2 worse\n");
    let change = ChangedFile::new(path("src/b"), image(old), image(new)).renamed(path("src/a"));
    let diagnosis = tree().between(vec![change], |tree, write_new| match write_new {
        false => tree.write("src/a", Some(old)),
        true => {
            tree.write("src/a", None);
            tree.write("src/b", Some(new));
        }
    });
    assert_eq!(found(&diagnosis), ["2:T2"]);
}

#[test]
fn what_cannot_run_says_why() {
    let missing = "[[checker]]\nname='it'\nglob='*'\nformat='gcc'\ncommand=['no-such-program-here']\n";
    let cases = [
        (missing.to_owned(), "it: the program `no-such-program-here` was not found (before the patch)"),
        (
            shell("echo broken >&2; exit 3", ""),
            "it: it failed with exit code 3 and no finding: broken (before the patch)",
        ),
        (shell("kill -9 $$", ""), "it: it was ended by signal 9 (before the patch)"),
        (shell("test -e old && exit; echo worse; exit 1", ""), "it: it failed with exit code 1 and no finding: worse"),
        (
            shell("head -c 9000000 /dev/zero", ""),
            "it: it printed more than 8388608 bytes, which cannot be compared (before the patch)",
        ),
        (
            shell("true", "").replace("gcc", "sarif"),
            "it: what it printed is no JSON (EOF while parsing a value at line 1 column 0) (before the patch)",
        ),
    ];
    for (table, want) in cases {
        let tree = Tree::new(&table);
        let diagnosis = tree.diagnose(&[("old", Some("a\n"), None), ("new", None, Some("a\n"))]);
        assert_eq!(skipped(&diagnosis), [want]);
    }
    let unknown = Tree::new("").select("tsk").diagnose(&[("a", None, Some("a\n"))]);
    let want =
        "tsk: there is no check, checker or recipe of that name; there are tsc, cargo, ruff, gofmt, go-vet, eslint";
    assert_eq!(skipped(&unknown), [want]);
}

#[test]
fn a_checker_that_hangs_is_killed_with_its_children() {
    // Each run leaves the number of a child that would outlive it by far.
    let script = "sleep 1000 & echo $! >> children; wait";
    let cases = [
        (Tree::new(&shell(script, "timeout=0.3")), "it: it did not end in time and was killed (before the patch)"),
        (
            Tree::new(&shell("test -e a || exit 0; sleep 1000 & echo $! >> children; wait", "timeout=0.3")),
            "it: it did not end in time and was killed",
        ),
    ];
    for (tree, want) in cases {
        let diagnosis = tree.diagnose(&[("a", None, Some("a\n"))]);
        assert_eq!(skipped(&diagnosis), [want]);
        let children = std::fs::read_to_string(tree.dir.path().join("children")).expect("it ran");
        for child in children.lines() {
            assert!(is_gone(child), "{child}");
        }
    }
    let mut tree = Tree::new(&shell("sleep 1000", ""));
    tree.options = tree.options.time(Duration::from_millis(200));
    let diagnosis = tree.diagnose(&[("a", None, Some("a\n"))]);
    let want = [
        "the built-in checks of 1 files: the time for all checks was used up",
        "it: it did not end in time and was killed (before the patch)",
    ];
    assert_eq!(skipped(&diagnosis), want);
}

/// Whether a process ends soon; the kernel takes a moment to carry out a kill.
fn is_gone(pid: &str) -> bool {
    (0..500).any(|_| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone =
            stat.rsplit(')').next().is_none_or(|state| state.is_empty() || state.trim_start().starts_with('Z'));
        if !is_gone {
            std::thread::sleep(Duration::from_millis(10));
        }
        is_gone
    })
}

#[test]
fn the_caller_can_cancel() {
    let mut tree = Tree::new(&shell("sleep 1000", "")).select("all");
    let token = CancelToken::new();
    tree.options = tree.options.cancel(token.clone());
    let killer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        token.cancel();
    });
    let diagnosis = tree.diagnose(&[("a", None, Some("a \n"))]);
    killer.join().expect("it ends");
    let want = ["the built-in checks of 1 files: it was cancelled", "it: it was cancelled (before the patch)"];
    assert_eq!(skipped(&diagnosis), want);
}

#[test]
fn a_patch_does_not_bring_the_command_that_is_run_on_it() {
    let tree = Tree::new("");
    let table = shell("touch ran", "");
    let diagnosis = tree.diagnose(&[(".restitch.toml", Some(""), Some(&table)), ("a", None, Some("a\n"))]);
    assert!(diagnosis.is_clean() && !tree.dir.path().join("ran").exists());
    // Nor does a table run that nobody asked for.
    let tree = Tree::new(&table).select("");
    let diagnosis = tree.diagnose(&[("a", None, Some("a\n"))]);
    assert!(diagnosis.is_clean() && !tree.dir.path().join("ran").exists());
}

#[test]
fn findings_and_their_length_are_bounded() {
    let long = "x".repeat(3000);
    let after: String = (0..60).map(|n| format!("BAD T{n} {long}\n")).collect();
    let mut tree = Tree::new(&fake("it", "gcc", "'{files}'"));
    let edits = [("src/a", Some("a\n"), Some(after.as_str()))];
    let diagnosis = tree.diagnose(&edits);
    assert_eq!((diagnosis.findings.len(), diagnosis.left_out), (50, 10));
    assert!(diagnosis.findings.iter().all(|found| found.message.chars().count() == 1000));
    assert!(diagnosis.text().ends_with("and 10 more findings that are not shown\n"));
    tree.options = tree.options.max_findings(2).max_chars(10);
    let diagnosis = tree.diagnose(&edits);
    assert_eq!((diagnosis.findings.len(), diagnosis.left_out), (2, 58));
    assert_eq!(diagnosis.findings[0].message, "xxxxxxxxx…");
}

#[test]
fn nothing_runs_where_nothing_is_written() {
    let tree = Tree::new(&shell("touch ran", ""));
    let workspace = Workspace::open(tree.dir.path()).expect("a workspace");
    let change = ChangedFile::new(RelPath::new(b"a").expect("a path"), None, Some(FileImage::new("a \n")));
    let options = tree.options.clone().checks(Checks::parse("all"));
    let diagnosis = Diagnose::new(&workspace, options).check(&[change]);
    let want = "a:1: warning: trailing white space (whitespace trailing-whitespace)\n\
                skipped checkers, because they compare the old tree with the new one, and nothing was written here\n";
    assert_eq!(diagnosis.text(), want);
    assert!(!tree.dir.path().join("ran").exists());
}

/// The real compiler: an old error, moved; a new one in another file that the changed one breaks.
#[test]
fn cargo_reports_what_the_patch_broke() {
    let mut tree = Tree::new("").select("cargo");
    tree.options = tree.options.time(Duration::from_secs(120));
    tree.write("Cargo.toml", Some("[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n"));
    tree.write("Cargo.lock", Some("version = 4\n\n[[package]]\nname = \"p\"\nversion = \"0.1.0\"\n"));
    tree.write("src/lib.rs", Some("pub mod a;\npub fn call() -> u32 {\n    a::give(1)\n}\n"));
    let before = "pub fn give(n: u32) -> u32 {\n    n\n}\npub fn old() -> u32 {\n    \"text\"\n}\n";
    let after = "pub fn old() -> u32 {\n    \"text\"\n}\n\npub fn give(n: &str) -> u32 {\n    n.len() as u32\n}\n";
    let diagnosis = tree.diagnose(&[("src/a.rs", Some(before), Some(after))]);
    if diagnosis.skipped.iter().any(|skipped| skipped.because.contains("was not found")) {
        return;
    }
    assert_eq!(found(&diagnosis), ["3:E0308"]);
    assert_eq!(diagnosis.findings[0].path.as_ref().map(RelPath::as_str), Some("src/lib.rs"));
}

#[test]
fn gofmt_reports_what_the_patch_broke() {
    let tree = Tree::new("").select("gofmt");
    let (before, after) = ("package a\n\nfunc f() {\n}\n", "package a\n\nfunc f() {\n\tx := \n}\n");
    let diagnosis = tree.diagnose(&[("a.go", Some(before), Some(after))]);
    if diagnosis.skipped.iter().any(|skipped| skipped.because.contains("was not found")) {
        return;
    }
    assert_eq!(diagnosis.findings.len(), 1, "{diagnosis:?}");
}
