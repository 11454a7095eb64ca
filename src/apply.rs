//! The whole road in one place: bytes → parse → plan → prepare → commit → report.

mod live;

use std::io::Read;

use crate::commit::{self, CommitError, CommitErrorKind, CommitNote, CommitOptions, DiskState};
use crate::diagnose::{Baseline, ChangedFile, Diagnose, DiagnoseOptions};
use crate::limits::CancelToken;
use crate::patch::{Call, Note, ParseError, ParseOptions, Patch, ReadError};
use crate::plan::{Plan, PlanError, PlanOptions};
use crate::report::{self, Report};
use crate::undo;
use crate::workspace::Workspace;

pub use live::{LiveApply, LiveFiles};

/// How a patch is applied: the options of each stage. Costs nothing by itself.
#[derive(Clone, Debug, Default)]
pub struct ApplyOptions {
    parse: ParseOptions,
    plan: PlanOptions,
    commit: CommitOptions,
    diagnose: Option<DiagnoseOptions>,
    keep_undo: usize,
    cancel: CancelToken,
    check: bool,
}

/// Why a patch was not applied: one variant a stage. Each says what is true on the disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The patch text could not be read; nothing was changed.
    #[error("the patch could not be read")]
    Read(#[source] std::io::Error),
    /// The text is no patch; nothing was changed.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The patch does not fit the tree; nothing was changed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The caller cancelled before the first change; nothing was changed.
    #[error("the patch was cancelled; nothing was changed")]
    Cancelled,
    /// Preparing or committing failed; the error says what is true on the disk.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

impl ApplyOptions {
    /// Applies a patch text to a tree: all of it, or nothing.
    ///
    /// # Errors
    /// [`ApplyError`], one variant a stage; only [`ApplyError::Commit`] can follow a write, and it says what was put back.
    ///
    /// # Complexity
    /// Linear in the patch and the files it names.
    pub fn apply(&self, workspace: &Workspace, patch: &[u8]) -> Result<Report, ApplyError> {
        self.run(workspace, Patch::parse_with(patch, &self.parse)?)
    }

    /// As [`ApplyOptions::apply`], reading the patch piece by piece, so that its text is not held twice.
    ///
    /// # Errors
    /// As [`ApplyOptions::apply`], and [`ApplyError::Read`].
    pub fn apply_from(&self, workspace: &Workspace, patch: impl Read) -> Result<Report, ApplyError> {
        self.run(workspace, Patch::read(patch, &self.parse)?)
    }

    /// As [`ApplyOptions::apply`], with a patch that was read or made before.
    ///
    /// # Errors
    /// As [`ApplyOptions::apply`].
    pub fn run(&self, workspace: &Workspace, mut patch: Patch) -> Result<Report, ApplyError> {
        let resumed = self.resume(workspace)?;
        let notes = std::mem::take(&mut patch.notes);
        self.go_on()?;
        let plan = Plan::new(patch, workspace, &self.plan)?;
        self.conclude(workspace, plan, notes, resumed)
    }

    /// From the plan to the report.
    fn conclude(
        &self,
        workspace: &Workspace,
        plan: Plan,
        notes: Vec<Note>,
        resumed: Vec<CommitNote>,
    ) -> Result<Report, ApplyError> {
        let checks = self.diagnose.as_ref().map(|options| {
            let changes = ChangedFile::from_steps(plan.steps());
            (Diagnose::new(workspace, options.clone()), changes)
        });
        if self.check {
            let diagnosis = checks.map(|(checks, changes)| checks.check(&changes));
            return Ok(Report::planned(plan, notes).with_diagnosis(diagnosis));
        }
        let baseline = checks.map(|(checks, changes)| checks.before(changes));
        self.go_on()?;
        let prepared = commit::prepare(workspace, plan.steps(), &self.commit)?;
        self.go_on()?;
        let mut outcome = prepared.commit()?;
        outcome.notes.splice(0..0, resumed);
        if let Err(error) = undo::keep(workspace, &plan, &outcome, self.keep_undo) {
            outcome.notes.push(CommitNote::UndoNotKept(error.to_string()));
        }
        Ok(Report::committed(plan, notes, outcome).with_diagnosis(baseline.map(Baseline::after)))
    }

    /// An error once the caller has cancelled.
    fn go_on(&self) -> Result<(), ApplyError> {
        if self.cancel.is_cancelled() { Err(ApplyError::Cancelled) } else { Ok(()) }
    }

    /// Brings back what an interrupted commit left, so that a patch is planned on a tree that is whole; a check only refuses
    /// to go on. [`ApplyOptions::run`] does it by itself; before a [`LiveApply`] it is the caller's to do.
    ///
    /// # Errors
    /// [`CommitError`] says what could not be brought back, or who holds the lock.
    pub fn resume(&self, workspace: &Workspace) -> Result<Vec<CommitNote>, CommitError> {
        if self.check {
            return commit::refuse_unfinished(workspace, &self.commit).map(|()| Vec::new());
        }
        commit::resume(workspace, &self.commit)
    }

    /// Sets how many patches can be undone by [`undo`](crate::undo): what is replaced is kept beside the journal. Default: 0, nothing is
    /// kept.
    #[must_use]
    pub fn keep_undo(mut self, patches: usize) -> Self {
        self.keep_undo = patches;
        self
    }

    /// Sets a token that ends the work before the first change, when it is looked at: before planning, staging and
    /// committing. After the first change the patch is finished. Default: one that nobody cancels.
    #[must_use]
    pub fn cancel(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }

    /// Sets how the text is parsed. Default: [`ParseOptions::default`].
    #[must_use]
    pub fn parse(mut self, options: ParseOptions) -> Self {
        self.parse = options;
        self
    }

    /// Sets how the patch is planned. Default: [`PlanOptions::default`].
    #[must_use]
    pub fn plan(mut self, options: PlanOptions) -> Self {
        self.plan = options;
        self
    }

    /// Sets how the plan is committed. Default: [`CommitOptions::default`].
    #[must_use]
    pub fn commit(mut self, options: CommitOptions) -> Self {
        self.commit = options;
        self
    }

    /// Sets which checks look for what the patch broke; they never fail the patch. Costs what the checks cost, at most the
    /// time of their options. Default: none.
    #[must_use]
    pub fn diagnose(mut self, options: DiagnoseOptions) -> Self {
        self.diagnose = Some(options);
        self
    }

    /// Sets whether to stop after planning, so that nothing is written. Default: `false`.
    #[must_use]
    pub fn check(mut self, check: bool) -> Self {
        self.check = check;
        self
    }
}

/// What is true on the disk after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterError {
    /// Nothing was changed: the patch is refused.
    Refused,
    /// The system failed; everything was put back.
    RolledBack,
    /// Something could not be put back; the error says what.
    Incomplete,
}

