//! The change of indentation that leads from a hunk's lines to the file's, and added lines that follow it.

use std::collections::HashSet;

use crate::matching::{depth, indentation, is_blank};
use crate::patch::{Row, Sign};
use crate::text::LineIndex;

/// Most spaces that stand for one tab.
const TAB_MAX: usize = 16;

/// One change of indentation, from the patch's to the file's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change<'t> {
    AddPrefix(&'t [u8]),
    RemovePrefix(&'t [u8]),
    /// Each run of so many spaces becomes a tab.
    SpacesToTab(usize),
    /// Each tab becomes so many spaces.
    TabToSpaces(usize),
}

/// What becomes of the indentation of a hunk's added lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reindent<'t> {
    /// The indentations agree, or there is nothing to adapt.
    AsWritten,
    Change(Change<'t>),
    /// The matched lines' indentations differ in more than one way.
    Disagrees,
    /// An added line stands too far left to lose what the others lose.
    CannotTake,
    /// Context lost its sign column, while the added lines stand at depths the file has.
    SignColumn,
}

/// The depths that lines of the file have; worked out once, when first asked for.
#[derive(Debug, Default)]
pub(super) struct Depths(Option<HashSet<usize>>);

impl Depths {
    fn contain(&mut self, text: &LineIndex<'_>, wanted: usize) -> bool {
        let all = || text.lines_from(0).filter(|line| !is_blank(line)).map(depth).collect();
        self.0.get_or_insert_with(all).contains(&wanted)
    }
}

/// Compares the indentation of the rows with that of the lines they matched, from line `at` on.
pub(super) fn reindent<'t>(rows: &[Row<'t>], at: usize, text: &LineIndex<'t>, depths: &mut Depths) -> Reindent<'t> {
    let old = rows.iter().filter(|row| row.sign != Sign::Add);
    let matched = old.zip(text.lines_from(at)).filter(|(row, line)| !is_blank(row.text) && !is_blank(line));
    let pairs: Vec<_> = matched.map(|(row, line)| (indentation(row.text), indentation(line))).collect();
    let added = || rows.iter().filter(|row| row.sign == Sign::Add && !is_blank(row.text)).map(|row| row.text);
    if pairs.iter().all(|(patch, file)| patch == file) || added().next().is_none() {
        return Reindent::AsWritten;
    }
    let Some(change) = one_change(&pairs) else { return Reindent::Disagrees };
    let no_removal = rows.iter().all(|row| row.sign != Sign::Remove);
    if no_removal
        && pairs.iter().all(|(patch, file)| file.strip_prefix(*patch) == Some(b" "))
        && added().all(|line| depths.contain(text, depth(line)))
    {
        return Reindent::SignColumn;
    }
    if added().all(|line| change.applies_to(indentation(line))) {
        Reindent::Change(change)
    } else {
        Reindent::CannotTake
    }
}

/// The one change that leads from each patch indentation to the file's.
fn one_change<'t>(pairs: &[(&'t [u8], &'t [u8])]) -> Option<Change<'t>> {
    let &(patch, file) = pairs.first()?;
    let prefixes = [
        file.strip_suffix(patch).filter(|prefix| !prefix.is_empty()).map(Change::AddPrefix),
        patch.strip_suffix(file).filter(|prefix| !prefix.is_empty()).map(Change::RemovePrefix),
    ];
    let tabs = (1..=TAB_MAX).flat_map(|n| [Change::SpacesToTab(n), Change::TabToSpaces(n)]);
    let mut buffer = Vec::new();
    prefixes.into_iter().flatten().chain(tabs).find(|change| {
        pairs.iter().all(|(patch, file)| {
            buffer.clear();
            change.write(patch, &mut buffer) && buffer == *file
        })
    })
}

