//! The lines a hunk looks for, with what the searches have found out about them.

use super::fold;
use super::kmp::Kmp;
use super::numbered::Tracker;
use crate::policy::Tier;

/// The old lines of a hunk, and per tier what is needed to look for them, made when it is first needed.
#[derive(Debug)]
pub(crate) struct Pattern<'q> {
    lines: &'q [&'q [u8]],
    probe: usize,
    tiers: [TierState; 4],
}

/// What is known of a pattern at one tier.
#[derive(Debug, Default)]
pub(crate) struct TierState {
    /// The folded lines, one after the other; only at the tier that folds.
    folded: Option<Folded>,
    /// Its tokens in the index of the file; `Some(None)` when a line of it is nowhere in the file.
    pub(crate) tokens: Option<Option<Box<[u32]>>>,
    /// The token of its probe, as far as it was looked for.
    pub(crate) probe: Option<Option<u32>>,
    pub(crate) kmp: Option<Kmp>,
    /// How far the search among its tokens has come.
    pub(crate) tracker: Tracker,
    /// No hit begins at this line or below.
    pub(crate) barren_from: Option<usize>,
    /// Whether it fits in exactly one place of the whole file.
    pub(crate) only_one: Option<bool>,
}

#[derive(Debug, Default)]
struct Folded {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl<'q> Pattern<'q> {
    /// A pattern of at least one line.
    pub(crate) fn new(lines: &'q [&'q [u8]]) -> Self {
        let longest = (0..lines.len()).max_by_key(|&i| (fold::trim(lines[i]).len(), std::cmp::Reverse(i)));
        Pattern { lines, probe: longest.unwrap_or(0), tiers: Default::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line most likely to be rare: the longest.
    pub(crate) fn probe(&self) -> usize {
        self.probe
    }

    pub(crate) fn state(&mut self, tier: Tier) -> &mut TierState {
        &mut self.tiers[tier as usize]
    }

    /// Takes a tier's state out, with its views ready; [`Pattern::put_back`] returns it.
    pub(crate) fn take(&mut self, tier: Tier) -> TierState {
        let mut state = std::mem::take(&mut self.tiers[tier as usize]);
        if tier == Tier::Unicode && state.folded.is_none() {
            state.folded = Some(Folded::new(self.lines));
        }
        state
    }

    pub(crate) fn put_back(&mut self, tier: Tier, state: TierState) {
        self.tiers[tier as usize] = state;
    }

    /// What of line `k` counts at a tier; `state` is the tier's.
    #[inline]
    pub(crate) fn view<'v>(&'v self, tier: Tier, state: &'v TierState, k: usize) -> &'v [u8] {
        match (&state.folded, fold::plain_view(tier, self.lines[k])) {
            (Some(folded), None) => folded.line(k),
            (_, plain) => plain.unwrap_or(self.lines[k]),
        }
    }

    /// The line at which and below which no hit begins, as far as earlier searches tell. A tier's hits are among those
    /// of every looser one.
    pub(crate) fn barren_from(&self, tier: Tier) -> Option<usize> {
        self.tiers[tier as usize..].iter().filter_map(|state| state.barren_from).min()
    }
}

impl Folded {
    fn new(lines: &[&[u8]]) -> Self {
        let (mut folded, mut buffer) = (Folded::default(), Vec::new());
        for line in lines {
            // Views that are part of the line need no copy; `Pattern::view` never asks for them here.
            if fold::plain_view(Tier::Unicode, line).is_none() {
                folded.bytes.extend_from_slice(fold::view(Tier::Unicode, line, &mut buffer));
            }
            folded.ends.push(folded.bytes.len());
        }
        folded
    }

    fn line(&self, k: usize) -> &[u8] {
        let start = k.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[k]]
    }
}