impl ApplyError {
    /// What is true on the disk.
    #[must_use]
    pub fn state(&self) -> AfterError {
        match self {
            ApplyError::Read(_) => AfterError::RolledBack,
            ApplyError::Parse(_) | ApplyError::Plan(_) | ApplyError::Cancelled => AfterError::Refused,
            ApplyError::Commit(error) => match (error.state(), error.kind()) {
                (DiskState::Incomplete(_), _) => AfterError::Incomplete,
                (DiskState::Untouched, kind) if !matches!(kind, CommitErrorKind::Io { .. }) => AfterError::Refused,
                _ => AfterError::RolledBack,
            },
        }
    }

    /// The whole story for people and models: what, where, what to do next. At most 8 KiB.
    #[must_use]
    pub fn explain(&self) -> String {
        match self {
            ApplyError::Read(error) => format!("the patch could not be read: {error}; nothing was changed"),
            ApplyError::Parse(error) => format!("this is no patch that can be applied; nothing was changed\n{error}"),
            ApplyError::Plan(error) => report::refusal(error),
            ApplyError::Cancelled => self.to_string(),
            ApplyError::Commit(error) => error.to_string(),
        }
    }

    /// The answers to the calls that the operations came in, as [`Report::call_outputs`] gives them after success.
    #[must_use]
    pub fn call_outputs(&self, calls: &[Call]) -> String {
        let failures = if let ApplyError::Plan(error) = self { &error.failures[..] } else { &[] };
        report::failed_calls(calls, failures, &self.explain())
    }

    /// The error as one JSON object, in the form of [`Report::json`].
    #[must_use]
    pub fn json(&self) -> String {
        match (self, self.state()) {
            (ApplyError::Plan(error), _) => report::refused(error),
            (_, AfterError::Refused) => report::stopped("refused", self.explain()),
            (_, AfterError::RolledBack) => report::stopped("rolled-back", self.explain()),
            (_, AfterError::Incomplete) => report::stopped("incomplete", self.explain()),
        }
    }
}

impl From<ReadError> for ApplyError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => ApplyError::Read(error),
            ReadError::Parse(error) => ApplyError::Parse(error),
        }
    }
}
