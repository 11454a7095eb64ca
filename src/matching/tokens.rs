//! One number per line and tier: lines with equal views have equal tokens. Interned by hash, verified by bytes.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_seeded};

use super::fold;
use crate::policy::Tier;
use crate::text::LineIndex;

/// The tokens of a file's lines at one tier, and where each token occurs.
///
/// # Complexity
/// Building is linear in the file at the exact tier, linear in its distinct lines and its line count at the others.
/// Memory: 8 bytes a line and about 34 a distinct line.
#[derive(Debug)]
pub(crate) struct TierTokens {
    tier: Tier,
    tokens: Vec<u32>,
    table: Table,
    /// View of each token: a stretch of the file, or of `folded` when the high bit of `start` is set.
    views: Vec<View>,
    folded: Vec<u8>,
    /// Occurrences of token `t`: `places[firsts[t]..firsts[t + 1]]`, ascending.
    firsts: Vec<u32>,
    places: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct View {
    start: usize,
    len: usize,
}

/// Marks a view that lies in the folded bytes. No content has half of the address space.
const FOLDED: usize = 1 << (usize::BITS - 1);

impl TierTokens {
    /// Reads all lines of a file.
    pub(crate) fn exact(text: &LineIndex<'_>) -> Self {
        let mut index = TierTokens::empty(Tier::Exact, text.len());
        let base = text.bytes();
        for line in text.lines_from(0) {
            let start = line.as_ptr() as usize - base.as_ptr() as usize;
            let token = index.intern(base, line, View { start, len: line.len() });
            index.tokens.push(token);
        }
        index.index_places();
        index
    }

    /// Derives a looser tier from the exact one: only distinct lines are looked at.
    pub(crate) fn looser(tier: Tier, exact: &TierTokens, base: &[u8]) -> Self {
        let mut index = TierTokens::empty(tier, exact.tokens.len());
        let mut buffer = Vec::new();
        let map: Vec<u32> = (exact.views.iter())
            .map(|&exact_view| {
                let line = exact.bytes_of(base, exact_view);
                match fold::plain_view(tier, line) {
                    Some(plain) => {
                        let start = exact_view.start + (plain.as_ptr() as usize - line.as_ptr() as usize);
                        index.intern(base, plain, View { start, len: plain.len() })
                    }
                    None => {
                        let folded = fold::view(tier, line, &mut buffer);
                        index.intern_folded(base, folded)
                    }
                }
            })
            .collect();
        index.tokens.extend(exact.tokens.iter().map(|&token| map[token as usize]));
        index.index_places();
        index
    }

    fn empty(tier: Tier, lines: usize) -> Self {
        TierTokens {
            tier,
            tokens: Vec::with_capacity(lines),
            table: Table::new(),
            views: Vec::new(),
            folded: Vec::new(),
            firsts: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The distinct lines of the exact tier, by token.
    pub(crate) fn lines<'a>(&self, base: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        debug_assert!(self.tier == Tier::Exact && self.folded.is_empty());
        self.views.iter().map(|view| &base[view.start..view.start + view.len])
    }

    /// The line that has a token of the exact tier.
    pub(crate) fn line<'a>(&self, base: &'a [u8], token: u32) -> &'a [u8] {
        let view = self.views[token as usize];
        &base[view.start..view.start + view.len]
    }

    fn bytes_of<'v>(&'v self, base: &'v [u8], view: View) -> &'v [u8] {
        let (bytes, start) =
            if view.start & FOLDED == 0 { (base, view.start) } else { (&self.folded[..], view.start & !FOLDED) };
        &bytes[start..start + view.len]
    }

    fn find(&self, base: &[u8], hash: u32, line: &[u8]) -> Option<u32> {
        self.table.find(hash, |token| self.bytes_of(base, self.views[token as usize]) == line)
    }

    fn intern(&mut self, base: &[u8], line: &[u8], view: View) -> u32 {
        let hash = self.table.hash(line);
        if let Some(token) = self.find(base, hash, line) {
            return token;
        }
        let token = self.views.len() as u32;
        self.views.push(view);
        self.table.insert(hash, token);
        token
    }

    fn intern_folded(&mut self, base: &[u8], line: &[u8]) -> u32 {
        let view = View { start: self.folded.len() | FOLDED, len: line.len() };
        let before = self.views.len();
        let token = self.intern(base, line, view);
        if self.views.len() > before {
            self.folded.extend_from_slice(line);
        }
        token
    }

