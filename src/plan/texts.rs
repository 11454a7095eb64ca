//! Edits by quoted text: each is looked for in the result of the one before.
//!
//! A text is first looked for as bytes, wherever it begins and ends. If it is not there, it is tried with the line
//! endings of the file, and last as whole lines by the rules for hunks, so that white space and typographic characters may
//! differ.

use std::sync::Arc;

use memchr::memmem;

use crate::patch::{Count, Hunk, TextEdit};
use crate::plan::hunks::{self, FailureKind as HunkFailureKind, FoundAt, HunkFailure, Placed, UpdateError, Updated};
use crate::policy::{Ambiguity, Policy, Tier};
use crate::text::{LineIndex, Spliced, WideEncoding};
use crate::workspace::Bytes;

/// How many places a failure names.
const NAMED: usize = 8;

/// What edits make of a content.
pub(super) struct Edited {
    /// The content that `spliced` points into.
    base: Arc<Bytes>,
    pub(super) spliced: Spliced,
    /// Whether any byte is not what it was before the first edit.
    pub(super) effect: bool,
    pub(super) placed: Vec<Placed>,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// Why edits cannot be made.
pub(super) enum TextError {
    Update(UpdateError),
    NoSuchLine { wanted: u64, lines: usize },
}

/// Makes the edits in order. `line` is that of the operation in the patch text.
///
/// # Complexity
/// Each edit reads the content once.
pub(super) fn edit(content: &Arc<Bytes>, edits: &[TextEdit], line: u64, policy: &Policy) -> Result<Edited, TextError> {
    if let Some(encoding) = WideEncoding::detect(content) {
        return Err(TextError::Update(UpdateError::Encoding(encoding)));
    }
    let mut done = Edited {
        base: Arc::clone(content),
        spliced: whole(content),
        effect: false,
        placed: Vec::new(),
        added: 0,
        removed: 0,
    };
    let mut before: Option<Spliced> = None;
    for (number, edit) in edits.iter().enumerate() {
        if number > 0 && !done.spliced.equals_base(&done.base) {
            before = Some(before.map_or_else(|| done.spliced.clone(), |before| done.spliced.over(&before)));
            done.base = Arc::new(done.spliced.to_vec(&done.base).into());
        }
        done.spliced = match edit {
            TextEdit::Replace { old, new, count } => {
                let about = About { number, line, old, new, count: *count };
                replace(&mut done, &about, policy).map_err(failed)?
            }
            TextEdit::Insert { after_line, text } => insert(&mut done, number, *after_line, text, policy)?,
        };
    }
    if let Some(before) = before {
        done.spliced = done.spliced.over(&before);
        done.base = Arc::clone(content);
    }
    done.effect = !done.spliced.equals_base(&done.base);
    Ok(done)
}

/// One replacement.
struct About<'e> {
    number: usize,
    line: u64,
    old: &'e [u8],
    new: &'e [u8],
    count: Count,
}

impl About<'_> {
    fn failure(&self, kind: HunkFailureKind) -> Box<HunkFailure> {
        let hunk = self.number + 1;
        Box::new(HunkFailure { hunk, line: self.line, kind, tier: Tier::Exact, differs: None, excerpt: None })
    }
}

#[expect(clippy::boxed_local, reason = "it was boxed on its way here")]
fn failed(failure: Box<HunkFailure>) -> TextError {
    TextError::Update(UpdateError::Hunks { failures: vec![*failure], not_searched: 0 })
}

fn whole(content: &[u8]) -> Spliced {
    let mut whole = Spliced::default();
    whole.keep(0..content.len());
    whole
}

fn replace(done: &mut Edited, about: &About<'_>, policy: &Policy) -> Result<Spliced, Box<HunkFailure>> {
    let base = Arc::clone(&done.base);
    let mut hits = find(&base, about.old);
    let mut new = about.new.to_vec();
    if hits.is_empty()
        && let Some((old, converted)) = with_endings_of(&base, about)
    {
        hits = find(&base, &old.0);
        new = converted;
        if !hits.is_empty() {
            return exact(done, &base, about, (&old.0, &new), hits, policy);
        }
    }
    if hits.is_empty() && matches!(about.count, Count::Once | Count::Exactly(1)) {
        return by_lines(done, about, policy);
    }
    exact(done, &base, about, (about.old, &new), hits, policy)
}

/// A text with other line endings.
struct Converted(Vec<u8>);

/// Both texts with CRLF instead of LF, or the other way round, if only so they can be in the file.
fn with_endings_of(base: &[u8], about: &About<'_>) -> Option<(Converted, Vec<u8>)> {
    let has_crlf = |text: &[u8]| memmem::find(text, b"\r\n").is_some();
    let to_crlf = |text: &[u8]| text.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
    match (about.old.contains(&b'\n'), has_crlf(about.old), has_crlf(base)) {
        (true, false, true) => Some((Converted(to_crlf(about.old)), to_crlf(about.new))),
        (true, true, false) => Some((Converted(to_lf(about.old)), to_lf(about.new))),
        _ => None,
    }
}

