//! Hunks on files: the rules as tables, diffs of random texts, and counted steps.

use bstr::ByteSlice as _;
use proptest::prelude::*;
use similar::{Algorithm, DiffOp};

use super::failure::{EXCERPT_LINES, LINE_BYTES};
use super::*;
use crate::matching::tests::{WAYS, Way};
use crate::policy::{Ambiguity, FinalNewline};
use crate::text::{Piece, UTF8_BOM};

/// Hunks written one row a line: `@@ anchor`, `@@ -12 hint`, `$` for the end of the file, `\` for the no-newline note.
fn hunks(text: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for (line, row) in (1_u64..).zip(text.lines()) {
        if let Some(header) = row.strip_prefix("@@") {
            if hunks.last().is_none_or(|hunk| !hunk.is_empty()) {
                hunks.push(Hunk::default());
                hunks.last_mut().unwrap().line = line;
            }
            let hunk = hunks.last_mut().unwrap();
            let header = header.strip_prefix(' ').unwrap_or(header);
            match header.strip_prefix('-').and_then(|rest| rest.split_once(' ').or(Some((rest, "")))) {
                Some((number, hint)) => {
                    hunk.old_line = Some(number.parse().unwrap());
                    hunk.hint = (!hint.is_empty()).then(|| hint.into());
                }
                None if header.is_empty() => {}
                None => hunk.anchors.push(header.into()),
            }
            continue;
        }
        let hunk = hunks.last_mut().unwrap();
        match row.as_bytes() {
            [b'+', text @ ..] => hunk.push(Sign::Add, text),
            [b'-', text @ ..] => hunk.push(Sign::Remove, text),
            [b' ', text @ ..] => hunk.push(Sign::Context, text),
            [b'\\', ..] => hunk.mark_no_newline(),
            [b'$', ..] => hunk.end_of_file = true,
            other => panic!("row {other:?}"),
        }
    }
    hunks
}

fn apply(base: &[u8], hunks: &[Hunk], policy: &Policy) -> Result<Vec<u8>, Vec<FailureKind>> {
    match update(base, hunks, policy) {
        Ok(updated) => Ok(updated.spliced.to_vec(base)),
        Err(UpdateError::Hunks { failures, .. }) => Err(failures.into_iter().map(|failure| failure.kind).collect()),
        Err(other) => panic!("{other}"),
    }
}

/// What a refusal is called in the tables.
fn short(kind: &FailureKind) -> String {
    let lines = |found: &FoundAt| found.lines.iter().map(|line| format!(" {line}")).collect::<String>();
    match kind {
        FailureKind::Ambiguous { found } => format!("ambiguous{}", lines(found)),
        FailureKind::OutsideAnchor { found } => format!("outside{}", lines(found)),
        FailureKind::OutOfOrder { found } => format!("behind{}", lines(found)),
        FailureKind::AnchorAmbiguous { found, .. } => format!("anchors{}", lines(found)),
        FailureKind::AnchorNotFound { nearest, .. } => format!("no anchor {}", nearest.unwrap_or(0)),
        FailureKind::AlreadyApplied { line } => format!("applied {line}"),
        FailureKind::Overlap { other, line } => format!("overlap {other} {line}"),
        FailureKind::NotFound => "not found".into(),
        FailureKind::OnlyLineNumber => "only a number".into(),
        FailureKind::WrongTimes { wanted, found, times } => format!("{times} for {wanted}{}", lines(found)),
        FailureKind::NoRows => "no rows".into(),
    }
}

/// (what it shows, file, hunks, new content or `!` and the refusals)
type Case = (&'static str, &'static str, &'static str, &'static str);

fn check(cases: &[Case], policy: &Policy) {
    for (name, base, text, want) in cases {
        let got = match apply(base.as_bytes(), &hunks(text), policy) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(kinds) => format!("!{}", kinds.iter().map(short).collect::<Vec<_>>().join("; ")),
        };
        assert_eq!(got, *want, "{name}");
    }
}

const TWO: &str = "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n";

