//! A fingerprint of a content: what "the file as it was read" means between calls and between processes.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// The 128-bit XXH3 fingerprint of a content, written as 32 hexadecimal digits.
///
/// It tells changed files from unchanged ones; it is no defence against someone who makes collisions on purpose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(u128);

impl Digest {
    /// The fingerprint of `bytes`. Linear, some 10 GB/s.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Digest(xxh3_128(bytes))
    }

    /// The fingerprint of stretches, as if they stood in one buffer.
    #[must_use]
    pub fn of_slices<'a>(slices: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut slices = slices.into_iter();
        let first = slices.next().unwrap_or_default();
        let Some(second) = slices.next() else { return Digest::of(first) };
        let mut state = Xxh3::new();
        state.update(first);
        state.update(second);
        for slice in slices {
            state.update(slice);
        }
        Digest(state.digest128())
    }

    /// The fingerprint as sixteen bytes, most significant first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The fingerprint that [`Digest::to_bytes`] gave.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Digest(u128::from_be_bytes(bytes))
    }
}

/// Makes the fingerprint of a content that comes piece by piece.
#[derive(Default)]
pub(crate) struct Hasher(Xxh3);

impl Hasher {
    /// Takes the next piece.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The fingerprint of all pieces together.
    pub(crate) fn digest(&self) -> Digest {
        Digest(self.0.digest128())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

/// A text that is no fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no content hash: 32 hexadecimal digits are expected, as `read` gives them")]
pub struct DigestError(String);

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let right = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let error = || DigestError(text.chars().take(80).collect());
        if !right {
            return Err(error());
        }
        u128::from_str_radix(text, 16).map(Digest).map_err(|_| error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_hash_as_their_whole() {
        let whole: Vec<u8> = (0..5000u32).map(|n| (n % 251) as u8).collect();
        for cuts in [vec![], vec![0], vec![1, 2, 3], vec![1000, 1000, 4999], vec![240, 241]] {
            let mut slices = Vec::new();
            let mut from = 0;
            for cut in cuts {
                slices.push(&whole[from..cut]);
                from = cut;
            }
            slices.push(&whole[from..]);
            assert_eq!(Digest::of_slices(slices), Digest::of(&whole));
        }
        assert_eq!(Digest::of_slices([]), Digest::of(b""));
    }

    #[test]
    fn text_and_bytes_round_trip() {
        let digest = Digest::of(b"content");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(digest.to_string().to_uppercase().parse(), Ok(digest));
        assert_eq!(Digest::from_bytes(digest.to_bytes()), digest);
        for wrong in ["", "12", "+0000000000000000000000000000000", &"g".repeat(32), &"0".repeat(33)] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_fingerprint_is_the_published_one() {
        // The value that XXH3 specifies for the empty input with seed 0: a change of library must not change hashes.
        assert_eq!(Digest::of(b"").to_string(), "99aa06d3014798d86001c324468d497f");
    }
}
