use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::patch::{Note, NoteKind, OpKind};

/// A patch on one line, without line numbers: `A path "content"`, `D path`, `U path > moved {@[anchors] number hint| rows $}`.
fn show(patch: &Patch) -> String {
    patch.ops.iter().map(show_op).collect::<Vec<_>>().join("; ")
}

fn show_op(op: &FileOp) -> String {
    let path = op.path.escape_ascii();
    match &op.kind {
        OpKind::Add { content } => format!("A {path} {:?}", String::from_utf8_lossy(content)),
        OpKind::Delete { .. } => format!("D {path}"),
        OpKind::Update { move_to, hunks } => {
            let to = move_to.as_ref().map_or_else(String::new, |to| format!(" > {}", to.escape_ascii()));
            let hunks: String = hunks.iter().map(|hunk| format!(" {{{}}}", show_hunk(hunk))).collect();
            format!("U {path}{to}{hunks}")
        }
        other => format!("{other:?}"),
    }
}

fn show_hunk(hunk: &crate::patch::Hunk) -> String {
    let mut out = String::new();
    for anchor in &hunk.anchors {
        out += &format!("@{}", anchor.escape_ascii());
    }
    if let Some(number) = hunk.old_line {
        out += &format!("#{number}");
    }
    if let Some(hint) = &hunk.hint {
        out += &format!("~{}", hint.escape_ascii());
    }
    for row in hunk.rows() {
        let mark = if row.no_newline { "\\" } else { "" };
        out += &format!("|{}{}{mark}", char::from(row.sign.byte()), row.text.escape_ascii());
    }
    out + if hunk.end_of_file { "$" } else { "" }
}

fn notes(patch: &Patch) -> Vec<(u64, NoteKind)> {
    patch.notes.iter().flat_map(|note| (0..note.lines).map(|nth| (note.line + nth, note.kind))).collect()
}

/// Puts Begin above and End below. Line numbers of `body` begin at 2.
fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n{body}*** End Patch\n")
}

#[test]
fn the_grammar_gives_its_operations() {
    let cases: &[(&str, &str)] = &[
        ("*** Add File: a\n", "A a \"\""),
        ("*** Add File: a b.txt\n+x\n+\n+ y\n", "A a b.txt \"x\\n\\n y\\n\""),
        ("*** Add File: a\n+*** End Patch\n++\n+@@\n", "A a \"*** End Patch\\n+\\n@@\\n\""),
        ("*** Delete File: a\n*** Delete File: b\n", "D a; D b"),
        ("*** Update File: a\n@@\n c\n-x\n+y\n", "U a {| c|-x|+y}"),
        ("*** Update File: a\n@@\n-- x\n--- y\n", "U a {|-- x|--- y}"),
        ("*** Update File: a\n@@ fn f\n+x\n@@ g\n-y\n", "U a {@fn f|+x} {@g|-y}"),
        ("*** Update File: a\n@@ class A\n@@   def f\n-x\n", "U a {@class A@  def f|-x}"),
        ("*** Update File: a\n@@\n@@ f\n-x\n", "U a {@f|-x}"),
        ("*** Update File: a\n@@\n-x\n*** End of File\n@@\n-y\n", "U a {|-x$} {|-y}"),
        ("*** Update File: a\n*** Move to: b\n@@\n-x\n", "U a > b {|-x}"),
        ("*** Update File: a\n@@ -118,8 +118,9 @@ fn name(\n-x\n", "U a {#118~fn name(|-x}"),
        ("*** Update File: a\n@@ -3 +3 @@\n@@ f\n-x\n", "U a {@f#3|-x}"),
        (
            "*** Update File: a\n@@\n *** Begin Patch\n *** Add File: x\n-*** End Patch\n",
            "U a {| *** Begin Patch| *** Add File: x|-*** End Patch}",
        ),
        ("*** Update File: a\n@@\n *** End Patch\n-x\n", "U a {| *** End Patch|-x}"),
        ("*** Update File: a\n@@\n  *** Update File: b\n-x\n", "U a {|  *** Update File: b|-x}"),
        ("*** Update File: a\n@@\n \n-\n+\n", "U a {| |-|+}"),
        ("*** Update File: a\n@@\n-x\r\r\n+y\rz\r\n", "U a {|-x\\r|+y\\rz}"),
        ("*** Add File: a\n+x\r\n+y\r\r\n", "A a \"x\\ny\\r\\n\""),
    ];
    for (body, want) in cases {
        let patch = Patch::parse(envelope(body).as_bytes()).unwrap_or_else(|error| panic!("{body:?}: {error}"));
        assert_eq!(show(&patch), *want, "{body:?}");
        assert_eq!(notes(&patch), [], "{body:?}");
    }
}

