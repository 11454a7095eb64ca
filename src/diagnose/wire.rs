//! The findings as JSON, the part `diagnostics` of the report:
//!
//! ```json
//! {
//!   "findings": [
//!     {"check": "syntax", "code": "syntax-error", "severity": "error", "path": "a.rs", "line": 3, "column": 5,
//!      "message": "`;` is missing [Rust]"}
//!   ],
//!   "left_out": 0,
//!   "skipped": [{"check": "cargo", "because": "the program `cargo` was not found"}]
//! }
//! ```
//!
//! `code` is left out when empty, `path`, `line` and `column` when there is none. Readers must pass over what they do not
//! know: keys may be added, none is taken away or changes its meaning within one version of the report.

use serde::Serialize;

use super::{Diagnosis, Diagnostic, Skipped};

/// A [`Diagnosis`] as it is written.
#[derive(Debug, Serialize)]
struct Wire<'d> {
    findings: Vec<WireFinding<'d>>,
    left_out: usize,
    skipped: Vec<WireSkipped<'d>>,
}

#[derive(Debug, Serialize)]
struct WireFinding<'d> {
    check: &'d str,
    #[serde(skip_serializing_if = "str::is_empty")]
    code: &'d str,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<&'d str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    message: &'d str,
}

#[derive(Debug, Serialize)]
struct WireSkipped<'d> {
    check: &'d str,
    because: &'d str,
}

impl<'d> From<&'d Diagnosis> for Wire<'d> {
    fn from(diagnosis: &'d Diagnosis) -> Self {
        Wire {
            findings: diagnosis.findings.iter().map(WireFinding::from).collect(),
            left_out: diagnosis.left_out,
            skipped: diagnosis.skipped.iter().map(WireSkipped::from).collect(),
        }
    }
}

impl<'d> From<&'d Diagnostic> for WireFinding<'d> {
    fn from(found: &'d Diagnostic) -> Self {
        WireFinding {
            check: &found.check,
            code: &found.code,
            severity: found.severity.name(),
            path: found.path.as_ref().map(crate::path::RelPath::as_str),
            line: found.line,
            column: found.column,
            message: &found.message,
        }
    }
}

impl<'d> From<&'d Skipped> for WireSkipped<'d> {
    fn from(skipped: &'d Skipped) -> Self {
        WireSkipped { check: &skipped.check, because: &skipped.because }
    }
}

impl Diagnosis {
    /// The findings as a JSON value, for a report that holds them.
    pub(crate) fn value(&self) -> serde_json::Value {
        serde_json::to_value(Wire::from(self)).unwrap_or_default()
    }

    /// The findings as one line of JSON, in the form that `docs/diagnostics.md` specifies.
    #[must_use]
    pub fn json(&self) -> String {
        // Text, numbers and lists: nothing in it can fail to be written.
        serde_json::to_string(&Wire::from(self)).unwrap_or_default()
    }
}
