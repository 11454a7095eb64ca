//! Searches beside ripgrep's: inside a running process, and as a program. Started by `benches/search.sh`.
//!
//! Each round runs every program once, in an order that turns from round to round. Figures are medians over the rounds; a
//! ratio is the median of the rounds' ratios to ripgrep. What one search inside a process takes is the difference between
//! a process that searches many times and one that searches once.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that starts others and prints what it saw"
)]

mod hard;
#[path = "../load/mod.rs"]
mod load;
mod trees;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use restitch::{Mode, Search, SearchOptions, Syntax, Workspace};
use trees::{ABSENT, RARE, TREES};
use wait4::Wait4 as _;

/// Rows without a bound.
const ALL: &str = "1000000000";

/// One thing that is searched for.
struct Work {
    name: &'static str,
    /// Flags of `restitch search`.
    ours: &'static [&'static str],
    /// The whole of ripgrep's command, for a shell.
    theirs: &'static str,
    pattern: &'static str,
    /// Rows wanted of us.
    limit: &'static str,
    trees: &'static [&'static str],
}

const EVERY: &[&str] = &["small", "medium", "large"];

const WORKS: [Work; 6] = [
    Work { name: "files with a rare word", ours: &["-F"], theirs: "-l -F", pattern: RARE, limit: ALL, trees: EVERY },
    Work {
        name: "lines with a common word, counted",
        ours: &["--mode", "count", "-F"],
        theirs: "-c -F",
        pattern: "return Ok",
        limit: ALL,
        trees: EVERY,
    },
    Work {
        name: "lines that match a regular expression, counted",
        ours: &["--mode", "count"],
        theirs: "-c",
        pattern: r"fn \w+_keel_\d+",
        limit: ALL,
        trees: EVERY,
    },
    Work {
        name: "50 rows of content, dense (there: all rows)",
        ours: &["--mode", "content", "-F"],
        theirs: "-n -F",
        pattern: "return Ok",
        limit: "50",
        trees: &["small", "medium"],
    },
    Work {
        name: "first 50 rows in path order, dense (there: `--sort path`, cut by `head`)",
        ours: &["--mode", "content", "-F"],
        theirs: "-n -F --sort path | head -n 50",
        pattern: "return Ok",
        limit: "50",
        trees: EVERY,
    },
    Work {
        name: "an absent word, 50 rows wanted (there: unsorted)",
        ours: &["--mode", "content", "-F"],
        theirs: "-n -F",
        pattern: ABSENT,
        limit: "50",
        trees: EVERY,
    },
];

