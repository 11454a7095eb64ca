//! Allocations and peak memory, counted: exact on every machine, unlike times.
//!
//! One test function, because the counters belong to the whole process.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::alloc::System;

use cap::Cap;
use restitch::{
    ApplyOptions, Hunk, LiveApply, LiveFiles, MemSource, OpKind, Parser, Patch, Plan, PlanOptions, Policy, Sign, update,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static MEMORY: Cap<&StatsAlloc<System>> = Cap::new(&INSTRUMENTED_SYSTEM, usize::MAX);

/// What some work cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    /// Allocations, and reallocations, which a growing vector makes.
    allocations: usize,
    growths: usize,
    /// Most bytes held at a time beyond what was held before.
    peak: usize,
}

fn cost<T>(work: impl FnOnce() -> T) -> (Cost, T) {
    // The peak is kept since the process began: what was freed since is taken again, so that the least rise shows.
    let ballast: Vec<u8> = Vec::with_capacity(MEMORY.max_allocated() - MEMORY.allocated());
    let before = MEMORY.max_allocated();
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    let result = work();
    let change = region.change();
    let peak = MEMORY.max_allocated() - before;
    drop(ballast);
    (Cost { allocations: change.allocations, growths: change.reallocations, peak }, result)
}

/// `rows` are signs and texts.
fn hunk(rows: &[(Sign, String)]) -> Hunk {
    let mut hunk = Hunk::default();
    rows.iter().for_each(|(sign, text)| hunk.push(*sign, text.as_bytes()));
    hunk
}

/// A file of so many lines, each its own, with white space at the end of some.
fn file(lines: usize) -> Vec<u8> {
    let line =
        |i| format!("    let value_{i:07} = compute(\u{2019}{i:07}\u{2019});{}\n", if i % 3 == 0 { " " } else { "" });
    (0..lines).map(line).collect::<String>().into_bytes()
}

/// What finding, or not finding, one hunk near the end of a file costs, by what is asked.
fn costs_of_one_hunk(lines: usize) -> Vec<(&'static str, Cost)> {
    let text = file(lines);
    let at = lines - 10;
    let line = |i: usize| String::from_utf8_lossy(text.split(|byte| *byte == b'\n').nth(i).unwrap()).into_owned();
    let around = |view: &dyn Fn(String) -> String| {
        hunk(&[
            (Sign::Context, view(line(at))),
            (Sign::Remove, view(line(at + 1))),
            (Sign::Add, "    changed();".into()),
            (Sign::Context, view(line(at + 2))),
        ])
    };
    let asked = [
        ("exact", around(&|line| line), true),
        ("trim-end", around(&|line| line.trim_end().into()), true),
        ("trim", around(&|line| line.trim().into()), true),
        ("unicode", around(&|line| line.replace('\u{2019}', "'")), true),
        ("not found", around(&|line| line.replace("compute", "computed")), false),
    ];
    let policy = Policy::default();
    let run = |(name, hunk, fits): (&'static str, Hunk, bool)| {
        let (cost, result) = cost(|| update(&text, std::slice::from_ref(&hunk), &policy));
        assert_eq!(result.is_ok(), fits, "{name}");
        (name, cost)
    };
    asked.into_iter().map(run).collect()
}

fn finding_a_hunk_allocates_nothing_per_line() {
    // Large enough to be searched as bytes, and doubled.
    let small = costs_of_one_hunk(20_000);
    let large = costs_of_one_hunk(40_000);
    for ((name, small), (_, large)) in small.into_iter().zip(large) {
        // What a refusal shows of the file may differ by a line.
        let spare = if name == "not found" { 2 } else { 0 };
        assert!(large.allocations <= small.allocations + spare, "{name}: {small:?} {large:?}");
        assert!(large.growths <= small.growths + spare, "{name}: {small:?} {large:?}");
        assert!(large.allocations <= 40, "{name}: {large:?}");
        // The line index of a large file: 8 bytes for each 512.
        assert!(large.peak <= 36 * 1024, "{name}: {large:?}");
    }
}

fn many_hunks_cost_a_constant_per_line() {
    let lines = 40_000;
    let text = file(lines);
    let all: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let hunk_at = |i: usize| {
        let row = |k: usize| String::from_utf8_lossy(all[k]).into_owned();
        hunk(&[(Sign::Context, row(i)), (Sign::Remove, row(i + 1)), (Sign::Add, "x".into())])
    };
    let hunks: Vec<Hunk> = (0..lines - 20).step_by(20).map(hunk_at).collect();
    let (cost, updated) = cost(|| update(&text, &hunks, &Policy::default()));
    assert!(updated.is_ok());
    assert!(cost.allocations <= 12 * hunks.len() + 100, "{cost:?} for {} hunks", hunks.len());
    assert!(cost.peak <= 120 * lines, "{cost:?} for {lines} lines");
}

