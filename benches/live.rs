//! A patch read and planned at once, and the same as it streams in pieces of 64 KiB, with its events as JSON.

mod load;

use divan::Bencher;
use divan::counter::BytesCount;
use load::Change;
use restitch::{ApplyOptions, LiveApply, LiveFiles, MemSource, Patch, Plan, PlanOptions};

/// Files and hunks of each: one with very many, many with some, and single searches.
const LOADS: [(usize, usize); 4] = [(1, 12_000), (200, 25), (1_000, 5), (1, 5)];

/// Lines for each hunk.
const APART: usize = 40;

fn load((files, hunks): (usize, usize)) -> (MemSource, String) {
    let (mut source, mut patch) = (MemSource::new(), String::from("*** Begin Patch\n"));
    for file in 0..files {
        let text = load::code(file as u64, hunks * APART);
        let name = |(i, line): (usize, &str)| if i % APART == 18 { format!("    // place {i}") } else { line.into() };
        let all: Vec<String> = text.lines().enumerate().map(name).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let changes: Vec<Change> = (0..hunks).map(|k| Change::one_line(k * APART + 20)).collect();
        patch += &format!("*** Update File: {file}\n{}", load::hunks(&all, &changes, false, str::to_owned));
        source = source.file(&file.to_string(), all.join("\n") + "\n");
    }
    (source, patch + "*** End Patch\n")
}

#[divan::bench(args = LOADS)]
fn at_once(bencher: Bencher<'_, '_>, size: (usize, usize)) {
    let ((source, patch), options) = (load(size), PlanOptions::default());
    bencher.counter(BytesCount::of_str(&patch)).bench(|| {
        let patch = Patch::parse(patch.as_bytes()).expect("a patch");
        Plan::new(patch, &source, &options).expect("it applies")
    });
}

#[divan::bench(args = LOADS)]
fn streamed(bencher: Bencher<'_, '_>, size: (usize, usize)) {
    let ((source, patch), options) = (load(size), ApplyOptions::default());
    bencher.counter(BytesCount::of_str(&patch)).bench(|| {
        let files = LiveFiles::new();
        let mut live = LiveApply::new(&source, &files, &options);
        let mut lines = String::new();
        for piece in patch.as_bytes().chunks(64 << 10) {
            lines.clear();
            live.feed(piece);
            while let Some(event) = live.next_event().expect("a patch") {
                event.write_json(&mut lines);
            }
        }
        live.into_plan().expect("it applies")
    });
}

fn main() {
    divan::main();
}
