//! `file:line:column: error: message [code]`, with column, severity and code left out as the program likes: gcc, clang,
//! gofmt, go vet, mypy, shellcheck and many more. What names no severity is an error; notes are passed over.

use super::Raw;
use crate::diagnose::Severity;

/// Words before the message and what they mean (`None`: a note).
const WORDS: &[(&str, Option<Severity>)] = &[
    ("fatal error:", Some(Severity::Error)),
    ("error:", Some(Severity::Error)),
    ("warning:", Some(Severity::Warning)),
    ("note:", None),
    ("info:", None),
    ("help:", None),
];

pub(super) fn parse(lines: &str) -> Vec<Raw> {
    lines.lines().filter_map(finding).collect()
}

fn finding(line: &str) -> Option<Raw> {
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    if line.starts_with([' ', '\t']) {
        return None;
    }
    let (path, row, rest) = place(line)?;
    let (column, rest) = match rest.split_once(':') {
        Some((number, rest)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            (number.parse().ok(), rest)
        }
        _ => (None, rest),
    };
    // A time of day has colons and numbers, too, but no space after them.
    let rest = rest.strip_prefix(' ')?.trim_start();
    let word = WORDS.iter().find(|(word, _)| rest.starts_with(word));
    let (severity, message) = match word {
        Some((word, severity)) => ((*severity)?, rest[word.len()..].trim()),
        None => (Severity::Error, rest),
    };
    let (message, code) = code(message);
    if message.is_empty() {
        return None;
    }
    Some(Raw { path: Some(path), line: Some(row), column, severity, code, message })
}

/// Splits off the file and the line: at the first colon that a number and another colon follow.
fn place(line: &str) -> Option<(String, u32, &str)> {
    let mut from = 0;
    while let Some(colon) = line[from..].find(':').map(|at| from + at) {
        let rest = &line[colon + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if colon > 0 && digits > 0 && rest[digits..].starts_with(':') {
            return Some((line[..colon].to_owned(), rest[..digits].parse().ok()?, &rest[digits + 1..]));
        }
        from = colon + 1;
    }
    None
}

/// Takes a code in brackets off the end of a message.
fn code(message: &str) -> (String, String) {
    if let Some((text, code)) = message.strip_suffix(']').and_then(|message| message.rsplit_once('['))
        && !code.is_empty()
        && !code.contains(' ')
        && !text.trim().is_empty()
    {
        return (text.trim().to_owned(), code.to_owned());
    }
    (message.to_owned(), String::new())
}
