//! What happened, as data, text, JSON and diff. Pure: nothing here reads the disk.

mod calls;
mod diff;
mod failure;
mod hunk;
mod json;
mod live;
mod text;

pub(crate) use self::calls::failed_calls;
pub use self::diff::DiffOptions;
pub(crate) use self::failure::refusal;
pub(crate) use self::json::{refused, stopped};
pub use self::live::LiveEvent;
#[cfg(feature = "cli")]
pub(crate) use self::text::warning;

use crate::commit::Outcome;
use crate::diagnose::Diagnosis;
use crate::patch::{Call, Note};
use crate::plan::{FileChange, Plan};

/// What a patch did, or would do.
#[derive(Debug)]
pub struct Report {
    plan: Plan,
    notes: Vec<Note>,
    outcome: Option<Outcome>,
    diagnosis: Option<Diagnosis>,
}

impl Report {
    /// The report of a plan that was not committed.
    #[must_use]
    pub fn planned(plan: Plan, notes: Vec<Note>) -> Self {
        Report { plan, notes, outcome: None, diagnosis: None }
    }

    /// The report of a committed plan.
    #[must_use]
    pub fn committed(plan: Plan, notes: Vec<Note>, outcome: Outcome) -> Self {
        Report { plan, notes, outcome: Some(outcome), diagnosis: None }
    }

    /// What each operation did, in the order of the patch.
    #[must_use]
    pub fn changes(&self) -> &[FileChange] {
        self.plan.changes()
    }

    /// What was accepted besides the grammar.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The plan behind the report.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// What the commit says; `None` when the plan was only checked.
    #[must_use]
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// The same with what the checks found.
    #[must_use]
    pub(crate) fn with_diagnosis(mut self, diagnosis: Option<Diagnosis>) -> Self {
        self.diagnosis = diagnosis;
        self
    }

    /// What the checks found; `None` when none was asked for.
    #[must_use]
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_ref()
    }

    /// What one may trip over although the patch fits, one sentence each: lines added where they already stood, indentation
    /// that could not be adapted, an attribute that could not be kept. Of hunks, the first few are named.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let notes = self.outcome.iter().flat_map(|outcome| &outcome.notes);
        text::of_hunks(self.changes()).into_iter().chain(notes.filter_map(text::warning)).collect()
    }

    /// The success lines that drop-in users expect: `A`, `M` and `D` with the paths as the patch wrote them.
    #[must_use]
    pub fn text(&self) -> String {
        text::success(self)
    }

    /// The answers to the calls that the operations came in (see [`Format::Edits`](crate::Format::Edits)), as a JSON list of
    /// `apply_patch_call_output` objects.
    #[must_use]
    pub fn call_outputs(&self, calls: &[Call]) -> String {
        calls::completed(calls, self)
    }

    /// A git-style unified diff of everything that changed.
    #[must_use]
    pub fn diff(&self, options: &DiffOptions) -> Vec<u8> {
        diff::diff(&self.plan, options)
    }

    /// The patch that undoes this one, in git's format: every byte, the modes git knows, links. Files that are not text
    /// are in it as they are.
    ///
    /// # Complexity
    /// As [`Report::diff`], and one copy of each changed file.
    #[must_use]
    pub fn undo_patch(&self) -> Vec<u8> {
        diff::diff(&self.plan.reversed_simply(), &DiffOptions::default().max_bytes(usize::MAX))
    }

    /// One JSON object; its form is documented in the source of this crate's `report::json` and is versioned.
    #[must_use]
    pub fn json(&self) -> String {
        json::report(self, None)
    }

    /// As [`Report::json`], with the diff as a text field.
    #[must_use]
    pub fn json_with_diff(&self, options: &DiffOptions) -> String {
        json::report(self, Some(&self.diff(options)))
    }
}
