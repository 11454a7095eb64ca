//! A file that took a patch has all its old bytes in order but for the lines the patch removes, whatever the bytes are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Hunk, Piece, Policy, Sign, update};

fuzz_target!(|input: (&[u8], Vec<Vec<(u8, u8)>>, bool)| {
    let (base, hunks, codex) = input;
    let lines: Vec<&[u8]> = base.split(|byte| *byte == b'\n').collect();
    let hunk = |rows: &Vec<(u8, u8)>| {
        let mut hunk = Hunk::default();
        for (sign, line) in rows.iter().take(8) {
            let sign = [Sign::Context, Sign::Remove, Sign::Add][usize::from(*sign) % 3];
            hunk.push(sign, lines[usize::from(*line) % lines.len()].trim_ascii());
        }
        hunk
    };
    let hunks: Vec<Hunk> = hunks.iter().take(4).map(hunk).collect();
    let Ok(updated) = update(base, &hunks, &if codex { Policy::codex() } else { Policy::default() }) else { return };
    let mut at = 0;
    let mut gone: Vec<u8> = Vec::new();
    for piece in updated.spliced.pieces() {
        let Piece::Kept(range) = piece else { continue };
        assert!(at <= range.start, "in order, and none twice");
        gone.extend_from_slice(&base[std::mem::replace(&mut at, range.end)..range.start]);
    }
    gone.extend_from_slice(&base[at..]);
    let ends = if base.contains(&b'\n') { b'\n' } else { b'\r' };
    // Where lone carriage returns end lines, a row that holds some is several lines.
    let count = |text: &[u8]| text.iter().filter(|byte| **byte == ends).count();
    let removed = hunks.iter().flat_map(Hunk::rows).filter(|row| row.sign == Sign::Remove);
    assert!(count(&gone) <= removed.map(|row| 1 + count(row.text)).sum::<usize>() + 1);
    assert_eq!(updated.spliced.to_vec(base).len(), updated.spliced.len());
});
