//! What all tools that edit files share: plan first, record what will change, then commit exactly that.
//!
//! The intent holds the fingerprints of every file before and after, and the very answer the model will get. After a
//! crash the fingerprints on the disk tell which side of the transaction the tree is on, so an edit is never made twice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, FileChange, Intent, Outcome, Seen, Settled};
use crate::{
    After, Before, ChangedFile, CommitOptions, Diagnose, DiagnoseOptions, DiffOptions, Digest, Expectations, GENERATED,
    Patch, Plan, PlanError, PlanOptions, Policy, RecoverOptions, RelPath, Report, Source as _, State, Step, Workspace,
    prepare, recover,
};

/// How much of a diff the model is shown.
const DIFF: usize = 16 << 10;

/// What is recorded before an edit.
#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    changes: Vec<FileChange>,
    text: String,
    report: Value,
}

/// Plans a patch and says what it will change.
///
/// Files the session has seen are refused when they have changed since.
pub(super) fn intent(call: &Call, patch: &Patch, policy: Policy, said: Said) -> Result<Intent, Box<Outcome>> {
    let notes = patch.notes.clone();
    let plan = plan(call, patch, policy).map_err(|error| Box::new(refused(&error)))?;
    let (changes, blobs) = changes(&plan).map_err(|why| Box::new(Outcome::error(why)))?;
    if changes.is_empty() {
        return Err(Box::new(Outcome::error("nothing would change: the files are like that already")));
    }
    // The answer is that of an edit that worked: it is given only when it has.
    let found =
        Diagnose::new(call.env.workspace(), DiagnoseOptions::default()).check(&ChangedFile::from_steps(plan.steps()));
    let report = Report::committed(plan, notes, crate::Outcome::default());
    let diff = report.diff(&DiffOptions::default().max_bytes(DIFF));
    let mut text = format!("{}{}", said(&report), String::from_utf8_lossy(&diff));
    let mut report: Value = serde_json::from_str(&report.json()).unwrap_or_default();
    if !found.is_clean() {
        text.push_str(&format!("\nThis edit brought in problems:\n{}", found.text()));
        report["diagnostics"] = serde_json::from_str(&found.json()).unwrap_or_default();
    }
    let checkpoint = serde_json::to_value(Checkpoint { changes, text, report });
    let checkpoint = checkpoint.map_err(|error| Box::new(Outcome::error(error.to_string())))?;
    Ok(Intent { checkpoint: Some(checkpoint), blobs })
}

/// What is said about an edit that worked, before its diff.
pub(super) type Said = fn(&Report) -> String;

/// Commits what the intent says, or nothing.
pub(super) fn run(call: &Call, patch: &Patch, policy: Policy, checkpoint: Option<Value>) -> Outcome {
    let Some(checkpoint) = read(checkpoint.as_ref()) else {
        return Outcome::error("the record of what was to change is lost; nothing was changed. Try again");
    };
    let plan = match plan(call, patch, policy) {
        Ok(plan) => plan,
        Err(error) => return refused(&error),
    };
    if !changes(&plan).is_ok_and(|(changes, _)| changes == checkpoint.changes) {
        return Outcome::error(
            "a file was changed by someone else in this very moment; nothing was changed. Read it again",
        );
    }
    let committed = prepare(call.env.workspace(), plan.steps(), &CommitOptions::default()).and_then(|it| it.commit());
    match committed {
        Ok(outcome) => {
            let mut done = outcome_of(checkpoint);
            for warning in Report::committed(plan, Vec::new(), outcome).warnings() {
                done.text.push_str(&format!("note: {warning}\n"));
            }
            done
        }
        Err(error) => Outcome::error(error.to_string()),
    }
}

/// On which side of an edit the tree is. One that is in the middle is first brought to one of them.
pub(super) fn settle(call: &Call, checkpoint: Option<&Value>) -> Settled {
    let Some(checkpoint) = read(checkpoint) else { return Settled::Unknown };
    let workspace = call.env.workspace();
    let mut sides = sides(workspace, &checkpoint.changes);
    if sides == Some((false, false)) && recover(workspace, &RecoverOptions::default()).is_ok() {
        sides = self::sides(workspace, &checkpoint.changes);
    }
    match sides {
        Some((_, true)) => Settled::Done(outcome_of(checkpoint)),
        Some((true, false)) => Settled::Again,
        _ => Settled::Unknown,
    }
}