#[test]
fn bytes_that_are_not_text_stay_as_they_are() {
    let text = b"*** Begin Patch\n*** Add File: \xff\n+\0\xfe\n*** Update File: a\n@@ \xe9\n-\xe9\n*** End Patch";
    assert_eq!(show(&Patch::parse(text).unwrap()), "A \\xff \"\\0\u{fffd}\\n\"; U a {@\\xe9|-\\xe9}");
}

#[test]
fn a_hunk_knows_its_lines() {
    let text = envelope("*** Update File: a\n\n-x\n@@\n@@ f\n+y\n");
    let patch = Patch::parse(text.as_bytes()).unwrap();
    let OpKind::Update { hunks, .. } = &patch.ops[0].kind else { panic!("{patch:?}") };
    let lines: Vec<_> = hunks.iter().map(|hunk| (hunk.line, hunk.first_row_line)).collect();
    assert_eq!((patch.ops[0].line, lines), (2, vec![(4, 4), (5, 7)]));
}

/// Leniencies: the whole text, what it gives, what is noted.
#[test]
fn what_is_accepted_besides_is_noted() {
    use NoteKind::*;
    type Case = (&'static str, &'static str, &'static [(u64, NoteKind)]);
    let cases: &[Case] = &[
        // white space round markers
        (
            " *** Begin Patch\t\n\t*** Delete File: a \n *** End Patch\n",
            "D a",
            &[(1, IndentedMarker), (2, IndentedMarker), (3, IndentedMarker)],
        ),
        (
            "*** Begin Patch\n*** Update File: a  \n@@ f \n-x\n*** End of File \n*** End Patch \n",
            "U a {@f|-x$}",
            &[(2, IndentedMarker), (3, IndentedMarker), (5, IndentedMarker), (6, IndentedMarker)],
        ),
        ("*** Begin Patch\n*** Delete File:  a\n*** End Patch", "D a", &[(2, IndentedMarker)]),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n  *** End Patch", "U a {|-x}", &[(5, IndentedMarker)]),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n\t*** End Patch\n\n  \n", "U a {|-x}", &[(5, IndentedMarker)]),
        (
            "```\n*** Begin Patch\n*** Update File: a\n@@\n-x\n *** End Patch ***\n\n```\n",
            "U a {|-x}",
            &[(1, Fence), (6, IndentedMarker), (6, MarkerStars)],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n\n *** End Patch\n",
            "U a {| *** End Patch| }",
            &[(5, BareEmptyLine), (6, IndentedMarker)],
        ),
        (
            "cat <<E\n*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n E\n+x\n*** End Patch\nE\n",
            "U a {| *** End Patch| E|+x}",
            &[(1, Heredoc)],
        ),
        // stars, spaces, signs
        ("*** Begin Patch ***\n*** Delete File: a\n*** End Patch ***\n", "D a", &[(1, MarkerStars), (3, MarkerStars)]),
        (
            "*** Begin Patch\n*** Add File:a\n*** Delete File:b\n*** Update File:c\n*** Move to:d\n@@f\n-x\n*** End Patch",
            "A a \"\"; D b; U c > d {@f|-x}",
            &[(2, MissingSpace), (3, MissingSpace), (4, MissingSpace), (5, MissingSpace), (6, MissingSpace)],
        ),
        ("*** Begin Patch\n*** Update File: a\n@@-2,1 +2 @@\n-x\n*** End Patch", "U a {#2|-x}", &[(3, MissingSpace)]),
        ("*** Begin Patch\n*** Update File: a\n-x\n+y\n*** End Patch", "U a {|-x|+y}", &[(3, ImplicitHunk)]),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n\\ No newline at end of file\n*** End Patch",
            "U a {|-x\\|+y\\}",
            &[(5, NoNewline), (7, NoNewline), (8, NoNewline)],
        ),
        ("*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch", "U a > b", &[(2, PureRename)]),
        // round the patch
        ("\u{feff}*** Begin Patch\n*** Delete File: a\n*** End Patch", "D a", &[(1, ByteOrderMark)]),
        (
            "\u{feff}\n```\n\u{feff}*** Begin Patch\n*** Delete File: a\n*** End Patch",
            "D a",
            &[(1, ByteOrderMark), (2, Fence), (3, ByteOrderMark)],
        ),
        ("\n \t\n*** Begin Patch\n\n*** Delete File: a\n*** End Patch\n\n \n", "D a", &[]),
        ("```diff\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n```\n", "D a", &[(1, Fence)]),
        ("```\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n", "D a", &[(1, Fence)]),
        ("~~~~patch\n\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n\n~~~~\n\n", "D a", &[(1, Fence)]),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n", "D a", &[(1, Heredoc)]),
        ("<<\"P\"\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nP", "D a", &[(1, Heredoc)]),
        (
            "```sh\ncat << EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n```",
            "D a",
            &[(1, Fence), (2, Heredoc)],
        ),
        ("*** Environment ID: e\n*** Begin Patch\n*** Delete File: a\n*** End Patch", "D a", &[(1, EnvironmentId)]),
        (
            "*** Begin Patch\n\n*** Environment ID:e f \n*** Delete File: a\n*** End Patch",
            "D a",
            &[(3, EnvironmentId), (3, IndentedMarker), (3, MissingSpace)],
        ),
        // bare empty lines
        (
            "*** Begin Patch\n*** Add File: a\n\n+x\n\n \n+y\n\n*** Delete File: b\n\n*** End Patch",
            "A a \"x\\n\\n\\ny\\n\"; D b",
            &[(3, BareEmptyLine), (5, BareEmptyLine), (6, BareEmptyLine), (8, BareEmptyLine), (10, BareEmptyLine)],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n\n*** Move to: b\n\n@@\n-x\n\n+y\n\n*** End Patch",
            "U a > b {|-x| |+y| }",
            &[(3, BareEmptyLine), (5, BareEmptyLine), (8, BareEmptyLine), (10, BareEmptyLine)],
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End of File\n\n  \n*** End Patch",
            "U a {|-x$}",
            &[(6, BareEmptyLine), (7, BareEmptyLine)],
        ),
    ];
    for (text, want, noted) in cases {
        let patch = Patch::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(show(&patch), *want, "{text:?}");
        assert_eq!(notes(&patch), *noted, "{text:?}");
    }
}

