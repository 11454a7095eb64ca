//! Committing new files and edits to the disk. The file system decides; compare only runs on the same one.
#![allow(clippy::disallowed_methods, reason = "a bench makes its tree")]

mod load;

use divan::Bencher;
use divan::counter::ItemsCount;
use restitch::{CommitOptions, Durability, Patch, Plan, PlanOptions, Workspace, prepare};

const FILES: [usize; 4] = [1, 10, 100, 1_000];

/// Edits so many files of 200 lines each; the tree is made anew before each run.
fn edit(bencher: Bencher<'_, '_>, files: usize, durability: Durability) {
    let dir = tempfile::tempdir().expect("a directory");
    let text = load::code(4, 200);
    let all: Vec<&str> = text.lines().collect();
    let rows = load::hunks(&all, &[load::Change::one_line(100)], false, str::to_owned);
    let ops = |file| format!("*** Update File: d{}/{file}\n{rows}", file % 10);
    let patch = format!("*** Begin Patch\n{}*** End Patch\n", (0..files).map(ops).collect::<String>());
    let patch = Patch::parse(patch.as_bytes()).expect("a patch");
    let options = CommitOptions::default().durability(durability);
    (0..10).for_each(|d| std::fs::create_dir_all(dir.path().join(format!("d{d}"))).expect("a directory"));
    let fresh = || {
        for file in 0..files {
            std::fs::write(dir.path().join(format!("d{}/{file}", file % 10)), &text).expect("a file");
        }
        let workspace = Workspace::open(dir.path()).expect("a root");
        let plan = Plan::new(patch.clone(), &workspace, &PlanOptions::default()).expect("it applies");
        (workspace, plan)
    };
    bencher.counter(ItemsCount::new(files)).with_inputs(fresh).bench_values(|(workspace, plan)| {
        let outcome = prepare(&workspace, plan.steps(), &options).and_then(restitch::Prepared::commit);
        outcome.expect("it commits")
    });
}

#[divan::bench(args = FILES, sample_size = 1, sample_count = 20)]
fn safe_against_kill(bencher: Bencher<'_, '_>, files: usize) {
    edit(bencher, files, Durability::Process);
}

#[divan::bench(args = FILES, sample_size = 1, sample_count = 10)]
fn safe_against_power_loss(bencher: Bencher<'_, '_>, files: usize) {
    edit(bencher, files, Durability::Power);
}

fn main() {
    divan::main();
}
