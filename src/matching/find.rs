//! The search for a hunk's lines. Whatever the text, a search is linear; many searches share one index.
//!
//! A search looks at the file itself first: a substring search for the hunk's longest line in a large file, else a
//! comparison line by line. Once that has cost a few readings of the file, its lines are numbered ([`TierTokens`]) and
//! further searches visit only the places of the hunk's rarest line. Where verifying those costs too much, because the
//! text repeats itself, the search falls back to [`Kmp`].

use std::sync::Arc;

use super::fold;
use super::kmp::Kmp;
use super::pattern::{Pattern, TierState};
use super::tokens::TierTokens;
use crate::policy::Tier;
use crate::text::LineIndex;

/// Readings of the whole file after which its lines are numbered.
const READINGS: u64 = 6;
/// Files with fewer bytes than this below the start of a search are not worth a substring search.
const SUBSTRING_MIN: usize = 32 << 10;

/// Looks for patterns in one file.
#[derive(Debug)]
pub(crate) struct Searcher<'a> {
    text: LineIndex<'a>,
    loosest: Tier,
    tiers: [Option<TierTokens>; 4],
    /// Lines read so far by searches without an index.
    read: u64,
    steps: u64,
    buffer: Vec<u8>,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(text: LineIndex<'a>, loosest: Tier) -> Self {
        Searcher { text, loosest, tiers: Default::default(), read: 0, steps: 0, buffer: Vec::new() }
    }

    pub(crate) fn text(&self) -> &LineIndex<'a> {
        &self.text
    }

    /// The tiers that may be used, strictest first.
    pub(crate) fn tiers(&self) -> &'static [Tier] {
        &Tier::ALL[..=self.loosest as usize]
    }

    /// The loosest tier that may be used.
    pub(crate) fn loosest(&self) -> Tier {
        self.loosest
    }

    /// Comparisons of lines made so far: what the tests measure instead of time.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts work that is done outside, in lines looked at.
    pub(crate) fn count(&mut self, steps: usize) {
        self.steps += steps as u64;
    }

    /// The first place at `from` or below where the pattern fits.
    pub(crate) fn next_hit(&mut self, pattern: &mut Pattern<'_>, tier: Tier, from: usize) -> Option<usize> {
        if from.saturating_add(pattern.len()) > self.text.len()
            || pattern.barren_from(tier).is_some_and(|low| low <= from)
        {
            return None;
        }
        let barren_from = pattern.barren_from(tier);
        let mut state = pattern.take(tier);
        let hit = if self.is_numbered(tier) {
            self.next_among_tokens(pattern, &mut state, tier, from)
        } else {
            // Where nothing begins from some line on, only what begins above it has to be read.
            let stop = barren_from.map_or(usize::MAX, |low| low + pattern.len() - 1);
            self.next_by_reading(pattern, &mut state, tier, from, stop)
        };
        if hit.is_none() {
            state.barren_from = Some(state.barren_from.map_or(from, |low| low.min(from)));
        }
        pattern.put_back(tier, state);
        hit
    }

    /// The strictest tier at which the pattern fits at `from` or below, with the first such place.
    pub(crate) fn first_hit(&mut self, pattern: &mut Pattern<'_>, from: usize) -> Option<(Tier, usize)> {
        for &tier in self.tiers() {
            if let Some(hit) = self.next_hit(pattern, tier, from) {
                return Some((tier, hit));
            }
            if tier == Tier::Exact && self.loosest != Tier::Exact {
                // When nothing fits at the loosest tier, the tiers between need not be tried.
                self.next_hit(pattern, self.loosest, from)?;
            }
        }
        None
    }

    /// Whether the pattern fits at line `at`.
    pub(crate) fn fits_at(&mut self, pattern: &mut Pattern<'_>, tier: Tier, at: usize) -> bool {
        if at.saturating_add(pattern.len()) > self.text.len() {
            return false;
        }
        let state = pattern.take(tier);
        let mut lines = self.text.lines_from(at);
        let equal = (0..pattern.len()).take_while(|&k| {
            let view = pattern.view(tier, &state, k);
            lines.next().is_some_and(|line| same(tier, line, view, &mut self.buffer))
        });
        let equal = equal.count();
        self.steps += equal as u64 + 1;
        pattern.put_back(tier, state);
        equal == pattern.len()
    }

    /// Whether the pattern fits in exactly one place of the whole file.
    pub(crate) fn fits_once(&mut self, pattern: &mut Pattern<'_>, tier: Tier) -> bool {
        if let Some(known) = pattern.state(tier).only_one {
            return known;
        }
        let first = self.next_hit(pattern, tier, 0);
        let once = first.is_some_and(|first| self.next_hit(pattern, tier, first + 1).is_none());
        pattern.state(tier).only_one = Some(once);
        once
    }

    /// All lines equal to `line` at a tier, ascending.
    pub(crate) fn lines_equal(&mut self, line: &[u8], tier: Tier) -> Arc<[u32]> {
        if self.is_numbered(tier) {
            let index = self.tiers[tier as usize].as_ref().expect("`is_numbered` made it");
            let token = index.token_of(self.text.bytes(), line, &mut self.buffer);
            return token.map_or_else(|| Arc::from([]), |token| Arc::from(index.places(token)));
        }
        let view = fold::view(tier, line, &mut self.buffer).to_vec();
        let mut buffer = Vec::new();
        self.lines_where(|line| same(tier, line, &view, &mut buffer))
    }

    /// All lines that pass a test, ascending. Reads the whole file.
    pub(crate) fn lines_where(&mut self, mut test: impl FnMut(&[u8]) -> bool) -> Arc<[u32]> {
        self.read += self.text.len() as u64;
        self.steps += self.text.len() as u64;
        let lines = self.text.lines_from(0).zip(0_u32..);
        lines.filter(|(line, _)| test(line)).map(|(_, i)| i).collect()
    }

    /// Whether the lines are numbered at a tier; numbers them when reading has become too dear.
    fn is_numbered(&mut self, tier: Tier) -> bool {
        if self.tiers[tier as usize].is_some() {
            return true;
        }
        let dear = self.read > READINGS * self.text.len() as u64;
        if dear {
            self.number(Tier::Exact);
            self.number(tier);
        }
        dear
    }

    fn number(&mut self, tier: Tier) {
        if self.tiers[tier as usize].is_none() {
            let exact = self.tiers[0].as_ref();
            let index = match exact {
                Some(exact) => TierTokens::looser(tier, exact, self.text.bytes()),
                None => TierTokens::exact(&self.text),
            };
            self.steps += self.text.len() as u64;
            self.tiers[tier as usize] = Some(index);
        }
    }

    /// Numbers the lines at all tiers, as many searches would.
    #[cfg(test)]
    pub(crate) fn number_now(&mut self) {
        Tier::ALL.into_iter().for_each(|tier| self.number(tier));
    }

    fn next_by_reading(
        &mut self,
        pattern: &Pattern<'_>,
        state: &mut TierState,
        tier: Tier,
        from: usize,
        stop: usize,
    ) -> Option<usize> {
        if tier == Tier::Exact && state.kmp.is_none() && !self.text.is_cr_only() {
            match self.next_substring(pattern, from) {
                Substring::Hit(hit) => return Some(hit),
                Substring::Nowhere => return None,
                Substring::Unfit => {}
            }
        }
        let mut kmp = state.kmp.take().unwrap_or_else(|| self.kmp(pattern, state, tier));
        kmp.seek(from);
        let (start, mut steps) = (kmp.next(), 0);
        let mut hit = None;
        for line in self.text.lines_from(start).take(stop.saturating_sub(start)) {
            let ends_here = kmp.feed(|q| {
                steps += 1;
                same(tier, line, pattern.view(tier, state, q), &mut self.buffer)
            });
            hit = ends_here.filter(|&hit| hit >= from);
            if hit.is_some() {
                break;
            }
        }
        self.read += (kmp.next() - start) as u64;
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

    /// Looks for the longest line of an exact pattern among the raw bytes. Gives up where that line is frequent.
    fn next_substring(&mut self, pattern: &Pattern<'_>, from: usize) -> Substring {
        let probe = pattern.probe();
        let needle = pattern.lines()[probe];
        let first = from + probe;
        let start = self.text.start(first);
        let rest = &self.text.bytes()[start..];
        if rest.len() < SUBSTRING_MIN || needle.len() < 4 {
            return Substring::Unfit;
        }
        let finder = memchr::memmem::Finder::new(needle);
        let (mut at, mut misses) = (0, 0);
        while let Some(found) = finder.find(&rest[at..]) {
            let offset = start + at + found;
            let line = self.text.line_at(offset);
            if self.text.start(line) == offset && line >= first && self.fits_exactly(pattern, line - probe) {
                self.read_up_to(first, line);
                return Substring::Hit(line - probe);
            }
            misses += 1;
            if misses * 64 > pattern.len().max(2048) {
                return Substring::Unfit;
            }
            at = self.text.raw(line).end - start;
        }
        self.read_up_to(first, self.text.len());
        Substring::Nowhere
    }

    /// Counts lines passed by a substring search, which is some four times as fast as a comparison of lines.
    fn read_up_to(&mut self, from: usize, to: usize) {
        self.read += (to - from) as u64 / 4;
        self.steps += (to - from) as u64;
    }

    fn fits_exactly(&mut self, pattern: &Pattern<'_>, at: usize) -> bool {
        let lines = self.text.lines_from(at);
        let equal = pattern.lines().iter().zip(lines).take_while(|(want, line)| **want == *line).count();
        self.steps += equal as u64 + 1;
        equal == pattern.len()
    }

    fn next_among_tokens(
        &mut self,
        pattern: &Pattern<'_>,
        state: &mut TierState,
        tier: Tier,
        from: usize,
    ) -> Option<usize> {
        let index = self.tiers[tier as usize].as_ref()?;
        if state.tokens.is_none() {
            self.steps += pattern.len() as u64;
            let token = |k| index.token_of_view(self.text.bytes(), pattern.view(tier, state, k));
            state.tokens = Some((0..pattern.len()).map(token).collect());
        }
        let want: &[u32] = state.tokens.as_ref()?.as_deref()?;
        let mut from = from;
        if state.kmp.is_none() {
            // A pattern that has needed the slower search once goes on with it.
            let (at, steps) = match rarest_first(index, want, from) {
                Verified::Done(hit, steps) => {
                    self.steps += steps;
                    return hit;
                }
                Verified::TooDear(at, steps) => (at, steps),
            };
            from = at;
            self.steps += steps + want.len() as u64;
        }
        let kmp = state.kmp.get_or_insert_with(|| Kmp::new(want.len(), |a, b| want[a] == want[b]));
        let (hit, steps) = feed_tokens(kmp, index.tokens(), want, from);
        self.steps += steps;
        hit
    }
}