    /// Sorts the lines by token, by counting.
    fn index_places(&mut self) {
        let mut firsts = vec![0_u32; self.views.len() + 1];
        for &token in &self.tokens {
            firsts[token as usize + 1] += 1;
        }
        let mut sum = 0;
        for first in &mut firsts {
            sum += *first;
            *first = sum;
        }
        let mut places = vec![0_u32; self.tokens.len()];
        // `firsts[t]` serves as the write position of token t and ends up as the first of t + 1: fill from the back.
        for (line, &token) in self.tokens.iter().enumerate().rev() {
            let end = &mut firsts[token as usize + 1];
            *end -= 1;
            places[*end as usize] = line as u32;
        }
        // Now `firsts[t + 1]` is where token t begins.
        firsts.remove(0);
        firsts.push(self.tokens.len() as u32);
        (self.firsts, self.places) = (firsts, places);
    }

    /// The token of each line.
    pub(crate) fn tokens(&self) -> &[u32] {
        &self.tokens
    }

    /// The token of a line with this view.
    pub(crate) fn token_of_view(&self, base: &[u8], view: &[u8]) -> Option<u32> {
        self.find(base, self.table.hash(view), view)
    }

    /// All lines, sorted by token, those of one token ascending.
    pub(crate) fn by_token(&self) -> &[u32] {
        &self.places
    }

    /// The lines with a token, ascending.
    pub(crate) fn places(&self, token: u32) -> &[u32] {
        let token = token as usize;
        &self.places[self.firsts[token] as usize..self.firsts[token + 1] as usize]
    }
}

/// Open addressing from hash to token. Seeded, so that no file can be made whose lines collide.
#[derive(Debug)]
struct Table {
    secrets: RapidSecrets,
    /// Hash in the high half, token + 1 in the low one: a look-up that fails touches one cache line. 0 is free.
    slots: Vec<u64>,
    used: usize,
}

impl Table {
    fn new() -> Self {
        use std::hash::{BuildHasher as _, Hasher as _, RandomState};
        let secrets = RapidSecrets::seed(RandomState::new().build_hasher().finish());
        Table { secrets, slots: vec![0; 64], used: 0 }
    }

    #[inline]
    fn hash(&self, bytes: &[u8]) -> u32 {
        (rapidhash_v3_seeded(bytes, &self.secrets) >> 32) as u32
    }

    #[inline]
    fn find(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            let token = (slot as u32).checked_sub(1)?;
            if (slot >> 32) as u32 == hash && is_it(token) {
                return Some(token);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a token that [`Table::find`] did not find.
    fn insert(&mut self, hash: u32, token: u32) {
        self.used += 1;
        if self.used * 8 > self.slots.len() * 5 {
            let grown = vec![0; self.slots.len() * 2];
            for slot in std::mem::replace(&mut self.slots, grown) {
                if slot != 0 {
                    self.place(slot);
                }
            }
        }
        self.place(u64::from(hash) << 32 | u64::from(token + 1));
    }

    fn place(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = (slot >> 32) as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_views_have_equal_tokens_and_all_their_places() {
        let mut bytes = Vec::new();
        for i in 0..3_000_u32 {
            let space = " ".repeat((i % 3) as usize);
            let dash = if i % 2 == 0 { "-" } else { "\u{2013}" };
            bytes.extend_from_slice(format!("{space}line{dash}{}{space}\n", i % 700).as_bytes());
        }
        let text = LineIndex::new(&bytes);
        let exact = TierTokens::exact(&text);
        let tiers: Vec<TierTokens> =
            Tier::ALL[1..].iter().map(|&tier| TierTokens::looser(tier, &exact, &bytes)).collect();
        for index in std::iter::once(&exact).chain(&tiers) {
            let views: Vec<Vec<u8>> =
                (0..text.len()).map(|i| fold::view(index.tier, text.line(i), &mut Vec::new()).to_vec()).collect();
            for (i, view) in views.iter().enumerate() {
                let token = index.token_of_view(&bytes, view).unwrap();
                assert_eq!(index.tokens()[i], token);
                let want: Vec<u32> = (0..views.len()).filter(|&k| views[k] == *view).map(|k| k as u32).collect();
                assert_eq!(index.places(token), want);
            }
            assert_eq!(index.token_of_view(&bytes, b"nowhere"), None);
        }
        assert_eq!(tiers[2].views.len(), 700);
    }
}
