use proptest::prelude::*;

use super::*;
use crate::patch::Patch;
use crate::plan::PlanOptions;
use crate::policy::Policy;
use crate::workspace::MemSource;

fn shown(files: &[(&str, &str)], patch: &str) -> String {
    shown_with(files, patch, Policy::default())
}

fn shown_with(files: &[(&str, &str)], patch: &str, policy: Policy) -> String {
    let source = files.iter().fold(MemSource::new(), |source, (path, text)| match text.strip_prefix("->") {
        Some(target) => source.link(path, target),
        None => source.file(path, text.as_bytes()),
    });
    let text = format!("*** Begin Patch\n{patch}*** End Patch\n");
    let options = PlanOptions::default().policy(policy);
    let plan = Plan::new(Patch::parse(text.as_bytes()).unwrap(), &source, &options).unwrap();
    String::from_utf8(diff(&plan, &DiffOptions::default())).unwrap()
}

#[test]
fn each_kind_of_change_has_its_git_form() {
    let head = |old: &str, new: &str| format!("diff --git a/{old} b/{new}\n");
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, String);
    let cases: &[Case<'_>] = &[
        (
            &[("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")],
            "*** Update File: a\n@@\n-1\n+one\n@@\n-9\n+nine\n",
            head("a", "a")
                + "--- a/a\n+++ b/a\n@@ -1,4 +1,4 @@\n-1\n+one\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+nine\n",
        ),
        (
            &[("a", "1\n2\n3\n4\n5\n6\n7\n8\n")],
            "*** Update File: a\n@@\n-1\n+one\n@@\n-8\n+eight\n",
            head("a", "a") + "--- a/a\n+++ b/a\n@@ -1,8 +1,8 @@\n-1\n+one\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n",
        ),
        (
            &[],
            "*** Add File: n\n+x\n",
            head("n", "n") + "new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n",
        ),
        (&[], "*** Add File: n\n", head("n", "n") + "new file mode 100644\n"),
        (
            &[("o", "x\ny")],
            "*** Delete File: o\n",
            head("o", "o")
                + "deleted file mode 100644\n--- a/o\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-x\n-y\n\\ No newline at end of file\n",
        ),
        (
            &[("o", "x\n")],
            "*** Update File: o\n*** Move to: d/n\n",
            head("o", "d/n") + "similarity index 100%\nrename from o\nrename to d/n\n",
        ),
        (
            &[("o", "x\n")],
            "*** Update File: o\n*** Move to: n\n@@\n-x\n+y\n",
            head("o", "n") + "rename from o\nrename to n\n--- a/o\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n",
        ),
        (
            &[("a b", "x\n")],
            "*** Update File: a b\n@@\n-x\n+y\n",
            head("a b", "a b") + "--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-x\n+y\n",
        ),
        (
            &[("a", "x")],
            "*** Update File: a\n@@\n x\n+y\n",
            head("a", "a")
                + "--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-x\n\\ No newline at end of file\n+x\n+y\n\\ No newline at end of file\n",
        ),
    ];
    for (files, patch, want) in cases {
        assert_eq!(&shown(files, patch), want, "{patch}");
    }
}

const A_TO_B: &str = "*** Update File: a\n*** Move to: b\n";
const EDIT_B: &str = "*** Update File: b\n@@\n-x\n+y\n";

fn renamed(old: &str, new: &str) -> String {
    format!("diff --git a/{old} b/{new}\nsimilarity index 100%\nrename from {old}\nrename to {new}\n")
}

/// What git can apply to the tree as it was: every old line is one of it, and every path is freed once and filled once.
#[test]
fn operations_that_meet_are_told_against_the_tree_as_it_was() {
    let changed = |path: &str, hunk: &str| format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{hunk}");
    let gone = |path: &str, mode: &str, hunk: &str| {
        format!("diff --git a/{path} b/{path}\ndeleted file mode {mode}\n--- a/{path}\n+++ /dev/null\n{hunk}")
    };
    let new = |path: &str, hunk: &str| {
        format!("diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n{hunk}")
    };
    let edited = "diff --git a/a b/b\nrename from a\nrename to b\n--- a/a\n+++ b/b\n";
    type Case<'a> = (&'a [(&'a str, &'a str)], String, String);
    let cases: &[Case<'_>] = &[
        // Two edits, with a move before, between and after them.
        (
            &[("a", "1\nx\n")],
            format!("*** Update File: a\n@@\n-1\n+2\n{A_TO_B}{EDIT_B}*** Update File: b\n@@\n-y\n+z\n"),
            format!("{edited}@@ -1,2 +1,2 @@\n-1\n-x\n+2\n+z\n"),
        ),
        (&[("a", "")], format!("{A_TO_B}@@\n+x\n{EDIT_B}"), format!("{edited}@@ -0,0 +1 @@\n+y\n")),
        // Links.
        (&[("a", ""), ("l", "->a")], "*** Update File: l\n*** Move to: m\n".into(), renamed("l", "m")),
        (
            &[("l", "->a")],
            "*** Delete File: l\n".into(),
            gone("l", "120000", "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n"),
        ),
        (
            &[("l", "->a")],
            "*** Delete File: l\n*** Add File: l\n+x\n".into(),
            gone("l", "120000", "@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n") + &new("l", "@@ -0,0 +1 @@\n+x\n"),
        ),
        // A path that is freed and filled.
        (
            &[("a", "x\n")],
            format!("{A_TO_B}*** Add File: a\n+z\n"),
            new("a", "@@ -0,0 +1 @@\n+z\n") + &renamed("a", "b"),
        ),
        (
            &[("a", "x\n"), ("b", "1\n")],
            format!("*** Update File: b\n*** Move to: c\n{A_TO_B}*** Update File: c\n*** Move to: a\n"),
            renamed("b", "a") + &renamed("a", "b"),
        ),
        // A move onto what is gone: no rename, for git would find the target taken.
        (
            &[("a", "x\n"), ("b", "1\n")],
            format!("*** Delete File: b\n{A_TO_B}{EDIT_B}"),
            gone("a", "100644", "@@ -1 +0,0 @@\n-x\n") + &changed("b", "@@ -1 +1 @@\n-1\n+y\n"),
        ),
    ];
    for (files, patch, want) in cases {
        assert_eq!(&shown(files, patch), want, "{patch}");
    }
    let chain = "*** Update File: b\n*** Move to: c\n*** Update File: a\n*** Move to: b\n";
    let want = gone("a", "100644", "@@ -1 +0,0 @@\n-1\n")
        + &changed("b", "@@ -1 +1 @@\n-2\n+1\n")
        + &changed("c", "@@ -1 +1 @@\n-3\n+2\n");
    assert_eq!(shown_with(&[("a", "1\n"), ("b", "2\n"), ("c", "3\n")], chain, Policy::codex()), want);
}

