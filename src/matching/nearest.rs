//! The place that is nearest to a hunk that fits nowhere. For messages only.

use std::collections::HashMap;

use rapidhash::fast::RandomState;

use super::fold;
use super::scan::{NEEDLE_MIN, Scan};
use crate::policy::Tier;
use crate::text::LineIndex;

/// Lines of a hunk that are compared; a longer hunk is told by its first ones.
const COMPARED: usize = 1_024;
/// Occurrences of one line in the hunk that are taken into account.
const REPEATS: usize = 4;
/// Weight of a line: its length, within bounds, so that a brace says less than a sentence.
const WEIGHT_MAX: usize = 48;
/// Files with more bytes than this are searched for the hunk's longest lines instead of compared line by line.
const LARGE: usize = 1 << 20;
/// The likeness of equal lines.
const ALIKE: usize = 1_024;
/// How many of the longest lines, and how many places a line may have that is to tell one.
const TELLING: usize = 4;
const PLACES: usize = 32;

/// The nearest place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// The line of the file where the hunk would begin.
    pub(crate) at: usize,
    /// Index of the first old line that differs there.
    pub(crate) differs: usize,
}

/// Finds the place where most of the hunk's text stands at the distance it has in the hunk; when no line of it is
/// anywhere, the line most like its longest one.
///
/// # Complexity
/// Linear in the file; memory linear in the hunk. In a large file only places that have one of the hunk's longest lines are
/// considered, as long as there are any. Which line differs is told by `tier`.
pub(crate) fn nearest(text: &LineIndex<'_>, old: &[&[u8]], low: usize, tier: Tier) -> Option<Nearest> {
    let by_longest = || if text.bytes().len() > LARGE { by_longest_lines(text, old, low) } else { None };
    let at = by_longest().or_else(|| by_equal_lines(text, old, low)).or_else(|| by_likeness(text, old))?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut equal = |want: &[u8], line: &[u8]| fold::view(tier, want, &mut a) == fold::view(tier, line, &mut b);
    let differs = old.iter().zip(text.lines_from(at)).take_while(|(want, line)| equal(want, line)).count();
    Some(Nearest { at, differs: differs.min(old.len().saturating_sub(1)) })
}

/// Of the places that one of the longest lines tells, the one with the most weight of equal lines.
fn by_longest_lines(text: &LineIndex<'_>, old: &[&[u8]], low: usize) -> Option<usize> {
    let old = &old[..old.len().min(COMPARED)];
    let mut longest: Vec<(usize, &[u8])> = old.iter().map(|line| fold::trim(line)).enumerate().collect();
    longest.sort_by_key(|(_, line)| std::cmp::Reverse(line.len()));
    longest.dedup_by_key(|(_, line)| *line);
    let mut places = Vec::new();
    for &(k, want) in longest.iter().take(TELLING).filter(|(_, line)| line.len() >= NEEDLE_MIN) {
        let scan = Scan::new(text, want, Tier::Trim, text.start(0), text.bytes().len());
        let equal = scan.take(PLACES * TELLING).filter(|(_, line)| fold::trim(line) == want);
        let lines: Vec<usize> = equal.take(PLACES + 1).map(|(start, _)| text.line_at(start)).collect();
        if lines.len() <= PLACES {
            places.extend(lines.into_iter().filter_map(|line| line.checked_sub(k)));
        }
    }
    places.sort_unstable();
    places.dedup();
    let weight = |at: usize| -> usize {
        let pairs = old.iter().map(|line| fold::trim(line)).zip(text.lines_from(at));
        pairs.filter(|(want, line)| *want == fold::trim(line)).map(|(want, _)| want.len().min(WEIGHT_MAX)).sum()
    };
    places.into_iter().max_by_key(|&at| (weight(at), at >= low, std::cmp::Reverse(at)))
}

/// Sums up, for each place, the weights of the lines that are equal there. A place is settled once the hunk's last
/// line has been compared, so as many sums are kept as the hunk has lines.
fn by_equal_lines(text: &LineIndex<'_>, old: &[&[u8]], low: usize) -> Option<usize> {
    let old = &old[..old.len().min(COMPARED)];
    let mut positions: HashMap<&[u8], Vec<usize>, RandomState> = HashMap::default();
    for (k, line) in old.iter().enumerate() {
        let of_line = positions.entry(fold::trim(line)).or_default();
        if of_line.len() < REPEATS {
            of_line.push(k);
        }
    }
    let mut sums = vec![0_usize; old.len()];
    // The best place so far: its weight, whether it lies where the hunk is looked for first, and its line.
    let mut best: Option<(usize, bool, usize)> = None;
    let mut settle = |sum: usize, at: usize| {
        let is_better = best.is_none_or(|(most, below, _)| (sum, at >= low) > (most, below));
        if sum > 0 && is_better {
            best = Some((sum, at >= low, at));
        }
    };
    for (i, line) in text.lines_from(0).enumerate() {
        let line = fold::trim(line);
        for &k in positions.get(line).map_or(&[][..], Vec::as_slice) {
            if let Some(at) = i.checked_sub(k) {
                sums[at % old.len()] += line.len().min(WEIGHT_MAX);
            }
        }
        if let Some(at) = (i + 1).checked_sub(old.len()) {
            settle(std::mem::take(&mut sums[at % old.len()]), at);
        }
    }
    for at in (text.len() + 1).saturating_sub(old.len())..text.len() {
        settle(sums[at % old.len()], at);
    }
    best.map(|(_, _, at)| at)
}

