//! Every call fails once, or the process dies there, or everything fails from there on: before, or after, nothing else.

use std::collections::BTreeMap;

use super::support::{self, Tree, Wish, edit, plan};
use super::*;
use crate::workspace::fault::{self, Fault};
use crate::workspace::ops::Errno;

/// What a commit came to, as its caller hears it.
type Answer = Result<Outcome, CommitError>;

fn run(workspace: &Workspace, wishes: &[(&str, Wish)], options: &CommitOptions, fault: Fault) -> (Answer, u64) {
    let steps = plan(workspace, wishes);
    fault::arm(Some(fault));
    let answer = prepare(workspace, &steps, options).and_then(Prepared::commit);
    (answer, fault::disarm())
}

/// As [`cases`], with files that have a second name, so that they are written in place.
fn in_place_cases() -> Vec<Case> {
    let linked = || {
        let mut tree = before();
        tree.insert("a2".into(), "file 644 A".into());
        tree
    };
    let with = |changes: &[(&str, &str)]| {
        let mut tree = linked();
        for (path, what) in changes {
            if what.is_empty() {
                tree.remove(*path);
            } else {
                tree.insert((*path).into(), (*what).into());
            }
        }
        tree
    };
    vec![
        ("in place", vec![("a", edit("a", "longer"))], with(&[("a", "file 644 longer"), ("a2", "file 644 longer")])),
        ("in place, shorter", vec![("a", edit("a", ""))], with(&[("a", "file 644 "), ("a2", "file 644 ")])),
        (
            "in place, other mode, and others",
            vec![("a", edit_mode("a", "A2", 0o755)), ("b", edit("b", "B2")), ("c", Wish::Absent), ("new/n", add("N"))],
            with(&[
                ("a", "file 755 A2"),
                ("a2", "file 755 A2"),
                ("b", "file 755 B2"),
                ("c", ""),
                ("new", "dir"),
                ("new/n", "file 644 N"),
            ]),
        ),
        (
            "in place, and its other name removed",
            vec![("a", edit("a", "Z")), ("a2", Wish::Absent)],
            with(&[("a", "file 644 Z"), ("a2", "")]),
        ),
    ]
}

/// As [`with_disk`], in memory where there is such a file system: these tests make a tree for each call.
fn with_fast_disk(run: impl FnOnce(&Path, &Workspace)) {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    support::write(dir.path(), &before());
    run(dir.path(), &Workspace::open(dir.path()).unwrap());
}

/// A disk for each run: the tree, with the second name of `a` when the case needs it.
pub(super) fn on_disk(case: &Case, run: impl FnOnce(&Path, &Workspace, &Tree)) {
    with_fast_disk(|root, workspace| {
        if case.0.starts_with("in place") {
            std::fs::hard_link(root.join("a"), root.join("a2")).unwrap();
        }
        run(root, workspace, &support::read(root));
    });
}

/// Recovers, asserts that nothing temporary is left, and returns the tree.
pub(super) fn recovered(root: &Path, workspace: &Workspace, what: &dyn std::fmt::Display) -> Tree {
    let report = recover(workspace, &RecoverOptions::default()).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(report.left, [], "{what}");
    let tree = support::read(root);
    let left: Vec<&String> = tree.keys().filter(|path| path.contains(".restitch")).collect();
    assert!(left.is_empty(), "{what}: {left:?} {report:?}");
    let again = recover(workspace, &RecoverOptions::default()).unwrap();
    assert!(again.is_clean() && support::read(root) == tree, "{what}: a second recovery changed something");
    tree
}

pub(super) fn all_cases() -> Vec<Case> {
    cases().into_iter().chain(in_place_cases()).collect()
}

/// Two kinds of file systems, two kinds of durability.
fn settings() -> Vec<CommitOptions> {
    let all = CommitOptions::default();
    let without = |abilities| CommitOptions { abilities, ..CommitOptions::default() };
    vec![
        all.clone(),
        all.clone().durability(Durability::Power),
        without(Abilities { exchange: false, ..all.abilities }),
        without(Abilities { rename_new: false, exchange: false, ..all.abilities }),
    ]
}

