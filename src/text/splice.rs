//! A new content made of stretches of the old one and fresh bytes: kept lines are never copied, so they cannot change.

use std::ops::Range;

/// One stretch of a [`Spliced`] content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the old content, as they are.
    Kept(Range<usize>),
    /// Bytes of the fresh bytes.
    Fresh(Range<usize>),
}

impl Piece {
    fn range(&self) -> &Range<usize> {
        match self {
            Piece::Kept(range) | Piece::Fresh(range) => range,
        }
    }
}

/// A content described as stretches of an old one (the *base*) and fresh bytes.
///
/// Costs memory for what is new only. Pieces never are empty and neighbours of one kind are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spliced {
    pieces: Vec<Piece>,
    fresh: Vec<u8>,
    len: usize,
}

impl Spliced {
    /// A content that is all fresh.
    #[must_use]
    pub fn from_fresh(fresh: Vec<u8>) -> Self {
        let len = fresh.len();
        let pieces = if len == 0 { Vec::new() } else { vec![Piece::Fresh(0..len)] };
        Spliced { pieces, fresh, len }
    }

    /// Appends a stretch of the base.
    pub fn keep(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.len += range.len();
        match self.pieces.last_mut() {
            Some(Piece::Kept(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(Piece::Kept(range)),
        }
    }

    /// Appends fresh bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let start = self.fresh.len();
        self.fresh.extend_from_slice(bytes);
        self.len += bytes.len();
        let end = self.fresh.len();
        match self.pieces.last_mut() {
            Some(Piece::Fresh(last)) if last.end == start => last.end = end,
            _ => self.pieces.push(Piece::Fresh(start..end)),
        }
    }

    /// This content, made from the content that `inner` makes, as one made from what `inner` is made from.
    ///
    /// # Complexity
    /// Linear in the stretches of both and in the fresh bytes, but for a logarithm.
    #[must_use]
    pub fn over(&self, inner: &Spliced) -> Spliced {
        let mut starts = Vec::with_capacity(inner.pieces.len());
        let mut at = 0;
        for piece in &inner.pieces {
            starts.push(at);
            at += piece.range().len();
        }
        let mut out = Spliced::default();
        for piece in &self.pieces {
            let Piece::Kept(kept) = piece else {
                out.add(&self.fresh[piece.range().clone()]);
                continue;
            };
            let mut nth = starts.partition_point(|&start| start <= kept.start).saturating_sub(1);
            let mut at = kept.start;
            while at < kept.end && nth < starts.len() {
                let below = inner.pieces[nth].range();
                let from = below.start + (at - starts[nth]);
                let to = below.end.min(from + (kept.end - at));
                match inner.pieces[nth] {
                    Piece::Kept(_) => out.keep(from..to),
                    Piece::Fresh(_) => out.add(&inner.fresh[from..to]),
                }
                (at, nth) = (at + (to - from), nth + 1);
            }
        }
        out
    }

    /// The stretches in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The stretches' bytes in order. `base` must be the content the ranges were taken from.
    pub fn slices<'a>(&'a self, base: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        self.pieces.iter().map(move |piece| match piece {
            Piece::Kept(range) => &base[range.clone()],
            Piece::Fresh(range) => &self.fresh[range.clone()],
        })
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the content has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the content into one buffer.
    #[must_use]
    pub fn to_vec(&self, base: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len);
        for slice in self.slices(base) {
            out.extend_from_slice(slice);
        }
        out
    }

    /// Whether the content is the base, byte for byte. Linear in the fresh bytes.
    #[must_use]
    pub fn equals_base(&self, base: &[u8]) -> bool {
        let mut at = 0;
        self.len == base.len()
            && self.slices(base).all(|slice| {
                let same = slice.as_ptr() == base[at..].as_ptr() || base[at..].starts_with(slice);
                at += slice.len();
                same
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A content made from one of `len` bytes: stretches of it and of fresh letters, in any order.
    fn made(len: usize, plan: &[(bool, usize, usize)]) -> Spliced {
        let mut out = Spliced::default();
        for &(keep, a, b) in plan {
            match keep {
                true => out.keep((a % (len + 1)).min(b % (len + 1))..(a % (len + 1)).max(b % (len + 1))),
                false => out.add(&b"abcdefgh"[..b % 8]),
            }
        }
        out
    }

    proptest! {
        #[test]
        fn one_change_over_another_is_both_in_a_row(
            base in prop::collection::vec(any::<u8>(), 0..20),
            first in prop::collection::vec((any::<bool>(), 0usize..40, 0usize..40), 0..6),
            second in prop::collection::vec((any::<bool>(), 0usize..40, 0usize..40), 0..6),
        ) {
            let inner = made(base.len(), &first);
            let outer = made(inner.len(), &second);
            let both = outer.over(&inner);
            prop_assert_eq!(both.to_vec(&base), outer.to_vec(&inner.to_vec(&base)));
            prop_assert_eq!(both.len(), outer.len());
        }
    }
}
