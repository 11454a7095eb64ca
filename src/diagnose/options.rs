//! What to check and within which bounds.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::limits::{CancelToken, Deadline};

/// Which checks run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    pub(super) whitespace: bool,
    pub(super) file: bool,
    pub(super) syntax: bool,
    /// All checkers of the project's table.
    pub(super) configured: bool,
    /// Recipes whose files are there, too.
    pub(super) recipes: bool,
    /// Checkers and recipes asked for by name.
    pub(super) named: BTreeSet<String>,
}

impl Default for Checks {
    /// The checks that need no program: `whitespace`, `file` and `syntax`.
    fn default() -> Self {
        Checks { whitespace: true, file: true, syntax: true, ..Checks::none() }
    }
}

impl Checks {
    /// No check at all.
    #[must_use]
    pub fn none() -> Self {
        Checks {
            whitespace: false,
            file: false,
            syntax: false,
            configured: false,
            recipes: false,
            named: BTreeSet::new(),
        }
    }

    /// Reads a list of names with commas between them.
    ///
    /// `whitespace`, `file` and `syntax` are checks; `builtin` is the first two; `checkers` is every checker of the
    /// project's table; `all` is everything, and the recipes that fit the project; any other name is a checker of the
    /// table or a recipe. An empty list is the default.
    #[must_use]
    pub fn parse(list: &str) -> Self {
        let mut checks = Checks::none();
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Checks::default();
        }
        for name in names {
            match name {
                "whitespace" => checks.whitespace = true,
                "file" => checks.file = true,
                "builtin" => (checks.whitespace, checks.file) = (true, true),
                "syntax" => checks.syntax = true,
                "checkers" => checks.configured = true,
                "all" => {
                    let named = std::mem::take(&mut checks.named);
                    checks = Checks { configured: true, recipes: true, named, ..Checks::default() };
                }
                name => {
                    checks.named.insert(name.to_owned());
                }
            }
        }
        checks
    }

    /// Whether a program may have to be run.
    #[must_use]
    pub fn runs_programs(&self) -> bool {
        self.configured || self.recipes || !self.named.is_empty()
    }
}

/// What to check and within which bounds.
#[derive(Clone, Debug)]
pub struct DiagnoseOptions {
    pub(super) checks: Checks,
    pub(super) max_findings: usize,
    pub(super) max_chars: usize,
    pub(super) time: Duration,
    pub(super) max_output: usize,
    pub(super) cancel: CancelToken,
}

impl Default for DiagnoseOptions {
    fn default() -> Self {
        DiagnoseOptions {
            checks: Checks::default(),
            max_findings: 50,
            max_chars: 1000,
            time: Duration::from_secs(20),
            max_output: 8 << 20,
            cancel: CancelToken::new(),
        }
    }
}

impl DiagnoseOptions {
    /// Sets which checks run. Default: those that need no program.
    #[must_use]
    pub fn checks(mut self, checks: Checks) -> Self {
        self.checks = checks;
        self
    }

    /// Sets how many findings are given back; the others are counted. Default: 50.
    #[must_use]
    pub fn max_findings(mut self, count: usize) -> Self {
        self.max_findings = count;
        self
    }

    /// Sets how many characters a message has at most. Default: 1,000.
    #[must_use]
    pub fn max_chars(mut self, count: usize) -> Self {
        self.max_chars = count;
        self
    }

    /// Sets how long all checks together may take, before and after the commit. Default: 20 s.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Sets how many bytes a checker may print to each of its streams. Default: 8 MiB.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Sets the token that ends all checks. Default: one that nobody holds.
    #[must_use]
    pub fn cancel(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }
}

/// The moment and the token that end one phase.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    pub(super) deadline: Deadline,
    pub(super) cancel: CancelToken,
}

impl Limit {
    /// `Err` with the reason once the phase has to end.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.cancel.is_cancelled() {
            return Err("it was cancelled".to_owned());
        }
        if self.deadline.passed() {
            return Err("the time for all checks was used up".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_what_runs() {
        assert_eq!(Checks::parse(""), Checks::default());
        assert_eq!(Checks::parse("whitespace,file,syntax"), Checks::default());
        assert_eq!(Checks::parse(" builtin "), Checks { whitespace: true, file: true, ..Checks::none() });
        let all = Checks::parse("cargo,all");
        assert!(all.runs_programs() && all.syntax && all.configured && all.recipes && all.named.contains("cargo"));
        assert!(!Checks::default().runs_programs());
        assert!(Checks::parse("my-types").named.contains("my-types"));
    }
}
