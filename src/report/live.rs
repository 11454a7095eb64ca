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
use crate::report::json::{FailureWire, failed, placed_note};

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
    Misfit { op: usize, failure: Box<FailureWire<'a>> },
}

impl LiveEvent {
    /// The event as one JSON object on one line, line feed included; see the head of this module in the source.
    #[must_use]
    pub fn json(&self) -> String {
        let mut line = String::new();
        self.write_json(&mut line);
        line
    }

    /// Appends [`LiveEvent::json`] to `out`. Costs no allocation of its own for a hunk that has its place.
    pub fn write_json(&self, out: &mut String) {
        match self {
            LiveEvent::Opened { op, line, path, action } => {
                wired(out, &Wire::Opened { op: *op, patch_line: *line, action: name(*action), path });
            }
            LiveEvent::Placed { op, placed } => write_placed(out, *op, placed),
            LiveEvent::Misfit { op, failure } => {
                wired(out, &Wire::Misfit { op: *op, failure: Box::new(failed(failure)) });
            }
            LiveEvent::Complete { op } => {
                out.push_str("{\"event\":\"complete\",\"op\":");
                number(out, *op as u64);
                out.push('}');
            }
        }
        out.push('\n');
    }
}

/// Rare events, which have texts in them.
fn wired(out: &mut String, wire: &Wire<'_>) {
    // Strings, numbers and lists of them always have a JSON form.
    out.push_str(&serde_json::to_string(wire).unwrap_or_default());
}

/// A placed hunk, by hand: a patch has thousands of them, and what is told of each must not cost as much as placing it.
fn write_placed(out: &mut String, op: usize, placed: &Placed) {
    let Placed { hunk, line, old_lines, tier, offset, notes } = placed;
    let before = [
        ("{\"event\":\"placed\",\"op\":", op),
        (",\"hunk\":{\"hunk\":", *hunk),
        (",\"line\":", *line),
        (",\"lines\":", *old_lines),
    ];
    for (key, value) in before {
        out.push_str(key);
        number(out, value as u64);
    }
    out.push_str(",\"tier\":\"");
    out.push_str(tier.name());
    out.push_str("\",\"offset\":");
    match offset {
        None => out.push_str("null"),
        Some(offset) => {
            out.push_str(if *offset < 0 { "-" } else { "" });
            number(out, offset.unsigned_abs());
        }
    }
    out.push_str(",\"notes\":[");
    for (index, note) in notes.iter().enumerate() {
        out.push_str(if index == 0 { "\"" } else { ",\"" });
        out.push_str(placed_note(*note));
        out.push('"');
    }
    out.push_str("]}}");
}

/// Appends a number.
fn number(out: &mut String, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] += (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::PlacedNote;
    use crate::policy::Tier;
    use crate::report::json::placed;

    proptest! {
        #[test]
        fn a_placed_hunk_is_told_as_the_report_tells_it(
            op: usize,
            hunk: usize,
            line in prop_oneof![0usize..200, any::<usize>()],
            old_lines: usize,
            tier in prop::sample::select(&Tier::ALL[..]),
            offset: Option<i64>,
            notes in prop::collection::vec(prop::sample::select(&[PlacedNote::OutOfOrder, PlacedNote::Reindented][..]), 0..4),
        ) {
            let event = LiveEvent::Placed { op, placed: Placed { hunk, line, old_lines, tier, offset, notes } };
            let LiveEvent::Placed { placed: told, .. } = &event else { unreachable!() };
            let wire = serde_json::to_string(&placed(told)).unwrap();
            prop_assert_eq!(event.json(), format!("{{\"event\":\"placed\",\"op\":{op},\"hunk\":{wire}}}\n"));
            prop_assert_eq!(LiveEvent::Complete { op }.json(), format!("{{\"event\":\"complete\",\"op\":{op}}}\n"));
        }
    }
}
