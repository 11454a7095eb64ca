//! Which faults are the patch's. In doubt none: an old fault must never be blamed on the patch.
//!
//! A file that was whole before has only new faults. In one that was broken, faults hide and change each other, so
//! they cannot be told apart by place or number. Instead the old content is made whole: the lines its faults are on are
//! blanked, again and again until it parses. The same lines are blanked in the new content, wherever they are now;
//! what is still wrong there was not wrong before. When the old content cannot be made whole so, nothing is blamed but
//! what a parser that stops at its first fault now meets earlier.

use std::collections::{BTreeSet, HashMap};

use super::Fault;
use crate::diagnose::lines::{Comparison, Lines};

/// How often the old content is parsed to make it whole.
const ROUNDS: usize = 8;
/// The most lines that are blanked.
const LINES: usize = 50;

/// Parses a content.
type Parse<'p> = &'p dyn Fn(&[u8]) -> Result<Vec<Fault>, String>;

/// The faults of the new content that are the patch's. Parses neither content again unless the old one has faults, then
/// at most nine times. `stops` says that the parser stops at its first fault.
pub(super) fn introduced(
    old: Vec<Fault>,
    new: Vec<Fault>,
    comparison: &Comparison<'_>,
    stops: bool,
    parse: Parse<'_>,
) -> Result<Vec<Fault>, String> {
    let Some(first) = old.first().cloned() else { return Ok(new) };
    let are_more = new.len() > old.len();
    let whole = make_whole(old, comparison, parse)?;
    let Some((same, blanked)) = whole.and_then(|old| Some((counterparts(&old, comparison)?, old))) else {
        return Ok(new.into_iter().filter(|new| stops && is_before(new, &first, comparison)).collect());
    };
    if same.len() < blanked.len() && !are_more {
        // A line is gone that may have been right: its fault may now show elsewhere.
        return Ok(Vec::new());
    }
    let left = parse(&without(&comparison.after, &same))?;
    // A line that took the place of a faulty one may have kept its fault.
    let replaces_a_fault = |line: usize| {
        let hunk = comparison.hunk_adding(line).map(|at| comparison.hunks[at].before.clone());
        hunk.is_some_and(|before| blanked.range(before).next().is_some())
    };
    let is_new = |fault: &Fault| comparison.touches(fault.lines.clone()) && !replaces_a_fault(fault.lines.start);
    Ok(left.into_iter().filter(is_new).collect())
}

/// Whether a parser that stops at its first fault stopped earlier than before: it came past there, then.
fn is_before(new: &Fault, old: &Fault, comparison: &Comparison<'_>) -> bool {
    let text = |lines: &Lines<'_>, fault: &Fault| lines.get(fault.lines.start).trim_ascii().to_vec();
    if text(&comparison.before, old) == text(&comparison.after, new) {
        // It moved.
        return false;
    }
    match (comparison.old_line(new.lines.start), comparison.hunk_adding(new.lines.start)) {
        (Some(line), _) => line < old.lines.start,
        (None, Some(hunk)) => comparison.hunks[hunk].before.end <= old.lines.start,
        (None, None) => false,
    }
}

/// The lines of the old content without which it has no faults; `None` when there are no such few.
fn make_whole(
    mut faults: Vec<Fault>,
    comparison: &Comparison<'_>,
    parse: Parse<'_>,
) -> Result<Option<BTreeSet<usize>>, String> {
    let mut blanked = BTreeSet::new();
    for _ in 0..ROUNDS {
        let known = blanked.len();
        // A fault of many lines only surrounds the slip, unless there is no narrower one; the innermost comes last.
        blanked.extend(faults.iter().filter(|fault| fault.lines.len() <= 1).map(|fault| fault.lines.start));
        if blanked.len() == known {
            blanked.extend(faults.last().map(|fault| fault.lines.start));
        }
        if blanked.len() == known || blanked.len() > LINES {
            return Ok(None);
        }
        faults = parse(&without(&comparison.before, &blanked))?;
        if faults.is_empty() {
            return Ok(Some(blanked));
        }
    }
    Ok(None)
}

/// Where lines of the old content are in the new one, kept or moved. `None` when that is in doubt: when a line says
/// nothing of its own, like a bracket, or stands in either content twice.
fn counterparts(blanked: &BTreeSet<usize>, comparison: &Comparison<'_>) -> Option<BTreeSet<usize>> {
    let wanted: HashMap<&[u8], usize> =
        blanked.iter().map(|&line| (comparison.before.get(line).trim_ascii(), line)).collect();
    let is_telling = |line: &&[u8]| line.iter().any(u8::is_ascii_alphanumeric);
    let count = |lines: &Lines<'_>| lines.iter().filter(|line| wanted.contains_key(line.trim_ascii())).count();
    if !wanted.keys().all(is_telling) || count(&comparison.before) != wanted.len() {
        return None;
    }
    let places = comparison.after.iter().enumerate().filter(|(_, line)| wanted.contains_key(line.trim_ascii()));
    let mut seen = BTreeSet::new();
    let mut same = BTreeSet::new();
    for (number, line) in places {
        same.insert(number);
        if !seen.insert(line.trim_ascii()) {
            return None;
        }
    }
    Some(same)
}

/// The content with some of its lines left empty, so that every other line keeps its number.
fn without(lines: &Lines<'_>, blanked: &BTreeSet<usize>) -> Vec<u8> {
    let keep = |(number, line)| if blanked.contains(&number) { ending(line) } else { line };
    lines.iter().enumerate().flat_map(keep).copied().collect()
}

/// A line's own ending.
fn ending(line: &[u8]) -> &[u8] {
    let text = line.iter().rev().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
    &line[line.len() - text..]
}
