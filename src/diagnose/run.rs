//! The order of things: what runs before the commit, what after it, and what is given back.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::attributes::Settings;
use super::change::ChangedFile;
use super::checker::{self, Checker, Finding};
use super::lines::Comparison;
use super::options::{DiagnoseOptions, Limit};
use super::{Diagnosis, Diagnostic, Skipped, builtin, syntax, whitespace};
use crate::limits::Deadline;
use crate::path::RelPath;
use crate::workspace::Workspace;

/// The checks of one patch, set up and not yet begun: what the patch breaks, and only that.
///
/// Each check looks at the tree before the patch and after it and reports the difference. An error that was there
/// before is never blamed on the patch, wherever its line is now.
///
/// A checker must see the old tree and the new one, so there are two phases: [`Diagnose::before`] runs it while the old
/// tree still stands, the caller commits, [`Baseline::after`] runs it again and compares. Without checkers nothing runs
/// before, and [`Diagnose::check`] does everything from the images in memory, also for a plan that is not committed.
///
/// ```
/// use restitch::{ChangedFile, Diagnose, DiagnoseOptions, FileImage, RelPath, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = std::env::temp_dir().join(format!("restitch-diagnose-{}", std::process::id()));
/// # std::fs::create_dir_all(&root)?;
/// let workspace = Workspace::open(&root)?;
/// let before = FileImage::new("{\n  \"a\": 1\n}\n");
/// let after = FileImage::new("{\n  \"a\":\n}\n");
/// let changes = vec![ChangedFile::new(RelPath::new(b"a.json")?, Some(before), Some(after))];
/// let baseline = Diagnose::new(&workspace, DiagnoseOptions::default()).before(changes);
/// // Here the changes are written.
/// let diagnosis = baseline.after();
/// assert_eq!(diagnosis.text(), "a.json:3:1: error: expected value [JSON] (the change nearest to it is at line 2) (syntax syntax-error)\n");
/// # std::fs::remove_dir_all(&root)?;
/// # Ok(())
/// # }
/// ```
///
/// # Guarantees
/// A check never fails an edit: what cannot be checked is a [`Skipped`] with its reason. Findings, their length and the
/// time of both phases together are bounded by [`DiagnoseOptions`]. Checkers run only when asked for, and which they are
/// is read before the patch is written, so a patch cannot bring the command that is run on it.
///
/// # Limitations
/// A checker runs with the rights of the user, in the root, and may leave its caches there. It judges the whole tree,
/// so what others write between its two runs is taken for the patch's.
#[derive(Clone, Debug)]
#[must_use = "nothing is checked before `check` or `before`"]
pub struct Diagnose<'w> {
    workspace: &'w Workspace,
    options: DiagnoseOptions,
}

/// What the checkers said of the old tree. The commit comes between this and [`Baseline::after`].
#[derive(Debug)]
#[must_use = "`after` gives the findings"]
pub struct Baseline<'w> {
    workspace: &'w Workspace,
    options: DiagnoseOptions,
    changes: Vec<ChangedFile>,
    runs: Vec<(Checker, Result<Vec<Finding>, String>)>,
    skipped: Vec<Skipped>,
    spent: Duration,
}

impl<'w> Diagnose<'w> {
    /// Sets up checks in `workspace`. Reads nothing yet.
    pub fn new(workspace: &'w Workspace, options: DiagnoseOptions) -> Self {
        Diagnose { workspace, options }
    }

    /// Checks changes from their images alone, whether or not they are on disk. Checkers are skipped.
    #[must_use]
    pub fn check(&self, changes: &[ChangedFile]) -> Diagnosis {
        let mut collected = Collected::default();
        if self.options.checks.runs_programs() {
            collected.skip("checkers", "they compare the old tree with the new one, and nothing was written here");
        }
        let limit = limit(&self.options, Duration::ZERO);
        let comparisons = comparisons(changes, &limit);
        collected.images(self.workspace, &self.options, changes, &comparisons, &limit);
        collected.finish(&self.options)
    }