#[test]
fn odd_names_are_quoted_as_git_quotes_them() {
    for (name, want) in
        [("plain", "plain"), ("a\"b", "\"a\\\"b\""), ("a\tb", "\"a\\tb\""), ("a\\b", "\"a\\\\b\""), ("é", "é")]
    {
        assert_eq!(quoted(name), want);
    }
}

#[test]
fn a_diff_over_its_bound_is_cut_and_says_so() {
    let body: String = (0..1000).map(|n| format!("+line {n}\n")).collect();
    let text = format!("*** Begin Patch\n*** Add File: n\n{body}*** End Patch\n");
    let plan = Plan::new(Patch::parse(text.as_bytes()).unwrap(), &MemSource::new(), &PlanOptions::default()).unwrap();
    let cut = diff(&plan, &DiffOptions::default().max_bytes(500));
    assert!(cut.len() < 600 && cut.ends_with(b"... the diff was cut at 500 bytes\n"));
}

/// A content made of stretches of `old` and fresh lines, and the same as text.
fn spliced(old: &str, cuts: &[(usize, usize)], fresh: &[String]) -> NewContent {
    let starts: Vec<usize> = std::iter::once(0).chain(old.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let mut out = crate::text::Spliced::default();
    let mut at = 0;
    for ((from, len), fresh) in cuts.iter().zip(fresh) {
        let from = starts[from % starts.len()].max(at);
        let to = starts.get(starts.partition_point(|s| *s < from) + len).copied().unwrap_or(old.len()).max(from);
        out.keep(at..from);
        out.add(fresh.as_bytes());
        at = to;
    }
    out.keep(at..old.len());
    NewContent { base: std::sync::Arc::new(old.as_bytes().to_vec().into()), spliced: out }
}

/// Applies a diff of one file at exactly the lines it names; every old line must be there.
fn apply_strictly(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut out, mut at) = (String::new(), 0);
    let mut rows = diff.lines().skip(2).peekable();
    while let Some(row) = rows.next() {
        if let Some(header) = row.strip_prefix("@@ -") {
            let (start, count) = header
                .split(' ')
                .next()
                .unwrap()
                .split_once(',')
                .unwrap_or((&header[..header.find(' ').unwrap()], "1"));
            let start: usize = start.parse().unwrap();
            let start = if count == "0" { start } else { start - 1 };
            out.push_str(&old[at..start].concat());
            at = start;
            continue;
        }
        let open = rows.next_if(|next| next.starts_with('\\')).is_some();
        let line = row[1..].to_owned() + if open { "" } else { "\n" };
        if !row.starts_with('+') {
            assert_eq!(old[at], line);
            at += 1;
        }
        if !row.starts_with('-') {
            out.push_str(&line);
        }
    }
    out.push_str(&old[at..].concat());
    out
}

proptest! {
    /// The diff of any replaced stretches, applied at the very lines it names, makes the new text.
    #[test]
    fn the_diff_makes_the_new_text(
        lines in prop::collection::vec("[a-c]{0,2}", 0..30),
        closed in any::<bool>(),
        cuts in prop::collection::vec((0usize..40, 0usize..4), 0..4),
        fresh in prop::collection::vec("([a-c]{0,2}\n){0,3}[ab]?", 4),
        context in 0usize..5,
    ) {
        let mut old = lines.join("\n");
        if closed && !old.is_empty() {
            old.push('\n');
        }
        let content = spliced(&old, &cuts, &fresh);
        let new = content.to_vec();
        let mut out = Vec::new();
        let base = std::sync::Arc::clone(&content.base);
        body(&mut out, Some("f"), Some("f"), &base, &content, &DiffOptions::default().context(context));
        if out.is_empty() {
            prop_assert_eq!(new, old.as_bytes());
        } else {
            let got = apply_strictly(&old, std::str::from_utf8(&out).unwrap());
            prop_assert_eq!(got, String::from_utf8(new).unwrap(), "{}", String::from_utf8_lossy(&out));
        }
    }
}
