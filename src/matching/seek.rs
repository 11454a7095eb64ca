//! `seek_sequence`: the primitive of the placing rules, for callers that hold lines and not a file.

use super::fold;
use super::kmp::Kmp;
use crate::policy::Tier;

/// Where a sequence of lines was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Index of the first line.
    pub line: usize,
    /// The strictest tier at which it fits.
    pub tier: Tier,
}

/// Finds `pattern` among `lines` at line `start` or below: the first place at the strictest tier that has one.
///
/// An empty pattern is found at `start`, exactly; a pattern longer than the text never is. With `eof` the end of the text
/// is tried first, at all tiers.
///
/// # Complexity
/// Linear in the bytes of `lines` and `pattern`, whatever they hold; at most one reading per tier.
///
/// # Examples
/// ```
/// use restitch::seek_sequence;
/// use restitch::Tier;
///
/// let found = seek_sequence(&["a", "  b ", "c"], &["b", "c"], 0, false).unwrap();
/// assert_eq!((found.line, found.tier), (1, Tier::Trim));
/// ```
#[must_use]
pub fn seek_sequence<L, P>(lines: &[L], pattern: &[P], start: usize, eof: bool) -> Option<Found>
where
    L: AsRef<[u8]>,
    P: AsRef<[u8]>,
{
    if pattern.is_empty() {
        return Some(Found { line: start, tier: Tier::Exact });
    }
    let last = lines.len().checked_sub(pattern.len())?;
    if start > last {
        return None;
    }
    let find = |from: usize| {
        Tier::ALL.iter().find_map(|&tier| Some(Found { line: seek_at(lines, pattern, from, tier)?, tier }))
    };
    eof.then(|| find(last)).flatten().or_else(|| find(start))
}

fn seek_at<L: AsRef<[u8]>, P: AsRef<[u8]>>(lines: &[L], pattern: &[P], from: usize, tier: Tier) -> Option<usize> {
    let mut buffer = Vec::new();
    // Folded once each, so that a comparison folds the line of the text alone.
    let views: Vec<Vec<u8>> =
        pattern.iter().map(|line| fold::view(tier, line.as_ref(), &mut buffer).to_vec()).collect();
    let mut kmp = Kmp::new(views.len(), |a, b| views[a] == views[b]);
    kmp.seek(from);
    lines[from..].iter().find_map(|line| {
        let view = fold::view(tier, line.as_ref(), &mut buffer);
        kmp.feed(|q| views[q] == view)
    })
}
