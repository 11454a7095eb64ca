//! The search as one would first write it: every window at every tier. Too simple to be wrong, and the judge of the
//! fast ones.

use super::fold;
use crate::policy::Tier;

/// All places where `pattern` fits at a tier.
pub(crate) fn hits(lines: &[&[u8]], pattern: &[&[u8]], tier: Tier) -> Vec<usize> {
    let view = |line: &&[u8]| fold::view(tier, line, &mut Vec::new()).to_vec();
    let want: Vec<_> = pattern.iter().map(view).collect();
    let have: Vec<_> = lines.iter().map(view).collect();
    (0..lines.len()).filter(|&at| have.get(at..at + want.len()) == Some(&want[..])).collect()
}

/// The first place at `start` or below, at the strictest tier that has one; the end first when `eof` is set.
pub(crate) fn seek(lines: &[&[u8]], pattern: &[&[u8]], start: usize, eof: bool) -> Option<(usize, Tier)> {
    if pattern.is_empty() {
        return Some((start, Tier::Exact));
    }
    let end = lines.len().checked_sub(pattern.len())?;
    let at_end = Tier::ALL.into_iter().find(|&tier| eof && end >= start && hits(lines, pattern, tier).contains(&end));
    at_end.map(|tier| (end, tier)).or_else(|| {
        Tier::ALL.into_iter().find_map(|tier| {
            let found = hits(lines, pattern, tier).into_iter().find(|&at| at >= start)?;
            Some((found, tier))
        })
    })
}
