//! Conflict markers and white-space errors in the lines a patch added, as `git diff --check` sees them.
//!
//! Three differences, all in favour of silence: a line that only moved is not reported; the carriage return of a file
//! whose lines end in CRLF is no trailing white space, unless git's settings for the file say what is; and a line that
//! was in the file as often before is not counted as added, however the two contents are aligned.

use std::collections::HashMap;

use super::attributes::{Attributes, Settings, Value};
use super::change::ChangedFile;
use super::lines::{Comparison, Lines};
use super::{Diagnostic, Severity};

/// What counts as an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules {
    at_eol: bool,
    at_eof: bool,
    space_before_tab: bool,
    spaces_in_indent: bool,
    tab_in_indent: bool,
    cr_at_eol: bool,
    tab_width: usize,
    /// The rules were set for this file or this repository.
    chosen: bool,
}

/// Git's rules where nothing is set.
const USUAL: Rules = Rules {
    at_eol: true,
    at_eof: true,
    space_before_tab: true,
    spaces_in_indent: false,
    tab_in_indent: false,
    cr_at_eol: false,
    tab_width: 8,
    chosen: false,
};

/// What switches a rule.
type Switch = fn(&mut Rules, bool);

/// The names of git's rules and what they switch.
const NAMES: [(&str, Switch); 7] = [
    ("trailing-space", |rules, on| (rules.at_eol, rules.at_eof) = (on, on)),
    ("blank-at-eol", |rules, on| rules.at_eol = on),
    ("blank-at-eof", |rules, on| rules.at_eof = on),
    ("space-before-tab", |rules, on| rules.space_before_tab = on),
    ("indent-with-non-tab", |rules, on| rules.spaces_in_indent = on),
    ("tab-in-indent", |rules, on| rules.tab_in_indent = on),
    ("cr-at-eol", |rules, on| rules.cr_at_eol = on),
];

impl Rules {
    /// The rules for a file with these attributes.
    fn of(attributes: &Attributes, settings: &Settings<'_>) -> Self {
        match attributes.get("whitespace") {
            Value::Text(text) => Rules::parse(text),
            Value::Set => Rules { spaces_in_indent: true, chosen: true, ..USUAL },
            Value::Unset => Rules { at_eol: false, at_eof: false, space_before_tab: false, chosen: true, ..USUAL },
            Value::Unspecified => settings.whitespace.as_deref().map_or(USUAL, Rules::parse),
        }
    }

    /// Reads a list of names, which may be cut short; `-name` takes one away. What git does not know changes nothing.
    fn parse(text: &str) -> Self {
        let mut rules = Rules { chosen: true, ..USUAL };
        for word in text.split([',', ' ', '\t', '\n', '\r']).filter(|word| !word.is_empty()) {
            if let Some(width) = word.strip_prefix("tabwidth=") {
                rules.tab_width = width.parse().ok().filter(|width| (1..64).contains(width)).unwrap_or(rules.tab_width);
                continue;
            }
            let (name, on) = word.strip_prefix('-').map_or((word, true), |name| (name, false));
            NAMES.iter().filter(|(known, _)| known.starts_with(name)).for_each(|(_, switch)| switch(&mut rules, on));
        }
        rules
    }
}

/// A kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Conflict,
    AtEol,
    SpaceBeforeTab,
    SpacesInIndent,
    TabInIndent,
    AtEof,
}

impl Kind {
    fn words(self) -> (&'static str, Severity, &'static str) {
        match self {
            Kind::Conflict => ("conflict-marker", Severity::Error, "a merge conflict marker"),
            Kind::AtEol => ("trailing-whitespace", Severity::Warning, "trailing white space"),
            Kind::SpaceBeforeTab => ("space-before-tab", Severity::Warning, "a space before a tab in the indentation"),
            Kind::SpacesInIndent => {
                ("indent-with-non-tab", Severity::Warning, "indented with spaces, tabs are asked for")
            }
            Kind::TabInIndent => ("tab-in-indent", Severity::Warning, "a tab in the indentation, spaces are asked for"),
            Kind::AtEof => ("blank-at-eof", Severity::Warning, "new blank lines at the end of the file"),
        }
    }
}

/// Checks one change.
pub(super) fn check(change: &ChangedFile, comparison: &Comparison<'_>, settings: &mut Settings<'_>) -> Vec<Diagnostic> {
    let Some(after) = &change.after else { return Vec::new() };
    let attributes = settings.of(&change.path);
    if is_binary(&attributes, &after.bytes) {
        return Vec::new();
    }
    let mut rules = Rules::of(&attributes, settings);
    rules.cr_at_eol |= git_drops_cr(&attributes, settings.autocrlf) || !rules.chosen && is_crlf(change, comparison);
    let marker = match attributes.get("conflict-marker-size") {
        Value::Text(size) => size.parse().ok().filter(|&size| size > 0).unwrap_or(7),
        _ => 7,
    };
    let mut old: HashMap<&[u8], usize> = HashMap::new();
    comparison.removed().for_each(|line| *old.entry(line).or_default() += 1);
    let mut found = Vec::new();
    for (number, line) in comparison.added() {
        let mut kinds = line_errors(line, rules);
        if is_conflict_marker(line, marker) {
            kinds.insert(0, Kind::Conflict);
        }
        // A removed line with the same bytes had the same errors.
        let moved = !kinds.is_empty()
            && old.get_mut(line).is_some_and(|left| left.checked_sub(1).map(|less| *left = less).is_some());
        if !moved {
            found.extend(kinds.into_iter().map(|kind| diagnostic(change, number, kind)));
        }
    }
    if rules.at_eof {
        found.extend(blank_at_eof(comparison).map(|number| diagnostic(change, number, Kind::AtEof)));
    }
    found
}

