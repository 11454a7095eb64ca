//! Each finding with the lines round it, in the manner of the Rust compiler.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use super::closing;
use crate::diagnose::{Diagnosis, Diagnostic, Severity};
use crate::path::RelPath;

/// Lines shown above and below the one a finding is about.
const CONTEXT: usize = 2;
/// The longest line shown whole, in bytes.
const MAX_LINE: usize = 400;

impl Diagnosis {
    /// The findings for people, with the lines they are about. `source` gives the new content of a file, or `None` where
    /// it cannot be had; `colours` adds escape codes for a terminal.
    #[must_use]
    pub fn text_with_sources(&self, source: impl Fn(&RelPath) -> Option<Vec<u8>>, colours: bool) -> String {
        let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
        let mut out = String::new();
        for found in &self.findings {
            let text = found.path.as_ref().and_then(&source);
            let excerpt = found.line.and_then(|line| Excerpt::of(&text?, line, found.column));
            out.push_str(&renderer.render(&[group(found, excerpt.as_ref())]));
            out.push_str("\n\n");
        }
        out.push_str(&closing(self));
        out
    }
}

fn group<'f>(found: &'f Diagnostic, excerpt: Option<&'f Excerpt>) -> Group<'f> {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let id = [found.check.as_str(), found.code.as_str()].into_iter().filter(|part| !part.is_empty());
    let title = level.primary_title(&found.message).id(id.collect::<Vec<_>>().join("/"));
    let Some(path) = &found.path else { return Group::with_title(title) };
    match excerpt {
        Some(excerpt) => title.element(
            Snippet::source(&excerpt.text)
                .line_start(excerpt.first)
                .path(path.as_str())
                .fold(false)
                .annotation(AnnotationKind::Primary.span(excerpt.mark.clone())),
        ),
        None => title.element(origin(path, found)),
    }
}

/// A place whose lines cannot be shown.
fn origin<'f>(path: &'f RelPath, found: &Diagnostic) -> Origin<'f> {
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let origin = Origin::path(path.as_str());
    match (found.line, found.column) {
        (Some(line), Some(column)) => origin.line(number(line)).char_column(number(column)),
        (Some(line), None) => origin.line(number(line)),
        (None, _) => origin,
    }
}

/// Some lines of a file and the place in them.
struct Excerpt {
    text: String,
    /// The number of the first line.
    first: usize,
    mark: std::ops::Range<usize>,
}

impl Excerpt {
    /// The lines round `line`, which is counted from 1.
    fn of(bytes: &[u8], line: u32, column: Option<u32>) -> Option<Self> {
        let at = usize::try_from(line).ok()?.checked_sub(1)?;
        let first = at.saturating_sub(CONTEXT);
        let mut text = String::new();
        let mut mark = None;
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').enumerate().skip(first).take(at - first + CONTEXT + 1);
        for (number, bytes) in lines {
            let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            if number > first {
                text.push('\n');
            }
            let start = text.len();
            text.push_str(&String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_LINE)]));
            if number == at {
                mark = Some(place(&text, start, column));
            }
        }
        Some(Excerpt { text, first: first + 1, mark: mark? })
    }
}

/// The character at a column of the line that begins at `start`; all its text when there is no such column.
fn place(text: &str, start: usize, column: Option<u32>) -> std::ops::Range<usize> {
    let line = &text[start..];
    let column = column.and_then(|column| usize::try_from(column).ok()?.checked_sub(1)).filter(|&at| at < line.len());
    if let Some(column) = column {
        let at = start + (0..=column).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0);
        let len = text[at..].chars().next().map_or(0, char::len_utf8);
        return at..at + len;
    }
    let indent = line.len() - line.trim_start().len();
    let end = start + line.trim_end().len();
    if start + indent < end { start + indent..end } else { start..text.len() }
}