/// What a substring search for an exact pattern came to.
enum Substring {
    Hit(usize),
    Nowhere,
    /// The file is small, or the line frequent or short: another search does better.
    Unfit,
}

/// What visiting the places of a pattern's rarest line came to.
enum Verified {
    Done(Option<usize>, u64),
    /// Verifying costs too much; nothing fits above the line told.
    TooDear(usize, u64),
}

/// Visits the places of the rarest line of a pattern and verifies its neighbours.
fn rarest_first(index: &TierTokens, want: &[u32], from: usize) -> Verified {
    let rarest = (0..want.len()).min_by_key(|&k| index.places(want[k]).len()).unwrap_or(0);
    let places = index.places(want[rarest]);
    let places = &places[places.partition_point(|&line| (line as usize) < from + rarest)..];
    let (mut steps, budget) = (want.len() as u64, 8 * want.len() as u64);
    for (visited, &line) in places.iter().enumerate() {
        let at = line as usize - rarest;
        let Some(have) = index.tokens().get(at..at + want.len()) else { break };
        let equal = want.iter().zip(have).take_while(|(a, b)| a == b).count();
        steps += equal as u64 + 1;
        if equal == want.len() {
            return Verified::Done(Some(at), steps);
        }
        if steps > budget + 4 * visited as u64 {
            return Verified::TooDear(at + 1, steps);
        }
    }
    Verified::Done(None, steps)
}

fn feed_tokens(kmp: &mut Kmp, tokens: &[u32], want: &[u32], from: usize) -> (Option<usize>, u64) {
    kmp.seek(from);
    let mut steps = 0;
    for &token in &tokens[kmp.next()..] {
        let hit = kmp.feed(|q| {
            steps += 1;
            want[q] == token
        });
        if let Some(hit) = hit.filter(|&hit| hit >= from) {
            return (Some(hit), steps);
        }
    }
    (None, steps)
}

/// Whether a line has a view at a tier.
#[inline]
fn same(tier: Tier, line: &[u8], view: &[u8], buffer: &mut Vec<u8>) -> bool {
    match tier {
        Tier::Exact => line == view,
        _ => fold::view(tier, line, buffer) == view,
    }
}
