//! Planning: many hunks in one file, many files.

mod load;

use divan::Bencher;
use divan::counter::ItemsCount;
use load::Change;
use restitch::{MemSource, Patch, Plan, PlanOptions};

#[global_allocator]
static MEMORY: divan::AllocProfiler = divan::AllocProfiler::system();

fn plan(bencher: Bencher<'_, '_>, source: &MemSource, patch: &str, hunks: usize) {
    let (patch, options) = (Patch::parse(patch.as_bytes()).expect("a patch"), PlanOptions::default());
    let run = |patch| Plan::new(patch, source, &options).expect("it applies");
    bencher.counter(ItemsCount::new(hunks)).with_inputs(|| patch.clone()).bench_values(run);
}

fn many_hunks(bencher: Bencher<'_, '_>, hunks: usize, line: impl Fn(usize, &str) -> String) {
    let code = load::code(2, hunks * 20);
    let all: Vec<String> = code.lines().enumerate().map(|(i, text)| line(i, text)).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let changes: Vec<Change> = (0..hunks).map(|k| Change::one_line(k * 20 + 10)).collect();
    let rows = load::hunks(&all, &changes, false, |line| line.trim_end().into());
    let patch = format!("*** Begin Patch\n*** Update File: f\n{rows}*** End Patch\n");
    plan(bencher, &MemSource::new().file("f", all.join("\n") + "\n"), &patch, hunks);
}

#[divan::bench(args = [1_250, 2_500, 5_000, 10_000])]
fn hunks_exact(bencher: Bencher<'_, '_>, hunks: usize) {
    many_hunks(
        bencher,
        hunks,
        |i, text| if i % 20 == 8 { format!("    // place {i}") } else { text.trim_end().into() },
    );
}

#[divan::bench(args = [1_250, 2_500, 5_000, 10_000])]
fn hunks_trim_end(bencher: Bencher<'_, '_>, hunks: usize) {
    many_hunks(
        bencher,
        hunks,
        |i, text| if i % 20 == 8 { format!("    // place {i}  ") } else { text.trim_end().into() },
    );
}

/// No line of the file tells a place; only stretches of lines do.
#[divan::bench(args = [1_250, 2_500, 5_000, 10_000])]
fn hunks_of_three_lines_only(bencher: Bencher<'_, '_>, hunks: usize) {
    let mut chance = load::Chance::new(3);
    let all: Vec<&str> = (0..hunks * 30).map(|_| ["heads", "tails", "rim"][chance.below(3)]).collect();
    let changes = |k| Change { context: 14, ..Change::one_line(k * 30 + 15) };
    let rows = load::hunks(&all, &(0..hunks).map(changes).collect::<Vec<_>>(), false, str::to_owned);
    let patch = format!("*** Begin Patch\n*** Update File: f\n{rows}*** End Patch\n");
    plan(bencher, &MemSource::new().file("f", all.join("\n") + "\n"), &patch, hunks);
}

#[divan::bench(args = [1, 10, 100])]
fn files_of_1000_lines(bencher: Bencher<'_, '_>, files: usize) {
    let (mut source, mut patch) = (MemSource::new(), String::from("*** Begin Patch\n"));
    for file in 0..files {
        let text = load::code(file as u64, 1_000);
        let all: Vec<&str> = text.lines().collect();
        let changes: Vec<Change> = (0..5).map(|k| Change::one_line(100 + 200 * k)).collect();
        patch += &format!("*** Update File: {file}\n{}", load::hunks(&all, &changes, false, str::to_owned));
        source = source.file(&file.to_string(), text);
    }
    plan(bencher, &source, &(patch + "*** End Patch\n"), files * 5);
}

fn main() {
    divan::main();
}
