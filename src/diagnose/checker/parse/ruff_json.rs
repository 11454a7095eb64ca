//! `ruff check --output-format=json`: a list of `{filename, location: {row, column}, code, message}`. A syntax error has
//! no code.

use serde_json::Value;

use super::{Raw, number, some, text};
use crate::diagnose::Severity;

pub(super) fn parse(document: &Value) -> Result<Vec<Raw>, String> {
    let list = document.as_array().ok_or("what it printed is no list as ruff prints it")?;
    Ok(list.iter().map(finding).collect())
}

fn finding(item: &Value) -> Raw {
    let code = text(item, "/code");
    let is_syntax = code.is_empty() || code == "invalid-syntax" || code.starts_with("E9");
    Raw {
        path: some(text(item, "/filename")),
        line: number(item, "/location/row"),
        column: number(item, "/location/column"),
        severity: if is_syntax { Severity::Error } else { Severity::Warning },
        message: text(item, "/message"),
        code,
    }
}
