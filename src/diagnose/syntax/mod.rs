//! Whether a file still parses: the faults of the old content and of the new one, compared.

mod compare;
mod data;
#[cfg(feature = "syntax")]
mod grammar;
mod language;
#[cfg(feature = "syntax")]
mod yaml;

use std::ops::Range;

use super::change::ChangedFile;
use super::lines::Comparison;
use super::options::Limit;
use super::{Diagnostic, Severity};
use language::Language;

/// The largest content that is parsed.
const MAX_BYTES: usize = 8 << 20;
/// The most faults shown of one file: one slip often makes many.
const SHOWN: usize = 5;

/// One place where a parser stumbled. Lines are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    /// The lines it is about.
    lines: Range<usize>,
    /// The column it begins at, from 0.
    column: usize,
    /// What the parser says, without places in it, so that it can be compared.
    message: String,
}

/// Checks one change. `Err` says why it cannot be checked.
pub(super) fn check(
    change: &ChangedFile,
    comparison: &Comparison<'_>,
    limit: &Limit,
) -> Result<Vec<Diagnostic>, String> {
    let Some(after) = &change.after else { return Ok(Vec::new()) };
    let Some(language) = language::of(&change.path, &after.bytes) else { return Ok(Vec::new()) };
    let old_language = change.before.as_ref().and_then(|before| language::of(change.old_path(), &before.bytes));
    let before = change.before.as_ref().filter(|_| old_language.is_some());
    let language = match before {
        Some(before) if language == Language::Json && data::is_really_jsonc(&before.bytes) => Language::Jsonc,
        _ => language,
    };
    let new = faults(language, &after.bytes, limit)?;
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let old = match (before, old_language) {
        // What was no file of any language had no faults.
        (None, _) | (_, None) => Vec::new(),
        // What was whole in another one had none either.
        (Some(before), Some(old)) if old != language && faults(old, &before.bytes, limit)?.is_empty() => Vec::new(),
        (Some(before), Some(_)) => faults(language, &before.bytes, limit)?,
    };
    let parse = |bytes: &[u8]| faults(language, bytes, limit);
    let introduced = compare::introduced(old, new, comparison, language.parser_stops(), &parse)?;
    Ok(diagnostics(change, &introduced, comparison, language))
}

fn faults(language: Language, bytes: &[u8], limit: &Limit) -> Result<Vec<Fault>, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, more than the {MAX_BYTES} that are parsed", bytes.len()));
    }
    let text = || std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
    match language {
        Language::Json => Ok(data::json(text()?)),
        Language::Jsonc => Ok(data::jsonc(text()?)),
        Language::Toml => Ok(data::toml(text()?)),
        #[cfg(feature = "syntax")]
        Language::Yaml => yaml::faults(text()?, limit),
        #[cfg(feature = "syntax")]
        Language::Code(code) => grammar::faults(code, bytes, limit),
        #[cfg(not(feature = "syntax"))]
        Language::Yaml | Language::Code(_) => {
            _ = limit;
            Err(format!("this program was built without the feature `syntax`, which knows {}", language.name()))
        }
    }
}

/// One finding for each line.
fn diagnostics(
    change: &ChangedFile,
    faults: &[Fault],
    comparison: &Comparison<'_>,
    language: Language,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for fault in faults {
        // A parser's range may begin far above the slip; what the patch touched in it is nearer.
        let touched = comparison.first_touched(fault.lines.clone());
        let line = touched.unwrap_or(fault.lines.start);
        let column = (line == fault.lines.start).then_some(fault.column + 1);
        let mut message = format!("{} [{}]", fault.message, language.name());
        if touched.is_none()
            && let Some(nearest) = nearest_change(comparison, line)
        {
            message.push_str(&format!(" (the change nearest to it is at line {})", nearest + 1));
        }
        found.push(Diagnostic {
            check: "syntax".to_owned(),
            code: "syntax-error".to_owned(),
            severity: Severity::Error,
            path: Some(change.path.clone()),
            line: u32::try_from(line + 1).ok(),
            column: column.and_then(|column| u32::try_from(column).ok()),
            message,
        });
    }
    found.sort_by_key(|found| found.line);
    // Of several on one line the innermost was found last.
    found.reverse();
    found.dedup_by_key(|found| found.line);
    found.reverse();
    let more = found.len().saturating_sub(SHOWN);
    found.truncate(SHOWN);
    if let (Some(last), true) = (found.last_mut(), more > 0) {
        last.message.push_str(&format!(" (and {more} more places in this file)"));
    }
    found
}

fn nearest_change(comparison: &Comparison<'_>, line: usize) -> Option<usize> {
    comparison.hunks.iter().map(|hunk| hunk.after.start).min_by_key(|start| start.abs_diff(line))
}