/// Refusals: the whole text, the line, the line as received, the code, a piece of the advice or of what is wrong.
#[test]
fn what_is_refused_says_where_what_and_what_to_do() {
    let cases: &[(&str, u64, &str, &str, &str)] = &[
        ("", 0, "", "no-text", "*** Begin Patch"),
        (" \n\t\n", 0, "", "no-text", "*** Begin Patch"),
        ("```\n\n", 1, "```", "no-text", "*** Begin Patch"),
        ("Here it is:\n*** Begin Patch\n", 1, "Here it is:", "no-begin", "leave out any other text"),
        ("*** begin patch\n", 1, "*** begin patch", "no-begin", "exactly"),
        ("*** Begin Patch: x\n", 1, "*** Begin Patch: x", "no-begin", "nothing else on it"),
        ("\n*** End Patch\n*** Begin Patch\n", 2, "*** End Patch", "no-begin", "the last line"),
        ("*** Add File: a\n+x\n", 1, "*** Add File: a", "no-begin", "above it"),
        ("--- a/x\n+++ b/x\n", 1, "--- a/x", "no-begin", "unified diff"),
        ("*** Environment ID: e\n```\n", 2, "```", "no-begin", "first line"),
        ("*** Environment ID: e\n", 1, "*** Environment ID: e", "no-begin", "first line"),
        ("```\n```\n```\n```\n*** Begin Patch\n", 4, "```", "no-begin", "first line"),
        ("\u{fffe}*\n", 1, "\\u{fffe}*", "no-begin", "first line"),
        ("{\"input\": \"*** Begin Patch\\n\"}", 1, "{\"input\": \"*** Begin Patch\\n\"}", "json", "not a JSON value"),
        ("{\n  \"patch\": 1}", 1, "{", "json", "JSON"),
        ("[\"apply_patch\", \"\"]", 1, "[\"apply_patch\", \"\"]", "json", "JSON"),
        ("\"*** Begin Patch\\n\"", 1, "\"*** Begin Patch\\n\"", "json", "JSON"),
        ("*** Begin Patch\n*** Delete File: a\n", 2, "*** Delete File: a", "no-end", "*** End Patch"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+tw\n\n", 5, "+tw", "no-end", "*** End Patch"),
        ("*** Begin Patch\n*** Update File: a\n@@\n *** End Patch\n-x", 5, "-x", "no-end", "*** End Patch"),
        ("```\n*** Begin Patch\n*** Update File: a\n@@\n-x\n```\n", 6, "```", "wrapper-closed", "*** End Patch"),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n+x*** End Patch\n\n",
            4,
            "+x*** End Patch",
            "end-glued",
            "break the line",
        ),
        (
            "```\n*** Begin Patch\n*** Add File: a\n+x*** End Patch ***\n```",
            4,
            "+x*** End Patch ***",
            "end-glued",
            "break the line",
        ),
        (
            "*** Begin Patch\n*** Delete File: a*** End Patch\n",
            2,
            "*** Delete File: a*** End Patch",
            "end-glued",
            "break the line",
        ),
        ("*** Begin Patch\n*** Add File: a\n+x*** End Patch\n+y\n", 4, "+y", "no-end", "*** End Patch"),
        (
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\nDone.\n",
            4,
            "Done.",
            "after-end",
            "leave out any other text",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** Begin Patch\n",
            4,
            "*** Begin Patch",
            "after-end",
            "between one Begin and one End",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n *** End Patch\n*** Delete File: b\n",
            4,
            "*** Delete File: b",
            "after-end",
            "below the last operation",
        ),
        ("*** Begin Patch\n*** Delete File: a\n*** End Patch\n```\n", 4, "```", "after-end", "the last line"),
        ("<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\n", 4, "*** End Patch", "heredoc-open", "`EOF`"),
        ("<<EOF\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nDONE\n", 5, "DONE", "heredoc-wrong", "`EOF`"),
        (
            "<<EOF\n*** Begin Patch\n*** Update File: a\n@@\n-x\n *** End Patch\n",
            6,
            " *** End Patch",
            "heredoc-open",
            "`EOF`",
        ),
        ("*** Begin Patch\n*** End Patch\n", 2, "*** End Patch", "no-operation", "*** Add File: PATH"),
        ("*** Begin Patch\nx\n", 2, "x", "no-header", "*** Add File: PATH"),
        ("*** Begin Patch\n@@\n-x\n", 2, "@@", "no-header", "name the file first"),
        ("*** Begin Patch\n*** Move to: b\n", 2, "*** Move to: b", "misplaced-move", "right below"),
        ("*** Begin Patch\n*** Rename File: b\n", 2, "*** Rename File: b", "unknown-header", "*** Update File: PATH"),
        ("*** Begin Patch\n*** update file: b\n", 2, "*** update file: b", "unknown-header", "spelled so"),
        ("*** Begin Patch\n*** Begin Patch\n", 2, "*** Begin Patch", "second-begin", "between one Begin and one End"),
        ("*** Begin Patch\n*** Add File: \n", 2, "*** Add File: ", "no-path", "behind the colon"),
        ("*** Begin Patch\n*** Update File: a\n*** Move to:\n", 3, "*** Move to:", "no-path", "behind the colon"),
        (
            "*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Move to: c\n",
            4,
            "*** Move to: c",
            "misplaced-move",
            "once",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** Move to: c\n",
            5,
            "*** Move to: c",
            "misplaced-move",
            "once",
        ),
        ("*** Begin Patch\n*** Environment ID: \n", 2, "*** Environment ID: ", "no-environment", "its name"),
        (
            "*** Environment ID: e\n*** Begin Patch\n*** Environment ID: f\n",
            3,
            "*** Environment ID: f",
            "two-environments",
            "one environment",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** Environment ID: f\n",
            3,
            "*** Environment ID: f",
            "misplaced-environment",
            "right below",
        ),
        ("*** Begin Patch\n*** Add File: new.txt\n+one\ntwo\n", 4, "two", "no-plus", "`new.txt`"),
        ("*** Begin Patch\n*** Add File: a\n @@\n", 3, " @@", "no-plus", "start every line"),
        (
            "*** Begin Patch\n*** Add File: a\n+x\n*** End of File\n",
            4,
            "*** End of File",
            "misplaced-end-of-file",
            "in an Update",
        ),
        ("*** Begin Patch\n*** Add File: a\n*** Add File: a\n+x\n", 3, "*** Add File: a", "opened-twice", "on line 2"),
        (
            "*** Begin Patch\n*** Update File: a\n\n*** Update File: a\n",
            4,
            "*** Update File: a",
            "opened-twice",
            "on line 2",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** Delete File: a\n",
            3,
            "*** Delete File: a",
            "opened-twice",
            "remove one",
        ),
        ("*** Begin Patch\n*** Delete File: a\n-x\n", 3, "-x", "delete-with-lines", "`a`"),
        ("*** Begin Patch\n*** Update File: a\n*** Add File: a\n", 3, "*** Add File: a", "empty-update", "on line 2"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch\n", 3, "*** End Patch", "empty-update", "`a`"),
        ("*** Begin Patch\n*** Update File: a\n  *** End Patch\n", 3, "  *** End Patch", "empty-update", "`a`"),
        ("*** Begin Patch\n*** Update File: a\n@@ f\n*** End Patch\n", 4, "*** End Patch", "empty-hunk", "on line 3"),
        (
            "*** Begin Patch\n*** Update File: a\n@@ f\n*** End of File\n",
            4,
            "*** End of File",
            "empty-hunk",
            "on line 3",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n@@\n*** Delete File: b\n",
            6,
            "*** Delete File: b",
            "empty-hunk",
            "on line 5",
        ),
        ("*** Begin Patch\n*** Update File: a\nfoo\n", 3, "foo", "no-sign", "with a space"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n\tfoo\n", 5, "\\tfoo", "no-sign", "`a`"),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n\t*** End Patch\n+y\n",
            5,
            "\\t*** End Patch",
            "no-sign",
            "with a space",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End of File\n",
            3,
            "*** End of File",
            "misplaced-end-of-file",
            "below the last line",
        ),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n*** Frob\n", 5, "*** Frob", "unknown-header", "the headers are"),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n\\ No newline at end of file\n",
            4,
            "\\ No newline at end of file",
            "no-newline-alone",
            "`a`",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End of File\n+y\n",
            6,
            "+y",
            "after-end-of-file",
            "start a new hunk",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End of File\n\\ No newline at end of file\n",
            6,
            "\\ No newline at end of file",
            "after-end-of-file",
            "new hunk",
        ),
    ];
    for (text, line, received, code, piece) in cases {
        let error = Patch::parse(text.as_bytes()).expect_err(text);
        assert_eq!(
            (error.line(), error.received().replace('·', " ").as_str(), error.code()),
            (*line, *received, *code),
            "{text:?}: {error}"
        );
        assert!(error.to_string().contains(piece), "{text:?}: {error}");
        assert!(*line == 0 || error.to_string().contains(&format!("line {line}: ")), "{text:?}: {error}");
        let index = usize::try_from(*line).unwrap();
        let want = if index == 0 { "" } else { text.lines().nth(index - 1).unwrap() };
        let span = error.span();
        assert_eq!(&text[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()], want, "{text:?}");
    }
}

