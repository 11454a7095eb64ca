use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::build::MOST_NEAR;
use super::*;
use crate::patch::Patch;
use crate::policy::{HardLinks, Policy, Symlinks};
use crate::workspace::{Digest, MemSource, SourceError};

/// Paths and contents; `->target` stands for a symbolic link.
type Files<'a> = &'a [(&'a str, &'a str)];

fn source(files: Files<'_>) -> MemSource {
    files.iter().fold(MemSource::new(), |source, (path, text)| match text.strip_prefix("->") {
        Some(target) => source.link(path, target),
        None => source.file(path, text.as_bytes()),
    })
}

fn plan_with(files: Files<'_>, patch: &str, options: &PlanOptions) -> Result<Plan, PlanError> {
    let text = format!("*** Begin Patch\n{patch}*** End Patch\n");
    Plan::new(Patch::parse(text.as_bytes()).unwrap(), &source(files), options)
}

fn plan(files: Files<'_>, patch: &str) -> Result<Plan, PlanError> {
    plan_with(files, patch, &PlanOptions::default())
}

/// Carries the steps out on a map: what the commit would leave.
fn carry_out(files: Files<'_>, plan: &Plan) -> BTreeMap<String, String> {
    let before: BTreeMap<String, String> = files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
    let mut after = before.clone();
    for step in plan.steps() {
        after.remove(step.path.as_str());
    }
    for step in plan.steps() {
        let stood = before.get(step.path.as_str());
        match &step.before {
            Before::Absent => assert_eq!(stood, None, "{}", step.path),
            Before::File(data) => assert_eq!(stood.map(String::as_bytes), Some(data.bytes.as_slice())),
            Before::Link(target) => {
                assert_eq!(stood.map(String::as_bytes), Some([b"->", target.as_slice()].concat().as_slice()));
            }
        }
        let text = match &step.after {
            After::Absent => continue,
            After::Moved { from } => before[from.as_str()].clone(),
            After::Link { target } => format!("->{}", String::from_utf8_lossy(target)),
            After::Content { content, .. } => String::from_utf8(content.to_vec()).unwrap(),
        };
        assert_eq!(after.insert(step.path.to_string(), text), None, "two steps fill {}", step.path);
    }
    after
}

#[track_caller]
fn becomes(files: Files<'_>, patch: &str, want: Files<'_>) {
    let plan = plan(files, patch).unwrap_or_else(|error| panic!("{patch}\n{:?}", error.failures));
    let want: BTreeMap<String, String> = want.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
    assert_eq!(carry_out(files, &plan), want, "{patch}");
}

#[track_caller]
fn refused(files: Files<'_>, patch: &str) -> Vec<FailureKind> {
    match plan(files, patch) {
        Ok(plan) => panic!("accepted: {patch}\n{:?}", plan.steps()),
        Err(error) => error.failures.into_iter().map(|failure| failure.kind).collect(),
    }
}

const A: &str = "*** Update File: a\n@@\n-1\n+2\n";

#[test]
fn operations_compose_in_order() {
    let add = "*** Add File: a\n+1\n";
    let cases: &[(Files<'_>, String, Files<'_>)] = &[
        (&[], add.to_owned(), &[("a", "1\n")]),
        (&[], format!("{add}{A}"), &[("a", "2\n")]),
        (&[], format!("{add}*** Delete File: a\n"), &[]),
        (&[], format!("{add}*** Update File: a\n*** Move to: d/b\n"), &[("d/b", "1\n")]),
        (&[("a", "")], add.to_owned(), &[("a", "1\n")]),
        (&[("a", "x\n")], format!("*** Delete File: a\n{add}"), &[("a", "1\n")]),
        (&[("a", "1\n")], "*** Delete File: a\n*** Add File: a/b\n+x\n".to_owned(), &[("a/b", "x\n")]),
        (&[("a", "1\n")], format!("*** Update File: a\n*** Move to: b\n{add}"), &[("a", "1\n"), ("b", "1\n")]),
        (
            &[("a", "1\n"), ("b", "2\n")],
            "*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a\n*** Update File: t\n*** Move to: b\n"
                .to_owned(),
            &[("a", "2\n"), ("b", "1\n")],
        ),
        (
            &[("a", "1\n")],
            "*** Update File: a\n*** Move to: b\n*** Update File: b\n@@\n-1\n+2\n*** Update File: b\n*** Move to: a\n"
                .to_owned(),
            &[("a", "2\n")],
        ),
        (&[("a", "1\n3\n")], format!("{A}*** Update File: a\n@@\n 2\n-3\n+4\n"), &[("a", "2\n4\n")]),
        (&[("d/a", "1\n")], "*** Update File: ./d//a\n@@\n-1\n+2\n".to_owned(), &[("d/a", "2\n")]),
    ];
    for (files, patch, want) in cases {
        becomes(files, patch, want);
    }
}

