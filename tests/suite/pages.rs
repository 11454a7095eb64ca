//! The commands in README.md and docs/agents.md, run in a copy of the demo tree.

use std::path::Path;
use std::process::Command;

use crate::support::{TestDir, run};

/// Commands that are not run here: what they begin with, and why.
const NOT_RUN: &[(&str, &str)] = &[
    ("demo=$(mktemp -d)", "the test has a copy of its own"),
    ("cargo install", "installs into the user's home"),
    ("cargo test", "runs this"),
    ("cargo run", "builds; the examples are run by another test"),
    ("cargo +nightly fuzz", "runs for long, with another compiler"),
    ("scripts/fuzz.sh", "runs for long, with another compiler"),
    ("sh examples/demo/run.sh", "builds a release; the gate runs it"),
    ("restitch mcp", "its own tests run it"),
    (".ci/run", "runs this"),
    ("scripts/features.sh", "builds"),
    ("scripts/release_check.sh", "builds"),
    ("cargo package", "builds"),
    ("cargo deny", "another program"),
    ("cargo semver-checks", "another program"),
    ("restitch agent", "its own tests run it"),
];

/// One command and what it should print; `None` when the page does not say.
#[derive(Debug)]
struct Shown {
    command: String,
    output: Option<String>,
}

/// The commands of a block in which they begin with `$ `.
fn of_console(block: &str) -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    let mut until: Option<String> = None;
    for line in block.lines() {
        match (&until, line.strip_prefix("$ ")) {
            (Some(end), _) => {
                let done = line == end;
                let command = &mut shown.last_mut().unwrap().command;
                command.push_str(line);
                command.push('\n');
                if done {
                    until = None;
                }
            }
            (None, Some(command)) => {
                until = heredoc(command);
                shown.push(Shown { command: format!("{command}\n"), output: Some(String::new()) });
            }
            (None, None) => {
                let output = shown.last_mut().unwrap().output.as_mut().unwrap();
                output.push_str(line);
                output.push('\n');
            }
        }
    }
    shown
}

/// The word that ends the text which a command brings along.
fn heredoc(command: &str) -> Option<String> {
    let (_, rest) = command.split_once("<<'")?;
    rest.split_once('\'').map(|(word, _)| word.to_owned())
}

/// The commands of a block of lines for a shell.
fn of_shell(block: &str) -> Vec<Shown> {
    let lines = block.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| Shown { command: line.to_owned(), output: None }).collect()
}

fn commands(page: &str) -> Vec<Vec<Shown>> {
    let mut all = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (Some((info, text)), Some("")) => {
                match *info {
                    "console" => all.push(of_console(text)),
                    "sh" => all.push(of_shell(text)),
                    _ => {}
                }
                open = None;
            }
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, Some(info)) => open = Some((info, String::new())),
            (None, None) => {}
        }
    }
    all
}

/// Whether the output is what the page shows; a line `...` stands for any lines.
fn fits(want: &str, got: &str) -> bool {
    let mut parts = want.split("...\n");
    let Some(rest) = got.strip_prefix(parts.next().unwrap()) else { return false };
    let mut rest = rest;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty() || want.ends_with("...\n")
}

/// Names of features and examples in commands that are not run: they must be there.
fn names_are_there(command: &str) {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap();
    let words: Vec<&str> = command.split_whitespace().collect();
    for pair in words.windows(2) {
        match pair[0] {
            "--features" => {
                for feature in pair[1].split(',') {
                    assert!(manifest.contains(&format!("\n{feature} = ")), "{command}: no feature {feature}");
                }
            }
            "--example" => assert!(Path::new(&format!("examples/{}.rs", pair[1])).exists(), "{command}"),
            _ => {}
        }
    }
    for word in words.iter().filter(|word| word.ends_with(".sh")) {
        assert!(Path::new(word).exists(), "{command}");
    }
}

fn copy(from: &Path, to: &TestDir, below: &str) {
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            copy(&entry.path(), to, &format!("{name}/"));
        } else {
            to.write(&name, &std::fs::read(entry.path()).unwrap());
        }
    }
}

fn check(page: &str) -> usize {
    let bin = Path::new(env!("CARGO_BIN_EXE_restitch")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut ran = 0;
    for block in commands(&std::fs::read_to_string(page).unwrap()) {
        let dir = TestDir::new(&[]);
        copy(Path::new("examples/demo/tree"), &dir, "");
        dir.write("change.patch", &std::fs::read("examples/demo/change.patch").unwrap());
        for Shown { command, output } in block {
            let no_server = command.contains("| restitch mcp") && !cfg!(feature = "mcp");
            if no_server || NOT_RUN.iter().any(|(start, _)| command.starts_with(start)) {
                names_are_there(&command);
                continue;
            }
            ran += 1;
            let said = run(Command::new("sh").args(["-c", &command]).current_dir(dir.path()).env("PATH", &path), b"");
            match output {
                None => drop(said.exits(0)),
                Some(want) => {
                    assert!(
                        fits(&want, &said.out),
                        "{page}: {command}\nwants\n{want}\ngot\n{}\n{}",
                        said.out,
                        said.err
                    );
                }
            }
        }
    }
    ran
}

#[test]
fn every_command_of_the_pages_does_what_they_show() {
    for (page, least) in [("README.md", 3), ("docs/agents.md", 8), ("docs/packaging.md", 4)] {
        let ran = check(page);
        assert!(ran >= least, "{page}: only {ran} commands were found");
    }
}

#[test]
fn outputs_with_gaps_are_compared() {
    for (want, got, same) in [
        ("a\nb\n", "a\nb\n", true),
        ("a\n", "a\nb\n", false),
        ("a\n...\n", "a\nb\nc\n", true),
        ("a\n...\nc\n", "a\nb\nc\n", true),
        ("a\n...\nd\n", "a\nb\nc\n", false),
        ("...\n", "", true),
        ("", "", true),
    ] {
        assert_eq!(fits(want, got), same, "{want:?} {got:?}");
    }
}
