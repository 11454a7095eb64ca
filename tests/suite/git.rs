use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use restitch::{ApplyOptions, DiffOptions, Format, ParseOptions, Patch, Plan, Report, Workspace};

use crate::support::{Entry, TestDir, Tree};

/// A tree to be: content and whether it can be executed, by path.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-d]{0,3}",
        1 => "[ \t]{1,3}[a-c]{0,2}[ \t]{0,2}",
        1 => prop::sample::select(&["- x", "-- x", "++ y", "@@ -1 +1 @@", "diff --git a/x b/x", "\\ No newline", "}"][..])
            .prop_map(str::to_owned),
        1 => "[é–“]{1,2}",
    ]
}

/// Texts with every kind of ending, marks and none.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let ending = prop_oneof![8 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    let lines = prop::collection::vec((line(), ending), 0..14);
    (lines, prop::bool::weighted(0.8), prop::bool::weighted(0.08), prop::sample::select(&[0usize, 1, 2][..])).prop_map(
        |(lines, closed, mark, uniform)| {
            let mut out = String::from(if mark { "\u{feff}" } else { "" });
            let last = lines.len();
            for (n, (line, ending)) in lines.into_iter().enumerate() {
                out.push_str(&line);
                if n + 1 < last || closed {
                    out.push_str(if uniform > 0 { "\n" } else { ending });
                }
            }
            out.into_bytes()
        },
    )
}

fn path() -> impl Strategy<Value = String> {
    prop::sample::select(
        &["a", "b", "c.txt", "d/e", "d/f g.txt", "d/h/i", "é.txt", "quo\"te", "tab\there", "b/a", "a b", "z "][..],
    )
    .prop_map(str::to_owned)
}

fn files() -> impl Strategy<Value = Files> {
    prop::collection::btree_map(path(), (content(), prop::bool::weighted(0.25)), 0..7).prop_map(|files| {
        // A name cannot be a file and a directory.
        let dirs: Vec<String> =
            files.keys().filter_map(|path| path.rsplit_once('/')).map(|(dir, _)| dir.to_owned()).collect();
        let blocked = |path: &String| dirs.iter().any(|dir| dir == path || dir.starts_with(&format!("{path}/")));
        files.into_iter().filter(|(path, _)| !blocked(path)).collect()
    })
}

/// What may become of a file.
#[derive(Clone, Debug)]
enum Fate {
    Stay,
    Edit(Vec<u8>),
    Insert(usize, String),
    Move(String),
    MoveAndEdit(String, usize, String),
    Copy(String),
    Mode,
    Gone,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        2 => Just(Fate::Stay),
        2 => content().prop_map(Fate::Edit),
        3 => (0usize..9, line()).prop_map(|(at, line)| Fate::Insert(at, line)),
        1 => path().prop_map(Fate::Move),
        1 => (path(), 0usize..9, line()).prop_map(|(to, at, line)| Fate::MoveAndEdit(to, at, line)),
        1 => path().prop_map(Fate::Copy),
        1 => Just(Fate::Mode),
        1 => Just(Fate::Gone),
    ]
}

/// Inserts a line, keeping whatever ends the others.
fn inserted(content: &[u8], at: usize, line: &str) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.insert(at.min(lines.len()), format!("{line}\n").into_bytes());
    lines.concat()
}

fn after(before: &Files, fates: &[Fate], new: &Files) -> Files {
    let mut out = before.clone();
    for ((path, (content, exec)), fate) in before.iter().zip(fates) {
        match fate {
            Fate::Stay => {}
            Fate::Edit(content) => drop(out.insert(path.clone(), (content.clone(), *exec))),
            Fate::Insert(at, line) => drop(out.insert(path.clone(), (inserted(content, *at, line), *exec))),
            Fate::Mode => drop(out.insert(path.clone(), (content.clone(), !exec))),
            Fate::Gone => drop(out.remove(path)),
            Fate::Move(to) | Fate::Copy(to) | Fate::MoveAndEdit(to, ..) => {
                let content = if let Fate::MoveAndEdit(_, at, line) = fate {
                    inserted(content, *at, line)
                } else {
                    content.clone()
                };
                if !matches!(fate, Fate::Copy(_)) {
                    out.remove(path);
                }
                out.insert(to.clone(), (content, *exec));
            }
        }
    }
    out.extend(new.clone());
    let dirs: Vec<String> =
        out.keys().filter_map(|path| path.rsplit_once('/')).map(|(dir, _)| dir.to_owned()).collect();
    out.retain(|path, _| !dirs.iter().any(|dir| dir == path || dir.starts_with(&format!("{path}/"))));
    out
}