    /// Runs the checkers that the changes call for on the old tree. Must be called before the changes are written;
    /// without checkers it costs nothing.
    pub fn before(self, changes: Vec<ChangedFile>) -> Baseline<'w> {
        let Diagnose { workspace, options } = self;
        let begun = Instant::now();
        let mut baseline =
            Baseline { workspace, options, changes, runs: Vec::new(), skipped: Vec::new(), spent: Duration::ZERO };
        if baseline.options.checks.runs_programs() {
            let (checkers, skipped) = checker::choose(workspace, &baseline.options.checks);
            baseline.skipped = skipped;
            let limit = limit(&baseline.options, Duration::ZERO);
            let called = checkers.into_iter().filter(|checker| baseline.calls_for(checker));
            let runs = called.map(|checker| {
                let found = baseline.run(&checker, false, &limit);
                (checker, found)
            });
            baseline.runs = runs.collect();
        }
        baseline.spent = begun.elapsed();
        baseline
    }
}

impl Baseline<'_> {
    /// Checks the new tree. Must be called after the changes were written.
    #[must_use]
    pub fn after(mut self) -> Diagnosis {
        let limit = limit(&self.options, self.spent);
        let comparisons = comparisons(&self.changes, &limit);
        let mut collected = Collected { skipped: std::mem::take(&mut self.skipped), ..Collected::default() };
        collected.images(self.workspace, &self.options, &self.changes, &comparisons, &limit);
        for (checker, before) in &self.runs {
            let after = match before {
                Ok(_) => self.run(checker, true, &limit),
                Err(because) => Err(format!("{because} (before the patch)")),
            };
            match (before, after) {
                (Ok(before), Ok(after)) => {
                    let new = checker::introduced(before, after, &self.changes, &comparisons);
                    collected.found.extend(new.into_iter().map(|finding| finding.into_diagnostic(&checker.name)));
                }
                (_, Err(because)) => collected.skip(&checker.name, &because),
                (Err(_), Ok(_)) => {}
            }
        }
        collected.finish(&self.options)
    }

    /// Whether any changed file is one of the checker's.
    fn calls_for(&self, checker: &Checker) -> bool {
        let is_match = |path: &RelPath| checker.globs.is_match(path.as_path());
        self.changes.iter().any(|change| is_match(&change.path) || change.from.as_ref().is_some_and(is_match))
    }

    fn run(&self, checker: &Checker, after: bool, limit: &Limit) -> Result<Vec<Finding>, String> {
        let there = self.changes.iter().filter_map(|change| match after {
            true => change.after.as_ref().map(|_| &change.path),
            false => change.before.as_ref().map(|_| change.old_path()),
        });
        let mut files: Vec<&RelPath> = there.filter(|path| checker.globs.is_match(path.as_path())).collect();
        files.sort();
        files.dedup();
        checker::run(checker, self.workspace, &files, limit, self.options.max_output)
    }
}

impl Finding {
    fn into_diagnostic(self, checker: &str) -> Diagnostic {
        Diagnostic {
            check: checker.to_owned(),
            code: self.code,
            severity: self.severity,
            path: self.path,
            line: self.line,
            column: self.column,
            message: self.message,
        }
    }
}

fn limit(options: &DiagnoseOptions, spent: Duration) -> Limit {
    Limit { deadline: Deadline::after(options.time.saturating_sub(spent)), cancel: options.cancel.clone() }
}

fn comparisons<'c>(changes: &'c [ChangedFile], limit: &Limit) -> HashMap<&'c RelPath, Comparison<'c>> {
    changes.iter().map(|change| (&change.path, Comparison::of(change, limit.deadline))).collect()
}

/// Findings and reasons as they come in.
#[derive(Default)]
struct Collected {
    found: Vec<Diagnostic>,
    skipped: Vec<Skipped>,
    /// Files whose syntax could not be checked: the reason, the first of them, how many.
    unparsed: Vec<(String, String, usize)>,
}

