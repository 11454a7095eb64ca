//! The block a line opens: what belongs to the function, class, key, section or table that an anchor names.

use super::fold;
use crate::text::LineIndex;

/// Readings of the file by single look-ups after which the blocks of all lines are worked out at once.
const READINGS: usize = 4;

/// The blocks of a file's lines.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    walked: usize,
    all: Option<All>,
}

/// The lines below an anchor that are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The first line below that is not its own.
    pub(crate) end: usize,
    /// Whether it has a line that is not blank.
    pub(crate) opens: bool,
}

#[derive(Debug)]
struct All {
    ends: Vec<u32>,
    opens: Vec<bool>,
    /// The first line below that is not blank and not indented deeper.
    deeper_ends: Vec<u32>,
}

/// What a line does to the blocks above it and what ends its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    depth: usize,
    /// Level of a Markdown heading (or of a comment written like one).
    heading: Option<usize>,
    /// Begins like a TOML table.
    table: bool,
    blank: bool,
    /// Begins with a closing bracket, `{` or `#`: ends no block by its indentation.
    trails: bool,
}

impl Shape {
    fn of(line: &[u8]) -> Self {
        let hashes = line.iter().take_while(|&&byte| byte == b'#').count();
        let text = &line[fold::indentation(line).len()..];
        Shape {
            depth: fold::depth(line),
            heading: (hashes > 0 && line.get(hashes) == Some(&b' ')).then_some(hashes),
            table: line.first() == Some(&b'['),
            blank: text.is_empty(),
            trails: matches!(text.first(), Some(b']' | b')' | b'}' | b'{' | b'#')),
        }
    }

    /// Whether a line of this shape ends the block that `head` opens.
    fn ends(self, head: Shape) -> bool {
        match head.heading {
            Some(level) => self.heading.is_some_and(|own| own <= level),
            None if head.table => self.table,
            None => !self.blank && !self.trails && self.depth <= head.depth,
        }
    }
}

impl Blocks {
    /// Lines walked so far.
    pub(crate) fn steps(&self) -> u64 {
        self.walked as u64
    }

    /// The blocks of all lines, when single look-ups have become too dear.
    fn all(&mut self, text: &LineIndex<'_>) -> Option<&All> {
        if self.all.is_none() && self.walked > READINGS * text.len() {
            self.all = Some(All::new(text));
        }
        self.all.as_ref()
    }

    /// The first line below `line` that is not blank and not indented deeper. Costs as [`Blocks::below`].
    pub(crate) fn deeper_end(&mut self, text: &LineIndex<'_>, line: usize) -> usize {
        if let Some(all) = self.all(text) {
            return all.deeper_ends[line] as usize;
        }
        let mut lines = text.lines_from(line);
        let depth = lines.next().map_or(0, fold::depth);
        let deeper = lines.take_while(|line| fold::is_blank(line) || fold::depth(line) > depth).count();
        self.walked += deeper + 1;
        line + 1 + deeper
    }

    /// The block below line `line`.
    ///
    /// # Complexity
    /// Linear in the block, and all calls together linear in the file but for a logarithm.
    pub(crate) fn below(&mut self, text: &LineIndex<'_>, line: usize) -> Block {
        if let Some(all) = self.all(text) {
            return Block { end: all.ends[line] as usize, opens: all.opens[line] };
        }
        let mut lines = text.lines_from(line);
        let head = Shape::of(lines.next().unwrap_or_default());
        let mut block = Block { end: line + 1, opens: false };
        for shape in lines.map(Shape::of) {
            if shape.ends(head) {
                break;
            }
            block.opens |= !shape.blank;
            block.end += 1;
        }
        self.walked += block.end - line;
        block
    }
}

impl All {
    /// Reads the file once and goes up from its end. Of the lines below, those are kept that can still end a block:
    /// each nearer one is deeper.
    fn new(text: &LineIndex<'_>) -> Self {
        let shapes: Vec<Shape> = text.lines_from(0).map(Shape::of).collect();
        let len = shapes.len();
        let (mut ends, mut opens, mut deeper_ends) = (vec![len as u32; len], vec![false; len], vec![len as u32; len]);
        let (mut by_depth, mut by_level, mut any_depth) = (Vec::new(), Vec::new(), Vec::new());
        let (mut table, mut text_line) = (len, len);
        for (i, shape) in shapes.iter().enumerate().rev() {
            let end = match shape.heading {
                Some(level) => nearest_at_most(&by_level, level),
                None if shape.table => Some(table),
                None => nearest_at_most(&by_depth, shape.depth),
            };
            let end = end.unwrap_or(len);
            ends[i] = end as u32;
            opens[i] = text_line < end;
            deeper_ends[i] = nearest_at_most(&any_depth, shape.depth).unwrap_or(len) as u32;
            if !shape.blank {
                text_line = i;
                push_nearer(&mut any_depth, shape.depth, i);
            }
            if !shape.blank && !shape.trails {
                push_nearer(&mut by_depth, shape.depth, i);
            }
            if let Some(level) = shape.heading {
                push_nearer(&mut by_level, level, i);
            }
            if shape.table {
                table = i;
            }
        }
        All { ends, opens, deeper_ends }
    }
}

fn nearest_at_most(stack: &[(usize, usize)], most: usize) -> Option<usize> {
    let at = stack.partition_point(|&(value, _)| value <= most);
    at.checked_sub(1).map(|at| stack[at].1)
}

fn push_nearer(stack: &mut Vec<(usize, usize)>, value: usize, line: usize) {
    while stack.last().is_some_and(|&(last, _)| last >= value) {
        stack.pop();
    }
    stack.push((value, line));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_block_is_what_is_indented_deeper() {
        // (text, anchor line, end, opens)
        let table: &[(&str, usize, usize, bool)] = &[
            ("def f():\n  a\n\n  b\ndef g():\n", 0, 4, true),
            ("def f():\n  a\n\n  b\ndef g():\n", 1, 3, false),
            ("fn f()\n{\n  a\n}\nfn g()\n", 0, 4, true),
            ("fn f() {\n#ifdef X\n  a\n#endif\n}\nb\n", 0, 5, true),
            ("  f(\n  )\n  x\n", 0, 2, true),
            ("# A\ntext\n## B\n# C\n", 0, 3, true),
            ("## B\ntext\n### C\n## D\n", 0, 3, true),
            ("[a]\nx = 1\n  y\n[b]\n", 0, 3, true),
            ("a\nb\n", 0, 1, false),
            ("a\n\n\nb\n", 0, 3, false),
            ("a\n\n", 0, 2, false),
            ("\u{3000}a\n\u{3000}\u{3000}b\n c\n", 0, 2, true),
        ];
        for &(text, line, end, opens) in table {
            let text = LineIndex::new(text.as_bytes());
            assert_eq!(Blocks::default().below(&text, line), Block { end, opens }, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn all_blocks_at_once_are_the_single_ones(
            lines in prop::collection::vec(prop::sample::select(vec!["a", " a", "  a", "", "}", " }", "# a", "## a", "[t]", " # a", "   "]), 0..40)
        ) {
            let text = lines.join("\n");
            let text = LineIndex::new(text.as_bytes());
            let all = All::new(&text);
            for line in 0..text.len() {
                prop_assert_eq!(Blocks::default().deeper_end(&text, line), all.deeper_ends[line] as usize);
                let single = Blocks::default().below(&text, line);
                prop_assert_eq!(single, Block { end: all.ends[line] as usize, opens: all.opens[line] });
            }
        }
    }
}
