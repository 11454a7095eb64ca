//! Finding one hunk: at each tier, at the end, nowhere, in two places, and in texts made to be slow.

mod load;

use divan::Bencher;
use divan::counter::BytesCount;
use load::Change;
use restitch::{HunkPlacer, OpKind, Patch, Policy, Updated, seek_sequence, update};

#[global_allocator]
static MEMORY: divan::AllocProfiler = divan::AllocProfiler::system();

const LINES: [usize; 3] = [1_000, 100_000, 1_000_000];

/// Hunks out of their text.
pub(crate) fn parsed(hunks: &str) -> Vec<restitch::Hunk> {
    let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}*** End Patch\n");
    let mut patch = Patch::parse(text.as_bytes()).expect("a patch");
    match patch.ops.remove(0).kind {
        OpKind::Update { hunks, .. } => hunks,
        _ => panic!("an Update was written above"),
    }
}

/// Looks for a hunk near the end of a text that looks like code; `edit` changes the text's lines there, `view` the hunk's.
fn near_the_end(bencher: Bencher<'_, '_>, lines: usize, edit: fn(&str) -> String, view: fn(&str) -> String) {
    let text = load::code(1, lines);
    let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = lines - lines / 100 - 1;
    (at - 3..at + 4).for_each(|i| all[i] = edit(&format!("    // place {i} of the hunk")));
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let hunks = parsed(&load::hunks(&all, &[Change::one_line(at)], false, view));
    search(bencher, all.join("\n") + "\n", &hunks);
}

fn search(bencher: Bencher<'_, '_>, text: String, hunks: &[restitch::Hunk]) {
    let policy = Policy::default();
    let run = || -> Option<Updated> { update(text.as_bytes(), hunks, &policy).ok() };
    bencher.counter(BytesCount::of_str(&text)).bench(run);
}

#[divan::bench(args = LINES)]
fn exact(bencher: Bencher<'_, '_>, lines: usize) {
    near_the_end(bencher, lines, str::to_owned, str::to_owned);
}

#[divan::bench(args = LINES)]
fn trim_end(bencher: Bencher<'_, '_>, lines: usize) {
    near_the_end(bencher, lines, |line| format!("{line}  "), |line| line.trim_end().into());
}

#[divan::bench(args = LINES)]
fn trim(bencher: Bencher<'_, '_>, lines: usize) {
    near_the_end(bencher, lines, str::to_owned, |line| line.trim().into());
}

#[divan::bench(args = LINES)]
fn unicode(bencher: Bencher<'_, '_>, lines: usize) {
    near_the_end(
        bencher,
        lines,
        |line| format!("{line} \u{2014} \u{201c}so\u{201d}"),
        |line| line.replace('\u{2014}', "-").replace(['\u{201c}', '\u{201d}'], "\""),
    );
}

#[divan::bench(args = LINES)]
fn not_found(bencher: Bencher<'_, '_>, lines: usize) {
    near_the_end(bencher, lines, str::to_owned, |line| line.replace("hunk", "other"));
}

#[divan::bench(args = LINES)]
fn ambiguous(bencher: Bencher<'_, '_>, lines: usize) {
    let text = load::code(1, lines / 2).repeat(2);
    let hunks = parsed("@@\n-        return Ok(());\n+        return Err(());\n");
    search(bencher, text, &hunks);
}

/// Texts in which lines do not tell places apart, each with a hunk of a thousand lines that fits once or nowhere.
#[divan::bench_group]
mod made_to_be_slow {
    use super::{BytesCount, load, parsed, search};
    use divan::Bencher;
    use load::Change;

    const LINES: [usize; 2] = [100_000, 1_000_000];

    fn last_of(bencher: Bencher<'_, '_>, lines: Vec<String>, view: fn(&str) -> String) {
        let all: Vec<&str> = lines.iter().map(String::as_str).collect();
        let change = Change { context: 999, ..Change::one_line(all.len() - 1) };
        let hunks = parsed(&load::hunks(&all, &[change], false, view));
        search(bencher, all.join("\n") + "\n", &hunks);
    }

    #[divan::bench(args = LINES)]
    fn equal_lines(bencher: Bencher<'_, '_>, lines: usize) {
        let mut all = vec!["        },".to_owned(); lines];
        all[lines - 1] = "the end".into();
        last_of(bencher, all, str::to_owned);
    }

    #[divan::bench(args = LINES)]
    fn equal_lines_not_found(bencher: Bencher<'_, '_>, lines: usize) {
        let mut all = vec!["        },".to_owned(); lines];
        all[lines - 1] = "the end".into();
        last_of(bencher, all, |line| line.replace("the end", "no end"));
    }

    #[divan::bench(args = LINES)]
    fn last_character_differs(bencher: Bencher<'_, '_>, lines: usize) {
        let line = |i: usize| format!("{}{}", "        a_long_common_beginning = ".repeat(2), i % 7);
        let mut all: Vec<String> = (0..lines).map(line).collect();
        all[lines - 1] = line(9);
        last_of(bencher, all, str::to_owned);
    }

    #[divan::bench(args = LINES)]
    fn long_common_beginnings(bencher: Bencher<'_, '_>, lines: usize) {
        let line = |i: usize| format!("{}{i}", "    the same words again and again".repeat(3));
        last_of(bencher, (0..lines).map(line).collect(), str::to_owned);
    }

    #[divan::bench(args = LINES)]
    fn the_primitive_among_equal_lines(bencher: Bencher<'_, '_>, lines: usize) {
        let (text, pattern) = (vec!["same"; lines], [vec!["same"; 999], vec!["other"]].concat());
        let bytes = BytesCount::new(text.len() * 4);
        bencher.counter(bytes).bench(|| super::seek_sequence(&text, &pattern, 0, false));
    }
}

/// Finding the lines alone.
#[divan::bench(args = LINES)]
fn line_index(bencher: Bencher<'_, '_>, lines: usize) {
    let (text, policy) = (load::code(1, lines), Policy::default());
    bencher.counter(BytesCount::of_str(&text)).bench(|| HunkPlacer::new(text.as_bytes(), &policy).map(|p| p.steps()));
}

fn main() {
    divan::main();
}
