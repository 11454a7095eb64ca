//! A tree of names and things, too simple to be wrong, on which schedules are played forwards and backwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::plan::NewContent;
use crate::text::Spliced;
use crate::workspace::{FileData, Stamp};

fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

fn old_file() -> Before {
    Before::File(Arc::new(FileData { bytes: Arc::default(), stamp: Stamp::default() }))
}

fn content() -> After {
    let content = NewContent { base: Arc::default(), spliced: Spliced::default() };
    After::Content { content, like: None, mode: None }
}

fn step(at: &str, there: bool, after: After) -> Step {
    Step { path: path(at), before: if there { old_file() } else { Before::Absent }, after }
}

fn moved(from: &str) -> After {
    After::Moved { from: path(from) }
}

type Tree = BTreeMap<String, Option<Thing>>;

/// Directories are entries without a thing.
fn play(tree: &mut Tree, action: &Action, forwards: bool) {
    let take = |tree: &mut Tree, at: &RelPath, thing: Thing| {
        assert_eq!(tree.remove(at.as_str()), Some(Some(thing)), "{at} in {action:?}");
    };
    let put = |tree: &mut Tree, at: &RelPath, thing: Option<Thing>| {
        let parent = at.parent();
        assert!(parent.is_none_or(|dir| tree.get(dir.as_str()) == Some(&None)), "the directory of {at} in {action:?}");
        assert_eq!(tree.insert(at.as_str().into(), thing), None, "{at} is free in {action:?}");
    };
    match action {
        Action::MakeDir(dir) if forwards => put(tree, dir, None),
        Action::MakeDir(dir) => assert_eq!(tree.remove(dir.as_str()), Some(None)),
        Action::Rename { thing, from, to } => {
            let (from, to) = if forwards { (from, to) } else { (to, from) };
            take(tree, from, *thing);
            put(tree, to, Some(*thing));
        }
        Action::Exchange { a, b, at_a, at_b } => {
            let (at_a, at_b) = if forwards { (at_a, at_b) } else { (at_b, at_a) };
            take(tree, a, *at_a);
            take(tree, b, *at_b);
            put(tree, a, Some(*at_b));
            put(tree, b, Some(*at_a));
        }
        Action::Overwrite(_) => {}
    }
}

/// The layout that `prepare` makes: every content staged beside its target, or beside the nearest directory.
fn lay_out(steps: &[Step], tree: &mut Tree, names: Names) -> Layout {
    let mut layout = Layout::default();
    let mut missing = BTreeSet::new();
    for (at, step) in steps.iter().enumerate() {
        let mut dir = step.path.parent();
        if !matches!(step.after, After::Absent) {
            while let Some(parent) = dir.clone().filter(|dir| tree.get(dir.as_str()) != Some(&None)) {
                if let Some(in_the_way) = steps.iter().position(|step| step.path == parent)
                    && !matches!(steps[in_the_way].before, Before::Absent)
                    && !layout.in_the_way.contains(&in_the_way)
                {
                    layout.in_the_way.push(in_the_way);
                }
                dir = parent.parent();
                missing.insert(parent);
            }
        }
        let staged = matches!(step.after, After::Content { .. }).then(|| {
            let place = names.path(dir.as_ref().map_or("", RelPath::as_str), Role::New, at);
            tree.insert(place.as_str().into(), Some(Thing::New(at)));
            place
        });
        layout.staged.push(staged);
    }
    layout.missing = missing.into_iter().collect();
    layout
}

fn start(steps: &[Step], dirs: &[&str]) -> Tree {
    let mut tree: Tree = dirs.iter().map(|dir| ((*dir).to_owned(), None)).collect();
    for (at, step) in steps.iter().enumerate() {
        if !matches!(step.before, Before::Absent) {
            tree.insert(step.path.as_str().into(), Some(Thing::Old(at)));
        }
    }
    tree
}