const CASES: &[Case] = &[
    ("one place", "a\nb\nc\n", "@@\n a\n-b\n+B\n", "a\nB\nc\n"),
    ("two places", "a\nb\na\n", "@@\n-a\n+A\n", "!ambiguous 1 3"),
    ("overlapping places", "a\na\na\n", "@@\n-a\n a\n", "!ambiguous 1 2"),
    ("a stricter tier wins", " a\nb\na\n", "@@\n-a\n+A\n", " a\nb\nA\n"),
    ("context keeps the file's bytes", "a  \nb\n", "@@\n a\n-b\n+c\n", "a  \nc\n"),
    ("trailing context counts again", "a\nb\nc\n", "@@\n-a\n+A\n b\n@@\n b\n-c\n+C\n", "A\nb\nC\n"),
    ("out of order", "a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A\n", "A\nb\nC\n"),
    ("a line removed twice", "a\nb\n", "@@\n-a\n+A\n@@\n-a\n+B\n", "!overlap 1 1"),
    ("a quoted line removed", "a\nb\nc\n", "@@\n-a\n+A\n b\n@@\n-b\n+B\n", "!overlap 1 2"),
    ("two insertions in order", "a\nb\n", "@@\n a\n+1\n b\n@@\n+2\n b\n", "a\n1\n2\nb\n"),
    ("two insertions out of order", "a\nb\nc\n", "@@\n a\n+1\n@@\n-c\n+C\n@@\n a\n+2\n b\n", "!overlap 1 2"),
    (
        "anchor picks the function",
        TWO,
        "@@ def b():\n-    x = 1\n+    x = 2\n",
        "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 2\n    return x\n",
    ),
    ("stale anchor", "def a():\n    x\n\ndef b():\n    y\n    y\n", "@@ def a():\n-    y\n+    z\n", "!outside 5 6"),
    (
        "anchor without indentation",
        "class A:\n  def f():\n    x\nclass B:\n  x\n",
        "@@ def f():\n-    x\n+    y\n",
        "class A:\n  def f():\n    y\nclass B:\n  x\n",
    ),
    (
        "stacked anchors",
        "A:\n  f:\n    x\nB:\n  f:\n    x\n",
        "@@ B:\n@@   f:\n-    x\n+    y\n",
        "A:\n  f:\n    x\nB:\n  f:\n    y\n",
    ),
    ("inner anchor above the outer", "f:\n  x\nB:\n  x\n", "@@ B:\n@@ f:\n-  x\n+  y\n", "!no anchor 1"),
    ("anchor nowhere", TWO, "@@ def c():\n-    x = 1\n", "!no anchor 1"),
    ("anchor again as the first line", "a\nx\na\n", "@@ x\n-x\n+y\n", "a\ny\na\n"),
    ("anchor repeated by the next hunk", "f:\n  a\n  b\n", "@@ f:\n-  a\n+  A\n@@ f:\n-  b\n+  B\n", "f:\n  A\n  B\n"),
    (
        "partial anchor",
        "def long_name(a, b):\n  x\ny\nx\n",
        "@@ def long_name\n-  x\n+  z\n",
        "def long_name(a, b):\n  z\ny\nx\n",
    ),
    ("additions below an anchor keep order", "f:\n  a\ng:\n", "@@ f:\n+  1\n@@ f:\n+  2\n", "f:\n  1\n  2\n  a\ng:\n"),
    ("additions below one of two anchors", "f\nx\nf\n", "@@ f\n+1\n", "!anchors 1 3"),
    ("additions below an anchor without its indentation", "c\n  f\n", "@@ f\n+  1\n", "c\n  f\n  1\n"),
    ("additions alone go to the end", "a\nb\n", "@@\n+c\n@@\n+d\n", "a\nb\nc\nd\n"),
    ("additions with a number alone", "a\n", "@@ -1\n+b\n", "!only a number"),
    ("the end is tried first", "x\na\nx\n", "@@\n-x\n+y\n$\n", "x\na\ny\n"),
    ("the end at every tier", "x\na\n x\n", "@@\n-x\n+y\n$\n", "x\na\n y\n"),
    ("not at the end but unique", "x\na\n", "@@\n-x\n+y\n$\n", "y\na\n"),
    ("a note belongs to the end too", "x\na\nx", "@@\n-x\n\\\n+y\n\\\n", "x\na\ny"),
    ("a number breaks a tie", "x\na\nx\n", "@@ -3\n-x\n+y\n", "x\na\ny\n"),
    ("a number midway does not", "x\na\nx\n", "@@ -2\n-x\n+y\n", "!ambiguous 1 3"),
    (
        "a hint breaks a tie",
        TWO,
        "@@ -1 def b\n-    x = 1\n+    x = 2\n",
        "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 2\n    return x\n",
    ),
    ("a stray empty last line", "a\nb\n", "@@\n-b\n+B\n \n", "a\nB\n"),
    ("not two of them", "a\nb\n", "@@\n-b\n+B\n \n \n", "!not found"),
    ("a real empty last line", "a\n\nb\n", "@@\n-a\n \n", "\nb\n"),
    ("already applied", "a\nnew\nc\n", "@@\n a\n-old\n+new\n c\n", "!applied 1"),
    ("removed already", "a\nc\n", "@@\n a\n-old\n c\n", "!applied 1"),
    ("CRLF is kept", "a\r\nb\r\n", "@@\n a\n-b\n+c\n+d\n", "a\r\nc\r\nd\r\n"),
    ("mixed endings follow what they replace", "a\r\nb\nc\r\n", "@@\n-b\n+x\n+y\n", "a\r\nx\ny\nc\r\n"),
    ("lone CRs", "a\rb\r", "@@\n-b\n+c\n", "a\rc\r"),
    ("no final newline is kept", "a\nb", "@@\n-b\n+c\n", "a\nc"),
    ("also when it is followed", "a\r\nb", "@@\n b\n+c\n", "a\r\nb\r\nc"),
    ("also when it is removed", "a\nb", "@@\n a\n-b\n", "a"),
    ("a note takes the newline", "a\nb\n", "@@\n-b\n+b\n\\\n", "a\nb"),
    ("a note adds the newline", "a\nb", "@@\n-b\n\\\n+b\n", "a\nb\n"),
    ("the mark is kept", "\u{feff}a\nb\n", "@@\n-a\n+c\n", "\u{feff}c\nb\n"),
    ("a mark in the patch is none", "\u{feff}a\nb\n", "@@\n-\u{feff}a\n+\u{feff}c\n", "\u{feff}c\nb\n"),
    ("indentation follows the file", "    a\n      b\n", "@@\n a\n-  b\n+  c\n+d\n", "    a\n      c\n    d\n"),
    ("tabs for spaces", "\ta\n\t\tb\n", "@@\n     a\n-        b\n+        c\n", "\ta\n\t\tc\n"),
    ("disagreeing indentation", "    a\n      b\n", "@@\n a\n-b\n+c\n", "    a\nc\n"),
    ("an empty file", "", "@@\n+a\n", "a\n"),
    ("everything removed", "a\n", "@@\n-a\n", ""),
    ("all failures at once", "a\nb\n", "@@\n-x\n@@\n-b\n+B\n@@\n-y\n", "!not found; not found"),
];