impl Change<'_> {
    fn applies_to(&self, indentation: &[u8]) -> bool {
        match self {
            Change::RemovePrefix(prefix) => indentation.starts_with(prefix),
            _ => true,
        }
    }

    /// Appends an indentation, changed. Says whether it can take the change; nothing is appended when it cannot.
    fn write(&self, indentation: &[u8], out: &mut Vec<u8>) -> bool {
        match *self {
            Change::AddPrefix(prefix) => {
                out.extend_from_slice(prefix);
                out.extend_from_slice(indentation);
            }
            Change::RemovePrefix(prefix) => match indentation.strip_prefix(prefix) {
                Some(rest) => out.extend_from_slice(rest),
                None => return false,
            },
            Change::SpacesToTab(n) => spaces_to_tabs(indentation, n, out),
            Change::TabToSpaces(n) => {
                for &byte in indentation {
                    match byte {
                        b'\t' => out.extend(std::iter::repeat_n(b' ', n)),
                        _ => out.push(byte),
                    }
                }
            }
        }
        true
    }

    /// Appends an added line with its indentation changed; a blank line as it is.
    pub(super) fn write_line(&self, line: &[u8], out: &mut Vec<u8>) {
        let indentation = indentation(line);
        let rest = &line[indentation.len()..];
        if rest.is_empty() || !self.write(indentation, out) {
            out.extend_from_slice(indentation);
        }
        out.extend_from_slice(rest);
    }
}

fn spaces_to_tabs(indentation: &[u8], n: usize, out: &mut Vec<u8>) {
    let mut run = 0;
    for &byte in indentation {
        run = if byte == b' ' { run + 1 } else { 0 };
        out.push(byte);
        if run == n {
            out.truncate(out.len() - n);
            out.push(b'\t');
            run = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(pairs: &[(&str, &str)]) -> Option<String> {
        let pairs: Vec<_> = pairs.iter().map(|(patch, file)| (patch.as_bytes(), file.as_bytes())).collect();
        one_change(&pairs).map(|change| format!("{change:?}").replace("[32, 32]", "2").replace("[9]", "tab"))
    }

    #[test]
    fn one_change_explains_all_lines_or_none_does() {
        type Case<'c> = (&'c [(&'c str, &'c str)], Option<&'c str>);
        let table: &[Case<'_>] = &[
            (&[("", "  "), ("  ", "    ")], Some("AddPrefix(2)")),
            (&[("  ", ""), ("    ", "  ")], Some("RemovePrefix(2)")),
            (&[("", "  "), ("  ", "     ")], None),
            (&[("  ", "\t"), ("    ", "\t\t")], Some("SpacesToTab(2)")),
            (&[("", ""), ("    ", "\t"), ("      ", "\t  ")], Some("SpacesToTab(4)")),
            (&[("\t", "    "), ("\t\t", "        "), ("", "")], Some("TabToSpaces(4)")),
            (&[("", "\t"), ("\t", "\t\t")], Some("AddPrefix(tab)")),
            (&[("", ""), ("  ", "    ")], None),
        ];
        for (pairs, want) in table {
            assert_eq!(change(pairs).as_deref(), *want, "{pairs:?}");
        }
    }

    #[test]
    fn lines_take_a_change_or_stay() {
        let table: &[(Change<'_>, &str, &str)] = &[
            (Change::AddPrefix(b"\t"), " a b", "\t a b"),
            (Change::AddPrefix(b"\t"), "  ", "  "),
            (Change::RemovePrefix(b"  "), "   a", " a"),
            (Change::RemovePrefix(b"  "), " a", " a"),
            (Change::SpacesToTab(2), "     a  b", "\t\t a  b"),
            (Change::SpacesToTab(2), " \t  a", " \t\ta"),
            (Change::TabToSpaces(3), "\t \ta\t", "       a\t"),
        ];
        for (change, line, want) in table {
            let mut out = Vec::new();
            change.write_line(line.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), *want, "{change:?} of {line:?}");
        }
    }
}
