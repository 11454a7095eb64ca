//! The answers to a model's calls: one object a call.
//!
//! ```json
//! [{"type": "apply_patch_call_output", "call_id": "c1", "status": "completed", "output": "M src/a.py\n"},
//!  {"type": "apply_patch_call_output", "call_id": "c2", "status": "failed", "output": "..."}]
//! ```
//!
//! All calls of a text are one transaction: when one fails, none is done, and each answer says so.

use serde::Serialize;

use crate::patch::Call;
use crate::plan::{Failure, PlanError};
use crate::report::{Report, failure, text};

#[derive(Serialize)]
struct Answer<'a> {
    r#type: &'static str,
    call_id: &'a str,
    status: &'static str,
    output: String,
}

impl<'a> Answer<'a> {
    fn new(call: &'a Call, status: &'static str, output: String) -> Self {
        Answer { r#type: "apply_patch_call_output", call_id: &call.id, status, output }
    }
}

fn list(answers: &[Answer<'_>]) -> String {
    // Strings always have a JSON form.
    serde_json::to_string(answers).unwrap_or_default() + "\n"
}

/// The answers after success.
pub(super) fn completed(calls: &[Call], report: &Report) -> String {
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        let changes = report.changes().get(call.ops.clone()).unwrap_or_default();
        answers.push(Answer::new(call, "completed", changes.iter().map(text::line).collect()));
    }
    list(&answers)
}

/// The answers when nothing was changed. `all` is the whole story, for errors that name no operation.
pub(crate) fn failed_calls(calls: &[Call], failures: &[Failure], all: &str) -> String {
    let mut answers = Vec::with_capacity(calls.len());
    for call in calls {
        let own: Vec<Failure> = failures.iter().filter(|failure| call.ops.contains(&failure.op)).cloned().collect();
        let output = match (own.is_empty(), failures.is_empty()) {
            (false, _) => failure::refusal(&PlanError { failures: own }),
            (true, false) => {
                "not done, because another call of the same request failed; nothing was changed\n".to_owned()
            }
            (true, true) => all.to_owned(),
        };
        answers.push(Answer::new(call, "failed", output));
    }
    list(&answers)
}