impl Collected {
    fn skip(&mut self, check: &str, because: &str) {
        self.skipped.push(Skipped { check: check.to_owned(), because: because.to_owned() });
    }

    /// The checks that need only the images.
    fn images(
        &mut self,
        workspace: &Workspace,
        options: &DiagnoseOptions,
        changes: &[ChangedFile],
        comparisons: &HashMap<&RelPath, Comparison<'_>>,
        limit: &Limit,
    ) {
        let checks = &options.checks;
        let mut settings = checks.whitespace.then(|| Settings::read(workspace, changes));
        for (at, change) in changes.iter().enumerate() {
            let Some(comparison) = comparisons.get(&change.path) else { continue };
            if let Err(because) = limit.check() {
                self.skip(&format!("the built-in checks of {} files", changes.len() - at), &because);
                break;
            }
            if let Some(settings) = &mut settings {
                self.found.extend(whitespace::check(change, comparison, settings));
            }
            if checks.file {
                self.found.extend(builtin::check(change, comparison));
            }
            if checks.syntax {
                match syntax::check(change, comparison, limit) {
                    Ok(found) => self.found.extend(found),
                    Err(because) => self.no_syntax(&change.path, because),
                }
            }
        }
        for (because, first, count) in std::mem::take(&mut self.unparsed) {
            let others = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
            self.skip(&format!("syntax of {first}{others}"), &because);
        }
    }

    fn no_syntax(&mut self, path: &RelPath, because: String) {
        match self.unparsed.iter_mut().find(|(other, ..)| *other == because) {
            Some((.., count)) => *count += 1,
            None => self.unparsed.push((because, path.to_string(), 1)),
        }
    }

    /// Sorts and bounds.
    fn finish(self, options: &DiagnoseOptions) -> Diagnosis {
        let Collected { mut found, mut skipped, .. } = self;
        found.sort_by(|a, b| {
            let key = |d: &Diagnostic| (d.severity, d.path.is_none());
            let place = |d: &Diagnostic| (d.line, d.column);
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path)).then(place(a).cmp(&place(b)))
        });
        let left_out = found.len().saturating_sub(options.max_findings);
        found.truncate(options.max_findings);
        found.iter_mut().for_each(|found| found.message = one_line(&found.message, options.max_chars));
        skipped.iter_mut().for_each(|skipped| skipped.because = one_line(&skipped.because, options.max_chars));
        Diagnosis { findings: found, left_out, skipped }
    }
}

/// The text as one line of at most `most` characters, without control characters.
fn one_line(text: &str, most: usize) -> String {
    let mut letters = text.split_whitespace().flat_map(|word| [" ", word]).flat_map(str::chars).skip(1);
    let mut out: String =
        letters.by_ref().take(most).map(|letter| if letter.is_control() { '?' } else { letter }).collect();
    if letters.next().is_some() {
        out.pop();
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(feature = "syntax"))]
    #[test]
    fn a_language_that_is_not_built_in_is_skipped_once() {
        let dir = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let changes = ["a.rs", "b.rs", "c.json"].map(|name| {
            let path = RelPath::new(name.as_bytes()).unwrap();
            ChangedFile::new(path, None, Some(crate::diagnose::FileImage::new("{")))
        });
        let diagnosis = Diagnose::new(&workspace, DiagnoseOptions::default()).check(&changes);
        let skipped: Vec<_> = diagnosis.skipped.iter().map(|skipped| (&*skipped.check, &*skipped.because)).collect();
        let because = "this program was built without the feature `syntax`, which knows Rust";
        assert_eq!(skipped, [("syntax of a.rs and 1 more", because)]);
        assert_eq!(diagnosis.findings.len(), 1);
    }

    #[test]
    fn a_message_is_one_bounded_line() {
        let cases = [
            ("a\n  b\tc", 10, "a b c"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("äöüß", 3, "äö…"),
            ("a\x1b[1m", 10, "a?[1m"),
            ("", 5, ""),
        ];
        for (text, most, want) in cases {
            assert_eq!(one_line(text, most), want, "{text:?}");
        }
    }
}
