//! `eslint --format json`: a list of `{filePath, messages: [{ruleId, severity, message, line, column}]}`, severity 2 being
//! an error.

use serde_json::Value;

use super::{Raw, number, some, text};
use crate::diagnose::Severity;

pub(super) fn parse(document: &Value) -> Result<Vec<Raw>, String> {
    let files = document.as_array().ok_or("what it printed is no list as eslint prints it")?;
    let messages = |file: &Value| file.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(files.iter().flat_map(|file| messages(file).into_iter().map(|item| finding(file, &item))).collect())
}

fn finding(file: &Value, item: &Value) -> Raw {
    Raw {
        path: some(text(file, "/filePath")),
        line: number(item, "/line"),
        column: number(item, "/column"),
        severity: if number(item, "/severity") == Some(1) { Severity::Warning } else { Severity::Error },
        code: text(item, "/ruleId"),
        message: text(item, "/message"),
    }
}