fn diagnostic(change: &ChangedFile, number: usize, kind: Kind) -> Diagnostic {
    let (code, severity, message) = kind.words();
    Diagnostic {
        check: "whitespace".to_owned(),
        code: code.to_owned(),
        severity,
        path: Some(change.path.clone()),
        line: u32::try_from(number + 1).ok(),
        column: None,
        message: message.to_owned(),
    }
}

/// Whether git takes the file for binary: told so, or by a NUL near its beginning.
fn is_binary(attributes: &Attributes, bytes: &[u8]) -> bool {
    match attributes.get("diff") {
        Value::Unset => true,
        Value::Set => false,
        _ => memchr::memchr(0, &bytes[..bytes.len().min(8000)]).is_some(),
    }
}

/// Whether git takes CRLF for LF in this file, so that a carriage return never reaches its diff.
fn git_drops_cr(attributes: &Attributes, autocrlf: bool) -> bool {
    match attributes.get("text") {
        Value::Unset => false,
        Value::Set | Value::Text(_) => true,
        Value::Unspecified => autocrlf || matches!(attributes.get("eol"), Value::Text(_)),
    }
}

/// Whether the lines of the file end in CRLF: most of the old ones or, in a new file, all.
fn is_crlf(change: &ChangedFile, comparison: &Comparison<'_>) -> bool {
    let count = |lines: &Lines<'_>| lines.iter().filter(|line| line.ends_with(b"\r\n")).count();
    match change.before {
        Some(_) if comparison.before.len() > 0 => count(&comparison.before) * 2 > comparison.before.len(),
        _ => count(&comparison.after) == comparison.after.len(),
    }
}

/// Whether git takes the byte for white space.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// A line that begins with a run of exactly one marker's length and then white space, the line's own end included.
fn is_conflict_marker(line: &[u8], size: usize) -> bool {
    let Some(&first) = line.first() else { return false };
    let run = line.iter().take_while(|&&byte| byte == first).count();
    // Git adds an end to a last line that has none.
    matches!(first, b'<' | b'>' | b'=' | b'|') && run == size && line.get(size).is_none_or(|&byte| is_space(byte))
}

fn line_errors(line: &[u8], rules: Rules) -> Vec<Kind> {
    let mut line = line.strip_suffix(b"\n").unwrap_or(line);
    if rules.cr_at_eol {
        line = line.strip_suffix(b"\r").unwrap_or(line);
    }
    let blank_end = line.iter().rev().take_while(|&&byte| is_space(byte)).count();
    // What is trailing is no indentation, where trailing white space is looked for.
    let text = if rules.at_eol { line.len() - blank_end } else { line.len() };
    let indent = line[..text].iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    let spaces_after_tab = line[..indent].iter().rev().take_while(|&&byte| byte == b' ').count();
    let has_tab = spaces_after_tab < indent;
    let space_before_tab = line[..indent].windows(2).any(|pair| pair == b" \t");
    // Git counts a tab for one error only, and does not look again when spaces stand before all tabs.
    let clean_tab = line[..indent]
        .iter()
        .enumerate()
        .any(|(at, &byte)| byte == b'\t' && !(rules.space_before_tab && at > 0 && line[at - 1] == b' '));
    let found = [
        (rules.at_eol && text < line.len(), Kind::AtEol),
        (rules.space_before_tab && space_before_tab, Kind::SpaceBeforeTab),
        (rules.tab_in_indent && has_tab && clean_tab, Kind::TabInIndent),
        (rules.spaces_in_indent && spaces_after_tab >= rules.tab_width, Kind::SpacesInIndent),
    ];
    found.into_iter().filter_map(|(found, kind)| found.then_some(kind)).collect()
}

/// The first of the blank lines at the end of the file, if there are more of them than before.
fn blank_at_eof(comparison: &Comparison<'_>) -> Option<usize> {
    let now = trailing_blanks(&comparison.after);
    (now > trailing_blanks(&comparison.before)).then(|| comparison.after.len() - now)
}

/// How many blank lines git counts at the end: what ends within the first two bytes of the file is none to it.
fn trailing_blanks(lines: &Lines<'_>) -> usize {
    let mut end: usize = lines.iter().map(<[u8]>::len).sum();
    let mut is_counted = |line: &&[u8]| {
        let text_end = end - usize::from(line.ends_with(b"\n"));
        end -= line.len();
        text_end >= 2 && line.iter().all(|&byte| is_space(byte))
    };
    lines.iter().rev().take_while(|line| is_counted(line)).count()
}

#[cfg(test)]
mod tests;
