//! White space round a text, as Unicode has it.

use bstr::ByteSlice as _;

/// Cuts white space off, at once where all of it is ASCII: the tables for the rest take longer to load than most patches
/// to parse. Bytes that are not UTF-8 are no white space.
pub(crate) trait Trimmed {
    /// Without white space at either end.
    fn trimmed(&self) -> &Self;
    /// Without white space in front.
    fn trimmed_start(&self) -> &Self;
    /// Without white space at the end.
    fn trimmed_end(&self) -> &Self;
}

impl Trimmed for [u8] {
    fn trimmed(&self) -> &[u8] {
        self.trimmed_end().trimmed_start()
    }

    fn trimmed_start(&self) -> &[u8] {
        let rest = &self[self.iter().take_while(|byte| is_space(**byte)).count()..];
        if rest.first().is_some_and(|byte| !byte.is_ascii()) { rest.trim_start() } else { rest }
    }

    fn trimmed_end(&self) -> &[u8] {
        let rest = &self[..self.len() - self.iter().rev().take_while(|byte| is_space(**byte)).count()];
        if rest.last().is_some_and(|byte| !byte.is_ascii()) { rest.trim_end() } else { rest }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_cut_is_what_unicode_calls_white_space(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    " ", "\t", "\r", "\n", "\u{b}", "\u{c}", "\u{85}", "\u{a0}", "\u{2003}", "\u{3000}", "\u{1c}", "\u{1f}",
                    "\0", "\u{200b}", "\u{feff}", "a", "é",
                ]),
                0..8,
            ),
            broken: bool,
        ) {
            let mut text = parts.concat().into_bytes();
            if broken {
                text.insert(text.len() / 2, 0x85);
            }
            prop_assert_eq!(text.trimmed(), text.trim());
            prop_assert_eq!(text.trimmed_start(), text.trim_start());
            prop_assert_eq!(text.trimmed_end(), text.trim_end());
        }
    }
}
