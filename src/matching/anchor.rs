//! The lines an anchor names: whole lines equal to it, else lines that begin with it, else lines that hold it as a part.

use std::collections::HashMap;
use std::sync::Arc;

use bstr::ByteSlice as _;
use memchr::memmem;
use rapidhash::fast::RandomState;

use super::find::Searcher;
use super::fold;
use crate::policy::Tier;

/// An anchor shorter than this, in characters, is a part of a line only when it has a space in it.
const PART_MIN: usize = 6;

/// Ascending line numbers from a certain one on; shared, not copied.
#[derive(Clone, Debug)]
pub(crate) struct LinesBelow {
    lines: Arc<[u32]>,
    from: usize,
}

impl LinesBelow {
    pub(crate) fn new(lines: Arc<[u32]>, low: usize) -> Self {
        let from = lines.partition_point(|&line| (line as usize) < low);
        LinesBelow { lines, from }
    }

    pub(crate) fn as_slice(&self) -> &[u32] {
        &self.lines[self.from..]
    }

    pub(crate) fn skip_first(&mut self) {
        self.from += 1;
    }
}

/// What is known of the anchors asked for so far. Many hunks repeat the same few.
#[derive(Debug, Default)]
pub(crate) struct AnchorLines {
    known: HashMap<Box<[u8]>, Known, RandomState>,
}

/// Lines per tier.
type Tiered = [Arc<[u32]>; 4];

#[derive(Debug, Default)]
struct Known {
    /// Lines that begin with it at the loosest tier.
    begun: Option<Arc<[u32]>>,
    whole: [Option<Arc<[u32]>>; 4],
    /// Lines that hold the anchor, per way of holding it, strictest first; made as far as they were needed.
    parts: Vec<Tiered>,
}

impl AnchorLines {
    /// All lines that begin with `text` at the loosest tier.
    pub(crate) fn begun_by(&mut self, searcher: &mut Searcher<'_>, text: &[u8]) -> LinesBelow {
        let known = self.known(text);
        let begun = known.begun.get_or_insert_with(|| {
            let [begun, _] = lines_that_hold(searcher, text);
            begun[searcher.loosest() as usize].clone()
        });
        LinesBelow::new(begun.clone(), 0)
    }

    fn known(&mut self, text: &[u8]) -> &mut Known {
        if !self.known.contains_key(text) {
            self.known.insert(text.into(), Known::default());
        }
        self.known.get_mut(text).expect("inserted above when it was not there")
    }

    /// The lines at `low` and below that the anchor names when whole lines are compared at `tier`.
    ///
    /// An anchor that is a whole line anywhere in the file, at any tier, names whole lines only.
    pub(crate) fn find(&mut self, searcher: &mut Searcher<'_>, anchor: &[u8], tier: Tier, low: usize) -> LinesBelow {
        let known = self.known(anchor);
        let whole = known.whole(searcher, anchor, tier);
        if !whole.is_empty() || !known.whole(searcher, anchor, searcher.loosest()).is_empty() {
            return LinesBelow::new(whole, low);
        }
        known.part(searcher, anchor, low)
    }
}

impl Known {
    fn whole(&mut self, searcher: &mut Searcher<'_>, anchor: &[u8], tier: Tier) -> Arc<[u32]> {
        self.whole[tier as usize].get_or_insert_with(|| searcher.lines_equal(anchor, tier)).clone()
    }

    /// The first way of holding the anchor that a line at `low` or below has, with all such lines.
    fn part(&mut self, searcher: &mut Searcher<'_>, anchor: &[u8], low: usize) -> LinesBelow {
        let short = without_parentheses(anchor);
        let wanted = if short.len() < anchor.len() { &[anchor, short][..] } else { &[anchor][..] };
        for (nth, want) in wanted.iter().enumerate() {
            if self.parts.len() <= 2 * nth {
                self.parts.extend(lines_that_hold(searcher, want));
            }
            for lines in self.parts[2 * nth..2 * nth + 2].iter().flatten() {
                let below = LinesBelow::new(lines.clone(), low);
                if !below.as_slice().is_empty() {
                    return below;
                }
            }
        }
        LinesBelow { lines: Arc::from([]), from: 0 }
    }
}

/// The lines that begin with `want`, and those that hold it as a part, for each tier. Looks at the file once.
fn lines_that_hold(searcher: &mut Searcher<'_>, want: &[u8]) -> [Tiered; 2] {
    let mut buffer = Vec::new();
    let loosest = searcher.loosest();
    let views = Tier::ALL.map(|tier| fold::view(tier, want, &mut buffer).to_vec());
    let finders = views.each_ref().map(memmem::Finder::new);
    let asked = |tier: Tier| tier <= loosest && !fold::is_blank(&views[tier as usize]);
    let mut found: [[Vec<u32>; 4]; 2] = Default::default();
    searcher.each_line_with(want, |line, places| {
        for tier in Tier::ALL.into_iter().filter(|&tier| asked(tier)) {
            let view = &views[tier as usize];
            let line = fold::view(tier, line, &mut buffer);
            if line.starts_with(view) {
                found[0][tier as usize].extend_from_slice(places);
            }
            if is_telling(view) && holds(line, &finders[tier as usize]) {
                found[1][tier as usize].extend_from_slice(places);
            }
        }
    });
    found.map(|way| {
        way.map(|mut lines| {
            // Equal lines were told together.
            lines.sort_unstable();
            lines.into()
        })
    })
}