#[test]
fn what_comes_back_to_where_it_was_is_no_step() {
    let back = "*** Update File: a\n*** Move to: b\n*** Update File: b\n*** Move to: a\n";
    assert!(plan(&[("a", "1\n")], back).unwrap().steps().is_empty());
    let undone = format!("{A}*** Update File: a\n@@\n-2\n+1\n");
    assert!(plan(&[("a", "1\n")], &undone).unwrap().steps().is_empty());
}

#[test]
fn a_replacement_keeps_the_mode_and_a_new_file_at_a_moved_path_does_not() {
    let like = |patch: &str| {
        let plan = plan(&[("a", "1\n")], patch).unwrap();
        let step = plan.steps().iter().find(|step| step.path.as_str() == "a").unwrap().clone();
        match step.after {
            After::Content { like, .. } => like.map(|path| path.to_string()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(like("*** Delete File: a\n*** Add File: a\n+x\n"), Some("a".to_owned()));
    assert_eq!(like("*** Update File: a\n*** Move to: b\n*** Add File: a\n+x\n"), None);
    assert_eq!(like(A), Some("a".to_owned()));
}

#[test]
fn an_edit_with_a_move_names_the_file_whose_mode_it_takes() {
    let plan = plan(&[("a", "1\n")], "*** Update File: a\n*** Move to: b\n@@\n-1\n+2\n").unwrap();
    let step = plan.steps().iter().find(|step| step.path.as_str() == "b").unwrap();
    assert!(matches!(&step.after, After::Content { like: Some(like), .. } if like.as_str() == "a"));
}

#[test]
fn refusals_name_their_kind() {
    use FailureKind as K;
    type Want = fn(&FailureKind) -> bool;
    let cases: &[(Files<'_>, &str, Want)] = &[
        (&[("a", "x\n")], "*** Add File: a\n+1\n", |k| matches!(k, K::Exists { .. })),
        (&[("a/b", "x\n")], "*** Add File: a\n+1\n", |k| matches!(k, K::Exists { what: "a directory", .. })),
        (&[("a", "x\n")], "*** Add File: a/b\n+1\n", |k| matches!(k, K::Source(_))),
        (&[], "*** Add File: d/a\n+1\n*** Add File: d\n+1\n", |k| matches!(k, K::Exists { .. })),
        (&[], "*** Add File: d\n+1\n*** Add File: d/a\n+1\n", |k| matches!(k, K::Source(_))),
        (&[], "*** Delete File: a\n", |k| matches!(k, K::Missing { update: false, .. })),
        (&[], A, |k| matches!(k, K::Missing { update: true, .. })),
        (&[("a/b", "")], A, |k| matches!(k, K::Directory)),
        (&[("a/b", "")], "*** Delete File: a\n", |k| matches!(k, K::Directory)),
        (&[("a", "1\n"), ("b", "")], "*** Update File: a\n*** Move to: b\n", |k| matches!(k, K::Exists { .. })),
        (&[("a", "1\n")], "*** Update File: a\n*** Move to: a\n", |k| matches!(k, K::MovesOntoItself)),
        (&[("a", "1\n")], "*** Update File: a\n@@\n 1\n", |k| matches!(k, K::NoEffect)),
        (&[("a", "1\n")], "*** Delete File: a\n*** Update File: a\n@@\n-1\n+2\n", |k| matches!(k, K::Missing { .. })),
        (&[], "*** Add File: ../a\n+1\n", |k| matches!(k, K::Path(_))),
        (&[], "*** Add File: /etc/a\n+1\n", |k| matches!(k, K::Path(_))),
        (&[], "*** Add File: x/.GIT/a\n+1\n", |k| matches!(k, K::Source(SourceError::Git))),
        (&[], "*** Add File: a\\b\n+1\n", |k| matches!(k, K::Backslash)),
        (&[("a", "1\n")], "*** Update File: a\n*** Move to: x/\n", |k| matches!(k, K::MoveTarget { .. })),
        (&[("l", "->gone")], "*** Add File: l\n+1\n", |k| matches!(k, K::Exists { .. })),
    ];
    for (files, patch, want) in cases {
        let kinds = refused(files, patch);
        assert!(kinds.len() == 1 && want(&kinds[0]), "{patch}\n{kinds:?}");
    }
}

#[test]
fn all_failures_of_all_files_come_at_once_and_none_is_blamed_twice() {
    let patch =
        "*** Update File: a\n@@\n-x\n+y\n@@\n-z\n+y\n*** Update File: b\n@@\n-x\n+y\n*** Update File: a\n@@\n-q\n+r\n";
    let error = plan(&[("a", "1\n"), ("b", "1\n")], patch).unwrap_err();
    let blamed: Vec<(usize, &str)> = error.failures.iter().map(|f| (f.op, f.path.as_str())).collect();
    assert_eq!(blamed, [(0, "a"), (0, "a"), (1, "b")]);
}

#[test]
fn a_link_is_followed_by_an_edit_and_moved_or_deleted_as_itself() {
    let files: Files<'_> = &[("real", "1\n"), ("l", "->real")];
    becomes(files, "*** Update File: l\n@@\n-1\n+2\n", &[("real", "2\n"), ("l", "->real")]);
    becomes(files, "*** Delete File: l\n", &[("real", "1\n")]);
    becomes(files, "*** Update File: l\n*** Move to: m\n", &[("real", "1\n"), ("m", "->real")]);
    becomes(files, "*** Update File: l\n*** Move to: m\n@@\n-1\n+2\n", &[("real", "2\n"), ("m", "->real")]);
    let deny = PlanOptions::default().policy(Policy::default().symlinks(Symlinks::Deny));
    let error = plan_with(files, "*** Update File: l\n@@\n-1\n+2\n", &deny).unwrap_err();
    assert!(matches!(error.failures[0].kind, FailureKind::Source(SourceError::LinkDenied)));
}

#[test]
fn two_names_of_one_file_are_not_both_edited() {
    let linked = |stamp: &mut crate::workspace::Stamp| (stamp.ino, stamp.links) = (7, 2);
    let source = MemSource::new().file_with("a", "1\n", linked).file_with("b", "1\n", linked);
    let text = b"*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Update File: b\n@@\n-1\n+3\n*** End Patch\n";
    let patch = || Patch::parse(text).unwrap();
    let error = Plan::new(patch(), &source, &PlanOptions::default()).unwrap_err();
    assert!(matches!(&error.failures[..], [Failure { op: 1, kind: FailureKind::Twin { other }, .. }] if other == "a"));
    let deny = PlanOptions::default().policy(Policy::default().hard_links(HardLinks::Deny));
    let error = Plan::new(patch(), &source, &deny).unwrap_err();
    assert!(error.failures.iter().all(|failure| matches!(failure.kind, FailureKind::HardLinked(2))));
}

#[test]
fn a_file_that_changed_since_it_was_read_is_stale_before_any_hunk_is_placed() {
    let expect = Expectations::new().digest("a", Digest::of(b"0\n")).unwrap();
    let options = PlanOptions::default().expectations(expect);
    let error = plan_with(&[("a", "1\n")], A, &options).unwrap_err();
    assert!(matches!(&error.failures[..], [Failure { kind: FailureKind::Stale(_), .. }]));
    let gone = plan_with(&[], A, &options).unwrap_err();
    assert!(matches!(&gone.failures[..], [Failure { kind: FailureKind::Stale(stale), .. }] if stale.found.is_none()));
    let read = Expectations::new().digest("a", Digest::of(b"1\n")).unwrap();
    let twice = format!("{A}*** Update File: a\n@@\n-2\n+3\n");
    assert!(plan_with(&[("a", "1\n")], &twice, &PlanOptions::default().expectations(read)).is_ok());
}

#[test]
fn a_missing_path_suggests_near_names() {
    let files: Files<'_> = &[("src/parser.rs", ""), ("src/planner.rs", ""), ("docs/x", "")];
    let near = |path: &str| match &refused(files, &format!("*** Delete File: {path}\n"))[0] {
        FailureKind::Missing { near, .. } => near.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(near("src/parsre.rs").first().map(String::as_str), Some("src/parser.rs"));
    assert_eq!(near("srcs/parser.rs"), ["src/parser.rs"]);
    assert_eq!(near("parser.rs"), ["src/parser.rs"]);
    assert!(near("elsewhere").is_empty());
}

#[test]
fn only_the_first_missing_paths_get_near_names() {
    let patch: String = (0..MOST_NEAR + 5).map(|n| format!("*** Delete File: {n}-parsre.rs\n")).collect();
    let told: Vec<bool> = refused(&[("00-parser.rs", "")], &patch)
        .iter()
        .map(|kind| matches!(kind, FailureKind::Missing { near, .. } if !near.is_empty()))
        .collect();
    assert_eq!(told, [[true; MOST_NEAR].as_slice(), &[false; 5]].concat());
}

#[test]
fn what_the_patch_took_away_is_not_suggested() {
    let patch = "*** Update File: a\n*** Move to: b\n*** Update File: a\n@@\n-1\n+2\n";
    assert!(
        matches!(&refused(&[("a", "1\n")], patch)[0], FailureKind::Missing { taken: true, near, .. } if near.is_empty())
    );
}

#[test]
fn an_update_of_a_link_that_leads_nowhere_names_where_it_leads() {
    let files: Files<'_> = &[("l", "->gone"), ("a", "1\n"), ("m", "->a")];
    let edit = |path: &str| format!("*** Update File: {path}\n@@\n-1\n+2\n");
    let moved = format!("*** Update File: a\n*** Move to: b\n{}", edit("m"));
    for (patch, leads) in [(edit("l"), "gone"), (moved, "a")] {
        assert!(matches!(&refused(files, &patch)[0], FailureKind::Dangling { target } if target == leads), "{patch}");
    }
}

/// Directories that take the place of files and links, links that are taken away, and what is put below them.
#[test]
fn what_the_patch_replaced_leads_nowhere_any_more() {
    let add = |path: &str| format!("*** Add File: {path}\n+2\n");
    let del = |path: &str| format!("*** Delete File: {path}\n");
    let cases: &[(Files<'_>, Vec<String>, Files<'_>)] = &[
        (&[("x", "1\n")], vec![del("x"), add("x/y"), add("x/z")], &[("x/y", "2\n"), ("x/z", "2\n")]),
        (
            &[("x", "1\n")],
            vec![del("x"), add("x/y"), add("x/z/v"), add("x/z/w"), del("x/y"), add("x/y")],
            &[("x/y", "2\n"), ("x/z/v", "2\n"), ("x/z/w", "2\n")],
        ),
        (
            &[("r/q", "1\n"), ("x", "->r")],
            vec![del("x"), add("x/q"), add("x/z")],
            &[("r/q", "1\n"), ("x/q", "2\n"), ("x/z", "2\n")],
        ),
        (
            &[("r/q", "1\n"), ("x", "->r"), ("y", "->x")],
            vec![del("x"), add("x/q"), add("y/z")],
            &[("r/q", "1\n"), ("x/q", "2\n"), ("x/z", "2\n"), ("y", "->x")],
        ),
        (
            &[("a", "1\n"), ("l", "->a")],
            vec![del("a"), add("a/b"), add("l/c")],
            &[("a/b", "2\n"), ("a/c", "2\n"), ("l", "->a")],
        ),
        (
            &[("a", "1\n"), ("b", "1\n"), ("l", "->m"), ("m", "->a")],
            vec![del("m"), "*** Update File: b\n*** Move to: m\n".into(), "*** Update File: l\n@@\n-1\n+2\n".into()],
            &[("a", "1\n"), ("l", "->m"), ("m", "2\n")],
        ),
        (&[("l", "->a")], vec![del("l"), add("l")], &[("l", "2\n")]),
        (&[], vec![add("n"), del("n"), add("n")], &[("n", "2\n")]),
    ];
    for (files, patch, want) in cases {
        becomes(files, &patch.concat(), want);
    }
    for patch in [[del("x"), add("x/y"), add("x")], [del("x"), add("x/y/z"), add("x/y")]] {
        let kinds = refused(&[("x", "1\n")], &patch.concat());
        assert!(matches!(kinds[0], FailureKind::Exists { what: "a directory", .. }), "{kinds:?}");
    }
}

/// A new file takes its mode from the one it replaces; from a link, or from one that the patch itself made, it has none.
#[test]
fn only_a_file_of_the_tree_gives_its_mode() {
    let replace = |path: &str| format!("*** Delete File: {path}\n*** Add File: {path}\n+2\n");
    let cases =
        [(replace("a"), Some("a")), (replace("l"), None), (format!("*** Add File: n\n+1\n{}", replace("n")), None)];
    for (patch, want) in cases {
        let plan = plan(&[("a", "1\n"), ("l", "->a")], &patch).unwrap();
        let After::Content { like, .. } = &plan.steps()[0].after else { panic!("{patch}") };
        assert_eq!(like.as_ref().map(RelPath::as_str), want, "{patch}");
    }
}

#[test]
fn protected_paths_are_refused_by_rule_also_as_a_target() {
    let options = PlanOptions::default().policy(Policy::default().protected(["*.lock"]));
    for patch in ["*** Add File: x/a.lock\n+1\n", "*** Update File: a\n*** Move to: b.lock\n"] {
        let error = plan_with(&[("a", "1\n")], patch, &options).unwrap_err();
        let text = error.failures[0].kind.to_string();
        assert!(text.contains("*.lock"), "{text}");
    }
}

/// An operation of the property below.
#[derive(Clone, Debug)]
enum Act {
    Add(usize),
    Delete(usize),
    Move(usize, usize),
    Edit(usize),
}

const NAMES: [&str; 7] = ["a", "b", "d/a", "d/b", "x", "x/a", "x/b/c"];

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        (0..NAMES.len()).prop_map(Act::Add),
        (0..NAMES.len()).prop_map(Act::Delete),
        (0..NAMES.len(), 0..NAMES.len()).prop_map(|(from, to)| Act::Move(from, to)),
        (0..NAMES.len()).prop_map(Act::Edit),
    ];
    prop::collection::vec(act, 1..8)
}

/// The directories above a path.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}

proptest! {
    /// The net effect equals one operation after the other on a map.
    #[test]
    fn the_net_effect_is_the_sequence(present in prop::collection::vec(any::<bool>(), NAMES.len()), acts in acts()) {
        let start: Vec<(&'static str, String)> =
            NAMES.iter().zip(&present).filter(|(name, there)| **there && !(present[4] && name.starts_with("x/")))
                .map(|(name, _)| (*name, format!("{name}\n"))).collect();
        // Directories stay once they are there.
        let mut dirs: BTreeSet<&str> = start.iter().flat_map(|(name, _)| above(name)).collect();
        let mut put = |tree: &mut BTreeMap<&'static str, String>, at: usize, text: String| {
            let free = !dirs.contains(NAMES[at]) && above(NAMES[at]).all(|dir| !tree.contains_key(dir));
            dirs.extend(above(NAMES[at]));
            tree.insert(NAMES[at], text).is_none() && free
        };
        let mut tree: BTreeMap<&'static str, String> = start.iter().cloned().collect();
        let mut patch = String::new();
        let mut fine = true;
        for (number, act) in acts.iter().enumerate() {
            match *act {
                Act::Add(at) => {
                    patch += &format!("*** Add File: {}\n+new {number}\n", NAMES[at]);
                    fine &= put(&mut tree, at, format!("new {number}\n"));
                }
                Act::Delete(at) => {
                    patch += &format!("*** Delete File: {}\n", NAMES[at]);
                    fine &= tree.remove(NAMES[at]).is_some();
                }
                Act::Move(from, to) => {
                    patch += &format!("*** Update File: {}\n*** Move to: {}\n", NAMES[from], NAMES[to]);
                    match tree.remove(NAMES[from]) {
                        Some(text) => fine &= put(&mut tree, to, text) && from != to,
                        None => fine = false,
                    }
                }
                Act::Edit(at) => {
                    let old = tree.get(NAMES[at]).cloned().unwrap_or_else(|| "none\n".to_owned());
                    patch += &format!("*** Update File: {}\n@@\n-{old}+edit {number}\n", NAMES[at]);
                    match tree.get_mut(NAMES[at]) {
                        Some(text) => *text = format!("edit {number}\n"),
                        None => fine = false,
                    }
                }
            }
            if !fine {
                break;
            }
        }
        // A section that repeats the one above and is empty is the parser's business.
        let text = format!("*** Begin Patch\n{patch}*** End Patch\n");
        let Ok(parsed) = Patch::parse(text.as_bytes()) else { return Ok(()) };
        let files: Vec<(&str, &str)> = start.iter().map(|(name, text)| (*name, text.as_str())).collect();
        match Plan::new(parsed, &source(&files), &PlanOptions::default()) {
            Ok(plan) => {
                prop_assert!(fine, "accepted:\n{patch}");
                let want: BTreeMap<String, String> = tree.into_iter().map(|(p, t)| (p.to_owned(), t)).collect();
                prop_assert_eq!(carry_out(&files, &plan), want, "{}", patch);
            }
            Err(error) => prop_assert!(!fine, "refused: {:?}\n{patch}", error.failures),
        }
    }
}
