//! The search among the numbered lines of a file: cheap while lines tell places apart, linear for all hunks together when
//! they do not.

use std::ops::Range;
use std::sync::Arc;

use super::fold;
use super::kmp::Kmp;
use super::suffix::Suffixes;
use super::tokens::TierTokens;
use super::words::Words;
use crate::policy::Tier;
use crate::text::LineIndex;

/// Steps a line of a pattern may cost before its text counts as repetitive; and a few more for short ones.
const CHEAP: u64 = 8;
const CHEAP_MIN: u64 = 64;
/// Steps a line of the file for which all searches that are not cheap may go on one by one: what [`Suffixes`] cost.
const ALLOWANCE: u64 = 32;

/// The lines of a file at one tier, as numbers.
#[derive(Debug)]
pub(crate) struct Numbered<'a> {
    tier: Tier,
    index: TierTokens,
    suffixes: Option<Suffixes>,
    words: Option<Words<'a>>,
    /// Steps of searches beyond what is cheap.
    spent: u64,
}

/// What a search for a pattern remembers from hit to hit.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    rarest: Option<usize>,
    kmp: Option<Kmp>,
    found: Option<Range<usize>>,
}

/// What visiting the places of a pattern's rarest line came to.
enum Visited {
    Done(Option<usize>),
    /// Verifying costs too much; nothing fits above the line told.
    TooDear(usize),
}

impl<'a> Numbered<'a> {
    /// Numbers the lines of a file. With the numbers of the exact tier only distinct lines are looked at.
    pub(crate) fn new(text: &LineIndex<'a>, tier: Tier, exact: Option<&Numbered<'a>>) -> Self {
        let index = match exact {
            Some(exact) => TierTokens::looser(tier, &exact.index, text.bytes()),
            None => TierTokens::exact(text),
        };
        Numbered { tier, index, suffixes: None, words: None, spent: 0 }
    }

    /// Takes every pattern for one that is dear.
    #[cfg(test)]
    pub(crate) fn force_dear(&mut self) {
        self.spent = u64::MAX / 2;
    }

    /// All lines equal to `line`, ascending. `buffer` is scratch.
    pub(crate) fn lines_equal(&self, base: &[u8], line: &[u8], buffer: &mut Vec<u8>) -> Arc<[u32]> {
        let token = self.token_of_view(base, fold::view(self.tier, line, buffer));
        token.map_or_else(|| Arc::from([]), |token| Arc::from(self.index.places(token)))
    }

    /// The token of a line with this view.
    pub(crate) fn token_of_view(&self, base: &[u8], view: &[u8]) -> Option<u32> {
        self.index.token_of_view(base, view)
    }

    /// The lines with this token at line `from` and below, ascending.
    pub(crate) fn places_from(&self, token: u32, from: usize) -> &[u32] {
        let places = self.index.places(token);
        &places[places.partition_point(|&line| (line as usize) < from)..]
    }

