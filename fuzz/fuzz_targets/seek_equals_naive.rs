//! Lines are found where the plainest search finds them: every window, every tier, strictest first.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::seek_sequence;
use restitch_fuzz::{LINES, naive_seek};

fuzz_target!(|input: (&[u8], [u8; 4], u8, usize, bool)| {
    let (text, pattern, len, start, eof) = input;
    let pick = |byte: &u8| LINES[usize::from(*byte) % LINES.len()];
    let text: Vec<_> = text.iter().take(200).map(pick).collect();
    let pattern: Vec<_> = pattern.iter().take(usize::from(len) % 4 + 1).map(pick).collect();
    let [kinds, wanted] = [&text, &pattern].map(|lines| lines.iter().map(|line| line.1).collect::<Vec<_>>());
    let [text, pattern] = [&text, &pattern].map(|lines| lines.iter().map(|line| line.0).collect::<Vec<_>>());
    let found = seek_sequence(&text, &pattern, start % 210, eof).map(|found| (found.line, found.tier as usize));
    assert_eq!(found, naive_seek(&kinds, &wanted, start % 210, eof));
});
