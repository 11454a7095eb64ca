//! The ways of one search: by reading the file, by a substring of its bytes, among its numbered lines.

use super::super::fold;
use super::super::kmp::Kmp;
use super::super::pattern::{Pattern, TierState};
use super::super::scan::{NEEDLE_MIN, Scan};
use super::{SCANNED, Searcher};
use crate::policy::Tier;
use crate::text::LineIndex;

/// Steps that a line costs which a substring search has found.
const VISIT: u64 = 8;

impl Searcher<'_> {
    pub(super) fn next_numbered(
        &mut self,
        pattern: &Pattern<'_>,
        state: &mut TierState,
        tier: Tier,
        from: usize,
        stop: usize,
    ) -> Option<usize> {
        if state.tokens.is_none()
            && let Some(hit) = self.next_by_probe(pattern, state, tier, from, stop)
        {
            return hit;
        }
        let numbered = self.tiers[tier as usize].as_mut()?;
        let mut tokens = state.tokens.take();
        if tokens.is_none() {
            self.steps += pattern.len() as u64;
            let token = |k| numbered.token_of_view(self.text.bytes(), pattern.view(tier, state, k));
            tokens = Some((0..pattern.len()).map(token).collect());
        }
        let want = tokens.as_ref()?.as_deref();
        let hit = want.and_then(|want| numbered.next(want, &mut state.tracker, from, stop, &mut self.steps));
        state.tokens = tokens;
        hit
    }

    /// As [`Searcher::next_numbered`] by one look-up instead of one for each line; `None` when the probe stands in too many
    /// places for that.
    fn next_by_probe(
        &mut self,
        pattern: &Pattern<'_>,
        state: &mut TierState,
        tier: Tier,
        from: usize,
        stop: usize,
    ) -> Option<Option<usize>> {
        let numbered = self.tiers[tier as usize].as_ref()?;
        let probe = pattern.probe();
        let token = state.probe.unwrap_or_else(|| {
            self.steps += 1;
            numbered.token_of_view(self.text.bytes(), pattern.view(tier, state, probe))
        });
        state.probe = Some(token);
        let Some(token) = token else { return Some(None) };
        let places = numbered.places_from(token, from + probe);
        if places.len() > self.few {
            return None;
        }
        for at in places.iter().map(|&line| line as usize - probe).take_while(|at| *at < stop) {
            let equal = equal_lines(&self.text, pattern, state, tier, at, &mut self.buffer);
            self.steps += equal as u64 + 1;
            if equal == pattern.len() {
                return Some(Some(at));
            }
        }
        Some(None)
    }

    pub(super) fn next_by_reading(
        &mut self,
        pattern: &Pattern<'_>,
        state: &mut TierState,
        tier: Tier,
        from: usize,
        stop: usize,
    ) -> Option<usize> {
        if state.kmp.is_none() {
            match self.next_substring(pattern, state, tier, from, stop) {
                Substring::Hit(hit) => return Some(hit),
                Substring::Nowhere => return None,
                Substring::Unfit => {}
            }
        }
        let mut kmp = state.kmp.take().unwrap_or_else(|| self.kmp(pattern, state, tier));
        kmp.seek(from);
        let (start, mut steps) = (kmp.next(), 0);
        let stop = stop + pattern.len() - 1;
        let mut hit = None;
        for line in self.text.lines_from(start).take(stop.saturating_sub(start)) {
            let view = fold::view(tier, line, &mut self.buffer);
            let ends_here = kmp.feed(|q| {
                steps += 1;
                view == pattern.view(tier, state, q)
            });
            hit = ends_here.filter(|&hit| hit >= from);
            if hit.is_some() {
                break;
            }
        }
        self.read += SCANNED * (kmp.next() - start) as u64;
        self.steps += steps;
        state.kmp = Some(kmp);
        hit
    }

    fn kmp(&mut self, pattern: &Pattern<'_>, state: &TierState, tier: Tier) -> Kmp {
        let mut steps = 0;
        let kmp = Kmp::new(pattern.len(), |a, b| {
            steps += 1;
            pattern.view(tier, state, a) == pattern.view(tier, state, b)
        });
        self.steps += steps;
        kmp
    }

    /// Looks for the longest line of a pattern among the raw bytes. Gives up where that line is frequent.
    fn next_substring(
        &mut self,
        pattern: &Pattern<'_>,
        state: &TierState,
        tier: Tier,
        from: usize,
        stop: usize,
    ) -> Substring {
        let probe = pattern.probe();
        let needle = pattern.view(tier, state, probe);
        let first = from + probe;
        let (start, end) = (self.text.start(first), self.text.start(stop + probe));
        if end - start < self.substring_min || needle.len() < NEEDLE_MIN {
            return Substring::Unfit;
        }
        let budget = (self.text.len() + pattern.len()) as u64;
        let (mut cost, mut found) = (0, Substring::Nowhere);
        let mut passed = self.text.len().min(stop + probe);
        let mut scan = Scan::new(&self.text, needle, tier, start, end);
        for (offset, line) in &mut scan {
            if fold::view(tier, line, &mut self.buffer) != needle {
                continue;
            }
            let line = self.text.line_at(offset);
            let equal = equal_lines(&self.text, pattern, state, tier, line - probe, &mut self.buffer);
            cost += equal as u64 + VISIT;
            if equal == pattern.len() {
                (passed, found) = (line, Substring::Hit(line - probe));
                break;
            }
            if cost > budget {
                (passed, found) = (line, Substring::Unfit);
                break;
            }
        }
        let passed = (passed - first) as u64;
        self.read += passed + SCANNED * (scan.visited() + cost);
        self.steps += passed + scan.visited() + cost;
        found
    }
}

/// What a substring search for a pattern came to.
enum Substring {
    Hit(usize),
    Nowhere,
    /// The file is small, or the line frequent or short: another search does better.
    Unfit,
}

/// How many lines of the pattern, from its first on, are equal to those of the text at `at`.
pub(super) fn equal_lines(
    text: &LineIndex<'_>,
    pattern: &Pattern<'_>,
    state: &TierState,
    tier: Tier,
    at: usize,
    buffer: &mut Vec<u8>,
) -> usize {
    let lines = text.lines_from(at).zip(0..pattern.len());
    lines.take_while(|(line, k)| fold::view(tier, line, buffer) == pattern.view(tier, state, *k)).count()
}