/// A patch of `ops` Adds and Updates with `rows` rows each.
fn patch(ops: usize, rows: usize) -> Vec<u8> {
    let mut text = String::from("*** Begin Patch\n");
    for op in 0..ops {
        text += &match op % 2 {
            0 => format!("*** Add File: add/{op}.txt\n"),
            _ => format!("*** Update File: update/{op}.txt\n@@\n"),
        };
        let sign = if op % 2 == 0 { '+' } else { ' ' };
        (0..rows).for_each(|row| text += &format!("{sign}some line of text, number {row} of file {op}\n"));
        text += if op % 2 == 0 { "" } else { "-gone\n+come\n" };
    }
    (text + "*** End Patch\n").into_bytes()
}

fn parsing_allocates_per_operation_and_holds_the_text_once() {
    // (operations, rows of each)
    for (ops, rows) in [(200, 20), (200, 40), (20, 2_000)] {
        let text = patch(ops, rows);
        let (whole, parsed) = cost(|| Patch::parse(&text).unwrap());
        assert!(whole.allocations <= 4 * ops + 20, "{ops} of {rows}: {whole:?}");
        assert!(whole.peak <= text.len() * 13 / 10 + 64 * 1024, "{ops} of {rows}: {whole:?} for {}", text.len());
        drop(parsed);
        // In small pieces, with what is complete taken out: memory is that of one operation.
        let (pieces, _) = cost(|| {
            let mut parser = Parser::default();
            for piece in text.chunks(16) {
                parser.feed(piece);
                while parser.next_event().unwrap().is_some() {}
                parser.take_complete().for_each(drop);
            }
            parser.finish().unwrap()
        });
        assert!(pieces.allocations <= 4 * ops + 40, "{ops} of {rows}: {pieces:?}");
        assert!(pieces.peak <= 4 * text.len() / ops + 64 * 1024, "{ops} of {rows}: {pieces:?}");
    }
}

fn a_large_new_file_is_held_once() {
    let text = patch(1, 50_000);
    let parsed = Patch::parse(&text).unwrap();
    let OpKind::Add { content } = &parsed.ops[0].kind else { panic!("an Add") };
    let size = content.len();
    let (cost, plan) = cost(|| Plan::new(parsed, &MemSource::new(), &PlanOptions::default()).unwrap());
    assert_eq!(plan.steps().len(), 1);
    assert!(cost.peak <= 16 * 1024, "{cost:?} for a content of {size}");
}

fn streaming_a_patch_costs_what_applying_it_at_once_costs() {
    let lines = 40_000;
    let text = file(lines);
    let all: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
    let mut patch = String::from("*** Begin Patch\n*** Update File: a\n");
    let hunks = (0..lines - 20).step_by(20);
    let count = hunks.len();
    hunks.for_each(|i| patch += &format!("@@\n {}\n-{}\n+x\n", all[i], all[i + 1]));
    patch += "*** End Patch\n";
    let tree = || MemSource::new().file("a", text.clone());
    let (source, options) = (tree(), PlanOptions::default());
    let (whole, _plan) = cost(|| Plan::new(Patch::parse(patch.as_bytes()).unwrap(), &source, &options).unwrap());
    let (source, options) = (tree(), ApplyOptions::default());
    let (streamed, events) = cost(|| {
        let files = LiveFiles::new();
        let mut live = LiveApply::new(&source, &files, &options);
        let (mut lines, mut events) = (String::with_capacity(4096), 0);
        for piece in patch.as_bytes().chunks(64 << 10) {
            live.feed(piece);
            while let Some(event) = live.next_event().unwrap() {
                lines.clear();
                event.write_json(&mut lines);
                events += 1;
            }
        }
        let _plan = live.into_plan().unwrap();
        events
    });
    // All hunks, and that the operation was opened and is complete.
    assert_eq!(events, count + 2);
    assert!(streamed.allocations <= whole.allocations + 100, "{streamed:?} {whole:?}");
    assert!(streamed.peak <= whole.peak + whole.peak / 10 + 256 * 1024, "{streamed:?} {whole:?}");
}

#[test]
fn memory_is_bounded_and_counted() {
    finding_a_hunk_allocates_nothing_per_line();
    many_hunks_cost_a_constant_per_line();
    parsing_allocates_per_operation_and_holds_the_text_once();
    a_large_new_file_is_held_once();
    streaming_a_patch_costs_what_applying_it_at_once_costs();
}
