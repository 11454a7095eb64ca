//! What is known of a patch while it is still being written, as data and as one JSON object a line.
//!
//! ```json
//! {"event": "opened", "op": 0, "patch_line": 2, "action": "update", "path": "a"}
//! {"event": "placed", "op": 0, "hunk": {"hunk": 1, "line": 12, "lines": 3, "tier": "exact", "offset": null, "notes": []}}
//! {"event": "misfit", "op": 0, "failure": {"path": "a", "patch_line": 9, "hunk": 2, "code": "not-found", "message": "..."}}
//! {"event": "complete", "op": 0}
//! ```
//!
//! Operations count from 0, hunks and lines from 1; `hunk` and `failure` are those of the report.

use serde::Serialize;

use crate::patch::Action;
use crate::plan::{Failure, Placed};
use crate::report::json::{FailureWire, HunkWire, failed, placed};

/// What has become certain. See [`LiveApply`](crate::LiveApply).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LiveEvent {
    /// An operation began.
    Opened {
        /// Its number in the patch, from 0.
        op: usize,
        /// Line of the patch text where it begins.
        line: u64,
        /// Its path as written, with bytes that are not UTF-8 replaced.
        path: String,
        /// What kind of operation it is.
        action: Action,
    },
    /// A hunk has its place.
    Placed {
        /// The number of its operation, from 0.
        op: usize,
        /// Where it went.
        placed: Placed,
    },
    /// Something does not fit, whatever follows: the patch will be refused, with this failure among others.
    Misfit {
        /// The number of its operation, from 0.
        op: usize,
        /// The failure, as the refusal will tell it.
        failure: Box<Failure>,
    },
    /// An operation is complete and was planned.
    Complete {
        /// Its number in the patch, from 0.
        op: usize,
    },
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Wire<'a> {
    Opened { op: usize, patch_line: u64, action: &'static str, path: &'a str },
    Placed { op: usize, hunk: HunkWire },
    Misfit { op: usize, failure: Box<FailureWire<'a>> },
    Complete { op: usize },
}

impl LiveEvent {
    /// The event as one JSON object on one line, line feed included; see the head of this module in the source.
    #[must_use]
    pub fn json(&self) -> String {
        let wire = match self {
            LiveEvent::Opened { op, line, path, action } => {
                Wire::Opened { op: *op, patch_line: *line, action: name(*action), path }
            }
            LiveEvent::Placed { op, placed: hunk } => Wire::Placed { op: *op, hunk: placed(hunk) },
            LiveEvent::Misfit { op, failure } => Wire::Misfit { op: *op, failure: Box::new(failed(failure)) },
            LiveEvent::Complete { op } => Wire::Complete { op: *op },
        };
        // Strings, numbers and lists of them always have a JSON form.
        serde_json::to_string(&wire).unwrap_or_default() + "\n"
    }
}

fn name(action: Action) -> &'static str {
    match action {
        Action::Add => "add",
        Action::Delete => "delete",
        Action::Update => "update",
        Action::Copy => "copy",
        Action::Write => "write",
    }
}
