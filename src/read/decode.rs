//! From the bytes of a file to UTF-8 text, piece by piece.

use crate::text::WideEncoding;

/// Turns pieces of a content into pieces of text. Bytes that are in no wide encoding are text as they are.
#[derive(Debug)]
pub(super) struct Decoder {
    big_endian: Option<bool>,
    /// The first byte of a unit whose second is in the next piece.
    odd: Option<u8>,
    /// The first half of a pair whose second is in the next piece.
    high: Option<u16>,
    text: Vec<u8>,
}

impl Decoder {
    pub(super) fn new(encoding: Option<WideEncoding>) -> Self {
        let big_endian = match encoding {
            Some(WideEncoding::Utf16Le) => Some(false),
            Some(WideEncoding::Utf16Be) => Some(true),
            _ => None,
        };
        Decoder { big_endian, odd: None, high: None, text: Vec::new() }
    }

    /// The text of the next piece. Half characters become U+FFFD.
    pub(super) fn decode<'a>(&'a mut self, raw: &'a [u8]) -> &'a [u8] {
        let Some(big_endian) = self.big_endian else { return raw };
        self.text.clear();
        let mut raw = raw;
        if let (Some(first), [second, rest @ ..]) = (self.odd, raw) {
            self.odd = None;
            self.unit(big_endian, [first, *second]);
            raw = rest;
        }
        let pairs = raw.chunks_exact(2);
        self.odd = self.odd.or(pairs.remainder().first().copied());
        for pair in pairs {
            self.unit(big_endian, [pair[0], pair[1]]);
        }
        &self.text
    }

    fn unit(&mut self, big_endian: bool, bytes: [u8; 2]) {
        let unit = if big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) };
        let high = self.high.take();
        if (0xD800..0xDC00).contains(&unit) {
            if high.is_some() {
                self.push(char::REPLACEMENT_CHARACTER);
            }
            self.high = Some(unit);
            return;
        }
        for decoded in char::decode_utf16(high.into_iter().chain([unit])) {
            self.push(decoded.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    fn push(&mut self, character: char) {
        self.text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_decode_to_the_same_text() {
        let text = "\u{feff}aé\u{1F600}\n中\u{10FFFF}x";
        for big_endian in [false, true] {
            let to_bytes = |unit: u16| if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let raw: Vec<u8> = text.encode_utf16().flat_map(to_bytes).collect();
            let encoding = if big_endian { WideEncoding::Utf16Be } else { WideEncoding::Utf16Le };
            for size in 1..=raw.len() {
                let mut decoder = Decoder::new(Some(encoding));
                let decoded: Vec<u8> = raw.chunks(size).flat_map(|piece| decoder.decode(piece).to_vec()).collect();
                assert_eq!(String::from_utf8(decoded).unwrap(), text, "{size}");
            }
        }
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_other_bytes_stay() {
        let mut decoder = Decoder::new(Some(WideEncoding::Utf16Le));
        let units = [0xD800u16, 0xD800, 0xDC00, 0xDC00, 0x41];
        let raw: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        assert_eq!(decoder.decode(&raw), "\u{fffd}\u{10000}\u{fffd}A".as_bytes());
        assert_eq!(Decoder::new(None).decode(b"\xff\x00a"), b"\xff\x00a");
    }
}