/// Plays the schedule of `steps`, checks the result against their meaning, and plays it back.
fn check(steps: &[Step], dirs: &[&str]) {
    for exchange in [true, false] {
        let names = Names::new();
        let mut tree = start(steps, dirs);
        let layout = lay_out(steps, &mut tree, names);
        let before = tree.clone();
        let Schedule { mut actions, discard } = schedule(steps, &layout, names).unwrap();
        if !exchange {
            actions = without_exchanges(actions, 0, names);
        }
        actions.iter().for_each(|action| play(&mut tree, action, true));

        let mut result = tree.clone();
        for (place, at) in &discard {
            assert_eq!(result.remove(place.as_str()), Some(Some(Thing::Old(*at))), "{place}");
        }
        let mut want: Tree = dirs.iter().map(|dir| ((*dir).to_owned(), None)).collect();
        want.extend(layout.missing.iter().map(|dir| (dir.as_str().to_owned(), None)));
        for (at, step) in steps.iter().enumerate() {
            let thing = match &step.after {
                After::Absent => continue,
                After::Content { .. } | After::Link { .. } => Thing::New(at),
                After::Moved { from } => Thing::Old(steps.iter().position(|step| step.path == *from).unwrap()),
            };
            want.insert(step.path.as_str().into(), Some(thing));
        }
        assert_eq!(result, want, "{actions:#?}");

        actions.iter().rev().for_each(|action| play(&mut tree, action, false));
        assert_eq!(tree, before, "played back: {actions:#?}");
    }
}

#[test]
fn every_kind_of_step_reaches_its_end() {
    let cases: &[(&str, Vec<Step>)] = &[
        ("nothing", vec![]),
        ("update", vec![step("a", true, content())]),
        ("add", vec![step("a", false, content())]),
        ("delete", vec![step("a", true, After::Absent)]),
        ("add then delete", vec![step("a", false, After::Absent)]),
        ("add in new directories", vec![step("n/m/a", false, content()), step("n/b", false, content())]),
        ("move", vec![step("a", true, After::Absent), step("d/b", false, moved("a"))]),
        ("move over", vec![step("a", true, After::Absent), step("b", true, moved("a"))]),
        ("move and add", vec![step("a", true, content()), step("b", false, moved("a"))]),
        ("chain", vec![step("a", true, After::Absent), step("b", true, moved("a")), step("c", false, moved("b"))]),
        ("chain over", vec![step("a", true, content()), step("b", true, moved("a")), step("c", true, moved("b"))]),
        ("swap", vec![step("a", true, moved("b")), step("b", true, moved("a"))]),
        ("ring", vec![step("a", true, moved("b")), step("b", true, moved("c")), step("c", true, moved("a"))]),
        ("directory for a file", vec![step("a/b/c", false, content()), step("a", true, After::Absent)]),
        ("below itself", vec![step("a", true, After::Absent), step("a/b", false, moved("a"))]),
        (
            "below itself and on",
            vec![step("a", true, After::Absent), step("a/b", false, content()), step("c", true, moved("a"))],
        ),
    ];
    for (name, steps) in cases {
        println!("{name}");
        check(steps, &["d"]);
        let backwards: Vec<Step> = steps.iter().rev().cloned().collect();
        check(&backwards, &["d"]);
    }
}

#[test]
fn steps_that_contradict_each_other_are_refused() {
    let layout = |steps: &[Step]| Layout { staged: vec![None; steps.len()], ..Layout::default() };
    let lost = [step("b", false, moved("a"))];
    assert!(schedule(&lost, &layout(&lost), Names::new()).is_err());
    let twice = [step("a", true, After::Absent), step("b", false, moved("a")), step("c", false, moved("a"))];
    assert!(schedule(&twice, &layout(&twice), Names::new()).is_err());
}

#[test]
fn a_plain_update_is_one_exchange_and_a_plain_move_one_rename() {
    let names = Names::new();
    let steps = [step("u", true, content()), step("m", true, After::Absent), step("n", false, moved("m"))];
    let mut tree = start(&steps, &[]);
    let layout = lay_out(&steps, &mut tree, names);
    let done = schedule(&steps, &layout, names).unwrap();
    assert_eq!(done.actions.len(), 2);
    assert_eq!(done.discard.len(), 1);
}

proptest! {
    /// Any mapping of moves, contents and deletes over a few names, absent or not, ends as it says and can be undone.
    #[test]
    fn any_net_effect_is_reached_and_undone(
        present in proptest::collection::vec(any::<bool>(), 7),
        wishes in proptest::collection::vec((0..4u8, 0..7usize), 7),
        order in Just((0..7usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let names = ["a", "b", "c", "d/e", "d/f", "n/g", "n/m/h"];
        let mut taken = BTreeSet::new();
        let mut steps: Vec<Step> = (0..7)
            .map(|at| {
                let there = present[at] && !names[at].starts_with('n');
                let after = match wishes[at] {
                    (0, _) => After::Absent,
                    (1, _) => content(),
                    (_, from) => {
                        let usable = from != at && present[from] && !names[from].starts_with('n');
                        if usable && taken.insert(from) { moved(names[from]) } else { content() }
                    }
                };
                step(names[at], there, after)
            })
            .collect();
        steps = order.iter().map(|at| steps[*at].clone()).collect();
        check(&steps, &["d"]);
    }
}
