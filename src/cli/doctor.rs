//! `restitch doctor`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use crate::cli::args::open_root;
use crate::cli::{DONE, NOTHING, output};
use crate::{Abilities, Deadline, Program, ProgramEnd, RecoverOptions, Workspace, recover};

pub(super) const ABOUT: &str = "Say what this machine and the file system of the root can do";

pub(super) const HELP: &str = "\
Makes a directory `.restitch-probe` in the root for a moment. What is missing has a way round it, which is told; only a root
that cannot be written, or a commit that a dead process left unfinished, is a problem.

Exit status: 0 all is well; 1 there is a problem; 2 error.";

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// Programs that add something when they are there: what they are asked, and what for.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("git", "--version", "the journal goes into the repository's own directory; whitespace rules are read"),
    ("cargo", "--version", "`--diagnose` can check Rust"),
    ("tsc", "--version", "`--diagnose` can check TypeScript"),
    ("eslint", "--version", "`--diagnose` can lint JavaScript and TypeScript"),
    ("ruff", "--version", "`--diagnose` can check Python"),
    ("go", "version", "`--diagnose` can check Go"),
];

/// Features of this build that change what the program can do.
const FEATURES: &[(&str, bool)] =
    &[("harness", cfg!(feature = "harness")), ("mcp", cfg!(feature = "mcp")), ("syntax", cfg!(feature = "syntax"))];

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The root to look at [default: the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| go(args))
}

fn go(args: &Args) -> Result<u8, String> {
    let workspace = open_root(args.root.as_deref())?;
    let mut said = Said::default();
    said.line("restitch", env!("CARGO_PKG_VERSION"));
    let (have, lack): (Vec<_>, Vec<_>) = FEATURES.iter().partition(|(_, there)| *there);
    let names =
        |features: Vec<&(&'static str, bool)>| features.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ");
    said.line("features", &format!("{} (not built in: {})", or_none(&names(have)), or_none(&names(lack))));
    said.line("root", &workspace.path().display().to_string());
    match workspace.abilities() {
        Ok(abilities) => said.abilities(&abilities),
        Err(error) => said.problem("file system", &format!("nothing can be written in the root: {error}")),
    }
    said.leftovers(&workspace);
    said.programs(&workspace);
    output::out(said.text.as_bytes()).map_err(|error| format!("the answer could not be written: {error}"))?;
    Ok(if said.problems == 0 { DONE } else { NOTHING })
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

/// What is told, and how much of it is a problem.
#[derive(Default)]
struct Said {
    text: String,
    problems: usize,
}

impl Said {
    fn line(&mut self, name: &str, what: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{name:<12} {what}");
    }

    fn problem(&mut self, name: &str, what: &str) {
        self.problems += 1;
        self.line(name, &format!("PROBLEM: {what}"));
    }

    fn abilities(&mut self, abilities: &Abilities) {
        let rows = [
            ("confinement", abilities.confines, "by the kernel (openat2)", "component by component: no openat2 here"),
            (
                "exchange",
                abilities.exchanges,
                "two names in one moment",
                "no: a file that is replaced is missing for an instant",
            ),
            ("no-clobber", abilities.renames_new, "renames can refuse to replace", "no: by way of a second name"),
            ("lock", abilities.locks, "directories can be locked", "no: writers are not kept out of each other's way"),
            ("hard links", abilities.links, "yes", "no"),
            ("symlinks", abilities.symlinks, "yes", "no"),
            ("attributes", abilities.attributes, "extended attributes are kept", "the file system has none"),
            (
                "case",
                abilities.case_sensitive,
                "`A` and `a` are two names",
                "`A` and `a` are one name: write paths as they are on the disk",
            ),
        ];
        for (name, there, yes, no) in rows {
            self.line(name, if there { yes } else { no });
        }
    }

    /// What a commit left whose process died.
    fn leftovers(&mut self, workspace: &Workspace) {
        match recover(workspace, &RecoverOptions::default().check(true)) {
            Ok(report) if report.is_clean() => self.line("leftovers", "none"),
            Ok(report) => {
                let (commits, files) = (report.commits.len(), report.temporaries.len());
                self.problem("leftovers", &format!(
                    "a process died while it changed files here ({commits} commits, {files} temporary files); the next patch puts that right"
                ));
            }
            Err(error) => self.problem("leftovers", &error.to_string()),
        }
    }

    fn programs(&mut self, workspace: &Workspace) {
        for (name, asked, what_for) in PROGRAMS {
            let program = Program::new(*name, workspace.path())
                .args([*asked])
                .deadline(Deadline::after(PATIENCE))
                .max_output(4096);
            match program.run() {
                Ok(done) if done.end == ProgramEnd::Exited(0) => {
                    let version = String::from_utf8_lossy(&done.stdout);
                    self.line(name, version.lines().next().unwrap_or_default());
                }
                Ok(_) => self.line(name, "is there and does not tell its version"),
                Err(_) => self.line(name, &format!("not found: with it, {what_for}")),
            }
        }
    }
}