#[test]
fn utf16_is_told() {
    let error = Patch::parse(b"\xff\xfe*\0*\0").unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 1: the patch does not begin with `*** Begin Patch`: `\\xff\\xfe*\\u{0}*\\u{0}`; this looks like UTF-16; send the \
         patch as UTF-8"
    );
}

#[test]
fn a_long_line_and_a_long_path_are_cut_in_messages() {
    let long = "p".repeat(10_000);
    let error = Patch::parse(format!("*** Begin Patch\n*** Add File: {long}\n{long}\n").as_bytes()).unwrap_err();
    assert_eq!(error.span().end - error.span().start, 10_000);
    assert!(error.received().ends_with("p…") && error.to_string().len() < 600, "{error}");
}

#[test]
fn an_add_repeated_at_once_is_a_choice() {
    let text = envelope("*** Add File: a\n*** Add File: a\n+x\n");
    let patch = Patch::parse_with(text.as_bytes(), &ParseOptions::codex()).unwrap();
    assert_eq!(show(&patch), "A a \"\"; A a \"x\\n\"");
    let text = envelope("*** Update File: a\n*** Update File: a\n-x\n");
    assert_eq!(Patch::parse_with(text.as_bytes(), &ParseOptions::codex()).unwrap_err().code(), "opened-twice");
}

