//! The rules by table, and the real git as the judge where there is one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::*;
use crate::diagnose::FileImage;
use crate::limits::Deadline;
use crate::path::RelPath;
use crate::workspace::Workspace;

fn found(dir: &Path, name: &str, before: Option<&[u8]>, after: &[u8]) -> Vec<Diagnostic> {
    let workspace = Workspace::open(dir).unwrap();
    let path = RelPath::new(name.as_bytes()).unwrap();
    let change = ChangedFile::new(path, before.map(FileImage::new), Some(FileImage::new(after)));
    let changes = [change];
    let comparison = Comparison::of(&changes[0], Deadline::NONE);
    check(&changes[0], &comparison, &mut Settings::read(&workspace, &changes))
}

fn short(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(|found| format!("{}:{}", found.line.unwrap_or(0), found.code)).collect()
}

#[test]
fn only_added_lines_are_judged() {
    let dir = tempfile::tempdir().unwrap();
    let cases: &[(Option<&str>, &str, &[&str])] = &[
        (Some("a\n"), "a\nb \n", &["2:trailing-whitespace"]),
        (Some("a \n"), "a \nb\n", &[]),
        (Some("a \nb\nc\n"), "b\nc\na \n", &[]),
        (Some("a \nb\n"), "a \nb\na \n", &["3:trailing-whitespace"]),
        (Some("a \n"), "a\n", &[]),
        (None, "a\n \tb\n", &["2:space-before-tab"]),
        (
            Some("a\n"),
            "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n",
            &["2:conflict-marker", "4:conflict-marker", "6:conflict-marker"],
        ),
        (Some("a\n"), "a\n========\n<<<<<<<<\n", &[]),
        (Some("a\n"), "a\n\n\n", &["2:blank-at-eof"]),
        (Some("a\n\n\n"), "b\n\n\n", &[]),
        (Some("a\r\n"), "a\r\nb\r\n", &[]),
        (Some("a\r\n"), "a\r\nb \r\n", &["2:trailing-whitespace"]),
        (Some("a\n"), "a\nb\r\n", &["2:trailing-whitespace"]),
        (None, "a\r\nb\r\n", &[]),
        (Some("a\0\n"), "a\0\nb \n", &[]),
    ];
    for (before, after, want) in cases {
        let found = found(dir.path(), "f", before.map(str::as_bytes), after.as_bytes());
        assert_eq!(short(&found), *want, "{before:?} {after:?}");
    }
}

/// A repository to ask git in.
struct Judge(tempfile::TempDir);

impl Judge {
    fn new(whitespace: Option<&str>, attributes: &str) -> Option<Self> {
        let judge = Judge(tempfile::tempdir().unwrap());
        judge.git(&["init", "-q"])?;
        std::fs::write(judge.0.path().join(".gitattributes"), attributes).unwrap();
        if let Some(value) = whitespace {
            judge.git(&["config", "core.whitespace", value])?;
        }
        Some(judge)
    }

