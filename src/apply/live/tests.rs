use proptest::prelude::*;

use super::*;
use crate::patch::{Format, ParseOptions, Patch};
use crate::plan::Plan;
use crate::workspace::MemSource;

/// Everything that is told, one string an event, and the end.
fn live(tree: &MemSource, options: &ApplyOptions, text: &[u8], piece: usize) -> (Vec<String>, String) {
    let files = LiveFiles::new();
    let mut live = LiveApply::new(tree, &files, options);
    let mut events = Vec::new();
    for piece in text.chunks(piece.max(1)) {
        live.feed(piece);
        while let Ok(Some(event)) = live.next_event() {
            events.push(event.json());
        }
    }
    live.end();
    while let Ok(Some(event)) = live.next_event() {
        events.push(event.json());
    }
    (events, end(live.into_plan().map(|(plan, _)| plan)))
}

/// A plan or an error as text.
fn end(result: Result<Plan, ApplyError>) -> String {
    match result {
        Ok(plan) => format!("{:?} {:?}", plan.steps(), plan.changes()),
        Err(error) => format!("{} {}", error.explain(), error.json()),
    }
}

fn at_once(tree: &MemSource, options: &ApplyOptions, text: &[u8]) -> String {
    let patch = match Patch::parse_with(text, &options.parse) {
        Ok(patch) => patch,
        Err(error) => return end(Err(error.into())),
    };
    end(Plan::new(patch, tree, &options.plan).map_err(ApplyError::Plan))
}

fn tree() -> MemSource {
    let numbered: String = (1..=60).map(|n| format!("line {n}\n")).collect();
    MemSource::new()
        .file("a", numbered)
        .file("b", "one\ntwo\nthree\n")
        .file("wide", b"\xff\xfea\0".to_vec())
        .link("l", "b")
}

#[test]
fn a_misfit_is_told_before_the_next_hunk_is_in() {
    let text = b"*** Begin Patch\n*** Update File: a\n@@\n-line 5\n+5\n@@\n-line 9\n+9\n@@\n-line 999\n+x\n@@\n";
    let (tree, files, options) = (tree(), LiveFiles::new(), ApplyOptions::default());
    let mut live = LiveApply::new(&tree, &files, &options);
    live.feed(text);
    let mut told = Vec::new();
    while let Ok(Some(event)) = live.next_event() {
        told.push(event.json());
    }
    assert_eq!(told.len(), 4, "{told:#?}");
    assert!(told[1].contains("\"line\":5,") && told[2].contains("\"line\":9,"), "{told:#?}");
    assert!(told[3].contains("misfit") && told[3].contains("not-found") && told[3].contains("line 999"), "{told:#?}");
    live.feed(b"-line 20\n+20\n*** End Patch\n");
    let error = live.into_plan().unwrap_err();
    assert!(error.explain().contains("line 999"));
}

#[test]
fn a_refused_operation_is_told_once_and_as_at_the_end() {
    let table = [
        ("*** Update File: none\n@@\n-x\n+y\n@@\n-z\n+y\n", "missing"),
        ("*** Update File: wide\n@@\n-x\n+y\n", "encoding"),
        ("*** Update File: ../x\n@@\n-x\n+y\n", "bad-path"),
        ("*** Add File: b\n+x\n", "exists"),
        ("*** Update File: b\n*** Move to: a\n@@\n-one\n+1\n", "exists"),
        ("*** Update File: b\n@@\n one\n-two\n+2\n@@\n-two\n+3\n", "overlap"),
        ("*** Update File: b\n@@\n one\n-two\n+2\n@@\n-four\n+3\n", "not-found"),
        ("*** Update File: b\n@@\n-three\n+2\n@@\n-one\n+1\n@@\n-three\n+1\n", "overlap"),
    ];
    for (body, code) in table {
        let text = format!("*** Begin Patch\n{body}*** End Patch\n");
        let options = ApplyOptions::default();
        let (events, end) = live(&tree(), &options, text.as_bytes(), 7);
        let misfits: Vec<_> = events.iter().filter(|event| event.contains("\"misfit\"")).collect();
        assert_eq!(end, at_once(&tree(), &options, text.as_bytes()), "{text}");
        assert!(
            misfits.len() == 1 && misfits[0].contains(&format!("\"code\":\"{code}\"")),
            "{text}\n{events:#?}\n{end}"
        );
        // The very failure is part of the end.
        let failure = misfits[0].split_once("\"failure\":").unwrap().1.trim_end().strip_suffix('}').unwrap();
        assert!(end.contains(failure), "{failure}\n{end}");
    }
}

