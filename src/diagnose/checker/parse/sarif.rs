//! SARIF 2.1.0: `runs[].results[]` with `ruleId`, `level` (`warning` when not given), `message.text` and the first of
//! `locations`. Results of the levels `note` and `none`, and suppressed ones, are passed over.

use serde_json::Value;

use super::{Raw, number, some, text};
use crate::diagnose::Severity;

pub(super) fn parse(document: &Value) -> Result<Vec<Raw>, String> {
    let runs =
        document.get("runs").and_then(Value::as_array).ok_or("what it printed has no `runs`, so it is no SARIF")?;
    let results = runs.iter().filter_map(|run| run.get("results")?.as_array()).flatten();
    Ok(results.filter_map(finding).collect())
}

fn finding(result: &Value) -> Option<Raw> {
    let severity = match text(result, "/level").as_str() {
        "error" => Severity::Error,
        "" | "warning" => Severity::Warning,
        _ => return None,
    };
    if result.get("suppressions").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
        return None;
    }
    let place = "/locations/0/physicalLocation";
    Some(Raw {
        path: some(path(&text(result, &format!("{place}/artifactLocation/uri")))),
        line: number(result, &format!("{place}/region/startLine")),
        column: number(result, &format!("{place}/region/startColumn")),
        severity,
        code: text(result, "/ruleId"),
        message: text(result, "/message/text"),
    })
}

/// The path that a URI names.
fn path(uri: &str) -> String {
    let path = uri.strip_prefix("file://").map_or(uri, |rest| &rest[rest.find('/').unwrap_or(0)..]);
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let decoded = (byte == b'%')
            .then(|| std::str::from_utf8(after.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}
