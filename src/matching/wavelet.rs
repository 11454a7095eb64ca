//! Numbers in a fixed order that can be asked for the least one of a stretch that is not below a bound.

/// A wavelet matrix: per bit, highest first, the bits of all numbers in the order in which the bits above sorted them.
///
/// # Complexity
/// Building is linear in the numbers times their bits, and so is memory, in bits, with half as much again. A question costs
/// two steps a bit.
#[derive(Debug)]
pub(crate) struct Wavelet {
    len: usize,
    levels: Vec<Level>,
}

#[derive(Debug)]
struct Level {
    bits: Vec<u64>,
    /// Ones before each word.
    ones: Vec<u32>,
    /// Numbers with a zero: they stand before those with a one on the next level.
    zeros: usize,
}

impl Level {
    fn ones_before(&self, at: usize) -> usize {
        let (word, bit) = (at / 64, at % 64);
        let part = (self.bits[word] & !(u64::MAX << bit)).count_ones();
        (self.ones[word] + part) as usize
    }

    /// Where a stretch is on the next level, its numbers with a zero and those with a one.
    fn split(&self, lo: usize, hi: usize) -> [(usize, usize); 2] {
        let (before, within) = (self.ones_before(lo), self.ones_before(hi));
        [(lo - before, hi - within), (self.zeros + before, self.zeros + within)]
    }
}

impl Wavelet {
    /// `numbers` are below their count.
    pub(crate) fn new(numbers: &[u32]) -> Self {
        let width = usize::BITS - numbers.len().leading_zeros();
        let (mut order, mut next) = (numbers.to_vec(), Vec::with_capacity(numbers.len()));
        let level = |bit: u32| {
            let mut bits = vec![0_u64; order.len() / 64 + 1];
            for (at, number) in order.iter().enumerate() {
                bits[at / 64] |= u64::from(number >> bit & 1) << (at % 64);
            }
            let mut sum = 0;
            let ones = bits.iter().map(|word| {
                let before = sum;
                sum += word.count_ones();
                before
            });
            let ones = ones.collect();
            next.clear();
            next.extend(order.iter().filter(|number| *number >> bit & 1 == 0));
            let zeros = next.len();
            next.extend(order.iter().filter(|number| *number >> bit & 1 == 1));
            std::mem::swap(&mut order, &mut next);
            Level { bits, ones, zeros }
        };
        Wavelet { len: numbers.len(), levels: (0..width).rev().map(level).collect() }
    }

    /// The least number that is `bound` or more among those at `lo..hi`.
    pub(crate) fn least_from(&self, lo: usize, hi: usize, bound: usize) -> Option<usize> {
        let rest = (hi - lo).checked_sub(self.below(lo, hi, bound)).filter(|rest| *rest > 0)?;
        let (mut lo, mut hi, mut nth, mut number) = (lo, hi, hi - lo - rest, 0);
        for level in &self.levels {
            let [zeros, ones] = level.split(lo, hi);
            let is_one = nth >= zeros.1 - zeros.0;
            number = number << 1 | usize::from(is_one);
            if is_one {
                nth -= zeros.1 - zeros.0;
            }
            (lo, hi) = if is_one { ones } else { zeros };
        }
        Some(number)
    }

    /// How many of the numbers at `lo..hi` are below a bound.
    fn below(&self, mut lo: usize, mut hi: usize, bound: usize) -> usize {
        if bound >= self.len {
            return hi - lo;
        }
        let mut below = 0;
        for (level, bit) in self.levels.iter().zip((0..self.levels.len()).rev()) {
            let [zeros, ones] = level.split(lo, hi);
            if bound >> bit & 1 == 1 {
                below += zeros.1 - zeros.0;
                (lo, hi) = ones;
            } else {
                (lo, hi) = zeros;
            }
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_least_number_from_a_bound_on_is_told(
            (numbers, a, b, bound) in (1_usize..200).prop_flat_map(|len| {
                (prop::collection::vec(0..len as u32, len), 0..=len, 0..=len, 0..=len + 1)
            })
        ) {
            let (lo, hi) = (a.min(b), a.max(b));
            let want = numbers[lo..hi].iter().map(|&n| n as usize).filter(|&n| n >= bound).min();
            prop_assert_eq!(Wavelet::new(&numbers).least_from(lo, hi, bound), want);
        }
    }
}