/// Runs a case with a fault at each of its calls in turn, until a run has fewer calls than that.
fn at_each_call(case: &Case, options: &CommitOptions, fault: impl Fn(u64) -> Fault, judge: &mut Judge<'_>) -> u64 {
    for at in 0.. {
        let mut calls = 0;
        on_disk(case, |root, workspace, start| {
            let (answer, made) = run(workspace, &case.1, options, fault(at));
            calls = made;
            let what = format!("{} {options:?} {:?}: {answer:?}", case.0, fault(at));
            judge(Run { root, workspace, case, start, answer, what });
        });
        if at >= calls {
            return at;
        }
    }
    unreachable!("the loop ends in itself")
}

struct Run<'a> {
    root: &'a Path,
    workspace: &'a Workspace,
    case: &'a Case,
    start: &'a Tree,
    answer: Answer,
    what: String,
}

type Judge<'j> = dyn FnMut(Run<'_>) + 'j;

/// The answer is true, and a recovery leads to what it says.
fn judge_failure(run: Run<'_>) {
    let now = without_journal(support::read(run.root));
    let Run { start, case, what, .. } = &run;
    let end = match &run.answer {
        Ok(outcome) => {
            let left = outcome.notes.iter().any(|note| matches!(note, CommitNote::TemporaryLeft(_)));
            assert!(left || now == case.2, "{what}");
            &case.2
        }
        Err(error) => {
            let is_as_before = now == **start;
            assert!(is_as_before || matches!(error.state(), DiskState::Incomplete(_)), "{what}: {now:?}");
            *start
        }
    };
    // A commit of one action has no journal to say that it was refused: what it could not take back stays done.
    let has_journal = support::read(run.root).contains_key(".restitch-journal");
    let incomplete = matches!(&run.answer, Err(error) if matches!(error.state(), DiskState::Incomplete(_)));
    let stays = incomplete && !has_journal;
    let tree = recovered(run.root, run.workspace, what);
    assert!(tree == *end || (stays && tree == case.2), "{what}: {tree:?}");
}

fn without_journal(tree: Tree) -> Tree {
    tree.into_iter().filter(|(path, _)| !path.contains("restitch-journal")).collect()
}

/// Whatever the answer was, nobody heard it: before, or after.
fn judge_death(run: Run<'_>) {
    let files = support::read(run.root);
    let tree = recovered(run.root, run.workspace, &run.what);
    assert!(tree == *run.start || tree == run.case.2, "{}: {files:?} {tree:?}", run.what);
    if run.answer.is_ok() {
        assert_eq!(tree, run.case.2, "{}", run.what);
    }
}

#[test]
fn a_call_that_fails_is_answered_truly_and_undone() {
    let mut points = 0;
    for error in [Errno::IO, Errno::NOSPC, Errno::ACCESS, Errno::XDEV] {
        for options in &settings()[..if error == Errno::IO { 4 } else { 1 }] {
            for case in all_cases() {
                points += at_each_call(&case, options, |at| Fault::Fail { at, error }, &mut judge_failure);
            }
        }
    }
    println!("fault points, one call fails: {points}");
    assert!(points > 5_000, "{points}");
}

#[test]
fn a_call_that_a_signal_interrupts_is_made_again() {
    let mut points = 0;
    for case in all_cases() {
        points +=
            at_each_call(&case, &CommitOptions::default(), |at| Fault::Fail { at, error: Errno::INTR }, &mut |run| {
                assert!(run.answer.is_ok(), "{}", run.what);
                judge_failure(run);
            });
    }
    println!("fault points, interrupted: {points}");
}

#[test]
fn a_disk_that_fails_for_good_is_answered_truly_and_recovered_later() {
    let mut points = 0;
    for error in [Errno::IO, Errno::NOSPC, Errno::ROFS] {
        for options in &settings()[..if error == Errno::IO { 4 } else { 1 }] {
            for case in all_cases() {
                points += at_each_call(&case, options, |at| Fault::FailFrom { at, error }, &mut judge_failure);
            }
        }
    }
    println!("fault points, everything fails from there: {points}");
}