/// Whether an anchor says enough to be looked for inside lines.
fn is_telling(want: &[u8]) -> bool {
    let text = fold::trim(want);
    text.contains(&b' ') || text.chars().count() >= PART_MIN
}

/// Whether a line holds the needle with word borders on both sides.
fn holds(line: &[u8], finder: &memmem::Finder<'_>) -> bool {
    let needle = finder.needle();
    let starts_word = first_is_alphanumeric(needle);
    let ends_word = last_is_alphanumeric(needle);
    let mut from = 0;
    while let Some(at) = finder.find(&line[from..]).map(|at| from + at) {
        let end = at + needle.len();
        let left = !(starts_word && last_is_alphanumeric(&line[..at]));
        if left && !(ends_word && first_is_alphanumeric(&line[end..])) {
            return true;
        }
        // A needle that starts a word cannot fit before that word is over.
        from = at + if starts_word { word_len(&line[at..]) } else { 1 };
    }
    false
}

fn first_is_alphanumeric(text: &[u8]) -> bool {
    bstr::decode_utf8(text).0.is_some_and(char::is_alphanumeric)
}

fn last_is_alphanumeric(text: &[u8]) -> bool {
    bstr::decode_last_utf8(text).0.is_some_and(char::is_alphanumeric)
}

fn word_len(text: &[u8]) -> usize {
    let mut at = 0;
    while first_is_alphanumeric(&text[at..]) {
        at += bstr::decode_utf8(&text[at..]).1;
    }
    at.max(1)
}

/// An anchor without a trailing `()`, `(` or `(...)`, with or without a colon.
fn without_parentheses(anchor: &[u8]) -> &[u8] {
    let text = fold::trim_end(anchor);
    let text = text.strip_suffix(b":").unwrap_or(text);
    let text = text.strip_suffix(b")").unwrap_or(text);
    let text = text.strip_suffix(b"...").unwrap_or(text);
    text.strip_suffix(b"(").unwrap_or(anchor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::LineIndex;

    fn named(text: &str, anchor: &str, tier: Tier, low: usize) -> Vec<u32> {
        let mut searcher = Searcher::new(LineIndex::new(text.as_bytes()), Tier::Unicode);
        AnchorLines::default().find(&mut searcher, anchor.as_bytes(), tier, low).as_slice().to_vec()
    }

    #[test]
    fn whole_lines_then_beginnings_then_parts() {
        let text = "def go():\n  def go():\ndef go(): pass\nx = def_go() # calls go\n";
        // (anchor, tier, lowest line, lines)
        let table: &[(&str, Tier, usize, &[u32])] = &[
            ("def go():", Tier::Exact, 0, &[0]),
            ("def go():", Tier::Exact, 1, &[]),
            ("def go():", Tier::Trim, 0, &[0, 1]),
            (" def go():", Tier::Exact, 0, &[]),
            (" def go():", Tier::Trim, 0, &[0, 1]),
            ("def go", Tier::Exact, 0, &[0, 2]),
            ("def go", Tier::Exact, 1, &[2]),
            ("def go", Tier::Exact, 3, &[]),
            ("calls go", Tier::Exact, 0, &[3]),
            ("call", Tier::Exact, 0, &[]),
            ("calls g", Tier::Exact, 0, &[]),
            ("x = def_go(...)", Tier::Exact, 0, &[3]),
            ("calls go()", Tier::Exact, 0, &[3]),
            ("calls go(...): ", Tier::Exact, 0, &[3]),
            ("def go(): pass # more", Tier::Unicode, 0, &[]),
        ];
        for &(anchor, tier, low, lines) in table {
            assert_eq!(named(text, anchor, tier, low), lines, "{anchor:?} at {tier:?} from {low}");
        }
    }

    #[test]
    fn parts_end_at_word_borders() {
        let table = [
            ("a foobar b", "foobar", true),
            ("a foobars b", "foobar", false),
            ("a xfoobar b", "foobar", false),
            ("foobars foobar", "foobar", true),
            ("a_foobar_b", "foobar", true),
            ("aé foobar", "é foobar", false),
            ("(->x", "->x", true),
            ("((->xy ->x", "->x", true),
            ("((->xy", "->x", false),
        ];
        for (line, want, is_there) in table {
            assert_eq!(holds(line.as_bytes(), &memmem::Finder::new(want)), is_there, "{want:?} in {line:?}");
        }
    }

    #[test]
    fn trailing_parentheses_are_told() {
        let table = [
            ("f()", "f"),
            ("f(", "f"),
            ("f(...)", "f"),
            ("f(...):  ", "f"),
            ("f(:", "f"),
            ("f((", "f("),
            ("f)", "f)"),
            ("f(a)", "f(a)"),
            ("f:", "f:"),
        ];
        for (anchor, want) in table {
            assert_eq!(without_parentheses(anchor.as_bytes()), want.as_bytes(), "{anchor:?}");
        }
    }
}