#[test]
fn notes_are_bounded_and_the_rest_is_counted() {
    let text = envelope(&format!("*** Add File: a\n{}", "\n+x\n".repeat(Patch::MAX_NOTES + 7)));
    let patch = Patch::parse(text.as_bytes()).unwrap();
    assert_eq!((patch.notes.len(), patch.notes_left_out), (Patch::MAX_NOTES, 7));
    let text = envelope(&format!("*** Add File: a\n{}", "\n".repeat(Patch::MAX_NOTES + 7)));
    let patch = Patch::parse(text.as_bytes()).unwrap();
    assert_eq!(patch.notes, [Note { line: 3, lines: Patch::MAX_NOTES as u64 + 7, kind: NoteKind::BareEmptyLine }]);
}

/// An event without its borrow.
fn tell(event: Event<'_>) -> String {
    match event {
        Event::Opened { op, line, path, action } => format!("{op} opened {line} {} {action:?}", path.escape_ascii()),
        Event::Hunk { op, index, hunk, .. } => format!("{op} hunk {index} {} {}", hunk.line, show_hunk(hunk)),
        Event::Complete { op, file } => format!("{op} complete {}", show_op(file)),
    }
}

fn drain(parser: &mut Parser, told: &mut Vec<String>) {
    while let Ok(Some(event)) = parser.next_event() {
        told.push(tell(event));
    }
}