    fn git(&self, args: &[&str]) -> Option<String> {
        let output = Command::new("git")
            .args(args)
            .current_dir(self.0.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Line and complaints, as git words them.
    fn check(&self, before: &[u8], after: &[u8]) -> Vec<(u32, String)> {
        let file = self.0.path().join("f.x");
        std::fs::write(&file, before).unwrap();
        self.git(&["add", "f.x"]).unwrap();
        std::fs::write(&file, after).unwrap();
        let said = self.git(&["diff", "--check", "f.x"]).unwrap();
        let lines = said.lines().filter_map(|line| line.strip_prefix("f.x:")?.split_once(": "));
        let mut all = Vec::new();
        for (number, words) in lines.filter_map(|(number, words)| Some((number.parse().ok()?, words))) {
            all.extend(words.trim_end_matches('.').split(", ").map(|words| (number, words.to_owned())));
        }
        all
    }
}

fn git_words(code: &str) -> &'static str {
    match code {
        "conflict-marker" => "leftover conflict marker",
        "trailing-whitespace" => "trailing whitespace",
        "space-before-tab" => "space before tab in indent",
        "indent-with-non-tab" => "indent with spaces",
        "tab-in-indent" => "tab in indent",
        "blank-at-eof" => "new blank line at EOF",
        _ => panic!("{code}"),
    }
}

/// Complaints by the line's bytes, how often, less those a removed line of the same bytes takes away: the part of git's
/// answer that does not depend on how it aligned the two contents.
fn essence(before: &[u8], after: &[u8], complaints: &[(u32, String)]) -> BTreeMap<(Vec<u8>, String), usize> {
    let count = |bytes: &[u8], line: &[u8]| Lines::new(bytes).iter().filter(|other| *other == line).count();
    let mut all: BTreeMap<(Vec<u8>, String), usize> = BTreeMap::new();
    for (number, words) in complaints {
        let line = Lines::new(after).get(*number as usize - 1).to_vec();
        *all.entry((line, words.clone())).or_default() += 1;
    }
    for ((line, words), times) in &mut all {
        if words != "new blank line at EOF" {
            *times = (*times).min(count(after, line).saturating_sub(count(before, line)));
        }
    }
    all.retain(|_, times| *times > 0);
    all
}

fn agree(judge: &Judge, before: &[u8], after: &[u8]) {
    let ours: Vec<(u32, String)> = found(judge.0.path(), "f.x", Some(before), after)
        .iter()
        .map(|found| (found.line.unwrap(), git_words(&found.code).to_owned()))
        .collect();
    let theirs = judge.check(before, after);
    let said = format!(
        "{:?} -> {:?}\nours {ours:?}\ngit {theirs:?}",
        before.escape_ascii().to_string(),
        after.escape_ascii().to_string()
    );
    assert_eq!(essence(before, after, &ours), essence(before, after, &theirs), "{said}");
}

const SETTINGS: &[(Option<&str>, &str)] = &[
    (Some("trailing-space,space-before-tab"), ""),
    (Some("-blank-at-eol,-blank-at-eof"), ""),
    (Some("tab-in-indent,-space-before,cr-at-eol"), ""),
    (None, "*.x whitespace=indent-with-non-tab,tabwidth=4\n"),
    (Some("tab-in-indent"), "*.x whitespace\n"),
    (None, "*.x -whitespace conflict-marker-size=3\n"),
    (Some("blank-at-eof"), "*.x -diff\n"),
    (Some("-trailing-space"), "f.* whitespace=trailing,tab-in\n*.y whitespace=cr-at-eol\n"),
];

/// Lines that git has an opinion about.
const PARTS: &[&str] = &[
    "a\n",
    "a \n",
    "a\t\n",
    "\n",
    " \n",
    "\t\n",
    " \ta\n",
    "\t a\n",
    "    a\n",
    "        a\n",
    "\ta\n",
    "  \t  \ta \n",
    "a\r\n",
    "\r\n",
    "a \r\n",
    "\x0b\n",
    "a\x0c\n",
    "<<<<<<< x\n",
    "<<<<<<<\n",
    "=======\n",
    "=======x\n",
    "========\n",
    ">>>>>>>\t\n",
    "|||||||\n",
    "<<<\n",
    "=== =\n",
    "======= \n",
    "=======\r\n",
    "\t \n",
    "b",
];

#[test]
fn git_agrees_line_by_line() {
    for (whitespace, attributes) in SETTINGS {
        let Some(judge) = Judge::new(*whitespace, attributes) else { return };
        let after: String = PARTS.concat();
        agree(&judge, b"x\n", after.as_bytes());
        let cases: &[(&str, &str)] = &[
            ("a\n", "a\n\n"),
            ("a\n\n", "a\n\n\n \n"),
            ("a\n \n", "b\n\n"),
            ("a", "a\n\n"),
            ("a\n", "a\n "),
            ("a\n", "\n\n"),
            ("\n", "\n\n"),
            ("a\n", "a\n======="),
            ("a\n", "a\n\r\n"),
            ("a\nb \nc\n", "c\na\nb \n"),
        ];
        for (before, after) in cases {
            agree(&judge, before.as_bytes(), after.as_bytes());
        }
    }
}

#[test]
fn git_agrees_on_random_edits() {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let lines = || proptest::collection::vec(proptest::sample::select(PARTS), 0..8);
    for (whitespace, attributes) in SETTINGS {
        let Some(judge) = Judge::new(*whitespace, attributes) else { return };
        for _ in 0..25 {
            let (before, after) = (lines(), lines()).new_tree(&mut runner).unwrap().current();
            agree(&judge, before.concat().as_bytes(), after.concat().as_bytes());
        }
    }
}