fn write(root: &Path, files: &Files) {
    for (path, (content, exec)) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        let mode = if *exec { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok_and(|out| out.status.success())
}

/// The diff of two trees as the real git writes it.
fn git_diff(root: &Path, flags: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.current_dir(root).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", root).env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["diff", "--no-index", "--no-color", "--no-ext-diff", "--text", "--full-index"]).args(flags);
    command.args(["one", "two"]);
    let out = command.output().unwrap();
    assert!(out.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

fn files_of(tree: Tree) -> BTreeMap<String, (Vec<u8>, bool)> {
    let file = |(path, entry)| match entry {
        Entry::File { bytes, mode } => Some((path, (bytes, mode & 0o100 != 0))),
        _ => None,
    };
    tree.into_iter().filter_map(file).collect()
}

/// `git diff` of two random trees turns the first into the second, byte for byte and mode for mode.
#[test]
fn the_diff_of_two_trees_makes_the_second() {
    if !has_git() {
        eprintln!("skipped: there is no git here");
        return;
    }
    const FLAGS: &[&[&str]] = &[
        &["--no-renames"],
        &["-M"],
        &["-M20%"],
        &["-C", "--find-copies-harder"],
        &["-M", "-B"],
        &["-M", "--patience"],
    ];
    let flags = prop::sample::select(FLAGS);
    let cases = std::env::var("RESTITCH_GIT_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(500);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let input = (files(), prop::collection::vec(fate(), 7), prop_oneof![3 => Just(Files::new()), 1 => files()], flags);
    let result = runner.run(&input, |(one, fates, new, flags)| {
        let mut two = after(&one, &fates, &new);
        // No patch puts a file where a directory is.
        two.retain(|path, _| !one.keys().any(|old| old.starts_with(&format!("{path}/"))));
        let dir = TestDir::new(&[]);
        for (name, files) in [("one", &one), ("two", &two)] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            write(&dir.path().join(name), files);
        }
        let diff = git_diff(dir.path(), flags);
        let parse = ParseOptions::default().format(Format::Unified).strip(Some(2));
        if diff.is_empty() {
            prop_assert_eq!(one, two);
            return Ok(());
        }
        let root = dir.path().join("one");
        let workspace = Workspace::open(&root).unwrap();
        let shown = String::from_utf8_lossy(&diff);
        let done = ApplyOptions::default().parse(parse).apply(&workspace, &diff);
        prop_assert!(done.is_ok(), "{}\n{}", shown, done.err().map(|error| error.explain()).unwrap_or_default());
        prop_assert_eq!(files_of(crate::support::tree(&root)), two, "{}", shown);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// The diff that this crate makes of two trees turns the first into the second, and the real git agrees.
#[test]
fn our_diff_of_two_trees_makes_the_second() {
    let mut runner = TestRunner::new(Config { cases: 200, failure_persistence: None, ..Config::default() });
    let input = (files(), prop::collection::vec(fate(), 7), prop_oneof![3 => Just(Files::new()), 1 => files()]);
    let with_git = has_git();
    let result = runner.run(&input, |(one, fates, new)| {
        let mut two = after(&one, &fates, &new);
        two.retain(|path, _| !one.keys().any(|old| old.starts_with(&format!("{path}/"))));
        let dir = TestDir::new(&[]);
        for (name, files) in [("one", &one), ("copy", &one), ("two", &two)] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            write(&dir.path().join(name), files);
        }
        let [root, copy, other] = ["one", "copy", "two"].map(|name| dir.path().join(name));
        let workspace = Workspace::open(&root).unwrap();
        let plan = Plan::between(&workspace, &Workspace::open(&other).unwrap()).unwrap();
        let diff = Report::planned(plan, Vec::new()).diff(&DiffOptions::default());
        let shown = String::from_utf8_lossy(&diff).into_owned();
        if diff.is_empty() {
            prop_assert_eq!(&one, &two);
            return Ok(());
        }
        let parse = ParseOptions::default().format(Format::Auto);
        let patch = Patch::parse_with(&diff, &parse).unwrap_or_else(|error| panic!("{error}\n{shown}"));
        let again = patch.to_git().unwrap_or_else(|error| panic!("{error}\n{shown}"));
        let reread = Patch::parse_with(&again, &parse).unwrap();
        prop_assert_eq!(reread.to_git().unwrap(), again, "writing is stable");
        let done = ApplyOptions::default().run(&workspace, reread);
        prop_assert!(done.is_ok(), "{}\n{}", shown, done.err().map(|error| error.explain()).unwrap_or_default());
        prop_assert_eq!(files_of(crate::support::tree(&root)), two.clone(), "{}", shown);
        if with_git {
            std::fs::write(dir.path().join("diff"), &diff).unwrap();
            let out = Command::new("git")
                .args(["apply", "--whitespace=nowarn", "../diff"])
                .current_dir(&copy)
                .output()
                .unwrap();
            prop_assert!(out.status.success(), "{}\n{}", shown, String::from_utf8_lossy(&out.stderr));
            prop_assert_eq!(files_of(crate::support::tree(&copy)), two, "{}", shown);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