#[test]
fn an_overlap_found_late_and_a_misfit_told_early_are_each_told_once() {
    let text = b"*** Begin Patch\n*** Update File: b\n@@\n one\n-two\n+2\n@@\n-two\n+3\n@@\n-four\n+4\n*** End Patch\n";
    let (events, _) = live(&tree(), &ApplyOptions::default(), text, 9);
    let codes: Vec<_> =
        events.iter().filter_map(|event| event.split_once("\"code\":\"")?.1.split('"').next()).collect();
    assert_eq!(codes, ["not-found", "overlap"]);
}

fn body() -> impl Strategy<Value = String> {
    let line = (1usize..70).prop_map(|n| format!("line {n}"));
    let word = prop::sample::select(&["one", "two", "three", "x"][..]).prop_map(str::to_owned);
    let row = (prop::sample::select(&[" ", "-", "+", ""][..]), prop_oneof![line, word]);
    let hunk = prop::collection::vec(row, 0..4)
        .prop_map(|rows| format!("@@\n{}", rows.into_iter().map(|(a, b)| format!("{a}{b}\n")).collect::<String>()));
    let head = prop::sample::select(
        &[
            "*** Update File: a\n",
            "*** Update File: b\n",
            "*** Update File: l\n",
            "*** Update File: b\n*** Move to: c\n",
            "*** Update File: c\n",
            "*** Delete File: b\n",
            "*** Add File: c\n+one\n+two\n",
            "",
        ][..],
    );
    (head, prop::collection::vec(hunk, 0..4)).prop_map(|(head, hunks)| format!("{head}{}", hunks.concat()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Whatever the pieces: the plan or the error is the one of the whole text, and no misfit is told that is not in it.
    #[test]
    fn the_end_is_that_of_the_whole_text(bodies in prop::collection::vec(body(), 0..4), piece in 1usize..40) {
        let text = format!("*** Begin Patch\n{}*** End Patch\n", bodies.concat());
        let options = ApplyOptions::default();
        let want = at_once(&tree(), &options, text.as_bytes());
        let (events, end) = live(&tree(), &options, text.as_bytes(), piece);
        prop_assert_eq!(&end, &want, "{}", text);
        let misfits = events.iter().filter(|event| event.contains("\"misfit\"")).count();
        let parsed = Patch::parse(text.as_bytes()).is_ok();
        if parsed {
            prop_assert_eq!(misfits > 0, end.contains("\"failures\":"), "{}\n{:?}\n{}", text, events, end);
        }
        prop_assert_eq!(live(&tree(), &options, text.as_bytes(), usize::MAX).0, events);
    }
}

#[test]
fn git_diffs_are_placed_as_they_arrive() {
    let text =
        b"diff --git a/b b/c\nrename from b\nrename to c\n--- a/b\n+++ b/c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\
                 diff --git a/a b/b\ncopy from a\ncopy to b\n--- a/a\n+++ b/b\n@@ -1,2 +1,2 @@\n-line 1\n+1\n line 2\n";
    let options = ApplyOptions::default().parse(ParseOptions::default().format(Format::Auto));
    let (events, end) = live(&tree(), &options, text, 5);
    assert_eq!(events.iter().filter(|event| event.contains("placed")).count(), 2, "{events:#?}");
    assert_eq!(end, at_once(&tree(), &options, text));
    assert!(!end.contains("nothing was changed"), "{end}");
}