/// What one run took. Times in milliseconds, memory in bytes.
#[derive(Clone, Copy)]
struct Run {
    wall: f64,
    cpu: f64,
    peak: u64,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["times", count, mode, limit, syntax, pattern] => times(count, mode, limit, syntax, pattern),
        ["hard", dir] => hard::make(Path::new(dir)).expect("the trees can be made"),
        ["make", dir, name] => {
            let tree = TREES.into_iter().find(|tree| tree.name == name).expect("a tree of this table");
            tree.made(Path::new(dir)).expect("the tree can be made");
        }
        [dir, program, rg, ref wanted @ ..] => compare(Path::new(dir), program, rg, wanted),
        _ => {
            eprintln!("benches/search.sh starts this: search DIRECTORY RESTITCH RG [small] [medium] [large] [hard]");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Searches the current directory so many times, each time as if it were the first.
fn times(count: &str, mode: &str, limit: &str, syntax: &str, pattern: &str) {
    let workspace = Workspace::open(".").expect("the tree is there");
    let mode = match mode {
        "files" => Mode::Files,
        "count" => Mode::Count,
        _ => Mode::Content,
    };
    let syntax = if syntax == "literal" { Syntax::Literal } else { Syntax::Auto };
    let limit = limit.parse().expect("a number");
    let mut sink = std::io::sink();
    for _ in 0..count.parse().expect("a number") {
        let options = SearchOptions::new().mode(mode).syntax(syntax).limit(limit).max_bytes(1 << 30);
        let answer =
            Search::new(pattern, options).and_then(|search| search.run(&workspace, "")).expect("it can be run");
        answer.write_text(&mut sink).and_then(|()| sink.flush()).expect("nothing is written");
    }
}

fn compare(dir: &Path, program: &str, rg: &str, wanted: &[&str]) {
    let myself = std::env::current_exe().expect("this program has a path");
    let myself = myself.to_str().expect("as UTF-8");
    if wanted.contains(&"hard") {
        hard::run(&dir.join("hard"), myself, program);
    }
    if wanted == ["hard"] {
        return;
    }
    println!("| Work | Tree | Library: CPU | Library: wall | Program: CPU | Program: wall | peak MB, here | there |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for tree in TREES.iter().filter(|tree| wanted.contains(&tree.name)) {
        // Made by another process, since what is started inherits the peak memory of what starts it.
        let made = Command::new(myself).args(["make", dir.to_str().expect("as UTF-8"), tree.name]).status();
        assert!(made.is_ok_and(|status| status.success()), "the tree {} can be made", tree.name);
        for work in WORKS.iter().filter(|work| work.trees.contains(&tree.name)) {
            let rounds = if tree.name == "large" { 5 } else { 15 };
            row(work, tree.name, &dir.join(tree.name), &Peers { myself, program, rg }, rounds);
        }
    }
}

/// The programs that are started.
struct Peers<'a> {
    myself: &'a str,
    program: &'a str,
    rg: &'a str,
}

fn row(work: &Work, tree: &str, dir: &Path, peers: &Peers<'_>, rounds: usize) {
    // What ends early ends so early that many are needed to be measured.
    let repeats = if tree == "small" || (work.limit != ALL && work.pattern != ABSENT) { 40 } else { 4 };
    let quoted = |word: &str| format!("'{word}'");
    let ours: Vec<String> = work.ours.iter().map(|word| quoted(word)).collect();
    // Both under a shell where one needs it.
    let (flags, pipe) = work.theirs.split_once('|').map_or((work.theirs, ""), |(flags, rest)| (flags, rest));
    let pipe = if pipe.is_empty() { String::new() } else { format!("|{pipe}") };
    let there = format!("{} {flags} {} . {pipe} >/dev/null", quoted(peers.rg), quoted(work.pattern));
    let here = format!(
        "{} search {} --limit {} --max-bytes {ALL} {} . >/dev/null",
        quoted(peers.program),
        ours.join(" "),
        work.limit,
        quoted(work.pattern)
    );
    let exec = if pipe.is_empty() { "exec " } else { "" };
    let mode = work.ours.iter().position(|word| *word == "--mode").map_or("files", |at| work.ours[at + 1]);
    let syntax = if work.ours.contains(&"-F") { "literal" } else { "auto" };
    let library = |count: usize| {
        let mut command = Command::new(peers.myself);
        command.args(["times", &count.to_string(), mode, work.limit, syntax, work.pattern]);
        command
    };
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{exec}{line}")]);
        command
    };
    let mut runs: Vec<[Run; 4]> = Vec::new();
    for round in 0..=rounds {
        let mut all = [Run { wall: 0.0, cpu: 0.0, peak: 0 }; 4];
        for turn in 0..4 {
            let at = (turn + round) % 4;
            all[at] = once(
                match at {
                    0 => library(1),
                    1 => library(1 + repeats),
                    2 => shell(&here),
                    _ => shell(&there),
                },
                dir,
            )
            .0;
        }
        runs.push(all);
    }
    // The first round only warms the page cache.
    let runs = &runs[1..];
    let one = |of: fn(&Run) -> f64| median(runs, |all| (of(&all[1]) - of(&all[0])) / repeats as f64 / of(&all[3]));
    let whole = |of: fn(&Run) -> f64| median(runs, |all| of(&all[2]) / of(&all[3]));
    let peak = |at: usize| median(runs, |all| all[at].peak as f64 / 1e6);
    println!(
        "| {} | {tree} | {:.2} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} |",
        work.name,
        one(|run| run.cpu),
        one(|run| run.wall),
        whole(|run| run.cpu),
        whole(|run| run.wall),
        peak(2),
        peak(3)
    );
}

/// What a run took, and how it ended.
fn once(mut command: Command, dir: &Path) -> (Run, i32) {
    let begun = Instant::now();
    let child = command.current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let ended = child.and_then(|child| child.wait4()).expect("the program can be started");
    let wall = begun.elapsed().as_secs_f64() * 1e3;
    let used = ended.rusage;
    let run = Run { wall, cpu: (used.utime + used.stime).as_secs_f64() * 1e3, peak: used.maxrss };
    (run, ended.status.code().unwrap_or(-1))
}

fn median(runs: &[[Run; 4]], of: impl Fn(&[Run; 4]) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
