//! A git-style unified diff of a plan, made from the stretches that were replaced: unchanged text is only counted,
//! never compared, so one hunk in a 100 MB file costs one newline count over it.

mod entries;

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp};

use crate::patch::{git_head, git_names, git_quoted};
use crate::plan::{NewContent, Plan, Step};
use crate::text::Piece;
use entries::Entries;

/// How long the fine comparison inside one replaced stretch may take before it is shown coarsely.
const FINE: Duration = Duration::from_millis(200);

/// How a diff is shown.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    context: usize,
    max_bytes: usize,
}

impl Default for DiffOptions {
    fn default() -> Self {
        DiffOptions { context: 3, max_bytes: 16 << 20 }
    }
}

impl DiffOptions {
    /// Sets the number of unchanged lines shown round a change. Default: 3.
    #[must_use]
    pub fn context(mut self, lines: usize) -> Self {
        self.context = lines;
        self
    }

    /// Sets the bound of the whole diff in bytes; past it a line says that it was cut. Default: 16 MiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}

/// The diff of all steps of a plan, in the order of their paths.
///
/// # Complexity
/// Linear in the files' bytes (newlines are counted) plus the comparison of the replaced stretches.
#[must_use]
pub(super) fn diff(plan: &Plan, options: &DiffOptions) -> Vec<u8> {
    let mut steps: Vec<&Step> = plan.steps().iter().collect();
    steps.sort_by(|a, b| a.path.cmp(&b.path));
    let entries = Entries::new(plan.steps());
    let mut out = Vec::new();
    for step in steps {
        if out.len() > options.max_bytes {
            break;
        }
        entries.write(&mut out, step, options);
    }
    if out.len() > options.max_bytes {
        let end = memchr::memrchr(b'\n', &out[..options.max_bytes]).map_or(0, |at| at + 1);
        out.truncate(end);
        out.extend_from_slice(format!("... the diff was cut at {} bytes\n", options.max_bytes).as_bytes());
    }
    out
}

fn push(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}

fn head(out: &mut Vec<u8>, old: &str, new: &str) {
    git_head(out, old.as_bytes(), new.as_bytes());
}

/// git knows two modes for files.
fn git_mode(mode: u32) -> &'static str {
    if mode & 0o100 == 0 { "100644" } else { "100755" }
}

fn quoted(path: &str) -> String {
    // What is escaped is ASCII, so the text stays UTF-8.
    String::from_utf8_lossy(&git_quoted(path.as_bytes())).into_owned()
}

fn body(
    out: &mut Vec<u8>,
    old_path: Option<&str>,
    new_path: Option<&str>,
    old: &[u8],
    content: &NewContent,
    options: &DiffOptions,
) {
    let edits = edits(old, content);
    if edits.is_empty() {
        return;
    }
    git_names(out, old_path.map(str::as_bytes), new_path.map(str::as_bytes));
    hunks(out, old, &edits, options);
}

/// One replaced stretch of whole lines.
struct Edit<'a> {
    /// Byte range in the old content.
    at: Range<usize>,
    old: Vec<&'a [u8]>,
    new: Vec<Vec<u8>>,
}

/// The changes as whole lines, refined by a comparison inside each replaced stretch.
fn edits<'a>(old: &'a [u8], content: &NewContent) -> Vec<Edit<'a>> {
    let mut out = Vec::new();
    for (at, new) in regions(old, content) {
        let before = lines(&old[at.clone()]);
        let after = lines(&new);
        let ops =
            similar::capture_diff_slices_deadline(Algorithm::Patience, &before, &after, Some(Instant::now() + FINE));
        let mut start = at.start;
        let mut done = 0;
        for op in ops {
            let (_, a, b) = op.as_tag_tuple();
            start += before[done..a.start].iter().map(|line| line.len()).sum::<usize>();
            let len = before[a.clone()].iter().map(|line| line.len()).sum::<usize>();
            done = a.end;
            if !matches!(op, DiffOp::Equal { .. }) {
                let new = after[b].iter().map(|line| line.to_vec()).collect();
                out.push(Edit { at: start..start + len, old: before[a].to_vec(), new });
            }
            start += len;
        }
    }
    out
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// The replaced stretches, grown to whole lines on both sides, with what stands there afterwards.
fn regions(old: &[u8], content: &NewContent) -> Vec<(Range<usize>, Vec<u8>)> {
    let shared = std::ptr::eq(old, content.base.as_slice()) && ascending(content.spliced.pieces());
    if !shared {
        let new = content.to_vec();
        return if new == old { Vec::new() } else { vec![(0..old.len(), new)] };
    }
    let mut out: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    let mut at = 0;
    let mut fresh: Vec<u8> = Vec::new();
    let pieces = content.spliced.pieces().iter().zip(content.slices());
    for (piece, bytes) in pieces {
        match piece {
            Piece::Fresh(_) => fresh.extend_from_slice(bytes),
            Piece::Kept(kept) => {
                if kept.start > at || !fresh.is_empty() {
                    grow(&mut out, old, at..kept.start, std::mem::take(&mut fresh), Some(kept));
                }
                at = kept.end;
            }
        }
    }
    if at < old.len() || !fresh.is_empty() {
        grow(&mut out, old, at..old.len(), fresh, None);
    }
    out
}

