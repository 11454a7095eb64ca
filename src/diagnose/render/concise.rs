//! One line for each finding: `path:line:column: severity: message (check code)`.

use super::closing;
use crate::diagnose::{Diagnosis, Diagnostic};

impl Diagnosis {
    /// The findings for a model: one line each, then what was left out and what was skipped. Empty when all is well.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out: String = self.findings.iter().map(line).collect();
        out.push_str(&closing(self));
        out
    }
}

fn line(found: &Diagnostic) -> String {
    let path = found.path.as_ref().map_or("the project", |path| path.as_str());
    let number = |number: Option<u32>| number.map_or(String::new(), |number| format!(":{number}"));
    let column = found.line.and(found.column);
    let code = if found.code.is_empty() { String::new() } else { format!(" {}", found.code) };
    format!(
        "{path}{}{}: {}: {} ({}{code})\n",
        number(found.line),
        number(column),
        found.severity.name(),
        found.message,
        found.check,
    )
}