#[test]
fn the_rules_by_default() {
    check(CASES, &Policy::default());
}

#[test]
fn the_reference_preset() {
    let cases: &[Case] = &[
        ("the first place wins", "a\nb\na\n", "@@\n-a\n+A\n", "A\nb\na\n"),
        ("the first anchor wins", "f\nx\nf\nx\n", "@@ f\n-x\n+y\n", "f\ny\nf\nx\n"),
        ("nothing is looked for above", "a\nb\n", "@@\n-b\n@@\n-a\n", "!behind 1"),
        ("context is not shared", "a\nb\nc\n", "@@\n-a\n b\n@@\n b\n-c\n", "!behind 2"),
        ("a final newline is written", "a\nb", "@@\n-a\n+c\n", "c\nb\n"),
        ("the file's first ending", "a\r\nb\nc\n", "@@\n-b\n+x\n", "a\r\nx\r\nc\n"),
        ("additions go to the end", "f\na\n", "@@ f\n+b\n", "f\na\nb\n"),
        ("but their anchor must be there", "f\na\n", "@@ g\n+b\n", "!no anchor 0"),
        ("nothing is reindented", "  a\n  b\n", "@@\n a\n-b\n+c\n", "  a\nc\n"),
    ];
    check(cases, &Policy::codex());
}

