//! A file that took a patch has all its old bytes in order but for the lines the patch removes, whatever the bytes are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Hunk, Policy, Sign, update};
use restitch_fuzz::{count_lines, not_kept};

fuzz_target!(|input: (&[u8], Vec<Vec<(u8, u8)>>, bool)| {
    let (base, hunks, codex) = input;
    let lines: Vec<&[u8]> = base.split(|byte| *byte == b'\n').collect();
    let hunk = |rows: &Vec<(u8, u8)>| {
        let sign = |sign: u8| [Sign::Context, Sign::Remove, Sign::Add][usize::from(sign) % 3];
        let rows =
            rows.iter().take(8).map(|(of, line)| (sign(*of), lines[usize::from(*line) % lines.len()].trim_ascii()));
        rows.fold(Hunk::default(), |mut hunk, (sign, line)| {
            hunk.push(sign, line);
            hunk
        })
    };
    let hunks: Vec<Hunk> = hunks.iter().take(4).map(hunk).collect();
    let Ok(updated) = update(base, &hunks, &if codex { Policy::codex() } else { Policy::default() }) else { return };
    let gone = not_kept(base, updated.spliced.pieces());
    // Where lone carriage returns end lines, a row that holds some is several lines.
    let removed = hunks.iter().flat_map(Hunk::rows).filter(|row| row.sign == Sign::Remove);
    assert!(count_lines(base, &gone) <= removed.map(|row| 1 + count_lines(base, row.text)).sum::<usize>() + 1);
    assert_eq!(updated.spliced.to_vec(base).len(), updated.spliced.len());
});
