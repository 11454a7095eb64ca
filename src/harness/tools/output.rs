//! Output that fits: a bounded view of a text, and a note of where the rest is.

use std::fmt::Write as _;

/// How much of a tool's output the model is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes in all.
    pub bytes: usize,
    /// Lines in all.
    pub lines: usize,
    /// Characters of one line.
    pub line: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { bytes: 50 << 10, lines: 2000, line: 2000 }
    }
}

/// The text as the model is shown it, and whether something was left out.
///
/// Long lines are cut at their end. Of a text that is too long the first two thirds and the last third of what may be
/// shown are shown: what a command was about stands at its beginning, how it ended at its end. `rest` says where the
/// whole text is; it is asked for only when something was left out.
pub fn bounded(text: &str, bounds: Bounds, rest: impl FnOnce() -> String) -> (String, bool) {
    let longest = text.lines().map(str::len).max().unwrap_or_default();
    if text.len() <= bounds.bytes && longest <= bounds.line && text.lines().count() <= bounds.lines {
        return (text.to_owned(), false);
    }
    let mut cut = 0;
    let lines: Vec<String> = text.lines().map(|line| cut_line(line, bounds.line, &mut cut)).collect();
    let (head, tail) = ends(&lines, bounds);
    let mut out = String::new();
    for line in &lines[..head] {
        out.push_str(line);
        out.push('\n');
    }
    let left_out = lines.len() - head - tail;
    if left_out > 0 {
        let bytes: usize = lines[head..lines.len() - tail].iter().map(|line| line.len() + 1).sum();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "[… {left_out} lines ({bytes} bytes) left out …]");
    }
    for line in &lines[lines.len() - tail..] {
        out.push_str(line);
        out.push('\n');
    }
    if left_out == 0 && cut == 0 {
        return (text.to_owned(), false);
    }
    if cut > 0 {
        let _ = writeln!(out, "[{cut} long lines were cut at {} characters]", bounds.line);
    }
    out.push_str(&rest());
    (out, true)
}

fn cut_line(line: &str, most: usize, cut: &mut usize) -> String {
    match line.char_indices().nth(most) {
        None => line.to_owned(),
        Some((at, _)) => {
            *cut += 1;
            format!("{}… [+{} bytes]", &line[..at], line.len() - at)
        }
    }
}

/// How many lines of the beginning and of the end fit.
fn ends(lines: &[String], bounds: Bounds) -> (usize, usize) {
    let fits = |lines: &mut dyn Iterator<Item = &String>, bytes: usize, most: usize| {
        let mut used = 0;
        lines
            .take(most)
            .take_while(|line| {
                used += line.len() + 1;
                used <= bytes
            })
            .count()
    };
    let whole: usize = lines.iter().map(|line| line.len() + 1).sum();
    if whole <= bounds.bytes && lines.len() <= bounds.lines {
        return (lines.len(), 0);
    }
    let head = fits(&mut lines.iter(), bounds.bytes / 3 * 2, bounds.lines / 3 * 2);
    let tail = fits(&mut lines[head..].iter().rev(), bounds.bytes / 3, bounds.lines / 3);
    (head, tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, bounds: Bounds) -> (String, bool) {
        bounded(text, bounds, || "REST".into())
    }

    #[test]
    fn what_fits_is_shown_as_it_is() {
        for text in ["", "a", "a\n", "a\r\nb", "é\n\n"] {
            assert_eq!(shown(text, Bounds::default()), (text.to_owned(), false));
        }
    }

    #[test]
    fn beginning_and_end_are_kept_and_the_gap_is_told() {
        let text: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let (out, cut) = shown(&text, Bounds { lines: 9, ..Bounds::default() });
        assert!(cut);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[..2], ["line 1", "line 2"]);
        assert_eq!(lines[6], "[… 91 lines (725 bytes) left out …]");
        assert_eq!(lines[7..], ["line 98", "line 99", "line 100", "REST"]);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let (out, cut) = shown(&"é".repeat(10), Bounds { line: 4, ..Bounds::default() });
        assert!(cut);
        assert!(out.starts_with("éééé… [+12 bytes]\n"), "{out}");
    }

    proptest::proptest! {
        #[test]
        fn the_bounds_hold_for_any_text(text in "[a-zé\n]{0,400}", bytes in 60usize..200, lines in 3usize..20, line in 1usize..30) {
            let (out, cut) = shown(&text, Bounds { bytes, lines, line });
            if cut {
                // The notes come on top.
                proptest::prop_assert!(out.len() <= bytes + 150, "{}", out.len());
                proptest::prop_assert!(out.lines().count() <= lines + 3);
                proptest::prop_assert!(out.lines().all(|row| row.chars().count() <= line + 60));
                proptest::prop_assert!(out.ends_with("REST"));
            } else {
                proptest::prop_assert_eq!(out, text);
            }
        }
    }
}
