//! What decides between several places without an anchor: the hint of a unified header, then its line number.

use super::anchor::LinesBelow;
use super::block::Blocks;
use super::candidates::Candidates;
use super::find::Searcher;
use super::pattern::Pattern;
use crate::policy::Tier;

/// Lines that a line number may be off.
const NUMBER_OFF: usize = 5;
/// The next place must be more than this many times as far as the one chosen.
const NUMBER_LEAD: usize = 3;
/// Places farther off than this have no say.
const REACH: usize = NUMBER_OFF * NUMBER_LEAD;

/// Lines above and below a number that are tried one by one before all places are looked at.
const WINDOW: usize = 64;

/// Several places of one pattern at one tier, at line `low` and below.
pub(crate) struct Tie<'t, 'q> {
    pub(crate) pattern: &'t mut Pattern<'q>,
    pub(crate) tier: Tier,
    pub(crate) low: usize,
    /// The line (from 1) that a unified header names.
    pub(crate) number: Option<usize>,
}

impl Tie<'_, '_> {
    /// The places below a line that the hint begins: per such line the first one, and those still inside what is indented
    /// deeper. With a number, also says which of them lie near it.
    ///
    /// `marks` are the lines that the hint begins. The pattern itself must not begin with one: its places would be marks, and
    /// none of them lies below one.
    pub(crate) fn hinted(
        &mut self,
        searcher: &mut Searcher<'_>,
        blocks: &mut Blocks,
        marks: &LinesBelow,
    ) -> (Candidates, Vec<usize>) {
        let marks = marks.as_slice();
        let (mut out, mut near) = (Candidates::default(), Vec::new());
        // Places above this line have no say once there are more than can be named.
        let far = self.number.map_or(0, |number| number.saturating_sub(REACH + 1));
        let Some(&first) = marks.first() else { return (out, near) };
        let mut next = searcher.next_hit(self.pattern, self.tier, self.low.max(first as usize + 1));
        while let Some(hit) = next {
            let above = marks.partition_point(|&mark| (mark as usize) < hit);
            let mark = marks[above - 1] as usize;
            let here = marks.get(above).map_or(usize::MAX, |&mark| mark as usize);
            let deep_end = blocks.deeper_end(searcher.text(), mark).min(here);
            let mut below = Some(hit);
            while let Some(place) = below.filter(|&place| place == hit || place < deep_end) {
                near.extend(self.is_near(place).then_some(place));
                let enough = out.push(place) && self.number.is_none_or(|number| place + 1 > number + REACH);
                if enough {
                    return (out, near);
                }
                let from = if out.has_more() { (place + 1).max(far) } else { place + 1 };
                below = searcher.next_hit(self.pattern, self.tier, from);
            }
            let mut from = here;
            if out.has_more() && here < far {
                from = marks[marks.partition_point(|&mark| (mark as usize) < far) - 1] as usize;
            }
            next = searcher.next_hit(self.pattern, self.tier, from);
        }
        (out, near)
    }

    fn is_near(&self, place: usize) -> bool {
        self.number.is_some_and(|number| (place + 1).abs_diff(number) <= REACH)
    }

    /// All places that can have a say when a line number decides.
    pub(crate) fn near_number(&mut self, searcher: &mut Searcher<'_>) -> Vec<usize> {
        let Some(number) = self.number else { return Vec::new() };
        let window = number.saturating_sub(REACH + 1).max(self.low)..number + REACH;
        window.filter(|&at| searcher.fits_at(self.pattern, self.tier, at)).collect()
    }

    /// The place a line number decides for: the one on that line, else one at most [`NUMBER_OFF`] lines off when the next
    /// is more than [`NUMBER_LEAD`] times as far. `near` are the places in reach, there being several in all.
    pub(crate) fn by_number(&self, near: &[usize]) -> Option<usize> {
        let number = self.number?;
        let mut by_distance: Vec<(usize, usize)> = near.iter().map(|&at| ((at + 1).abs_diff(number), at)).collect();
        by_distance.sort_unstable();
        let &(off, at) = by_distance.first()?;
        let next = by_distance.get(1).map_or(usize::MAX, |&(off, _)| off);
        (off == 0 || (off <= NUMBER_OFF && next > NUMBER_LEAD * off)).then_some(at)
    }

    /// The nearest place to the number, for a real unified diff; `None` when two are equally near, or when `far` says that
    /// no more than [`WINDOW`] lines may be looked at.
    pub(crate) fn nearest(&mut self, searcher: &mut Searcher<'_>, far: bool) -> Option<usize> {
        let number = self.number?.saturating_sub(1);
        for off in 0..=WINDOW {
            let above = number.checked_sub(off).filter(|&at| off > 0 && at >= self.low);
            let above = above.filter(|&at| searcher.fits_at(self.pattern, self.tier, at));
            let below = (number + off >= self.low && searcher.fits_at(self.pattern, self.tier, number + off))
                .then_some(number + off);
            match (above, below) {
                (None, None) => {}
                (Some(_), Some(_)) => return None,
                (one, other) => return one.or(other),
            }
        }
        if far { self.nearest_of_all(searcher, number) } else { None }
    }

    fn nearest_of_all(&mut self, searcher: &mut Searcher<'_>, number: usize) -> Option<usize> {
        let above = self.last_up_to(searcher, number);
        let below = searcher.next_hit(self.pattern, self.tier, self.low.max(number + 1));
        match (above, below) {
            (Some(a), Some(b)) if number - a == b - number => None,
            (Some(a), Some(b)) => Some(if number - a < b - number { a } else { b }),
            (one, other) => one.or(other),
        }
    }

    /// The last place that begins at `line` or above. Costs as many searches as halving its distance and the stretch takes.
    fn last_up_to(&mut self, searcher: &mut Searcher<'_>, line: usize) -> Option<usize> {
        let mut end = line + 1;
        let mut width = 1;
        let mut last = loop {
            let from = end.saturating_sub(width).max(self.low);
            if from >= end {
                return None;
            }
            match searcher.next_hit_above(self.pattern, self.tier, from, end) {
                Some(hit) => break hit,
                None if from == self.low => return None,
                None => width *= 2,
            }
        };
        // There is a place at `last` and none at `end` or below.
        while last + 1 < end {
            let middle = last + (end - last).div_ceil(2);
            match searcher.next_hit_above(self.pattern, self.tier, middle, end) {
                Some(hit) => last = hit,
                None => end = middle,
            }
        }
        Some(last)
    }
}
