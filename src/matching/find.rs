//! The search for a hunk's lines. Whatever the text, a search is linear; many searches share one index.
//!
//! A search looks at the file itself first: a substring search for the hunk's longest line, in a small file a comparison line
//! by line. Once that has cost a few readings of the file, its lines are numbered ([`Numbered`]) and further searches visit
//! only the places of the hunk's longest line, or where it has many those of the rarest. Where verifying these costs too much,
//! because the text repeats itself, the search falls back to [`Kmp`](super::kmp::Kmp), and once that has cost too much to a
//! sorted index of all stretches ([`Suffixes`](super::suffix::Suffixes)).

mod ways;

use std::sync::Arc;

use super::fold;
use super::numbered::Numbered;
use super::pattern::Pattern;
use super::scan::{NEEDLE_MIN, Scan};
use crate::policy::Tier;
use crate::text::LineIndex;
use ways::equal_lines;

/// Readings of the whole file, line by line, after which its lines are numbered: what numbering costs.
const READINGS: u64 = 4;
/// Lines that a substring search passes in the time in which one line is compared.
const SCANNED: u64 = 8;
/// Hunks of one file for which numbering its lines at once is cheaper than searching, where each is also searched for a second
/// place.
const MANY: usize = (READINGS * SCANNED / 2) as usize;
/// Files with fewer bytes than this below the start of a search are not worth a substring search.
const SUBSTRING_MIN: usize = 1 << 10;
/// Anchors that are looked for as parts of lines one by one; for more the words of the file are indexed.
const PARTS: u32 = 16;
/// Places of a pattern's probe that are compared as they stand, before all its lines are looked up among the numbered ones.
const FEW: usize = 4;

