//! What decides between several places without an anchor: the hint of a unified header, then its line number.

use super::anchor::LinesBelow;
use super::candidates::Candidates;
use super::find::Searcher;
use super::fold;
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
    /// `marks` are the lines that the hint begins.
    pub(crate) fn hinted(&mut self, searcher: &mut Searcher<'_>, marks: &LinesBelow) -> (Candidates, Vec<usize>) {
        let marks = marks.as_slice();
        let (mut out, mut near) = (Candidates::default(), Vec::new());
        let mut next = searcher.next_hit(self.pattern, self.tier, self.low);
        while let Some(hit) = next {
            let above = marks.partition_point(|&mark| (mark as usize) < hit);
            let here = marks.get(above).map_or(usize::MAX, |&mark| mark as usize);
            let Some(mark) = above.checked_sub(1).map(|k| marks[k] as usize).filter(|_| here != hit) else {
                // Above all marks, or itself one: no mark has it below.
                next = searcher.next_hit(self.pattern, self.tier, hit + 1);
                continue;
            };
            let deep_end = self.deeper_end(searcher, mark, here);
            let mut below = Some(hit);
            while let Some(place) = below.filter(|&place| place == hit || place < deep_end) {
                near.extend(self.is_near(place).then_some(place));
                let enough = out.push(place) && self.number.is_none_or(|number| place + 1 > number + REACH);
                if enough {
                    return (out, near);
                }
                below = searcher.next_hit(self.pattern, self.tier, place + 1);
            }
            next = searcher.next_hit(self.pattern, self.tier, here);
        }
        (out, near)
    }

    /// The first line below `mark` that is not blank and not indented deeper, at most `limit`.
    fn deeper_end(&self, searcher: &mut Searcher<'_>, mark: usize, limit: usize) -> usize {
        let mut lines = searcher.text().lines_from(mark);
        let depth = lines.next().map_or(0, fold::depth);
        let below = limit.saturating_sub(mark + 1);
        let deeper = lines.take(below).take_while(|line| fold::is_blank(line) || fold::depth(line) > depth).count();
        searcher.count(deeper + 1);
        mark + 1 + deeper
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
        let (mut above, mut below) = (None, None);
        let mut next = searcher.next_hit(self.pattern, self.tier, self.low);
        while let Some(hit) = next {
            if hit > number {
                below = Some(hit);
                break;
            }
            above = Some(hit);
            next = searcher.next_hit(self.pattern, self.tier, hit + 1);
        }
        match (above, below) {
            (Some(a), Some(b)) if number - a == b - number => None,
            (Some(a), Some(b)) => Some(if number - a < b - number { a } else { b }),
            (one, other) => one.or(other),
        }
    }
}
