//! What checkers print, one file for each format. A parser takes what it knows and passes over the rest; a document
//! that is no document of its format is an error.

mod eslint_json;
mod gcc_style;
mod ruff_json;
mod rustc_json;
mod sarif;
#[cfg(test)]
mod tests;
mod tsc;

use serde_json::Value;

use super::Format;
use crate::diagnose::Severity;
use crate::process::Output;

/// One finding as it was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    /// The file as the checker names it; `None`: none is named.
    pub(super) path: Option<String>,
    pub(super) line: Option<u32>,
    pub(super) column: Option<u32>,
    pub(super) severity: Severity,
    pub(super) code: String,
    pub(super) message: String,
}

/// Reads a checker's output.
pub(super) fn parse(format: Format, output: &Output) -> Result<Vec<Raw>, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // Line formats come on either stream, documents on the first that has anything.
    let lines = || text(&output.stdout) + "\n" + &text(&output.stderr);
    let document = || match output.stdout.trim_ascii() {
        [] => text(output.stderr.trim_ascii()),
        stdout => text(stdout),
    };
    match format {
        Format::RustcJson => Ok(rustc_json::parse(&lines())),
        Format::Tsc => Ok(tsc::parse(&lines())),
        Format::Gcc => Ok(gcc_style::parse(&lines())),
        Format::RuffJson => ruff_json::parse(&json(&document())?),
        Format::EslintJson => eslint_json::parse(&json(&document())?),
        Format::Sarif => sarif::parse(&json(&document())?),
    }
}

fn json(document: &str) -> Result<Value, String> {
    serde_json::from_str(document).map_err(|error| format!("what it printed is no JSON ({error})"))
}

/// The text at `pointer`, or an empty one.
fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The number at `pointer`.
fn number(value: &Value, pointer: &str) -> Option<u32> {
    value.pointer(pointer).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok())
}

/// Text that is not empty.
fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}
