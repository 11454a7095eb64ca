//! From net effects to single renames: a pure function, so that its order can be tested without a disk.
//!
//! # The order
//! 1. Files that stand where a directory must be are set aside.
//! 2. Missing directories are made, outer ones first.
//! 3. Moves: a chain from its far end, so that each target is free; a ring of n by n - 1 exchanges.
//! 4. New contents: exchanged with what stands there, or put where nothing stands.
//! 5. Deletes: set aside, to be removed when all is done.
//!
//! Every action can be undone by its own kind, and none ever replaces anything.

use std::collections::HashMap;

use super::temp::{Names, Role};
use crate::path::RelPath;
use crate::plan::{After, Before, Step};

/// A file or link that is moved about: the one that stood at a step's path, or the one staged for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Thing {
    /// What stood at the path of the step.
    Old(usize),
    /// The staged content of the step.
    New(usize),
}

/// One change of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Makes a directory.
    MakeDir(RelPath),
    /// Renames to a name that is free.
    Rename { thing: Thing, from: RelPath, to: RelPath },
    /// Swaps what stands at `a` and `b`: `at_a` and `at_b` tell what that is before.
    Exchange { a: RelPath, b: RelPath, at_a: Thing, at_b: Thing },
    /// Writes the new content of a step over the old one, in place.
    Overwrite(usize),
}

/// What the schedule is made from besides the steps.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Where the new content of each step is staged; `None` for steps without one and for those written in place.
    pub staged: Vec<Option<RelPath>>,
    /// Steps that stand where a directory must be.
    pub in_the_way: Vec<usize>,
    /// Directories to make, outer ones before inner ones.
    pub missing: Vec<RelPath>,
}

/// The actions in order.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// What to do.
    pub actions: Vec<Action>,
    /// Where old things are afterwards that are to be removed, with the step they belong to.
    pub discard: Vec<(RelPath, usize)>,
}

/// Puts the steps in order. Linear.
///
/// # Errors
/// A move from a path that has no step, or two moves from one path: words for a message.
pub(super) fn schedule(steps: &[Step], layout: &Layout, names: Names) -> Result<Schedule, &'static str> {
    let mut plan = Planner::new(steps, layout, names)?;
    plan.clear_the_way();
    plan.out.actions.extend(layout.missing.iter().cloned().map(Action::MakeDir));
    plan.chains();
    plan.rings();
    plan.contents();
    plan.deletes();
    Ok(plan.out)
}

struct Planner<'s> {
    steps: &'s [Step],
    layout: &'s Layout,
    names: Names,
    /// For each move the step it moves from.
    source: HashMap<usize, usize>,
    /// The reverse of `source`: where the old thing of a step goes.
    target: HashMap<usize, usize>,
    /// Old things that were set aside to clear the way, and where they are.
    aside: HashMap<usize, RelPath>,
    /// Moves that are in their place.
    moved: Vec<bool>,
    out: Schedule,
}