fn to_lf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => out.extend([line, b"\n"].concat()),
            None => out.extend_from_slice(line),
        }
    }
    out
}

/// Where a text begins, without overlaps.
fn find(base: &[u8], old: &[u8]) -> Vec<usize> {
    if old.is_empty() { Vec::new() } else { memmem::find_iter(base, old).collect() }
}

fn exact(
    done: &mut Edited,
    base: &[u8],
    about: &About<'_>,
    (old, new): (&[u8], &[u8]),
    mut hits: Vec<usize>,
    policy: &Policy,
) -> Result<Spliced, Box<HunkFailure>> {
    let times = hits.len() as u64;
    let fits = match about.count {
        Count::Once if times > 1 && policy.ambiguity == Ambiguity::First => {
            hits.truncate(1);
            true
        }
        Count::Once => times == 1,
        Count::All => times > 0,
        Count::Exactly(wanted) => times == wanted && times > 0,
    };
    if !fits {
        return Err(about.failure(wrong_times(base, &hits, about)));
    }
    let line = lines_at(base, &hits[..1])[0];
    let old_lines = newlines(old) + usize::from(!old.ends_with(b"\n"));
    let hunk = about.number + 1;
    done.placed.push(Placed { hunk, line, old_lines, tier: Tier::Exact, offset: None, notes: Vec::new() });
    done.removed += hits.len() as u64 * old_lines as u64;
    let new_lines = newlines(new) + usize::from(!new.is_empty() && !new.ends_with(b"\n"));
    done.added += hits.len() as u64 * new_lines as u64;
    let (mut out, mut at) = (Spliced::default(), 0);
    for hit in hits {
        out.keep(at..hit);
        out.add(new);
        at = hit + old.len();
    }
    out.keep(at..base.len());
    Ok(out)
}

fn wrong_times(base: &[u8], hits: &[usize], about: &About<'_>) -> HunkFailureKind {
    let found = FoundAt { lines: lines_at(base, &hits[..hits.len().min(NAMED)]), more: hits.len() > NAMED };
    match about.count {
        _ if hits.is_empty() => HunkFailureKind::NotFound,
        Count::Exactly(wanted) => HunkFailureKind::WrongTimes { wanted, found, times: hits.len() as u64 },
        _ => HunkFailureKind::Ambiguous { found },
    }
}

/// The lines (from 1) of ascending places.
fn lines_at(base: &[u8], places: &[usize]) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    let mut count = |place: &usize| {
        line += newlines(&base[at..*place]);
        at = *place;
        line
    };
    places.iter().map(&mut count).collect()
}

fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}

/// Looks for the text as whole lines, at every tier the policy allows.
fn by_lines(done: &mut Edited, about: &About<'_>, policy: &Policy) -> Result<Spliced, Box<HunkFailure>> {
    let (old, new) = match (about.old.strip_suffix(b"\n"), about.new.strip_suffix(b"\n")) {
        (Some(old), Some(new)) => (old, Some(new)),
        (Some(old), None) if about.new.is_empty() => (old, None),
        (None, _) => (about.old, Some(about.new)),
        // The replacement would go on with the line below, which whole lines cannot say.
        (Some(_), None) => return Err(about.failure(HunkFailureKind::NotFound)),
    };
    let mut hunk = Hunk::new(about.line);
    hunk.anywhere = true;
    hunk.push_replacement(old, new);
    match hunks::update(&done.base, std::slice::from_ref(&hunk), policy) {
        Ok(Updated { spliced, placed }) => {
            let number = about.number + 1;
            done.placed.extend(placed.into_iter().map(|placed| Placed { hunk: number, ..placed }));
            done.removed += u64::from(hunk.removed());
            done.added += u64::from(hunk.added());
            Ok(spliced)
        }
        Err(UpdateError::Hunks { mut failures, .. }) if !failures.is_empty() => {
            let failure = failures.swap_remove(0);
            Err(Box::new(HunkFailure { hunk: about.number + 1, ..failure }))
        }
        Err(_) => Err(about.failure(HunkFailureKind::NotFound)),
    }
}

fn insert(
    done: &mut Edited,
    number: usize,
    after_line: u64,
    text: &[u8],
    policy: &Policy,
) -> Result<Spliced, TextError> {
    let index = LineIndex::new(&done.base);
    let lines = index.len();
    let at = usize::try_from(after_line).ok().filter(|at| *at <= lines);
    let Some(at) = at else { return Err(TextError::NoSuchLine { wanted: after_line, lines }) };
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let spliced = hunks::insert_lines(index, at, body, policy);
    done.placed.push(Placed {
        hunk: number + 1,
        line: at + 1,
        old_lines: 0,
        tier: Tier::Exact,
        offset: None,
        notes: Vec::new(),
    });
    done.added += newlines(body) as u64 + 1;
    Ok(spliced)
}