#[test]
fn single_knobs() {
    let table: &[(Policy, Case)] = &[
        (Policy::default().loosest_tier(Tier::Exact), ("tier", "a \n", "@@\n-a\n+b\n", "!not found")),
        (Policy::default().loosest_tier(Tier::TrimEnd), ("tier", "a \n", "@@\n-a\n+b\n", "b\n")),
        (Policy::default().loosest_tier(Tier::TrimEnd), ("anchor", " f\na\n", "@@ f\n-a\n", "!no anchor 1")),
        (Policy::default().ambiguity(Ambiguity::First), ("first", "a\na\n", "@@\n-a\n+b\n", "b\na\n")),
        (Policy::default().reindent(false), ("indentation", "  a\n", "@@\n-a\n+b\n", "b\n")),
        (Policy::default().final_newline(FinalNewline::Always), ("newline", "a\nb", "@@\n-a\n", "b\n")),
        (Policy::codex().final_newline(FinalNewline::Keep), ("newline", "a\nb", "@@\n-a\n", "b")),
    ];
    for (policy, case) in table {
        check(&[*case], policy);
    }
}

#[test]
fn a_real_unified_diff_goes_to_the_nearest_place() {
    // (line number of the header, line where it goes, or 0 for a refusal)
    for (number, line) in [(1, 1), (2, 1), (4, 0), (5, 7), (7, 7), (90, 7)] {
        let mut hunk = hunks("@@\n-x\n+y\n").remove(0);
        (hunk.unified, hunk.old_line) = (true, Some(number));
        let placed = update(b"x\na\na\na\na\na\nx\n", &[hunk], &Policy::default());
        assert_eq!(placed.map_or(0, |updated| updated.placed[0].line), line, "line {number}");
    }
}

#[test]
fn wide_encodings_are_refused_by_name() {
    let error = update(b"\xff\xfea\0\n\0", &hunks("@@\n-a\n"), &Policy::default()).unwrap_err();
    assert_eq!(error, UpdateError::Encoding(WideEncoding::Utf16Le));
    assert!(error.to_string().contains("UTF-16"));
}

#[test]
fn a_failure_shows_what_differs() {
    let base: String = (1..=2_000).map(|i| format!("    value_{i} = compute({i})\n")).collect();
    let patch = "@@\n     value_1233 = compute(1233)\n-    value_1234 = compute(1243)\n+    x\n     value_1235 = compute(1235)\n";
    let Err(UpdateError::Hunks { failures, .. }) = update(base.as_bytes(), &hunks(patch), &Policy::default()) else {
        panic!("it applies")
    };
    let failure = &failures[0];
    assert_eq!((failure.hunk, failure.line, &failure.kind), (1, 1, &FailureKind::NotFound));
    let differs = failure.differs.as_ref().unwrap();
    assert_eq!((differs.old_line, differs.file_line), (2, 1_234));
    assert_eq!(differs.expected.bytes, b"    value_1234 = compute(1243)");
    assert_eq!(differs.found.as_ref().unwrap().bytes, b"    value_1234 = compute(1234)");
    let excerpt = failure.excerpt.as_ref().unwrap();
    assert_eq!((excerpt.first_line, excerpt.lines.len()), (1_230, EXCERPT_LINES));
}

#[test]
fn a_difference_far_into_a_line_is_shown() {
    let base = format!("{}b\n", "a".repeat(100_000));
    let patch = format!("@@\n-{}c\n", "a".repeat(100_000));
    let Err(UpdateError::Hunks { failures, .. }) = update(base.as_bytes(), &hunks(&patch), &Policy::default()) else {
        panic!("it applies")
    };
    let differs = failures[0].differs.as_ref().unwrap();
    assert!(differs.expected.bytes.ends_with(b"ac") && differs.found.as_ref().unwrap().bytes.ends_with(b"ab"));
    assert!(differs.expected.bytes.len() <= LINE_BYTES);
}

#[test]
fn after_twenty_misfits_hunks_are_only_counted() {
    let patch: String = (0..100).map(|i| format!("@@\n-missing {i}\n")).collect();
    let Err(UpdateError::Hunks { failures, not_searched }) = update(b"a\n", &hunks(&patch), &Policy::default()) else {
        panic!("it applies")
    };
    assert_eq!((failures.len(), not_searched), (20, 80));
}

