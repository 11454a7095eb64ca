//! `cargo --message-format=json` and `rustc --error-format=json`: one JSON object a line, cargo's with the compiler's in
//! `message`. A finding stands where its primary span is.

use serde_json::Value;

use super::{Raw, number, some, text};
use crate::diagnose::Severity;

pub(super) fn parse(lines: &str) -> Vec<Raw> {
    let objects = lines.lines().filter(|line| line.starts_with('{'));
    objects.filter_map(|line| finding(&serde_json::from_str(line).ok()?)).collect()
}

fn finding(object: &Value) -> Option<Raw> {
    let message = match text(object, "/reason").as_str() {
        "" => object,
        "compiler-message" => object.get("message")?,
        _ => return None,
    };
    let severity = match message.get("level")?.as_str()? {
        level if level.starts_with("error") => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let spans = message.get("spans")?.as_array()?;
    let span = spans.iter().find(|span| span.get("is_primary").and_then(Value::as_bool) == Some(true));
    // "aborting due to 2 previous errors", "3 warnings emitted": they stand nowhere and say nothing new.
    let span = span?;
    let label = some(text(span, "/label")).map_or(String::new(), |label| format!(": {label}"));
    Some(Raw {
        path: some(text(span, "/file_name")),
        line: number(span, "/line_start"),
        column: number(span, "/column_start"),
        severity,
        code: text(message, "/code/code"),
        message: text(message, "/message") + &label,
    })
}
