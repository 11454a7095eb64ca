//! Lines are found where the plainest search finds them: every window, every tier, strictest first.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::seek_sequence;

/// A line, and what it counts as at each tier: equal numbers are equal lines.
const LINES: [(&str, [u8; 4]); 8] = [
    ("a", [0, 0, 0, 0]),
    ("a \t", [1, 0, 0, 0]),
    ("  a", [2, 1, 0, 0]),
    ("\u{200b}a", [3, 2, 1, 0]),
    ("x-y", [4, 3, 2, 1]),
    ("x\u{2013}y", [5, 4, 3, 1]),
    ("", [6, 5, 4, 2]),
    (" \u{a0}", [7, 5, 4, 2]),
];

fuzz_target!(|input: (&[u8], [u8; 4], u8, usize, bool)| {
    let (text, pattern, len, start, eof) = input;
    let pick = |byte: &u8| LINES[usize::from(*byte) % LINES.len()];
    let text: Vec<_> = text.iter().take(200).map(pick).collect();
    let pattern: Vec<_> = pattern.iter().take(usize::from(len) % 4 + 1).map(pick).collect();
    let (start, tiers) = (start % 210, 0..4);
    let fits = |at: &usize, tier: usize| (0..pattern.len()).all(|k| text[at + k].1[tier] == pattern[k].1[tier]);
    let last = (text.len() + 1).checked_sub(pattern.len() + 1).filter(|last| *last >= start);
    let find = |from: usize| tiers.clone().find_map(|tier| Some((last.into_iter().flat_map(|last| from..=last).find(|at| fits(at, tier))?, tier)));
    let want = last.filter(|_| eof).and_then(find).or_else(|| find(start));
    let [text, pattern] = [&text, &pattern].map(|lines| lines.iter().map(|line| line.0).collect::<Vec<_>>());
    assert_eq!(seek_sequence(&text, &pattern, start, eof).map(|found| (found.line, found.tier as usize)), want);
});
