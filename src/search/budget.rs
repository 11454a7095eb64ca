//! How much of each line is shown: windows round a match, and one fair length for all rows of an answer.

use std::ops::Range;

/// The length below which no line is cut to make room for others.
pub(super) const LEAST_TEXT: usize = 80;

/// What stands where a line was cut.
pub(super) const MARK: &str = "…";

/// The part of `line`, at most `most` bytes, that is shown when `at` is where its first match begins. Borders lie
/// between characters where the line is UTF-8.
pub(super) fn window(line: &[u8], at: usize, most: usize) -> Range<usize> {
    if line.len() <= most {
        return 0..line.len();
    }
    let at = at.min(line.len());
    // What follows a match tells more than what precedes it.
    let start = at.saturating_sub(most / 4).min(line.len() - most);
    let end = start + most;
    let start = (start..end).take(4).find(|i| begins(line, *i)).unwrap_or(start);
    let end = (start..=end).rev().take(4).find(|i| begins(line, *i)).unwrap_or(end);
    start..end
}

/// Whether a character may begin at `at`.
fn begins(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

/// The length to which the texts of an answer are cut so that all rows fit: `fixed` bytes are spent on other things, a
/// cut text costs its marks besides. `usize::MAX` when nothing needs to be cut.
///
/// # Complexity
/// One sort of the lengths.
pub(super) fn fair_length(mut lengths: Vec<usize>, fixed: usize, most: usize) -> usize {
    let room = most.saturating_sub(fixed);
    if lengths.iter().sum::<usize>() <= room {
        return usize::MAX;
    }
    let marks = 2 * MARK.len();
    lengths.sort_unstable();
    let mut whole = 0;
    for (index, length) in lengths.iter().enumerate() {
        let longer = lengths.len() - index;
        let each = room.saturating_sub(whole) / longer;
        // With this one shown whole, the longer ones would no longer get as much as it.
        if each < length + marks {
            return each.saturating_sub(marks);
        }
        whole += length;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_window_lies_round_the_match() {
        let line = [b'a'; 100];
        for (at, most, want) in [
            (0, 200, 0..100),
            (0, 100, 0..100),
            (0, 20, 0..20),
            (50, 20, 45..65),
            (99, 20, 80..100),
            (100, 20, 80..100),
            (7, 20, 2..22),
        ] {
            assert_eq!(window(&line, at, most), want, "{at} {most}");
        }
    }

    #[test]
    fn short_texts_are_left_whole_and_long_ones_share_the_rest() {
        for (lengths, fixed, most, want) in [
            (vec![10, 10], 0, 20, usize::MAX),
            (vec![], 100, 0, usize::MAX),
            (vec![10, 1000, 10, 1000], 20, 240, 94),
            (vec![60_000, 60_000, 60_000, 20, 20], 100, 1740, 527),
            (vec![1000], 0, 5, 0),
        ] {
            assert_eq!(fair_length(lengths.clone(), fixed, most), want, "{lengths:?}");
        }
    }

    proptest! {
        #[test]
        fn a_window_holds_the_match_and_whole_characters(text in "\\PC{0,60}", at in 0usize..80, most in 4usize..70) {
            let at = (at.min(text.len())..).find(|i| text.is_char_boundary(*i)).unwrap();
            let range = window(text.as_bytes(), at, most);
            prop_assert!(range.len() <= most);
            prop_assert!(text.get(range.clone()).is_some());
            prop_assert!(range.contains(&at) || at == text.len() || range.end == at);
            prop_assert!(text.len() <= most || range.len() + 6 >= most);
        }

        #[test]
        fn bytes_that_are_no_text_are_cut_too(line in proptest::collection::vec(any::<u8>(), 0..60), at in 0usize..80, most in 1usize..70) {
            let range = window(&line, at, most);
            prop_assert!(range.len() <= most && range.end <= line.len() && range.start <= range.end);
        }

        #[test]
        fn cut_rows_fit_and_the_length_is_the_greatest(lengths in proptest::collection::vec(0usize..300, 1..40), fixed in 0usize..100, most in 0usize..6000) {
            let cost = |length: usize| fixed + lengths.iter().map(|l| if *l > length { length + 6 } else { *l }).sum::<usize>();
            let length = fair_length(lengths.clone(), fixed, most);
            if length == usize::MAX {
                prop_assert!(cost(length) <= most);
            } else if length > 0 {
                prop_assert!(cost(length) <= most, "{} {}", length, cost(length));
                let longest = *lengths.iter().max().unwrap();
                // A little more would not have fitted, but for what the marks and the division leave over.
                prop_assert!(cost((length + 1 + 6).min(longest)) + lengths.len() > most || length + 7 > longest);
            }
        }
    }
}