/// Whether all files are as before, and whether all are as after; `None` when that cannot be found out.
fn sides(workspace: &Workspace, changes: &[FileChange]) -> Option<(bool, bool)> {
    let (mut before, mut after) = (true, true);
    for change in changes {
        let now = fingerprint(workspace, &change.path).ok()?;
        before &= now == change.before;
        after &= now == change.after;
    }
    Some((before, after))
}

/// The policy of the harness: generated files and its own are left alone.
pub(super) fn policy() -> Policy {
    let own = [format!("{}/", super::env::PRIVATE)];
    Policy::default().protected(GENERATED.iter().map(|glob| (*glob).to_owned()).chain(own))
}

fn read(checkpoint: Option<&Value>) -> Option<Checkpoint> {
    checkpoint.and_then(|value| Checkpoint::deserialize(value).ok())
}

fn outcome_of(checkpoint: Checkpoint) -> Outcome {
    let seen = checkpoint.changes.iter().map(|change| (change.path.clone(), change.after)).collect();
    let report = Some(checkpoint.report);
    Outcome { seen, changes: checkpoint.changes, report, ..Outcome::ok(checkpoint.text) }
}

fn refused(error: &PlanError) -> Outcome {
    let error = crate::ApplyError::Plan(error.clone());
    let report = serde_json::from_str(&error.json()).ok();
    Outcome { report, ..Outcome::error(error.explain()) }
}

fn plan(call: &Call, patch: &Patch, policy: Policy) -> Result<Plan, PlanError> {
    let options = PlanOptions::default().policy(policy).expectations(expectations(&call.seen));
    Plan::new(patch.clone(), call.env.workspace(), &options)
}

/// What the session believes the files to hold.
pub(super) fn expectations(seen: &Seen) -> Expectations {
    let known = seen.iter().filter_map(|(path, digest)| Some((path, (*digest)?)));
    // A path that is none was never read.
    let known = known.filter(|(path, _)| RelPath::new(path.as_bytes()).is_ok());
    known.fold(Expectations::new(), |all, (path, digest)| all.digest(path, digest).expect("the path was checked"))
}

type Changes = (Vec<FileChange>, Vec<(Digest, Vec<u8>)>);

/// The changes of a plan, with all contents before and after.
fn changes(plan: &Plan) -> Result<Changes, String> {
    let steps: BTreeMap<&RelPath, &Step> = plan.steps().iter().map(|step| (&step.path, step)).collect();
    let (mut changes, mut blobs) = (Vec::new(), Vec::new());
    let mut keep = |bytes: Vec<u8>| {
        let digest = Digest::of(&bytes);
        blobs.push((digest, bytes));
        digest
    };
    for step in plan.steps() {
        let before = content_before(step);
        let after = match &step.after {
            After::Absent => None,
            After::Content { content, .. } => Some(content.to_vec()),
            After::Link { target } => Some([LINK, target].concat()),
            After::Moved { from } => match steps.get(from) {
                Some(step) => content_before(step),
                None => return Err(format!("the plan moves `{from}`, which it does not name")),
            },
        };
        let mode = match &step.before {
            Before::File(file) => Some(file.stamp.mode & 0o7777),
            _ => None,
        };
        let change = FileChange {
            path: step.path.as_str().to_owned(),
            before: before.map(&mut keep),
            after: after.map(&mut keep),
            mode,
        };
        // A rename of a mode, or onto an equal file, has nothing to tell apart.
        if change.before != change.after {
            changes.push(change);
        }
    }
    Ok((changes, blobs))
}

/// What marks the bytes of a link, which are no file's.
pub(super) const LINK: &[u8] = b"symbolic link to ";

fn content_before(step: &Step) -> Option<Vec<u8>> {
    match &step.before {
        Before::Absent => None,
        Before::File(file) => Some(file.bytes.to_vec()),
        Before::Link(target) => Some([LINK, target].concat()),
    }
}

/// The fingerprint of what stands at a path, as [`changes`] makes it; `None` when nothing does.
pub(super) fn fingerprint(workspace: &Workspace, path: &str) -> Result<Option<Digest>, String> {
    let path = RelPath::new(path.as_bytes()).map_err(|error| error.to_string())?;
    match workspace.load(&path).map_err(|error| error.to_string())?.state {
        State::Absent => Ok(None),
        State::File(file) => Ok(Some(Digest::of(&file.bytes))),
        State::Link(target) => Ok(Some(Digest::of(&[LINK, &target].concat()))),
        State::Dir => Err("is a directory".into()),
        State::Special(what) => Err(format!("is {what}")),
    }
}
