//! The rules that choose one place for a hunk, or refuse: cursor, anchors, the end of the file, uniqueness, order.

use super::anchor::{AnchorLines, LinesBelow};
use super::block::Blocks;
use super::candidates::Candidates;
use super::find::Searcher;
use super::fold;
use super::pattern::Pattern;
use super::tie::Tie;
use crate::policy::{Ambiguity, Policy, Tier};
use crate::text::LineIndex;

/// Lines below an anchor that opens no block in which its hunk may begin although it fits elsewhere too.
const NEAR: usize = 20;

/// Steps for each line of the file that looking for the places nearest to line numbers may cost, all hunks together;
/// after that only the lines round the number are looked at, so that the whole stays linear.
const FAR: u64 = 32;

/// What a hunk says about its place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Query<'q> {
    /// The old lines: context and removed.
    pub(crate) old: &'q [&'q [u8]],
    /// Anchor texts, outermost first.
    pub(crate) anchors: &'q [Vec<u8>],
    /// The text after a unified header's numbers.
    pub(crate) hint: Option<&'q [u8]>,
    /// The line (from 1) that a unified header names.
    pub(crate) number: Option<usize>,
    /// Whether it comes from a real unified diff.
    pub(crate) unified: bool,
    /// Whether the cursor says nothing about it.
    pub(crate) anywhere: bool,
    /// Whether it belongs at the end of the file.
    pub(crate) at_end: bool,
}

/// Where a hunk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Its first old line, or the line above which it inserts.
    pub(crate) at: usize,
    pub(crate) tier: Tier,
    /// It lies before the cursor.
    pub(crate) late: bool,
    /// It fits only without its last old line, which is empty.
    pub(crate) short: bool,
}

/// Why a hunk goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// Its lines are nowhere.
    NotFound,
    /// Its lines are only before the cursor, where this policy does not look.
    Behind { tier: Tier, lines: Candidates },
    /// It fits in several places.
    Ambiguous { tier: Tier, lines: Candidates },
    /// One of its anchors is nowhere, or not below the one before it.
    AnchorNotFound { anchor: usize },
    /// It only adds lines and its anchor has several places.
    AnchorAmbiguous { lines: Candidates },
    /// It fits, but not where its anchor says.
    OutsideAnchor { tier: Tier, lines: Candidates },
}

/// Places hunks in one file, one after the other.
#[derive(Debug)]
pub(crate) struct Placer<'a> {
    searcher: Searcher<'a>,
    anchors: AnchorLines,
    blocks: Blocks,
    /// Hunks are looked for at this line and below first.
    cursor: usize,
    /// Trimmed anchors of the hunk before, with the last line each names above that hunk.
    before: Vec<(Vec<u8>, usize)>,
    first_wins: bool,
    out_of_order: bool,
    /// Steps that looking for the place nearest to a line number has cost.
    far_steps: u64,
}

/// Where an anchor lets the search begin: its line, and the first line that may be the hunk's.
#[derive(Clone, Copy, Debug)]
struct Place {
    line: usize,
    start: usize,
}

/// The places of a hunk's anchors, top down.
#[derive(Debug)]
struct Places {
    /// The place of an anchor that the hunk before had too; its search goes on from the cursor.
    repeated: Option<Place>,
    lines: LinesBelow,
}

impl Places {
    fn len(&self) -> usize {
        usize::from(self.repeated.is_some()) + self.lines.as_slice().len()
    }

    fn get(&self, k: usize) -> Option<Place> {
        let k = match (self.repeated, k) {
            (Some(place), 0) => return Some(place),
            (Some(_), k) => k - 1,
            (None, k) => k,
        };
        self.lines.as_slice().get(k).map(|&line| Place { line: line as usize, start: line as usize + 1 })
    }

    fn first(&self) -> Option<Place> {
        self.get(0)
    }

    /// How many places begin at `line` or above.
    fn up_to(&self, line: usize) -> usize {
        let own = usize::from(self.repeated.is_some_and(|place| place.start <= line));
        own + self.lines.as_slice().partition_point(|&anchor| (anchor as usize) < line)
    }

    /// Whether the search below the anchor on `line` begins right below it.
    fn has_line(&self, line: usize) -> bool {
        self.repeated.is_some_and(|place| place.line == line && place.start == line + 1)
            || self.lines.as_slice().binary_search(&(line as u32)).is_ok()
    }
}

impl<'a> Placer<'a> {
    pub(crate) fn new(text: LineIndex<'a>, policy: &Policy) -> Self {
        Placer {
            searcher: Searcher::new(text, policy.loosest),
            anchors: AnchorLines::default(),
            blocks: Blocks::default(),
            cursor: 0,
            before: Vec::new(),
            first_wins: policy.ambiguity == Ambiguity::First,
            out_of_order: policy.out_of_order,
            far_steps: 0,
        }
    }

