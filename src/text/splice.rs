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
