//! Lines to find and lines to put there, as rows: what is in both stays as context, so that the file's own bytes stay.

use super::{Hunk, Sign};

/// Lines on the shorter side for which the common lines between two differences are looked for. The work is at most so
/// many comparisons a line.
const COMPARED: usize = 256;

impl Hunk {
    /// Appends the rows that turn the lines of `old` into those of `new`; `None` is no line at all, an empty text one empty
    /// line.
    ///
    /// # Complexity
    /// Linear in the lines: up to 256 comparisons for each.
    pub(crate) fn push_replacement(&mut self, old: &[u8], new: Option<&[u8]>) {
        let old: Vec<&[u8]> = lines(old).collect();
        let new: Vec<&[u8]> = new.map(|new| lines(new).collect()).unwrap_or_default();
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
        old[..head].iter().for_each(|line| self.push(Sign::Context, line));
        self.push_middle(&old[head..old.len() - tail], &new[head..new.len() - tail]);
        old[old.len() - tail..].iter().for_each(|line| self.push(Sign::Context, line));
    }

    fn push_middle(&mut self, old: &[&[u8]], new: &[&[u8]]) {
        let (mut a, mut b) = (0, 0);
        for (at_old, at_new) in common(old, new) {
            old[a..at_old].iter().for_each(|line| self.push(Sign::Remove, line));
            new[b..at_new].iter().for_each(|line| self.push(Sign::Add, line));
            self.push(Sign::Context, old[at_old]);
            (a, b) = (at_old + 1, at_new + 1);
        }
        old[a..].iter().for_each(|line| self.push(Sign::Remove, line));
        new[b..].iter().for_each(|line| self.push(Sign::Add, line));
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// A longest common subsequence, as pairs of indices; empty when both sides are long.
fn common(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    if old.len().min(new.len()) > COMPARED {
        return Vec::new();
    }
    let width = new.len() + 1;
    let mut best = vec![0u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            best[a * width + b] = match old[a] == new[b] {
                true => best[(a + 1) * width + b + 1] + 1,
                false => best[(a + 1) * width + b].max(best[a * width + b + 1]),
            };
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if best[(a + 1) * width + b] >= best[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_is_context() {
        let table: &[(&str, Option<&str>, &str)] = &[
            ("a", Some("b"), "-a|+b|"),
            ("a\nb\nc", Some("a\nx\nc"), " a|-b|+x| c|"),
            ("a\nb\nc\nd", Some("x\nb\nc\ny"), "-a|+x| b| c|-d|+y|"),
            ("a\nb", None, "-a|-b|"),
            ("a", Some("a\nb"), " a|+b|"),
            ("a\n\nb", Some("a\n\nc"), " a| |-b|+c|"),
            ("a\r\nb", Some("a\nc"), " a|-b|+c|"),
            ("a", Some("a"), " a|"),
            ("a", Some(""), "-a|+|"),
        ];
        for (old, new, want) in table {
            let mut hunk = Hunk::default();
            hunk.push_replacement(old.as_bytes(), new.map(str::as_bytes));
            assert_eq!(String::from_utf8(hunk.body().to_vec()).unwrap().replace('\n', "|"), *want);
        }
    }
}