#[test]
fn what_is_complete_comes_out_at_once() {
    let mut parser = Parser::default();
    let steps: &[(&str, &[&str])] = &[
        ("*** Begin Patch\n*** Add File: a", &[]),
        ("\n+x", &["0 opened 2 a Add"]),
        ("\n*** Update File: b\n", &["0 complete A a \"x\\n\"", "1 opened 4 b Update"]),
        ("*** Move to: c\n@@ f\n-x\n", &[]),
        ("@@\n", &["1 hunk 0 6 @f|-x"]),
        (" y\n*** End of File\n", &["1 hunk 1 8 | y$"]),
        ("*** Delete File: d\n", &["1 complete U b > c {@f|-x} {| y$}", "2 opened 11 d Delete"]),
        ("*** End Patch", &[]),
        ("\n", &["2 complete D d"]),
    ];
    for (piece, want) in steps {
        let mut told = Vec::new();
        parser.feed(piece.as_bytes());
        drain(&mut parser, &mut told);
        assert_eq!(told, *want, "{piece:?}");
    }
    assert_eq!(parser.finish().unwrap().ops.len(), 3);
}

#[test]
fn an_error_comes_after_what_was_complete_and_stays() {
    let mut parser = Parser::default();
    parser.feed(b"*** Begin Patch\n*** Delete File: a\n*** Frob\n");
    let mut told = Vec::new();
    drain(&mut parser, &mut told);
    assert_eq!(told, ["0 opened 2 a Delete"]);
    parser.feed(b"*** End Patch\n");
    assert_eq!(parser.next_event().unwrap_err().line(), 3);
    assert_eq!(parser.finish().unwrap_err().line(), 3);
}

#[test]
fn what_is_taken_out_is_not_given_again() {
    let mut parser = Parser::default();
    parser.feed(b"*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** Delete File: c\n");
    assert_eq!(parser.take_complete().count(), 0, "nothing was told yet");
    let mut told = Vec::new();
    drain(&mut parser, &mut told);
    assert_eq!(parser.take_complete().map(|op| show_op(&op)).collect::<Vec<_>>(), ["D a", "D b"]);
    parser.feed(b"*** End Patch");
    parser.end();
    drain(&mut parser, &mut told);
    assert_eq!(told.last().unwrap(), "2 complete D c");
    assert_eq!(show(&parser.finish().unwrap()), "D c");
}

#[test]
fn a_reader_gives_what_a_slice_gives() {
    struct Slow<'a>(&'a [u8], bool);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            let count = self.0.len().min(3);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }
    let text = envelope("*** Update File: a\n@@\n-x\n");
    let options = ParseOptions::default();
    assert_eq!(Patch::read(Slow(text.as_bytes(), false), &options).unwrap(), Patch::parse(text.as_bytes()).unwrap());
    assert!(matches!(Patch::read(&b"x\n"[..], &options), Err(ReadError::Parse(_))));
    assert!(matches!(Patch::read(std::io::empty(), &options), Err(ReadError::Parse(_))));
}

