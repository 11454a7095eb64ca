//! The searches against the naive one, and their steps counted.

use proptest::prelude::*;

use super::find::Searcher;
use super::naive;
use super::pattern::Pattern;
use super::seek::seek_sequence;
use crate::policy::Tier;
use crate::text::LineIndex;

/// Lines of a small alphabet in which every tier has something to fold.
fn line() -> impl Strategy<Value = &'static [u8]> {
    prop::sample::select(vec![
        &b"a"[..],
        b"a",
        b"b",
        b"",
        b"a ",
        b" a",
        b" a ",
        "a\u{200b}".as_bytes(),
        b"x-y",
        "x\u{2013}y".as_bytes(),
        "x\u{2013}y ".as_bytes(),
        b"\xff",
        b"\xff ",
    ])
}

fn lines(len: std::ops::Range<usize>) -> impl Strategy<Value = Vec<&'static [u8]>> {
    prop::collection::vec(line(), len)
}

fn join(lines: &[&[u8]]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect()
}

/// A way of searching. Which one is taken depends on the file's size and on what was asked before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Reading,
    Substring,
    Probe,
    Numbered,
    Sorted,
}

pub(crate) const WAYS: [Way; 5] = [Way::Reading, Way::Substring, Way::Probe, Way::Numbered, Way::Sorted];

/// Every hit from `from` on.
fn all_hits(bytes: &[u8], pattern: &[&[u8]], tier: Tier, from: usize, way: Way) -> Vec<usize> {
    let mut searcher = Searcher::new(LineIndex::new(bytes), Tier::Unicode);
    searcher.force(way);
    let mut pattern = Pattern::new(pattern);
    let (mut hits, mut at) = (Vec::new(), from);
    while let Some(hit) = searcher.next_hit(&mut pattern, tier, at) {
        assert!(searcher.fits_at(&mut pattern, tier, hit));
        hits.push(hit);
        at = hit + 1;
    }
    hits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn seek_sequence_is_the_naive_search(text in lines(0..12), pattern in lines(0..4), start in 0_usize..13, eof: bool) {
        let got = seek_sequence(&text, &pattern, start, eof).map(|found| (found.line, found.tier));
        prop_assert_eq!(got, naive::seek(&text, &pattern, start, eof));
    }

    #[test]
    fn hits_are_those_of_the_naive_search(text in lines(0..30), pattern in lines(1..4), from in 0_usize..8, tier in 0_usize..4, way in 0_usize..4) {
        let tier = Tier::ALL[tier];
        let want: Vec<_> = naive::hits(&text, &pattern, tier).into_iter().filter(|&at| at >= from).collect();
        prop_assert_eq!(all_hits(&join(&text), &pattern, tier, from, WAYS[way]), want);
    }

    #[test]
    fn the_first_hit_is_at_the_strictest_tier(text in lines(0..30), pattern in lines(1..4), from in 0_usize..8, way in 0_usize..4) {
        let bytes = join(&text);
        let mut searcher = Searcher::new(LineIndex::new(&bytes), Tier::Unicode);
        searcher.force(WAYS[way]);
        let got = searcher.first_hit(&mut Pattern::new(&pattern), from).map(|(tier, at)| (at, tier));
        prop_assert_eq!(got, naive::seek(&text, &pattern, from, false));
    }
}

#[test]
fn the_substring_search_of_large_files_agrees() {
    let mut text: Vec<Vec<u8>> = (0..6_000_u32).map(|i| format!("some line {}", i * i % 1_000).into_bytes()).collect();
    text[4_000] = b"the only one".to_vec();
    text[4_001] = b"not the only one".to_vec();
    text[5_000] = b"not the only one".to_vec();
    let text: Vec<&[u8]> = text.iter().map(Vec::as_slice).collect();
    for pattern in
        [&text[3_999..4_001], &text[4_000..4_001], &text[4_001..4_002], &text[0..1], &text[17..20], &[b"missing line"]]
    {
        for tier in Tier::ALL {
            assert_eq!(all_hits(&join(&text), pattern, tier, 10, Way::Reading), {
                let mut want = naive::hits(&text, pattern, tier);
                want.retain(|&at| at >= 10);
                want
            });
        }
    }
}

/// Steps of finding the first two places of a pattern at a tier.
fn steps(text: &[u8], pattern: &[&[u8]], tier: Tier, way: Way) -> u64 {
    let mut searcher = Searcher::new(LineIndex::new(text), Tier::Unicode);
    searcher.force(way);
    let before = searcher.steps();
    let mut pattern = Pattern::new(pattern);
    let mut at = 0;
    for _ in 0..2 {
        match searcher.next_hit(&mut pattern, tier, at) {
            Some(hit) => at = hit + 1,
            None => break,
        }
    }
    searcher.steps() - before
}

#[test]
fn no_text_makes_one_search_slower_than_linear() {
    // (name, the text's line i of n, the pattern's line i of m)
    type Make = fn(usize, usize) -> &'static [u8];
    let cases: [(&str, Make, Make); 5] = [
        ("equal lines", |_, _| b"same line", |_, _| b"same line"),
        ("equal lines, last differs", |_, _| b"same line", |i, m| if i + 1 == m { b"last line" } else { b"same line" }),
        (
            "equal lines, last differs and is there",
            |i, _| if i == 0 { b"last line" } else { b"same line" },
            |i, m| {
                if i + 1 == m { b"last line" } else { b"same line" }
            },
        ),
        (
            "two lines alternate",
            |i, _| if i % 2 == 0 { b"even line" } else { b"odd line" },
            |i, m| {
                if i % 2 == 0 || i + 1 == m { b"even line" } else { b"odd line" }
            },
        ),
        (
            "sparse marks",
            |i, _| if i % 50 == 0 { b"mark line" } else { b"same line" },
            |i, _| {
                if i % 51 == 0 { b"mark line" } else { b"same line" }
            },
        ),
    ];
    for (name, text_line, pattern_line) in cases {
        for n in [4_000, 8_000, 16_000] {
            let m = n / 10;
            let text: Vec<&[u8]> = (0..n).map(|i| text_line(i, n)).collect();
            let pattern: Vec<&[u8]> = (0..m).map(|i| pattern_line(i, m)).collect();
            for tier in Tier::ALL {
                for way in WAYS {
                    let steps = steps(&join(&text), &pattern, tier, way);
                    // The last way sorts all stretches by a tenth of the file first.
                    let most = if way == Way::Sorted { 60 } else { 8 };
                    assert!(steps <= most * (n + m) as u64, "{name}, {n} lines, {tier:?}, {way:?}: {steps} steps");
                }
            }
        }
    }
}
