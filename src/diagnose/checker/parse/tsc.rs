//! The TypeScript compiler without colours: `file(line,column): error CODE: message`, more indented lines of the same
//! message below it, and `error CODE: message` for what has no place. Its pretty form, `file:line:column - error CODE:
//! message`, is read too.

use super::Raw;
use crate::diagnose::Severity;

pub(super) fn parse(lines: &str) -> Vec<Raw> {
    let mut found: Vec<Raw> = Vec::new();
    let mut open = false;
    for line in lines.lines() {
        if let Some(raw) = finding(line) {
            found.push(raw);
            open = true;
        } else if open && line.starts_with("  ") && !line.trim().is_empty() {
            // The chain of reasons belongs to the message.
            if let Some(last) = found.last_mut() {
                last.message = format!("{} {}", last.message, line.trim());
            }
        } else {
            open = false;
        }
    }
    found
}

fn finding(line: &str) -> Option<Raw> {
    let (place, rest) = match line.split_once("): ") {
        Some((place, rest)) if rest.starts_with("error ") || rest.starts_with("warning ") => (Some(place), rest),
        _ => match line.split_once(" - ") {
            Some((place, rest)) if rest.starts_with("error TS") || rest.starts_with("warning TS") => {
                (Some(place), rest)
            }
            _ => (None, line),
        },
    };
    let (severity, rest) = match rest.split_once(' ')? {
        ("error", rest) => (Severity::Error, rest),
        ("warning", rest) => (Severity::Warning, rest),
        _ => return None,
    };
    let (code, message) = rest.split_once(": ")?;
    if !code.starts_with("TS") {
        return None;
    }
    let (path, line, column) = match place {
        Some(place) => {
            let (path, numbers) = place.rsplit_once('(').or_else(|| {
                let (rest, _) = place.rsplit_once(':')?;
                Some(place.split_at(rest.rfind(':')?))
            })?;
            let (line, column) = numbers.trim_start_matches(':').split_once([',', ':'])?;
            (Some(path.to_owned()), Some(line.parse().ok()?), Some(column.parse().ok()?))
        }
        None => (None, None, None),
    };
    Some(Raw { path, line, column, severity, code: code.to_owned(), message: message.to_owned() })
}
