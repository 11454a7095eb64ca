//! Which lines hold a word: for many anchors that are parts of lines, so that not each of them reads the file.

use std::collections::HashMap;
use std::ops::Range;

use rapidhash::fast::RandomState;

/// The words of a text's distinct lines. A word is a run of letters and digits, as long as can be.
///
/// # Complexity
/// Building is linear in the distinct lines, but for sorting the distinct words. A look-up costs the lines of the rarest word.
#[derive(Debug, Default)]
pub(crate) struct Words<'a> {
    numbers: HashMap<&'a [u8], u32, RandomState>,
    /// Words that stand in no line as they are, but in one when it is folded.
    folded: HashMap<Box<[u8]>, u32, RandomState>,
    /// Lines of word `w`: `lines[firsts[w]..firsts[w + 1]]`, ascending.
    firsts: Vec<u32>,
    lines: Vec<u32>,
    /// All words in order, for those of which only the beginning is known.
    sorted: Vec<(Box<[u8]>, u32)>,
}

/// Pairs of word and line while they are collected.
#[derive(Debug, Default)]
struct Pairs {
    pairs: Vec<(u32, u32)>,
    /// The line that was noted last for each word.
    last: Vec<u32>,
}

impl Pairs {
    fn note(&mut self, word: u32, line: u32) {
        if self.last[word as usize] != line {
            self.last[word as usize] = line;
            self.pairs.push((word, line));
        }
    }

    fn new_word(&mut self) -> u32 {
        self.last.push(u32::MAX);
        self.last.len() as u32 - 1
    }
}

impl<'a> Words<'a> {
    /// Takes the words of lines, and of those lines folded that differ when they are.
    pub(crate) fn new(
        lines: impl Iterator<Item = &'a [u8]>,
        mut fold: impl FnMut(&'a [u8]) -> Option<Vec<u8>>,
    ) -> Self {
        let (mut words, mut pairs) = (Words::default(), Pairs::default());
        for (line, number) in lines.zip(0_u32..) {
            for word in split(line) {
                let word = *words.numbers.entry(&line[word]).or_insert_with(|| pairs.new_word());
                pairs.note(word, number);
            }
            if let Some(folded) = fold(line) {
                for word in split(&folded) {
                    let word = words.number_of_folded(&folded[word], &mut pairs);
                    pairs.note(word, number);
                }
            }
        }
        words.index(&pairs);
        words
    }

    fn number_of_folded(&mut self, word: &[u8], pairs: &mut Pairs) -> u32 {
        if let Some(known) = self.number(word) {
            return known;
        }
        let number = pairs.new_word();
        self.folded.insert(word.into(), number);
        number
    }

    fn number(&self, word: &[u8]) -> Option<u32> {
        self.numbers.get(word).or_else(|| self.folded.get(word)).copied()
    }

    /// Sorts the pairs by word, by counting, and the words by their letters.
    fn index(&mut self, pairs: &Pairs) {
        let mut firsts = vec![0_u32; pairs.last.len() + 2];
        for &(word, _) in &pairs.pairs {
            firsts[word as usize + 2] += 1;
        }
        for word in 2..firsts.len() {
            firsts[word] += firsts[word - 1];
        }
        self.lines = vec![0; pairs.pairs.len()];
        for &(word, line) in &pairs.pairs {
            // `firsts[w + 1]` is where the next line of word w goes, and ends up as the first of w + 1.
            let slot = &mut firsts[word as usize + 1];
            self.lines[*slot as usize] = line;
            *slot += 1;
        }
        self.firsts = firsts;
        // The order does not matter: they are sorted.
        #[expect(clippy::iter_over_hash_type, reason = "sorted right below")]
        for (&word, &number) in &self.numbers {
            self.sorted.push((word.into(), number));
        }
        #[expect(clippy::iter_over_hash_type, reason = "sorted right below")]
        for (word, &number) in &self.folded {
            self.sorted.push((word.clone(), number));
        }
        self.sorted.sort_unstable();
    }

    fn lines_of(&self, word: u32) -> &[u32] {
        &self.lines[self.firsts[word as usize] as usize..self.firsts[word as usize + 1] as usize]
    }

    /// Adds the lines that can hold `needle` beginning at the border of a word; the last word may go on when `open`. `false`
    /// when it has no word to look for.
    pub(crate) fn lines_with(&self, needle: &[u8], open: bool, out: &mut Vec<u32>) -> bool {
        let mut whole: Vec<Range<usize>> = split(needle).collect();
        let part = if open && whole.last().is_some_and(|last| last.end == needle.len()) { whole.pop() } else { None };
        let mut rarest: Option<&[u32]> = None;
        for word in whole {
            let Some(number) = self.number(&needle[word]) else { return true };
            let lines = self.lines_of(number);
            rarest = Some(rarest.map_or(lines, |least| if lines.len() < least.len() { lines } else { least }));
        }
        if let Some(lines) = rarest {
            out.extend_from_slice(lines);
            return true;
        }
        let Some(part) = part.map(|part| &needle[part]) else { return false };
        let first = self.sorted.partition_point(|(word, _)| **word < *part);
        for (_, number) in self.sorted[first..].iter().take_while(|(word, _)| word.starts_with(part)) {
            out.extend_from_slice(self.lines_of(*number));
        }
        true
    }
}

/// The words of a line, in order. Bytes that are not UTF-8 belong to none.
fn split(line: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < line.len() {
            let (len, is_word) = first(&line[at..]);
            if is_word {
                break;
            }
            at += len;
        }
        let start = at;
        while at < line.len() {
            let (len, is_word) = first(&line[at..]);
            if !is_word {
                break;
            }
            at += len;
        }
        (start < at).then_some(start..at)
    })
}

