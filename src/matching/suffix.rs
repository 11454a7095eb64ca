//! All stretches of a text in order: the search for patterns that repetitive text makes dear one by one.

use std::cmp::Ordering;
use std::ops::Range;

use super::wavelet::Wavelet;

/// Lines by which stretches are sorted at least.
const DEPTH_MIN: usize = 64;

/// The places of a text, sorted by the tokens that stand from there on (a suffix array, sorted as deep as was needed).
///
/// # Complexity
/// Building sorts by twice as many tokens a round, each round linear, until all stretches differ or the longest pattern asked
/// for is covered. Looking a pattern up costs its length times the logarithm of the text's, the first hit from a line on one
/// logarithm more. Memory: about 12 bytes a line.
#[derive(Debug)]
pub(crate) struct Suffixes {
    order: Vec<u32>,
    /// For each place, where the stretches that are equal to its own begin in `order`.
    rank: Vec<u32>,
    /// Tokens by which is sorted; `usize::MAX` when all stretches differ.
    depth: usize,
    places: Wavelet,
    steps: u64,
}

impl Suffixes {
    /// `order` are the places sorted by their first token.
    pub(crate) fn new(tokens: &[u32], order: Vec<u32>) -> Self {
        let mut rank = vec![0; order.len()];
        let mut first = 0;
        for (at, &place) in order.iter().enumerate() {
            let is_new = at == 0 || tokens[order[at - 1] as usize] != tokens[place as usize];
            first = if is_new { at as u32 } else { first };
            rank[place as usize] = first;
        }
        Suffixes { order, rank, depth: 1, places: Wavelet::new(&[]), steps: 0 }
    }

    /// The stretch of the order whose places have the pattern. The text is the one given to [`Suffixes::new`].
    pub(crate) fn find(&mut self, tokens: &[u32], want: &[u32]) -> Range<usize> {
        if self.depth < want.len() || self.depth == 1 {
            self.deepen(want.len().max(DEPTH_MIN));
        }
        let mut steps = 0;
        let mut side = |place: u32, equal: Ordering| {
            let have = tokens[place as usize..].iter().take(want.len());
            let same = have.clone().zip(want).take_while(|(a, b)| a == b).count();
            steps += same as u64 + 1;
            if same == want.len() { equal } else { have.cmp(want) }
        };
        let first = self.order.partition_point(|&place| side(place, Ordering::Greater) == Ordering::Less);
        let len = self.order[first..].partition_point(|&place| side(place, Ordering::Less) == Ordering::Less);
        self.steps += steps;
        first..first + len
    }

    /// The first place at line `from` or below among those of a stretch of the order.
    pub(crate) fn next(&mut self, found: &Range<usize>, from: usize) -> Option<usize> {
        self.steps += u64::from(usize::BITS - self.order.len().leading_zeros());
        self.places.least_from(found.start, found.end, from)
    }

    /// Steps made since this was asked last.
    pub(crate) fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    fn deepen(&mut self, wanted: usize) {
        while self.depth < wanted {
            self.double();
        }
        self.places = Wavelet::new(&self.order);
        self.steps += self.order.len() as u64;
    }

    /// Sorts by twice as many tokens: those that are equal by their first half are told apart by the rank of the second.
    fn double(&mut self) {
        let (len, half) = (self.order.len(), self.depth);
        let mut order = vec![0; len];
        let mut next: Vec<u32> = (0..len as u32).collect();
        let without = (len.saturating_sub(half)..len).map(|place| place as u32);
        let with = self.order.iter().filter_map(|place| place.checked_sub(half as u32));
        for place in without.chain(with) {
            let slot = &mut next[self.rank[place as usize] as usize];
            order[*slot as usize] = place;
            *slot += 1;
        }
        let key = |place: u32| (self.rank[place as usize], self.rank.get(place as usize + half).copied());
        let mut rank = vec![0; len];
        let (mut first, mut groups) = (0, 0);
        for (at, &place) in order.iter().enumerate() {
            if at == 0 || key(order[at - 1]) != key(place) {
                (first, groups) = (at as u32, groups + 1);
            }
            rank[place as usize] = first;
        }
        (self.order, self.rank) = (order, rank);
        self.depth = if groups == len { usize::MAX } else { half * 2 };
        self.steps += 4 * len as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_pattern_has_its_places(text in prop::collection::vec(0_u32..3, 0..200), from in 0_usize..200, len in 1_usize..90) {
            let want: Vec<u32> = text.iter().skip(from).take(len).copied().collect();
            prop_assume!(!want.is_empty());
            let mut order: Vec<u32> = (0..text.len() as u32).collect();
            order.sort_by_key(|&place| text[place as usize]);
            let mut suffixes = Suffixes::new(&text, order);
            for want in [want.clone(), [&want[..], &[2, 0]].concat()] {
                let found = suffixes.find(&text, &want);
                let mut places: Vec<usize> = suffixes.order[found.clone()].iter().map(|&place| place as usize).collect();
                places.sort_unstable();
                let naive: Vec<usize> = (0..text.len()).filter(|&at| text[at..].starts_with(&want)).collect();
                prop_assert_eq!(&places, &naive);
                prop_assert_eq!(suffixes.next(&found, from), naive.into_iter().find(|&at| at >= from));
            }
        }
    }
}
