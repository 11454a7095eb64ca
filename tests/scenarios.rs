//! One test a folder: a tree, a patch, and what must come of it. See `tests/fixtures/README.md` for the format.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests build trees on the disk")]
#![allow(missing_docs, reason = "a test program")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

#[path = "suite/support.rs"]
#[allow(dead_code, reason = "shared with the suite, which uses more of it")]
mod support;

use support::{Entry, Said, Tree};

#[derive(serde::Deserialize)]
struct Expect {
    outcome: Outcome,
    codex_outcome: Option<Outcome>,
    /// The exit code when it is neither 0 nor 1.
    exit: Option<i32>,
    /// Texts the error must hold.
    #[serde(default)]
    error: Vec<String>,
    /// Texts standard output must hold.
    #[serde(default)]
    output: Vec<String>,
    /// Flags besides.
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    modes: BTreeMap<String, String>,
    #[serde(default)]
    expected_modes: BTreeMap<String, String>,
    #[serde(default)]
    make_dirs: Vec<String>,
    /// Second names of files of the input.
    #[serde(default)]
    hard_links: BTreeMap<String, String>,
}

#[derive(Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Ok,
    Reject,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Profile {
    Default,
    Codex,
}

fn main() {
    let args = Arguments::from_args();
    let mut trials = Vec::new();
    for dir in folders(Path::new("tests/fixtures/scenarios"), "expect.toml") {
        trials.push(trial(dir, "expect.toml", Profile::Default));
    }
    for dir in folders(Path::new("tests/fixtures/conformance"), "case.toml") {
        trials.push(trial(dir.clone(), "case.toml", Profile::Default));
        trials.push(trial(dir, "case.toml", Profile::Codex));
    }
    assert!(trials.len() > 100, "the fixtures were not found");
    libtest_mimic::run(&args, trials).exit();
}

fn trial(dir: PathBuf, file: &'static str, profile: Profile) -> Trial {
    let short = dir.strip_prefix("tests/fixtures").unwrap().display().to_string();
    let name = if profile == Profile::Codex { format!("{short} (codex)") } else { short };
    Trial::test(name, move || check(&dir, file, profile).map_err(Failed::from))
}

/// Every folder below `dir` that holds `file`, in order.
fn folders(dir: &Path, file: &str) -> Vec<PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.join(file).is_file() {
            out.push(path);
        } else if path.is_dir() {
            out.extend(folders(&path, file));
        }
    }
    out.sort();
    out
}

fn check(dir: &Path, file: &str, profile: Profile) -> Result<(), String> {
    let expect: Expect = toml::from_str(&std::fs::read_to_string(dir.join(file)).unwrap()).unwrap();
    let links: BTreeMap<String, BTreeMap<String, String>> = std::fs::read_to_string(dir.join("links.toml"))
        .map_or_else(|_| BTreeMap::new(), |text| toml::from_str(&text).unwrap());
    let temp = tempfile::tempdir().unwrap();
    let root_box = temp.path().canonicalize().unwrap();
    let root = root_box.join("tree");
    copy(&dir.join("input"), &root);
    for (path, target) in links.get("input").into_iter().flatten() {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }
    for path in &expect.make_dirs {
        std::fs::create_dir_all(root.join(path)).unwrap();
    }
    for (name, path) in &expect.hard_links {
        std::fs::hard_link(root.join(path), root.join(name)).unwrap();
    }
    for (path, mode) in &expect.modes {
        let mode = u32::from_str_radix(mode, 8).unwrap();
        std::fs::set_permissions(root.join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::write(root_box.join("outside.txt"), "outside line one\noutside line two\n").unwrap();
    std::fs::create_dir(root_box.join("outside_dir")).unwrap();
    std::fs::write(root_box.join("outside_dir/kept.txt"), "outside dir file\n").unwrap();
    let patch = std::fs::read(dir.join("patch.txt")).unwrap();
    let patch = replace(&patch, b"{{ROOT}}", root.to_str().unwrap().as_bytes());
    let patch = replace(&patch, b"{{OUTSIDE}}", root_box.join("outside_dir").to_str().unwrap().as_bytes());

    let before = support::tree(&root_box);
    let mut command = Command::new(env!("CARGO_BIN_EXE_apply_patch"));
    command.current_dir(&root).args(&expect.args);
    if profile == Profile::Codex {
        command.args(["--profile", "codex"]);
    }
    let said = support::run(&mut command, &patch);
    let after = support::tree(&root_box);
    judge(dir, &expect, &links, profile, &said, &before, &after).map_err(|why| format!("{why}\n{said:#?}"))
}

fn judge(
    dir: &Path,
    expect: &Expect,
    links: &BTreeMap<String, BTreeMap<String, String>>,
    profile: Profile,
    said: &Said,
    before: &Tree,
    after: &Tree,
) -> Result<(), String> {
    let codex = profile == Profile::Codex;
    let outcome = expect.codex_outcome.filter(|_| codex).unwrap_or(expect.outcome);
    let code = expect.exit.unwrap_or(if outcome == Outcome::Ok { 0 } else { 1 });
    if said.code != Some(code) {
        return Err(format!("exit code {:?}, want {code}", said.code));
    }
    for text in &expect.error {
        if !said.err.contains(text) {
            return Err(format!("the error does not hold {text:?}"));
        }
    }
    for text in &expect.output {
        if !said.out.contains(text) {
            return Err(format!("the output does not hold {text:?}"));
        }
    }
    if outcome == Outcome::Reject {
        return if before == after { Ok(()) } else { Err(format!("the tree changed: {before:#?} {after:#?}")) };
    }
    let name = if codex && (dir.join("expected-codex").is_dir() || links.contains_key("expected-codex")) {
        "expected-codex"
    } else {
        "expected"
    };
    let mut want = BTreeMap::new();
    if dir.join(name).is_dir() {
        want = simple(&support::tree(&dir.join(name)), "");
    }
    for (path, target) in links.get(name).into_iter().flatten() {
        want.insert(path.clone(), format!("link {target}"));
    }
    let got = simple(after, "tree/");
    if want != got {
        return Err(format!("the tree differs: want {want:#?}, got {got:#?}"));
    }
    for (path, mode) in &expect.expected_modes {
        let Some(Entry::File { mode: got, .. }) = after.get(&format!("tree/{path}")) else {
            return Err(format!("{path} is no file"));
        };
        if format!("{got:o}") != *mode {
            return Err(format!("{path} has mode {got:o}, want {mode}"));
        }
    }
    let beside =
        |tree: &Tree| -> Tree { tree.clone().into_iter().filter(|(path, _)| !path.starts_with("tree/")).collect() };
    if beside(before) != beside(after) {
        return Err("something beside the tree changed".to_owned());
    }
    Ok(())
}

/// Files (content and the owner's executable bit) and links below `prefix`; directories are not compared.
fn simple(tree: &Tree, prefix: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (path, entry) in tree {
        let Some(path) = path.strip_prefix(prefix) else { continue };
        let text = match entry {
            Entry::File { bytes, mode } => format!("file {} {}", mode & 0o100 != 0, bytes.escape_ascii()),
            Entry::Link(target) => format!("link {}", target.display()),
            Entry::Dir => continue,
            Entry::Other => "other".to_owned(),
        };
        out.insert(path.to_owned(), text);
    }
    out
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

fn replace(text: &[u8], what: &[u8], with: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.windows(what.len()).position(|window| window == what) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(with);
        rest = &rest[at + what.len()..];
    }
    out.extend_from_slice(rest);
    out
}