#[test]
fn notes_tell_what_was_done() {
    let table: &[(&str, &str, &[PlacedNote])] = &[
        ("a\nb\n", "@@\n a\n+c\n", &[]),
        ("a\nc\nb\n", "@@\n a\n+c\n", &[PlacedNote::AlreadyThere]),
        ("c\na\n", "@@\n+c\n a\n", &[PlacedNote::AlreadyThere]),
        ("f\nc\n", "@@ f\n+c\n", &[PlacedNote::AlreadyThere]),
        ("a\nb\n", "@@\n-b\n+c\n \n", &[PlacedNote::DroppedEmptyLine]),
        ("  a\n", "@@\n-a\n+b\n", &[PlacedNote::Reindented]),
        ("    a\n      b\n", "@@\n a\n-b\n+c\n", &[PlacedNote::IndentationDisagrees]),
    ];
    for (base, patch, notes) in table {
        let updated = update(base.as_bytes(), &hunks(patch), &Policy::default()).unwrap();
        assert_eq!(updated.placed[0].notes, *notes, "{patch:?} on {base:?}");
    }
    let late = update(b"a\nb\n", &hunks("@@\n-b\n@@ -9\n-a\n"), &Policy::default()).unwrap();
    assert_eq!(late.placed[1].notes, [PlacedNote::OutOfOrder]);
    assert_eq!((late.placed[1].line, late.placed[1].offset), (1, Some(-8)));
}

/// The hunks of a diff of two texts with some lines of context, as git writes them.
fn diff(old: &[u8], new: &[u8], context: usize) -> Vec<Hunk> {
    let (old, new) = (lines(old), lines(new));
    let ops = similar::capture_diff_slices(Algorithm::Myers, &old, &new);
    let groups = similar::group_diff_ops(ops, context);
    let push = |hunk: &mut Hunk, sign, line: &[u8]| {
        hunk.push(sign, line.strip_suffix(b"\n").unwrap_or(line));
        if !line.ends_with(b"\n") {
            hunk.mark_no_newline();
        }
    };
    let hunk = |ops: &Vec<DiffOp>| {
        let first = ops[0].old_range().start as u64;
        let mut hunk = Hunk::default();
        hunk.old_line = Some(first + 1);
        for op in ops {
            let (_, removed, added) = op.as_tag_tuple();
            if matches!(op, DiffOp::Equal { .. }) {
                old[removed].iter().for_each(|line| push(&mut hunk, Sign::Context, line));
            } else {
                old[removed].iter().for_each(|line| push(&mut hunk, Sign::Remove, line));
                new[added].iter().for_each(|line| push(&mut hunk, Sign::Add, line));
            }
        }
        hunk
    };
    groups.iter().map(hunk).collect()
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![&b"a"[..], b"b", b" a", b"", b"long line\xff", "\u{2013}".as_bytes(), b"}"]);
    (prop::collection::vec(line, 0..14), any::<bool>()).prop_map(|(lines, newline)| {
        let mut text = lines.join(&b'\n');
        if newline && !lines.is_empty() {
            text.push(b'\n');
        }
        text
    })
}

/// Places hunks with every search made one way.
fn update_by(way: Way, base: &[u8], hunks: &[Hunk], policy: &Policy) -> Result<Updated, UpdateError> {
    let mut placer = HunkPlacer::new(base, policy)?;
    placer.placer.searcher().force(way);
    for hunk in hunks {
        let _placed = placer.place(hunk);
    }
    placer.finish()
}

