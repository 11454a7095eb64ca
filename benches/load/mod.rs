//! Work made from a fixed seed: texts that look like code, and patches for them. The same on every machine.
#![allow(dead_code, reason = "each bench takes its part")]

use std::fmt::Write as _;

/// A small generator of numbers (splitmix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * bound as u128) >> 64) as usize
    }
}

const WORDS: [&str; 24] = [
    "anchor", "bridge", "cable", "deck", "engine", "funnel", "galley", "harbour", "island", "jetty", "keel", "lantern",
    "mast", "needle", "oar", "port", "quay", "rudder", "sail", "tide", "vessel", "watch", "yard", "buoy",
];

/// Appends line `i` of a text that looks like code: a quarter are short lines that repeat, the rest are their own.
pub(crate) fn code_line(chance: &mut Chance, i: usize, out: &mut String) {
    let mut word = || WORDS[chance.below(WORDS.len())];
    let (a, b, c) = (word(), word(), word());
    let result = match chance.below(12) {
        0 => write!(out, "    }}"),
        1 => write!(out, ""),
        2 => write!(out, "        return Ok(());"),
        3..6 => write!(out, "    // {a} {b} {c} {i:x}"),
        6..9 => write!(out, "    fn {a}_{b}_{i}(&mut self, {c}: usize) -> Result<()> {{"),
        _ => write!(out, "        let {a}_{i} = self.{b}.{c}({i}, &{a})?;"),
    };
    result.expect("a string takes all that is written");
}

/// A text of `lines` lines that look like code.
pub(crate) fn code(seed: u64, lines: usize) -> String {
    let (mut chance, mut out) = (Chance::new(seed), String::with_capacity(lines * 40));
    for i in 0..lines {
        code_line(&mut chance, i, &mut out);
        out.push('\n');
    }
    out
}

/// A change of one file: old lines replaced by new ones, with context.
pub(crate) struct Change {
    /// First line that is replaced, from 0, and how many are.
    pub(crate) at: usize,
    pub(crate) removed: usize,
    pub(crate) added: Vec<String>,
    pub(crate) context: usize,
}

impl Change {
    pub(crate) fn one_line(at: usize) -> Self {
        Change { at, removed: 1, added: vec![format!("        changed_{at}();")], context: 3 }
    }
}

/// The hunks of changes as rows, each after a header, as an envelope or a unified diff has them. `view` is how the patch
/// spells old lines.
pub(crate) fn hunks(lines: &[&str], changes: &[Change], unified: bool, view: impl Fn(&str) -> String) -> String {
    let (mut out, mut shift) = (String::new(), 0);
    for change in changes {
        let end = change.at + change.removed;
        let (from, to) = (change.at.saturating_sub(change.context), (end + change.context).min(lines.len()));
        if unified {
            let (old, new) = (to - from, to - from - change.removed + change.added.len());
            let start = (from as i64 + 1 + shift).max(1);
            writeln!(out, "@@ -{},{old} +{start},{new} @@", from + 1).expect("as above");
            shift += change.added.len() as i64 - change.removed as i64;
        } else {
            out.push_str("@@\n");
        }
        for (i, line) in lines.iter().enumerate().take(to).skip(from) {
            let sign = if (change.at..end).contains(&i) { '-' } else { ' ' };
            writeln!(out, "{sign}{}", view(line)).expect("as above");
            if i + 1 == end {
                change.added.iter().for_each(|line| writeln!(out, "+{line}").expect("as above"));
            }
        }
    }
    out
}

/// The text after the changes, which are in order.
pub(crate) fn changed(lines: &[&str], changes: &[Change]) -> String {
    let (mut out, mut at) = (String::new(), 0);
    let keep = |out: &mut String, range: std::ops::Range<usize>| {
        lines[range].iter().for_each(|line| {
            out.push_str(line);
            out.push('\n');
        });
    };
    for change in changes {
        keep(&mut out, at..change.at);
        change.added.iter().for_each(|line| {
            out.push_str(line);
            out.push('\n');
        });
        at = change.at + change.removed;
    }
    keep(&mut out, at..lines.len());
    out
}
