use proptest::prelude::*;

use super::*;
use crate::patch::Sign;

/// The patch without what a text does not keep: line numbers and notes.
fn bare(mut patch: Patch) -> Patch {
    patch.notes.clear();
    for op in &mut patch.ops {
        op.line = 0;
        if let OpKind::Update { hunks, .. } = &mut op.kind {
            for hunk in hunks {
                (hunk.line, hunk.first_row_line, hunk.unified) = (0, 0, false);
            }
        }
    }
    patch
}

/// Short texts out of pieces that mean something to the parser.
fn text() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: &[&[u8]] =
        &[b"x", b" ", b"\t", b"\r", b"+", b"-", b"@@", b"*** End Patch", b"***", b"\\", b"\xff", "é".as_bytes()];
    let piece = proptest::sample::select(PIECES);
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn hunk() -> impl Strategy<Value = Hunk> {
    let sign = proptest::sample::select(&[Sign::Context, Sign::Remove, Sign::Add][..]);
    let rows = proptest::collection::vec((sign, text(), proptest::bool::weighted(0.1)), 0..6);
    let place = (proptest::collection::vec(text(), 0..3), proptest::option::of(0..9u64), proptest::option::of(text()));
    (place, rows, any::<bool>()).prop_map(|((anchors, old_line, hint), rows, end_of_file)| {
        let mut hunk = Hunk { anchors, old_line, hint, end_of_file, ..Hunk::default() };
        for (sign, text, no_newline) in rows {
            hunk.push(sign, &text);
            if no_newline {
                hunk.mark_no_newline();
            }
        }
        hunk
    })
}

fn op() -> impl Strategy<Value = FileOp> {
    let lines = proptest::collection::vec(text(), 0..4);
    let kind = prop_oneof![
        lines
            .prop_map(|lines| OpKind::Add { content: lines.iter().flat_map(|it| [it, &b"\n"[..]].concat()).collect() }),
        Just(OpKind::Delete { hunks: Vec::new() }),
        (proptest::option::of(text()), proptest::collection::vec(hunk(), 0..4))
            .prop_map(|(move_to, hunks)| OpKind::Update { move_to, hunks }),
    ];
    (prop_oneof![Just(b"a".to_vec()), Just(b"b/c".to_vec()), text()], kind)
        .prop_map(|(path, kind)| FileOp::new(0, path, kind))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn what_is_written_is_read_back(ops in proptest::collection::vec(op(), 0..3), id in proptest::option::of("[a-z ]{0,3}")) {
        let patch = Patch { ops, environment_id: id, ..Patch::default() };
        match patch.to_envelope() {
            Ok(text) => {
                let read = Patch::parse(&text).map_err(|error| TestCaseError::fail(error.to_string()))?;
                prop_assert_eq!(bare(read), normal(bare(patch)), "{}", text.escape_ascii());
            }
            // A refusal must have a reason that can be seen: what is plain is always written.
            Err(error) => prop_assert!(!is_plain(&patch), "{}", error),
        }
    }
}

/// An empty hint is no hint.
fn normal(mut patch: Patch) -> Patch {
    for op in &mut patch.ops {
        if let OpKind::Update { hunks, .. } = &mut op.kind {
            for hunk in hunks {
                hunk.hint = hunk.hint.take().filter(|hint| !hint.is_empty());
            }
        }
    }
    patch
}

/// Whether every header text is letters and every operation has something in it.
fn is_plain(patch: &Patch) -> bool {
    let plain = |text: &Vec<u8>| !text.is_empty() && text.iter().all(u8::is_ascii_lowercase);
    let id = patch.environment_id.as_ref().is_none_or(|id| plain(&id.clone().into_bytes()));
    let distinct = patch.ops.windows(2).all(|two| two[0].path != two[1].path);
    id && distinct
        && !patch.ops.is_empty()
        && patch.ops.iter().all(|op| {
            plain(&op.path)
                && match &op.kind {
                    OpKind::Add { .. } | OpKind::Delete { .. } => true,
                    OpKind::Update { move_to, hunks } => {
                        !hunks.is_empty()
                            && move_to.as_ref().is_none_or(plain)
                            && hunks
                                .iter()
                                .all(|hunk| !hunk.is_empty() && hunk.anchors.iter().all(plain) && hunk.hint.is_none())
                    }
                    _ => false,
                }
        })
}

#[test]
fn what_the_language_cannot_say_is_refused() {
    let add = |content: &[u8]| OpKind::Add { content: content.to_vec() };
    let update = |hunks: Vec<Hunk>| OpKind::Update { move_to: None, hunks };
    let cases: Vec<(&[u8], OpKind, &str)> = vec![
        (b"a", add(b"x"), "the new file `a` does not end in a line feed, which `*** Add File` cannot say"),
        (b"a ", OpKind::Delete { hunks: Vec::new() }, "`a·` cannot be written in a header"),
        (b"a\nb", OpKind::Delete { hunks: Vec::new() }, "`a\\nb` cannot be written in a header"),
        (b"", OpKind::Delete { hunks: Vec::new() }, "`` cannot be written in a header"),
        (b"a", update(vec![]), "the update of `a` has nothing in it"),
        (b"a", update(vec![Hunk::default()]), "the update of `a` has nothing in it"),
    ];
    for (path, kind, want) in cases {
        let op = FileOp::new(1, path, kind);
        let error = Patch { ops: vec![op], ..Patch::default() }.to_envelope().unwrap_err();
        assert_eq!(error.to_string(), want);
    }
    assert_eq!(Patch::default().to_envelope(), Err(WriteError::Empty));
}