/// The place where the longest line of the hunk meets the line that shares most of its beginning and end.
fn by_likeness(text: &LineIndex<'_>, old: &[&[u8]]) -> Option<usize> {
    let (k, want) = old.iter().map(|line| fold::trim(line)).enumerate().max_by_key(|(_, line)| line.len())?;
    most_alike(text, want).map(|line| line.saturating_sub(k))
}

/// The line most like `want`, if one shares at least half of its text with it.
pub(crate) fn most_alike(text: &LineIndex<'_>, want: &[u8]) -> Option<usize> {
    let scored = text.lines_from(0).enumerate().map(|(i, line)| (likeness(want, line), i));
    let half = scored.filter(|&(score, _)| score >= ALIKE / 2);
    half.max_by_key(|&(score, i)| (score, std::cmp::Reverse(i))).map(|(_, i)| i)
}

/// How much of two lines, white space round them aside, is the same beginning and end: from 0 to [`ALIKE`].
pub(crate) fn likeness(want: &[u8], line: &[u8]) -> usize {
    let (want, line) = (fold::trim(want), fold::trim(line));
    let front = want.iter().zip(line).take_while(|(a, b)| a == b).count();
    let rest = want.iter().rev().zip(line.iter().rev()).take_while(|(a, b)| a == b).count();
    let shared = (front + rest).min(want.len()).min(line.len());
    shared * ALIKE / want.len().max(line.len()).max(1)
}

/// The first line that holds `want`, or else its longest word of three bytes or more.
pub(crate) fn first_with(text: &LineIndex<'_>, want: &[u8]) -> Option<usize> {
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let want = fold::trim(want);
    let whole = Some(want).filter(|want| want.iter().any(word));
    let longest = want.split(|byte| !word(byte)).filter(|word| word.len() >= 3).max_by_key(|word| word.len());
    let at = [whole, longest].into_iter().flatten().find_map(|part| memchr::memmem::find(text.bytes(), part))?;
    Some(text.line_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest_to(text: &str, old: &[&str], low: usize) -> Option<(usize, usize)> {
        let old: Vec<&[u8]> = old.iter().map(|line| line.as_bytes()).collect();
        nearest(&LineIndex::new(text.as_bytes()), &old, low, Tier::Trim).map(|found| (found.at, found.differs))
    }

    #[test]
    fn the_line_that_differs_is_told_by_the_tier() {
        let text = LineIndex::new("  \u{201c}a\nb \n\tc\nd\n".as_bytes());
        let old: Vec<&[u8]> = vec![b"  \"a", b"b", b"c", b"D"];
        for (tier, differs) in [(Tier::Exact, 0), (Tier::TrimEnd, 0), (Tier::Trim, 0), (Tier::Unicode, 3)] {
            assert_eq!(nearest(&text, &old, 0, tier).map(|found| found.differs), Some(differs), "{tier:?}");
        }
        for (tier, differs) in [(Tier::Exact, 0), (Tier::TrimEnd, 1), (Tier::Trim, 2)] {
            assert_eq!(nearest(&text, &old[1..], 0, tier).map(|found| found.differs), Some(differs), "{tier:?}");
        }
    }

    #[test]
    fn a_line_with_the_text_or_its_longest_word_is_found() {
        let text = LineIndex::new(b"class Cache(Store):\n  def main():\n    put it\n");
        for (want, line) in
            [("main", Some(1)), ("Cache.put", Some(0)), ("x.put", Some(2)), ("...", None), ("no", None), ("", None)]
        {
            assert_eq!(first_with(&text, want.as_bytes()), line, "{want}");
        }
    }

    #[test]
    fn the_nearest_place_shares_most_text() {
        let text = "fn a() {\n    one();\n    two();\n}\nfn b() {\n    one();\n    three();\n}\n";
        type Case<'c> = (&'c [&'c str], usize, Option<(usize, usize)>);
        let table: &[Case<'_>] = &[
            (&["    one();", "    tow();", "}"], 0, Some((1, 1))),
            (&["    one();", "    tow();", "}"], 4, Some((5, 1))),
            (&["fn b() {", "    two();"], 0, Some((4, 1))),
            (&["    thre();"], 0, Some((6, 0))),
            (&["x", "    thre();"], 0, Some((5, 0))),
            (&["nothing like it at all"], 0, None),
            (&["    three();", "}", "more"], 0, Some((6, 2))),
        ];
        for &(old, low, want) in table {
            assert_eq!(nearest_to(text, old, low), want, "{old:?}");
        }
    }
}