impl<'s> Planner<'s> {
    fn new(steps: &'s [Step], layout: &'s Layout, names: Names) -> Result<Self, &'static str> {
        let (mut source, mut target) = (HashMap::new(), HashMap::new());
        if steps.iter().any(|step| matches!(step.after, After::Moved { .. })) {
            let by_path: HashMap<&str, usize> =
                steps.iter().enumerate().map(|(at, step)| (step.path.as_str(), at)).collect();
            for (at, step) in steps.iter().enumerate() {
                let After::Moved { from } = &step.after else { continue };
                // A move that became a copy has its content staged.
                if layout.staged[at].is_some() {
                    continue;
                }
                let from = *by_path.get(from.as_str()).ok_or("a move from a path without a step")?;
                source.insert(at, from);
                if target.insert(from, at).is_some() {
                    return Err("two moves from one path");
                }
            }
        }
        let moved = vec![false; steps.len()];
        Ok(Planner { steps, layout, names, source, target, aside: HashMap::new(), moved, out: Schedule::default() })
    }

    /// Whether the old thing of a step stands at its path until something takes that place.
    fn occupied(&self, at: usize) -> bool {
        !matches!(self.steps[at].before, Before::Absent)
            && !self.target.contains_key(&at)
            && !self.aside.contains_key(&at)
    }

    fn path(&self, at: usize) -> RelPath {
        self.steps[at].path.clone()
    }

    fn rename(&mut self, thing: Thing, from: RelPath, to: RelPath) {
        self.out.actions.push(Action::Rename { thing, from, to });
    }

    fn clear_the_way(&mut self) {
        for &at in &self.layout.in_the_way {
            let to = self.names.beside(&self.steps[at].path, Role::Old, at);
            self.rename(Thing::Old(at), self.path(at), to.clone());
            if !self.target.contains_key(&at) {
                self.out.discard.push((to.clone(), at));
            }
            self.aside.insert(at, to);
        }
    }

    /// Every chain of moves whose last target is not itself moved away.
    fn chains(&mut self) {
        for last in 0..self.steps.len() {
            if !self.source.contains_key(&last) || self.target.contains_key(&last) {
                continue;
            }
            let mut at = last;
            while let Some(&from) = self.source.get(&at) {
                self.move_into(at, from);
                self.moved[at] = true;
                at = from;
            }
        }
    }

    fn move_into(&mut self, at: usize, from: usize) {
        let here = self.aside.get(&from).cloned();
        let (place, temporary) = match here {
            Some(place) => (place, true),
            None => (self.path(from), false),
        };
        if !self.occupied(at) {
            self.rename(Thing::Old(from), place, self.path(at));
            return;
        }
        let (at_a, at_b) = (Thing::Old(from), Thing::Old(at));
        self.out.actions.push(Action::Exchange { a: place.clone(), b: self.path(at), at_a, at_b });
        let discard = if temporary {
            place
        } else {
            let to = self.names.beside(&place, Role::Old, at);
            self.rename(at_b, place, to.clone());
            to
        };
        self.out.discard.push((discard, at));
    }

    /// What moves are left go round in rings.
    fn rings(&mut self) {
        for first in 0..self.steps.len() {
            if self.moved[first] || !self.source.contains_key(&first) {
                continue;
            }
            // What stood at `first` travels along: each exchange puts one thing in its place and takes the next out.
            let mut at = first;
            self.moved[at] = true;
            while let Some(&from) = self.source.get(&at)
                && from != first
            {
                let (at_a, at_b) = (Thing::Old(first), Thing::Old(from));
                self.out.actions.push(Action::Exchange { a: self.path(at), b: self.path(from), at_a, at_b });
                at = from;
                self.moved[at] = true;
            }
        }
    }

    fn contents(&mut self) {
        for (at, step) in self.steps.iter().enumerate() {
            let Some(staged) = self.layout.staged[at].clone() else {
                if matches!(step.after, After::Content { .. }) {
                    self.out.actions.push(Action::Overwrite(at));
                }
                continue;
            };
            if self.occupied(at) {
                let (at_a, at_b) = (Thing::New(at), Thing::Old(at));
                self.out.discard.push((staged.clone(), at));
                self.out.actions.push(Action::Exchange { a: staged, b: self.path(at), at_a, at_b });
            } else {
                self.rename(Thing::New(at), staged, self.path(at));
            }
        }
    }

    fn deletes(&mut self) {
        for (at, step) in self.steps.iter().enumerate() {
            if matches!(step.after, After::Absent) && self.occupied(at) {
                let to = self.names.beside(&step.path, Role::Old, at);
                self.rename(Thing::Old(at), self.path(at), to.clone());
                self.out.discard.push((to, at));
            }
        }
    }
}

/// Exchanges made of renames, for file systems that cannot exchange: what stands at `b` goes to a spare name first.
/// For an instant nothing stands at `b`.
pub(super) fn without_exchanges(actions: Vec<Action>, from: usize, names: Names) -> Vec<Action> {
    let mut out = Vec::with_capacity(actions.len());
    for (number, action) in actions.into_iter().enumerate() {
        match action {
            Action::Exchange { a, b, at_a, at_b } if number >= from => {
                let spare = names.beside(&b, Role::Spare, number);
                out.push(Action::Rename { thing: at_b, from: b.clone(), to: spare.clone() });
                out.push(Action::Rename { thing: at_a, from: a.clone(), to: b });
                out.push(Action::Rename { thing: at_b, from: spare, to: a });
            }
            action => out.push(action),
        }
    }
    out
}

#[cfg(test)]
mod tests;
