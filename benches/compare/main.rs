//! Programs side by side: this one, and its peers as far as they are there. Started by `benches/compare.sh`.
//!
//! Each round runs every program once, in an order that turns from round to round, on a tree made anew. Figures are medians
//! over the rounds; a ratio is the median of the rounds' ratios, so that what disturbs the machine disturbs both sides.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that starts others and prints what it saw"
)]

mod floor;
#[path = "../load/mod.rs"]
mod load;
mod loads;
mod measure;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use loads::Sizes;

/// When no further load is begun.
const LIMIT: Duration = Duration::from_secs(540);
const QUICK_LIMIT: Duration = Duration::from_secs(50);
/// When one run of one program is ended.
const RUN_LIMIT: Duration = Duration::from_secs(30);
const QUICK_RUN_LIMIT: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options: Vec<&str> = words.iter().map(String::as_str).collect();
    let (dir, options) = match options[..] {
        ["floor", ..] => return floor::run(&words[1..]),
        ["make", dir, size] => return loads::make_all(Path::new(dir), size == "quick"),
        [dir, ref options @ ..] => (dir, options),
        [] => {
            eprintln!("benches/compare.sh starts this: compare DIRECTORY [--quick] [LOAD...]");
            return ExitCode::FAILURE;
        }
    };
    let quick = options.contains(&"--quick");
    let wanted: Vec<&str> = options.iter().copied().filter(|word| !word.starts_with("--")).collect();
    let dir = PathBuf::from(dir).join(if quick { "quick" } else { "full" });
    // Made by a process of its own, so that this one stays small: what it starts inherits its peak memory.
    let made = measure::own(["make", &dir.to_string_lossy(), if quick { "quick" } else { "full" }]).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("the loads could not be made in {}", dir.display());
        return ExitCode::FAILURE;
    }
    let begun = Instant::now();
    let (limit, run_limit) = if quick { (QUICK_LIMIT, QUICK_RUN_LIMIT) } else { (LIMIT, RUN_LIMIT) };
    let (mut right, mut before) = (true, BTreeMap::new());
    table::head();
    for load in loads::all(&dir, &if quick { Sizes::QUICK } else { Sizes::FULL }) {
        if !wanted.is_empty() && !wanted.iter().any(|name| load.name.starts_with(name)) {
            continue;
        }
        if begun.elapsed() > limit {
            println!("| {} | left out: the time is over |", load.name);
            continue;
        }
        let rounds = if quick { load.rounds.div_ceil(2) } else { load.rounds };
        let figures = measure::rounds(&load, rounds, run_limit);
        table::row(&load, &figures);
        right &= figures.iter().filter(|figure| figure.own).all(|figure| figure.right);
        table::growth(&load, &figures, &mut before);
    }
    println!("\n{:.0} s in all", begun.elapsed().as_secs_f64());
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