/// Looks for patterns in one file.
#[derive(Debug)]
pub(crate) struct Searcher<'a> {
    text: LineIndex<'a>,
    loosest: Tier,
    tiers: [Option<Numbered<'a>>; 4],
    /// Lines read so far by searches without an index, in [`SCANNED`]ths.
    read: u64,
    /// More hunks are to come than are worth single searches.
    many: bool,
    /// Anchors that were looked for as parts of lines.
    parts: u32,
    substring_min: usize,
    few: usize,
    steps: u64,
    buffer: Vec<u8>,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(text: LineIndex<'a>, loosest: Tier) -> Self {
        Searcher {
            text,
            loosest,
            tiers: Default::default(),
            read: 0,
            many: false,
            parts: 0,
            substring_min: SUBSTRING_MIN,
            few: FEW,
            steps: 0,
            buffer: Vec::new(),
        }
    }

    /// Says how many hunks will be looked for.
    pub(crate) fn expect(&mut self, hunks: usize) {
        self.many = hunks >= MANY;
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

    /// The first place at `from` or below where the pattern fits.
    pub(crate) fn next_hit(&mut self, pattern: &mut Pattern<'_>, tier: Tier, from: usize) -> Option<usize> {
        let hit = self.next_hit_above(pattern, tier, from, usize::MAX);
        if hit.is_none() {
            let state = pattern.state(tier);
            state.barren_from = Some(state.barren_from.map_or(from, |low| low.min(from)));
        }
        hit
    }

    /// The first place at `from` or below, and above `stop`, where the pattern fits.
    pub(crate) fn next_hit_above(
        &mut self,
        pattern: &mut Pattern<'_>,
        tier: Tier,
        from: usize,
        stop: usize,
    ) -> Option<usize> {
        // Nothing begins where there are too few lines left, or where nothing was found before.
        let stop = stop.min((self.text.len() + 1).saturating_sub(pattern.len()));
        let stop = stop.min(pattern.barren_from(tier).unwrap_or(usize::MAX));
        if from >= stop {
            return None;
        }
        let mut state = pattern.take(tier);
        let hit = if self.is_numbered(tier) {
            self.next_numbered(pattern, &mut state, tier, from, stop)
        } else {
            self.next_by_reading(pattern, &mut state, tier, from, stop)
        };
        pattern.put_back(tier, state);
        hit
    }

    /// The strictest tier at which the pattern fits at `from` or below, with the first such place.
    pub(crate) fn first_hit(&mut self, pattern: &mut Pattern<'_>, from: usize) -> Option<(Tier, usize)> {
        if let Some(hit) = self.next_hit(pattern, Tier::Exact, from) {
            return Some((Tier::Exact, hit));
        }
        if self.loosest == Tier::Exact {
            return None;
        }
        // Where nothing fits at the loosest tier, nothing fits at those between.
        let low = self.next_hit(pattern, self.loosest, from)?;
        let between = &self.tiers()[1..self.loosest as usize];
        let found = between.iter().find_map(|&tier| Some((tier, self.next_hit(pattern, tier, low)?)));
        Some(found.unwrap_or((self.loosest, low)))
    }

    /// Whether the pattern fits at line `at`.
    pub(crate) fn fits_at(&mut self, pattern: &mut Pattern<'_>, tier: Tier, at: usize) -> bool {
        if at.saturating_add(pattern.len()) > self.text.len() {
            return false;
        }
        let state = pattern.take(tier);
        let equal = equal_lines(&self.text, pattern, &state, tier, at, &mut self.buffer);
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
            let numbered = self.tiers[tier as usize].as_ref().expect("`is_numbered` made it");
            return numbered.lines_equal(self.text.bytes(), line, &mut self.buffer);
        }
        let view = fold::view(tier, line, &mut self.buffer).to_vec();
        let (mut found, mut buffer) = (Vec::new(), std::mem::take(&mut self.buffer));
        self.scan_lines(&view, tier, |line, number| {
            if fold::view(tier, line, &mut buffer) == view {
                found.push(number);
            }
        });
        self.buffer = buffer;
        found.into()
    }

    /// Gives every line that can begin with `want` or hold it as a part at some tier, with its numbers, equal lines together.
    pub(crate) fn each_line_with(&mut self, want: &[u8], mut give: impl FnMut(&[u8], &[u32])) {
        let (loosest, mut buffer) = (self.loosest, Vec::new());
        let view = fold::view(loosest, want, &mut buffer).to_vec();
        self.parts += 1;
        if self.parts > PARTS && self.is_numbered(Tier::Exact) {
            let numbered = self.tiers[0].as_mut().expect("`is_numbered` made it");
            let steps = numbered.each_line_with(self.text.bytes(), want, &view, &mut give);
            self.steps += steps.unwrap_or(0);
            if steps.is_some() {
                return;
            }
        }
        self.scan_lines(&view, loosest, |line, number| give(line, &[number]));
    }

    /// Gives every line that can have a view at a tier in which `needle` stands, ascending.
    fn scan_lines(&mut self, needle: &[u8], tier: Tier, mut give: impl FnMut(&[u8], u32)) {
        let len = self.text.len() as u64;
        if needle.len() < NEEDLE_MIN {
            self.read += SCANNED * len;
            self.steps += len;
            self.text.lines_from(0).zip(0_u32..).for_each(|(line, number)| give(line, number));
            return;
        }
        let (mut known, mut number) = (self.text.start(0), 0);
        let mut scan = Scan::new(&self.text, needle, tier, known, self.text.bytes().len());
        for (start, line) in &mut scan {
            number += self.text.lines_between(known, start) as u32;
            known = start;
            give(line, number);
        }
        self.read += len + SCANNED * scan.visited();
        self.steps += len + scan.visited();
    }

    /// Whether the lines are numbered at a tier; numbers them when reading has become too dear.
    fn is_numbered(&mut self, tier: Tier) -> bool {
        if self.tiers[tier as usize].is_some() {
            return true;
        }
        let dear = self.many || self.read > READINGS * SCANNED * self.text.len() as u64;
        if dear {
            self.number(Tier::Exact);
            self.number(tier);
        }
        dear
    }

    fn number(&mut self, tier: Tier) {
        if self.tiers[tier as usize].is_none() {
            // Who asks for so many lines also asks where they begin.
            self.text.densify();
            let numbered = Numbered::new(&self.text, tier, self.tiers[0].as_ref());
            self.steps += self.text.len() as u64;
            self.tiers[tier as usize] = Some(numbered);
        }
    }

    /// Goes on as after many searches, or in a large file.
    #[cfg(test)]
    pub(crate) fn force(&mut self, way: super::tests::Way) {
        use super::tests::Way;
        match way {
            Way::Reading => return,
            Way::Substring => {
                self.substring_min = 0;
                return;
            }
            Way::Probe => self.parts = PARTS,
            Way::Numbered | Way::Sorted => (self.parts, self.few) = (PARTS, 0),
        }
        Tier::ALL.into_iter().for_each(|tier| self.number(tier));
        if way == Way::Sorted {
            self.tiers.iter_mut().flatten().for_each(Numbered::force_dear);
        }
    }
}