/// Lines that are worth to be put below each other in any order.
const LINES: &[&str] = &[
    "*** Begin Patch",
    "*** Begin Patch ***",
    "*** End Patch",
    " *** End Patch",
    "\t*** End Patch ***",
    "*** Add File: a",
    " *** Add File:a ",
    "*** Delete File: a",
    "*** Update File: a",
    "*** Update File: b",
    "*** Move to: b",
    "*** Environment ID: e",
    "*** End of File",
    "\\ No newline at end of file",
    "@@",
    "@@ f",
    "@@-1,2 +3 @@ h",
    "",
    " ",
    "\t",
    "+x",
    "-y",
    " z",
    " *** End Patch.",
    "+x*** End Patch",
    "```",
    "```diff",
    "cat <<'EOF'",
    "EOF",
    " EOF",
    "x",
    "{",
    "*** Frob",
    "\u{feff}",
    "\u{feff}*** Begin Patch",
    "+é\u{a0}",
    "+\r",
];

/// Texts of such lines, mostly inside of an envelope.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let line = (proptest::sample::select(LINES), proptest::sample::select(&["\n", "\n", "\n", "\r\n", ""][..]));
    (any::<bool>(), proptest::collection::vec(line, 0..24), any::<bool>()).prop_map(|(begin, lines, end)| {
        let mut text = String::new();
        if begin {
            text += "*** Begin Patch\n*** Update File: u\n";
        }
        for (line, ending) in lines {
            text = text + line + ending;
        }
        if end {
            text += "*** End Patch\n";
        }
        text.into_bytes()
    })
}

/// Everything a parser says about a text that comes in these pieces.
fn say<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    ask: impl Fn(usize) -> bool,
) -> (Vec<String>, Result<Patch, ParseError>) {
    let (mut parser, mut told) = (Parser::default(), Vec::new());
    for (at, piece) in pieces.enumerate() {
        parser.feed(piece);
        if ask(at) {
            drain(&mut parser, &mut told);
        }
    }
    parser.end();
    drain(&mut parser, &mut told);
    (told, parser.finish())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn pieces_never_change_what_is_said(text in texts(), cuts in proptest::collection::vec(any::<Index>(), 0..6), ask in any::<u8>()) {
        let whole = say(std::iter::once(&text[..]), |_| false);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).chain([0, text.len()]).collect();
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
        prop_assert_eq!(&say(pieces, |at| ask >> (at % 8) & 1 == 1), &whole);
        prop_assert_eq!(&say(text.chunks(1), |_| true), &whole);
        prop_assert_eq!(&Patch::parse(&text), &whole.1);
    }
}

/// Texts that would tempt a parser to look twice.
fn tempting() -> Vec<Vec<u8>> {
    let held = " *** End Patch\n\n\n \n".repeat(3_000);
    vec![
        envelope(&("*** Add File: a\n".to_owned() + &"+some text\n".repeat(10_000))).into_bytes(),
        envelope(&format!("*** Add File: a\n+{}\n", "x".repeat(100_000))).into_bytes(),
        envelope(&format!("*** Update File: a\n@@\n{held}-x\n")).into_bytes(),
        format!("*** Begin Patch\n*** Update File: a\n@@\n-x\n *** End Patch\n{}", "\n".repeat(50_000)).into_bytes(),
        "\n".repeat(100_000).into_bytes(),
        vec![b'x'; 100_000],
    ]
}

#[test]
fn work_is_linear_in_the_bytes_whatever_the_pieces() {
    for text in tempting() {
        for size in [1, 16, 1_000, 10_000, text.len()] {
            for ask in [false, true] {
                let mut parser = Parser::default();
                for piece in text.chunks(size) {
                    parser.feed(piece);
                    while ask && matches!(parser.next_event(), Ok(Some(_))) {}
                }
                let Machine::Envelope(machine) = &parser.machine else { panic!("another machine") };
                let lines = text.iter().filter(|byte| **byte == b'\n').count();
                assert!(
                    parser.lines.steps <= 5 * text.len() + 100,
                    "{size} {ask}: {} bytes for {}",
                    parser.lines.steps,
                    text.len()
                );
                assert!(machine.steps <= 3 * lines, "{size} {ask}: {} lines for {lines}", machine.steps);
            }
        }
    }
}