#[test]
fn a_write_that_ends_early_goes_on() {
    let mut points = 0;
    for case in all_cases() {
        for at in 0..12 {
            on_disk(&case, |root, workspace, start| {
                let (answer, _) = run(workspace, &case.1, &CommitOptions::default(), Fault::Short { at });
                let what = format!("{} short {at}: {answer:?}", case.0);
                assert!(answer.is_ok(), "{what}");
                judge_failure(Run { root, workspace, case: &case, start, answer, what });
            });
            points += 1;
        }
    }
    println!("fault points, short writes: {points}");
}

#[test]
fn a_process_that_dies_at_any_call_leaves_before_or_after() {
    let mut points = 0;
    for options in settings() {
        for case in all_cases() {
            points += at_each_call(&case, &options, |at| Fault::Kill { at }, &mut judge_death);
        }
    }
    println!("kills: {points}");
    assert!(points > 3_000, "{points}");
}

#[test]
fn the_next_commit_brings_back_what_a_dead_one_left() {
    let mut found = BTreeMap::new();
    for case in all_cases() {
        let options = CommitOptions::default();
        at_each_call(&case, &options, |at| Fault::Kill { at }, &mut |run| {
            let next = [("other", add("O"))];
            let steps = plan(run.workspace, &next);
            let outcome = prepare(run.workspace, &steps, &options).unwrap().commit().unwrap();
            let mut tree = support::read(run.root);
            assert_eq!(tree.remove("other").as_deref(), Some("file 644 O"), "{}", run.what);
            // A commit of one action has no journal: its temporary file stays until it is asked for.
            let tree = support::without_temporaries(tree);
            assert!(tree == *run.start || tree == run.case.2, "{}: {tree:?}", run.what);
            for note in outcome.notes {
                if let CommitNote::Recovered(recovered) = note {
                    *found.entry(format!("{:?}", recovered.direction)).or_insert(0) += 1;
                }
            }
        });
    }
    println!("recovered by the next commit: {found:?}");
    assert_eq!(found.len(), 2, "{found:?}");
}

/// Kills a commit at each `stride`-th call and its recovery at each call, then recovers.
fn die_twice(case: &Case, options: &CommitOptions, stride: u64) -> u64 {
    let mut points = 0;
    for first in (0..).step_by(usize::try_from(stride).unwrap()) {
        let mut over = false;
        for second in 0.. {
            let mut enough = false;
            on_disk(case, |root, workspace, start| {
                let (answer, calls) = run(workspace, &case.1, options, Fault::Kill { at: first });
                over = first >= calls;
                let what = format!("{} {options:?} killed at {first} and in recovery at {second}", case.0);
                fault::arm(Some(Fault::Kill { at: second }));
                let _unheard = recover(workspace, &RecoverOptions::default());
                enough = second >= fault::disarm();
                judge_death(Run { root, workspace, case, start, answer, what });
            });
            points += 1;
            if enough {
                break;
            }
        }
        if over {
            return points;
        }
    }
    points
}

#[test]
fn a_recovery_that_dies_is_taken_up_again() {
    let mut points = 0;
    for case in all_cases() {
        let name = case.0;
        if ["five files", "ring", "file to directory", "in place, other mode, and others"].contains(&name) {
            points += die_twice(&case, &CommitOptions::default(), 7);
        }
    }
    println!("kills of a commit and of its recovery: {points}");
    assert!(points > 500, "{points}");
}

#[test]
#[ignore = "takes minutes: every pair of kills"]
fn a_recovery_that_dies_anywhere_after_a_death_anywhere_is_taken_up_again() {
    let mut points = 0;
    for options in settings() {
        for case in all_cases() {
            points += die_twice(&case, &options, 1);
        }
    }
    println!("kills of a commit and of its recovery, all pairs: {points}");
}