    /// Says how many hunks will come, so that what many of them need is made at once.
    pub(crate) fn expect(&mut self, hunks: usize) {
        self.searcher.expect(hunks);
    }

    pub(crate) fn text(&self) -> &LineIndex<'a> {
        self.searcher.text()
    }

    pub(crate) fn searcher(&mut self) -> &mut Searcher<'a> {
        &mut self.searcher
    }

    pub(crate) fn steps(&self) -> u64 {
        self.searcher.steps() + self.blocks.steps()
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Says from where the next hunk is looked for.
    pub(crate) fn set_cursor(&mut self, line: usize) {
        self.cursor = line;
    }

    /// Finds the place of a hunk that has old lines.
    pub(crate) fn find(&mut self, query: &Query<'_>) -> Result<Spot, Miss> {
        let old = query.old;
        let mut whole = Pattern::new(old);
        let mut short = match old {
            [rest @ .., b""] if !rest.is_empty() => Some(Pattern::new(rest)),
            _ => None,
        };
        let lows = [self.cursor, 0];
        let lows = match (query.anywhere, self.out_of_order && self.cursor > 0) {
            (true, _) => &lows[1..],
            (false, true) => &lows[..],
            (false, false) => &lows[..1],
        };
        for &low in lows {
            let tries = [(false, Some(&mut whole)), (true, short.as_mut())];
            for (is_short, pattern) in tries.into_iter().filter_map(|(short, pattern)| Some((short, pattern?))) {
                let Some((rung, tier, lines)) = self.search(query, pattern, low) else { continue };
                if lines.are_several() && !self.first_wins {
                    return Err(Miss::Ambiguous { tier, lines });
                }
                let Some(at) = lines.first() else { continue };
                self.remember(query.anchors, rung, at);
                return Ok(Spot { at, tier, late: at < self.cursor, short: is_short });
            }
        }
        Err(self.why_nowhere(query, &mut whole))
    }

    /// Finds the line below which a hunk of additions goes: that of its anchor.
    pub(crate) fn find_anchor(&mut self, anchors: &[Vec<u8>]) -> Result<Spot, Miss> {
        let lows = [self.cursor, 0];
        let lows = if self.out_of_order { &lows[..] } else { &lows[..1] };
        for &low in lows {
            for &rung in self.searcher.tiers() {
                let places = self.places(anchors, rung, low);
                let Some(first) = places.first() else { continue };
                if places.len() > 1 && !self.first_wins {
                    let mut lines = Candidates::default();
                    let _enough = (0..places.len()).filter_map(|k| places.get(k)).any(|place| lines.push(place.line));
                    return Err(Miss::AnchorAmbiguous { lines });
                }
                let at = first.line + 1;
                self.remember(anchors, rung, at);
                return Ok(Spot { at, tier: rung, late: at < self.cursor, short: false });
            }
        }
        Err(Miss::AnchorNotFound { anchor: self.missing_anchor(anchors) })
    }

    /// Whether the anchors are there, for a hunk of additions that goes elsewhere all the same.
    pub(crate) fn check_anchor(&mut self, anchors: &[Vec<u8>]) -> Result<(), Miss> {
        let low = self.cursor;
        let is_there = self.searcher.tiers().iter().any(|&rung| self.places(anchors, rung, low).len() > 0);
        if is_there { Ok(()) } else { Err(Miss::AnchorNotFound { anchor: self.missing_anchor(anchors) }) }
    }

    /// The rung of the anchors, the tier and the places of a hunk at `low` and below; `None` when there are none.
    fn search(&mut self, query: &Query<'_>, pattern: &mut Pattern<'_>, low: usize) -> Option<(Tier, Tier, Candidates)> {
        if query.anchors.is_empty() {
            let (tier, lines) = match self.at_end(query, pattern, low) {
                Some(found) => found,
                None => self.unanchored(query, pattern, low)?,
            };
            return Some((Tier::Exact, tier, lines));
        }
        self.searcher.tiers().iter().find_map(|&rung| {
            let places = self.places(query.anchors, rung, low);
            let start = places.first()?.start;
            let found = self.at_end(query, pattern, start).or_else(|| self.offers(pattern, &places));
            let (tier, lines) = found.or_else(|| self.at_anchors(pattern, &places))?;
            Some((rung, tier, lines))
        })
    }

    /// The end of the file, for a hunk that belongs there.
    fn at_end(&mut self, query: &Query<'_>, pattern: &mut Pattern<'_>, low: usize) -> Option<(Tier, Candidates)> {
        let end = self.searcher.text().len().checked_sub(pattern.len()).filter(|&end| query.at_end && end >= low)?;
        let tier = self.searcher.tiers().iter().find(|&&tier| self.searcher.fits_at(pattern, tier, end))?;
        Some((*tier, Candidates::one(end)))
    }

    /// The places of stacked anchors at `low` and below: each anchor's are the first ones below those of the one before.
    fn places(&mut self, anchors: &[Vec<u8>], rung: Tier, low: usize) -> Places {
        let mut here: Option<Places> = None;
        for anchor in anchors {
            let start = here.as_ref().and_then(Places::first).map_or(low, |place| place.start);
            let mut lines = self.anchors.find(&mut self.searcher, anchor, rung, start);
            if let Some(outer) = &here {
                lines = first_below(outer, &lines);
            }
            let mut repeated = None;
            if low == self.cursor && (!self.first_wins || lines.as_slice().is_empty()) {
                let key = fold::trim(anchor);
                let line = self.before.iter().rfind(|(before, _)| before == key).map(|&(_, line)| line);
                repeated = line.map(|line| Place { line, start: low });
                // The line itself is no further place.
                if line.is_some_and(|line| lines.as_slice().first() == Some(&(line as u32))) {
                    lines.skip_first();
                }
            }
            let places = Places { repeated, lines };
            if places.len() == 0 {
                return places;
            }
            here = Some(places);
        }
        here.unwrap_or_else(|| Places { repeated: None, lines: LinesBelow::new([].into(), 0) })
    }

    /// What the places have to offer, at the strictest tier at which they offer anything.
    fn offers(&mut self, pattern: &mut Pattern<'_>, places: &Places) -> Option<(Tier, Candidates)> {
        let start = places.first()?.start;
        for &tier in self.searcher.tiers() {
            let Some(first) = self.searcher.next_hit(pattern, tier, start) else { continue };
            if self.first_wins {
                return Some((tier, Candidates::one(first)));
            }
            let lines = self.offers_at(pattern, tier, places, first);
            if !lines.is_empty() {
                return Some((tier, lines));
            }
        }
        None
    }

    /// Goes from fit to fit, and looks only at the places that have one before the next place.
    fn offers_at(&mut self, pattern: &mut Pattern<'_>, tier: Tier, places: &Places, first: usize) -> Candidates {
        let mut out = Candidates::default();
        let mut next = Some(first);
        while let Some(hit) = next {
            let after = places.up_to(hit);
            let end = places.get(after).map_or(usize::MAX, |place| place.line);
            let place = after.checked_sub(1).and_then(|k| places.get(k)).filter(|_| hit < end);
            if place.is_some_and(|place| self.offer(pattern, tier, place, hit, end, &mut out)) {
                break;
            }
            next = places.get(after).and_then(|place| self.searcher.next_hit(pattern, tier, place.start));
        }
        out
    }

    /// Adds what one place offers: the fits that begin inside its block, else the first one if it is near or the only one.
    /// `hit` is the first fit below it. Says whether there is no use in looking for more.
    fn offer(
        &mut self,
        pattern: &mut Pattern<'_>,
        tier: Tier,
        place: Place,
        hit: usize,
        end: usize,
        out: &mut Candidates,
    ) -> bool {
        let block = self.blocks.below(self.searcher.text(), place.line);
        let mut own = Some(hit);
        if hit <= place.line {
            own = self.searcher.next_hit(pattern, tier, place.line + 1);
        }
        let block_end = block.end.min(end);
        if own.is_some_and(|own| own < block_end) {
            while let Some(fit) = own.filter(|&fit| fit < block_end) {
                if out.push(fit) {
                    return true;
                }
                own = self.searcher.next_hit(pattern, tier, fit + 1);
            }
            return false;
        }
        let near = hit <= place.line + NEAR;
        let offered = if block.opens {
            near && self.searcher.fits_once(pattern, tier)
        } else {
            near || self.searcher.fits_once(pattern, tier)
        };
        offered && out.push(hit)
    }

    /// The places where the hunk repeats its anchor as its own first line.
    fn at_anchors(&mut self, pattern: &mut Pattern<'_>, places: &Places) -> Option<(Tier, Candidates)> {
        let low = places.first()?.line;
        for &tier in self.searcher.tiers() {
            let mut lines = Candidates::default();
            let mut next = self.searcher.next_hit(pattern, tier, low);
            while let Some(hit) = next {
                if places.has_line(hit) && lines.push(hit) {
                    break;
                }
                next = self.searcher.next_hit(pattern, tier, hit + 1);
            }
            if !lines.is_empty() {
                return Some((tier, lines));
            }
        }
        None
    }

    /// The places of a hunk without anchor, at the strictest tier that has one; hint and number break ties.
    fn unanchored(&mut self, query: &Query<'_>, pattern: &mut Pattern<'_>, low: usize) -> Option<(Tier, Candidates)> {
        let (tier, first) = self.searcher.first_hit(pattern, low)?;
        let lines = if self.first_wins && query.hint.is_none() && query.number.is_none() {
            Candidates::one(first)
        } else {
            self.all_places(pattern, tier, first)
        };
        if !lines.are_several() {
            return Some((tier, lines));
        }
        let mut tie = Tie { pattern, tier, low, number: query.number };
        if query.unified && query.number.is_some() {
            let before = self.searcher.steps();
            let far = self.far_steps <= FAR * self.searcher.text().len() as u64;
            let chosen = tie.nearest(&mut self.searcher, far);
            self.far_steps += self.searcher.steps() - before;
            return Some((tier, chosen.map_or(lines, Candidates::one)));
        }
        let (mut lines, mut near) = (lines, None);
        if let Some(hint) = query.hint {
            // Where the hunk itself begins with the hint, each place is such a line and none lies below one.
            if !fold::begins_with(self.searcher.loosest(), query.old[0], hint) {
                let marks = self.anchors.begun_by(&mut self.searcher, hint);
                let (hinted, hinted_near) = tie.hinted(&mut self.searcher, &mut self.blocks, &marks);
                if !hinted.is_empty() {
                    (lines, near) = (hinted, Some(hinted_near));
                }
            }
        }
        if lines.are_several() && query.number.is_some() {
            let near = near.unwrap_or_else(|| tie.near_number(&mut self.searcher));
            if let Some(chosen) = tie.by_number(&near) {
                lines = Candidates::one(chosen);
            }
        }
        Some((tier, lines))
    }

    fn all_places(&mut self, pattern: &mut Pattern<'_>, tier: Tier, first: usize) -> Candidates {
        let mut lines = Candidates::default();
        let mut next = Some(first);
        while let Some(hit) = next {
            if lines.push(hit) {
                break;
            }
            next = self.searcher.next_hit(pattern, tier, hit + 1);
        }
        lines
    }

    /// Keeps where the anchors of a placed hunk stand, for a hunk that repeats them.
    fn remember(&mut self, anchors: &[Vec<u8>], rung: Tier, at: usize) {
        self.before.clear();
        for anchor in anchors {
            let lines = self.anchors.find(&mut self.searcher, anchor, rung, 0);
            let lines = lines.as_slice();
            let above = lines.partition_point(|&line| line as usize <= at);
            if let Some(last) = above.checked_sub(1) {
                self.before.push((fold::trim(anchor).to_vec(), lines[last] as usize));
            }
        }
    }

    fn why_nowhere(&mut self, query: &Query<'_>, pattern: &mut Pattern<'_>) -> Miss {
        let low = if self.out_of_order { 0 } else { self.cursor };
        if !query.anchors.is_empty() && self.places(query.anchors, self.searcher.loosest(), low).len() == 0 {
            return Miss::AnchorNotFound { anchor: self.missing_anchor(query.anchors) };
        }
        let Some((tier, first)) = self.searcher.first_hit(pattern, 0) else { return Miss::NotFound };
        let lines = self.all_places(pattern, tier, first);
        if query.anchors.is_empty() { Miss::Behind { tier, lines } } else { Miss::OutsideAnchor { tier, lines } }
    }

    /// The first anchor of a stack that is not where it should be.
    fn missing_anchor(&mut self, anchors: &[Vec<u8>]) -> usize {
        let low = if self.out_of_order { 0 } else { self.cursor };
        let rung = self.searcher.loosest();
        let missing = (1..anchors.len()).find(|&len| self.places(&anchors[..len], rung, low).len() == 0);
        missing.unwrap_or(anchors.len()) - 1
    }
}

/// The first of `lines` below each outer place.
fn first_below(outer: &Places, lines: &LinesBelow) -> LinesBelow {
    let lines = lines.as_slice();
    let (mut found, mut k) = (Vec::new(), 0);
    while let Some(place) = outer.get(k) {
        let at = lines.partition_point(|&line| (line as usize) < place.start);
        let Some(&line) = lines.get(at) else { break };
        found.push(line);
        // Outer places above that line lead to it too.
        k = outer.up_to(line as usize).max(k + 1);
    }
    LinesBelow::new(found.into(), 0)
}