    /// Gives every line that can begin with `want` or hold it as a part at some tier, with its numbers. `view` is `want` at the
    /// loosest tier, `base` the file; these are the numbers of the exact tier. `None` when `want` has no words to go by.
    pub(crate) fn each_line_with(
        &mut self,
        base: &'a [u8],
        want: &[u8],
        view: &[u8],
        give: &mut impl FnMut(&[u8], &[u32]),
    ) -> Option<u64> {
        // Bytes that are no UTF-8 may be the end of a character in a line, so that words are not what they seem.
        if str::from_utf8(want).is_err() {
            return None;
        }
        let index = &self.index;
        let words = self.words.get_or_insert_with(|| {
            let mut buffer = Vec::new();
            Words::new(index.lines(base), |line| {
                let plain = fold::plain_view(Tier::Unicode, line).is_some();
                (!plain).then(|| fold::view(Tier::Unicode, line, &mut buffer).to_vec())
            })
        });
        let mut found = Vec::new();
        for want in [fold::trim(want), view] {
            for open in [true, false] {
                if !words.lines_with(want, open, &mut found) {
                    return None;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        for &token in &found {
            give(index.line(base, token), index.places(token));
        }
        Some(found.len() as u64)
    }

    /// The first place in `from..stop` where the tokens `want` stand, of which there is at least one.
    pub(crate) fn next(
        &mut self,
        want: &[u32],
        tracker: &mut Tracker,
        from: usize,
        stop: usize,
        steps: &mut u64,
    ) -> Option<usize> {
        let mut from = from;
        if tracker.kmp.is_none() && tracker.found.is_none() {
            // A pattern that has needed a slower search once goes on with it.
            match self.visit_rarest(want, tracker, from, stop, steps) {
                Visited::Done(hit) => return hit,
                Visited::TooDear(at) => from = at,
            }
        }
        if self.spent <= ALLOWANCE * self.index.tokens().len() as u64 {
            return self.feed(want, tracker, from, stop, steps);
        }
        let index = &self.index;
        let suffixes = self.suffixes.get_or_insert_with(|| Suffixes::new(index.tokens(), index.by_token().to_vec()));
        let found = tracker.found.get_or_insert_with(|| suffixes.find(index.tokens(), want));
        let hit = suffixes.next(found, from);
        *steps += suffixes.take_steps();
        hit.filter(|&hit| hit < stop)
    }

    /// Visits the places of the rarest line of a pattern and verifies its neighbours.
    fn visit_rarest(
        &mut self,
        want: &[u32],
        tracker: &mut Tracker,
        from: usize,
        stop: usize,
        steps: &mut u64,
    ) -> Visited {
        let index = &self.index;
        let mut own = 1;
        let rarest = *tracker.rarest.get_or_insert_with(|| {
            own += want.len() as u64;
            (0..want.len()).min_by_key(|&k| index.places(want[k]).len()).unwrap_or(0)
        });
        let places = index.places(want[rarest]);
        let places = &places[places.partition_point(|&line| (line as usize) < from + rarest)..];
        let cheap = CHEAP * want.len() as u64 + CHEAP_MIN;
        #[cfg(test)]
        let cheap = if self.spent > u64::MAX / 4 { 0 } else { cheap };
        let left = (ALLOWANCE * index.tokens().len() as u64).saturating_sub(self.spent);
        let mut done = Visited::Done(None);
        for (visited, &line) in places.iter().enumerate() {
            let at = line as usize - rarest;
            if at >= stop {
                break;
            }
            let Some(have) = index.tokens().get(at..at + want.len()) else { break };
            let equal = want.iter().zip(have).take_while(|(a, b)| a == b).count();
            own += equal as u64 + 1;
            if equal == want.len() {
                done = Visited::Done(Some(at));
                break;
            }
            let beyond = own.saturating_sub(cheap);
            if beyond > left || beyond > 4 * visited as u64 {
                done = Visited::TooDear(at + 1);
                break;
            }
        }
        *steps += own;
        self.spent += own.saturating_sub(cheap);
        done
    }

    fn feed(
        &mut self,
        want: &[u32],
        tracker: &mut Tracker,
        from: usize,
        stop: usize,
        steps: &mut u64,
    ) -> Option<usize> {
        let kmp = tracker.kmp.get_or_insert_with(|| Kmp::new(want.len(), |a, b| want[a] == want[b]));
        kmp.seek(from);
        let (mut own, mut hit) = (want.len() as u64, None);
        let start = kmp.next();
        for &token in &self.index.tokens()[start..(stop + want.len() - 1).max(start)] {
            let ends_here = kmp.feed(|q| {
                own += 1;
                want[q] == token
            });
            hit = ends_here.filter(|&hit| hit >= from);
            if hit.is_some() {
                break;
            }
        }
        *steps += own;
        self.spent += own;
        hit
    }
}