/// Length of the first character, and whether it belongs to a word.
#[inline]
fn first(text: &[u8]) -> (usize, bool) {
    match text.first() {
        Some(byte) if byte.is_ascii() => (1, byte.is_ascii_alphanumeric()),
        _ => {
            let (c, len) = bstr::decode_utf8(text);
            (len.max(1), c.is_some_and(char::is_alphanumeric))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        let split = |line: &'static [u8]| split(line).map(|word| line[word].to_vec()).collect::<Vec<_>>();
        assert_eq!(
            split(b"fn go_1(x: u8) -> \xff\xc3\xa9t\xc3\xa9"),
            [&b"fn"[..], b"go", b"1", b"x", b"u8", b"\xc3\xa9t\xc3\xa9"]
        );
        assert!(split(b"").is_empty() && split(b"-> {}").is_empty());
    }

    #[test]
    fn the_rarest_word_tells_the_lines() {
        let lines = [&b"let a = 1"[..], b"let b = a", b"letter c", "ﬁt b".as_bytes()];
        let words = Words::new(lines.into_iter(), |line| (!line.is_ascii()).then(|| b"fit b".to_vec()));
        // (needle, its last word may go on, lines; none when there is no word)
        type Row<'a> = (&'a [u8], bool, Option<&'a [u32]>);
        let table: &[Row<'_>] = &[
            (b"let", false, Some(&[0, 1])),
            (b"let", true, Some(&[0, 1, 2])),
            (b"let b", false, Some(&[0, 1])),
            (b"b =", true, Some(&[1, 3])),
            (b"c", false, Some(&[2])),
            (b"fit", false, Some(&[3])),
            (b"fi", true, Some(&[3])),
            (b"d", false, Some(&[])),
            (b"= {", false, None),
        ];
        for (needle, open, want) in table {
            let mut got = Vec::new();
            let has_word = words.lines_with(needle, *open, &mut got);
            got.sort_unstable();
            assert_eq!(has_word.then_some(&got[..]), *want, "{needle:?}");
        }
    }
}