fn ascending(pieces: &[Piece]) -> bool {
    let mut at = 0;
    pieces.iter().all(|piece| match piece {
        Piece::Fresh(_) => true,
        Piece::Kept(range) => {
            let fine = range.start >= at;
            at = range.end;
            fine
        }
    })
}

/// Adds a replaced stretch, grown to line borders, and joins it to the one before when they meet.
fn grow(
    out: &mut Vec<(Range<usize>, Vec<u8>)>,
    old: &[u8],
    mut at: Range<usize>,
    fresh: Vec<u8>,
    kept: Option<&Range<usize>>,
) {
    let floor = out.last().map_or(0, |(last, _)| last.end);
    let start = memchr::memrchr(b'\n', &old[..at.start]).map_or(0, |newline| newline + 1).max(floor);
    let mut new = old[start..at.start].to_vec();
    new.extend_from_slice(&fresh);
    at.start = start;
    let open = |text: &[u8]| text.last().is_some_and(|last| *last != b'\n');
    if kept.is_some() && (open(&new) || open(&old[at.clone()])) {
        let end = memchr::memchr(b'\n', &old[at.end..]).map_or(old.len(), |newline| at.end + newline + 1);
        new.extend_from_slice(&old[at.end..end]);
        at.end = end;
    }
    match out.last_mut() {
        Some((last, text)) if last.end > at.start || (last.end == at.start && open(text)) => {
            last.end = at.end;
            text.extend_from_slice(&new);
        }
        _ => out.push((at, new)),
    }
}

/// Writes the edits as hunks with context; counts lines as it goes.
fn hunks(out: &mut Vec<u8>, old: &[u8], edits: &[Edit<'_>], options: &DiffOptions) {
    let mut line = 1; // of the old content, at `at`
    let mut at = 0;
    let mut shift: i64 = 0;
    let mut rest = edits;
    while let Some(first) = rest.first() {
        let mut count = 1;
        while rest.get(count).is_some_and(|next| near(&old[rest[count - 1].at.end..next.at.start], options.context)) {
            count += 1;
        }
        let (group, after) = rest.split_at(count);
        rest = after;
        let (before, context) = last_lines(&old[at..first.at.start], options.context);
        line += memchr::memchr_iter(b'\n', &old[at..at + before]).count() as i64;
        at += before;
        let mut rows: Vec<(u8, &[u8])> = context.into_iter().map(|text| (b' ', text)).collect();
        let mut end = first.at.start;
        for edit in group {
            rows.extend(lines(&old[end..edit.at.start]).into_iter().map(|text| (b' ', text)));
            rows.extend(edit.old.iter().map(|text| (b'-', *text)));
            rows.extend(edit.new.iter().map(|text| (b'+', text.as_slice())));
            end = edit.at.end;
        }
        let tail: Vec<&[u8]> = first_lines(&old[end..], options.context);
        rows.extend(tail.iter().map(|text| (b' ', *text)));
        let removed = rows.iter().filter(|(sign, _)| *sign != b'+').count() as i64;
        let added = rows.iter().filter(|(sign, _)| *sign != b'-').count() as i64;
        let range = |start: i64, count: i64| match count {
            0 => format!("{},0", start - 1),
            1 => start.to_string(),
            count => format!("{start},{count}"),
        };
        push(out, &["@@ -", &range(line, removed), " +", &range(line + shift, added), " @@\n"]);
        for (sign, text) in rows {
            out.push(sign);
            out.extend_from_slice(text);
            if text.last() != Some(&b'\n') {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
        line += memchr::memchr_iter(b'\n', &old[at..end]).count() as i64;
        at = end;
        shift += added - removed;
    }
}

/// Whether two edits with `between` unchanged share a hunk.
fn near(between: &[u8], context: usize) -> bool {
    memchr::memchr_iter(b'\n', between).take(2 * context + 1).count() <= 2 * context
}

/// The last `count` lines of `text` and where they begin.
fn last_lines(text: &[u8], count: usize) -> (usize, Vec<&[u8]>) {
    let mut start = text.len();
    for _ in 0..count {
        if start == 0 {
            break;
        }
        start = memchr::memrchr(b'\n', &text[..start - 1]).map_or(0, |newline| newline + 1);
    }
    (start, lines(&text[start..]))
}

fn first_lines(text: &[u8], count: usize) -> Vec<&[u8]> {
    let mut out = Vec::with_capacity(count);
    let mut rest = text;
    while out.len() < count && !rest.is_empty() {
        let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

#[cfg(test)]
mod tests;