/// Hunks with anchors, hints and numbers that may be wrong.
fn pointed_hunk() -> impl Strategy<Value = Hunk> {
    let word = prop::sample::select(vec!["a", "b", " a", "long", "long line", "line", "}", "", "\u{2013}", "long()"]);
    let row = (0..3_u8, prop::sample::select(vec!["a", "b", " a", "", "long line", "\u{2013}", "-", "}"]));
    let rows = prop::collection::vec(row, 1..4);
    let header = prop::option::of((1_u64..20, word.clone()));
    (prop::collection::vec(word, 0..3), header, rows, any::<(bool, bool)>()).prop_map(
        |(anchors, header, rows, (unified, end_of_file))| {
            let mut hunk = Hunk::default();
            (hunk.unified, hunk.end_of_file) = (unified, end_of_file);
            hunk.anchors = anchors.into_iter().filter(|anchor| !anchor.is_empty()).map(Into::into).collect();
            if let Some((line, hint)) = header {
                hunk.old_line = Some(line);
                hunk.hint = (!hint.is_empty()).then(|| hint.into());
            }
            for (sign, text) in rows {
                hunk.push([Sign::Context, Sign::Remove, Sign::Add][usize::from(sign)], text.as_bytes());
            }
            hunk
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_way_of_searching_does_not_matter(base in text(), hunks in prop::collection::vec(pointed_hunk(), 1..4)) {
        let want = update(&base, &hunks, &Policy::default());
        for way in WAYS {
            prop_assert_eq!(&update_by(way, &base, &hunks, &Policy::default()), &want, "{:?}", way);
        }
    }

    #[test]
    fn a_diff_of_two_texts_makes_one_into_the_other(old in text(), new in text(), context in 1_usize..4, unified: bool) {
        let mut hunks = diff(&old, &new, context);
        hunks.iter_mut().for_each(|hunk| hunk.unified = unified);
        // What only adds lines to a text says by its number alone where.
        prop_assume!(old.is_empty() || hunks.iter().all(|hunk| hunk.old_len() > 0));
        let updated = update(&old, &hunks, &Policy::default()).unwrap();
        prop_assert_eq!(updated.spliced.to_vec(&old), new);
    }

    #[test]
    fn endings_and_mark_do_not_matter_to_a_diff(old in text(), new in text(), context in 1_usize..4) {
        let crlf = |text: &[u8]| [UTF8_BOM.to_vec(), text.to_vec().replace(b"\n", b"\r\n")].concat();
        let hunks = diff(&old, &new, context);
        prop_assume!(old.contains(&b'\n') && hunks.iter().all(|hunk| hunk.old_len() > 0));
        let base = crlf(&old);
        let updated = update(&base, &hunks, &Policy::default()).unwrap();
        prop_assert_eq!(updated.spliced.to_vec(&base), crlf(&new));
    }

    #[test]
    fn lines_that_no_hunk_names_keep_their_bytes(old in text(), new in text(), other in text()) {
        let hunks = diff(&old, &new, 1);
        let Ok(updated) = update(&other, &hunks, &Policy::default()) else { return Ok(()) };
        let kept: Vec<_> = updated.spliced.pieces().iter().filter_map(|piece| match piece {
            Piece::Kept(range) => Some(range.clone()),
            Piece::Fresh(_) => None,
        }).collect();
        prop_assert!(kept.is_sorted_by(|a, b| a.end <= b.start), "in order, none twice");
        let index = LineIndex::new(&other);
        let is_kept = |line: usize| {
            let start = index.start(line);
            let end = start + index.line(line).len();
            start == end || kept.iter().any(|range| range.start <= start && end <= range.end)
        };
        let gone = (0..index.len()).filter(|&line| !is_kept(line)).count();
        prop_assert!(gone <= hunks.iter().map(|hunk| hunk.removed() as usize).sum());
    }
}

/// Steps of placing hunks in a text, and whether all went in.
fn steps(base: &str, patch: &str) -> (u64, bool) {
    let hunks = hunks(patch);
    let mut placer = HunkPlacer::new(base.as_bytes(), &Policy::default()).unwrap();
    for hunk in &hunks {
        let _placed = placer.place(hunk);
    }
    (placer.steps(), placer.finish().is_ok())
}

/// One of three lines, by chance.
fn coin(i: usize) -> &'static str {
    let bits = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ["heads", "tails", "rim"][((bits ^ bits >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as usize % 3]
}

#[test]
fn the_nearest_place_of_many_hunks_is_found_in_linear_time() {
    for n in [1_000, 2_000, 4_000, 8_000] {
        let base: String = (0..n).map(|i| if i % 4 == 0 { "a\n" } else { "b\n" }).collect();
        let mut hunks = hunks(&"@@ -1\n-a\n+x\n".repeat(n / 20));
        for (k, hunk) in hunks.iter_mut().enumerate() {
            (hunk.unified, hunk.old_line) = (true, Some(k as u64 * 20 + 2));
        }
        let mut placer = HunkPlacer::new(base.as_bytes(), &Policy::default()).unwrap();
        for (k, hunk) in hunks.iter().enumerate() {
            assert_eq!(placer.place(hunk).unwrap().unwrap().line, k * 20 + 1);
        }
        assert!(placer.steps() <= 60 * n as u64, "{n} lines: {} steps", placer.steps());
    }
}

#[test]
fn all_hunks_of_a_file_together_are_linear() {
    // (name, all go in, line i of the file, hunk k for a file of n lines)
    type Line = fn(usize) -> String;
    type Patch = fn(usize, usize) -> String;
    let cases: [(&str, bool, Line, Patch); 12] = [
        (
            "unique lines",
            true,
            |i| format!("line {i}"),
            |k, _| format!("@@\n line {}\n-line {}\n+x\n", k * 20, k * 20 + 1),
        ),
        (
            "trailing space",
            true,
            |i| format!("line {i} "),
            |k, _| format!("@@\n line {}\n-line {}\n+x\n", k * 20, k * 20 + 1),
        ),
        ("folded", true, |i| format!("line\u{2013}{i}"), |k, _| format!("@@\n-line-{}\n+x\n", k * 20)),
        ("out of order", true, |i| format!("line {i}"), |k, n| format!("@@\n-line {}\n+x\n", n - 1 - k * 20)),
        (
            "one class round all",
            true,
            |i| if i == 0 { "class A".into() } else { format!(" f{i}") },
            |k, _| format!("@@ class A\n- f{}\n+x\n", k * 20 + 5),
        ),
        ("equal lines", false, |_| "same".into(), |_, _| "@@\n same\n-same\n+x\n same\n".into()),
        (
            "equal anchors",
            false,
            |i| if i % 2 == 0 { "f".into() } else { " x".into() },
            |_, _| "@@ f\n- x\n+y\n".into(),
        ),
        (
            "unique stretches of three lines",
            true,
            |i| coin(i).into(),
            |k, _| {
                let row = |i: usize| format!("{}{}\n", if i == 0 { "@@\n-" } else { " " }, coin(k * 20 + i));
                (0..19).map(row).chain(["+x\n".into()]).collect()
            },
        ),
        (
            "anchors that are parts of lines",
            true,
            |i| if i % 20 == 0 { format!("fn name_{i}(arg)") } else { format!(" same {}", i % 20) },
            |k, _| format!("@@ fn name_{}(\n  same 4\n- same 5\n+x\n", k * 20),
        ),
        (
            "stacked anchors",
            true,
            |i| match i % 20 {
                0 => format!("class C{i}"),
                5 | 10 | 15 => format!(" def f(x{i})"),
                _ => "  x".into(),
            },
            |k, _| format!("@@ class C{}\n@@ def f\n-  x\n   x\n   x\n   x\n+y\n  def f(x{})\n", k * 20, k * 20 + 10),
        ),
        (
            "hints that begin every place",
            true,
            |_| "same line".into(),
            |k, _| format!("@@ -{} same\n-same line\n+x\n", k * 20 + 1),
        ),
        (
            "a hint far above",
            true,
            |i| if i == 0 { "head".into() } else { " same line".into() },
            |k, _| format!("@@ -{} head\n- same line\n+x\n", k * 20 + 2),
        ),
    ];
    for (name, fits, line, hunk) in cases {
        for n in [1_000, 2_000, 4_000, 8_000] {
            let base: String = (0..n).map(|i| line(i) + "\n").collect();
            let patch: String = (0..n / 20).map(|k| hunk(k, n)).collect();
            let rows = patch.lines().count();
            let (steps, applied) = steps(&base, &patch);
            assert_eq!(applied, fits, "{name}, {n} lines");
            assert!(steps <= 60 * (n + rows) as u64, "{name}, {n} lines: {steps} steps");
        }
    }
}

/// Steps of placing `count` hunks of a unified diff whose numbers are far off, in a file of equal lines.
fn steps_of_far_numbers(lines: usize, count: usize) -> u64 {
    let base = "x\n".repeat(lines);
    let policy = Policy::default();
    let mut placer = HunkPlacer::new(base.as_bytes(), &policy).unwrap();
    for n in 0..count {
        let mut hunk = Hunk::new(n as u64 + 1);
        (hunk.unified, hunk.old_line) = (true, Some((lines / 2 + 200 * n) as u64));
        hunk.push(Sign::Remove, b"x");
        hunk.push(Sign::Add, b"y");
        hunk.push(Sign::Context, b"x");
        let _placed = placer.place(&hunk);
    }
    placer.steps()
}

#[test]
fn looking_for_the_nearest_line_is_linear_however_far_it_is() {
    for (lines, count) in [(2_000, 200), (20_000, 2_000), (100_000, 10_000)] {
        let steps = steps_of_far_numbers(lines, count);
        assert!(steps <= 200 * (lines + count) as u64, "{lines} lines, {count} hunks: {steps} steps");
    }
}
