//! Events: what happened in a session, numbered, for people and programs that watch it.
//!
//! An event is written in the transaction that made it true, so the stream has neither gaps nor things that did not
//! happen. Nothing is resumed from events; a program that does not know a kind may skip it. As JSON an event is one
//! line: `{"seq":7,"turn":1,"at":"2026-01-02T03:04:05.678Z","type":"tool_started",…}`.

use serde::Serialize;

use super::record::{Spent, TurnState, WaitKind};
use crate::harness::manifest::Effects;

/// What happened.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The session was made.
    SessionStarted {
        /// The agent's name.
        agent: String,
        /// The model's id.
        model: String,
        /// The workspace's root.
        root: String,
    },
    /// The workspace got files that it is to start with.
    Seeded {
        /// The files that were made.
        made: Vec<String>,
        /// Paths where something stood already; it is as it was.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// A process took the session up again.
    Resumed {
        /// Its fencing number.
        fence: u64,
    },
    /// A turn began with a person's message.
    TurnStarted {
        /// The message.
        text: String,
    },
    /// A message came in while the turn was open.
    Steered {
        /// The message.
        text: String,
    },
    /// A step began: the model is called.
    StepStarted {
        /// The step, from 1.
        step: u32,
    },
    /// The model's reply is complete.
    ModelReplied {
        /// The step.
        step: u32,
        /// The text for the person; may be empty.
        text: String,
        /// The tools it calls, in order.
        calls: Vec<String>,
        /// What the call cost.
        spent: Spent,
    },
    /// The model could not be called.
    ModelFailed {
        /// The step.
        step: u32,
        /// Why.
        error: String,
    },
    /// A tool is about to run.
    ToolStarted {
        /// The operation's key.
        key: String,
        /// The tool.
        name: String,
        /// What running it twice does.
        effects: Effects,
        /// The beginning of its input.
        input: String,
        /// 1, or more after a crash.
        attempt: u32,
    },
    /// A tool's result is recorded.
    ToolFinished {
        /// The operation's key.
        key: String,
        /// The tool.
        name: String,
        /// Whether it did what it was asked.
        ok: bool,
        /// The beginning of its output.
        output: String,
        /// The files it changed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        changed: Vec<String>,
        /// The result as data, if the tool gives one.
        #[serde(skip_serializing_if = "Option::is_none")]
        report: Option<serde_json::Value>,
    },
    /// The turn needs a person.
    Asked {
        /// The wait's number.
        wait: u64,
        /// What is asked.
        kind: WaitKind,
        /// The operation held up.
        key: String,
        /// What to show.
        prompt: serde_json::Value,
    },
    /// A person answered.
    Answered {
        /// The wait's number.
        wait: u64,
        /// The answer.
        answer: serde_json::Value,
    },
    /// Nobody can tell whether a tool ran.
    ToolUnknown {
        /// The operation's key.
        key: String,
        /// The tool.
        name: String,
    },
    /// The same failing call was seen again and again.
    LoopNoticed {
        /// The tool.
        name: String,
        /// How often in a row.
        times: u32,
    },
    /// The older part of the history was shortened.
    Compacted {
        /// How: `shortened` or `summarised`.
        how: &'static str,
        /// Messages replaced.
        replaced: usize,
        /// Estimated tokens before.
        before: u64,
        /// Estimated tokens after.
        after: u64,
    },
    /// A note for the person.
    Note {
        /// The text.
        text: String,
    },
    /// The turn ended.
    TurnEnded {
        /// How.
        state: TurnState,
        /// The reason when there is no answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// What the turn cost.
        spent: Spent,
    },
    /// Files of the session were put back.
    Undone {
        /// The files.
        paths: Vec<String>,
    },
}

/// An event as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredEvent {
    /// Its number in the session, from 1, without gaps.
    pub seq: u64,
    /// The turn; 0 outside of one.
    pub turn: u32,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// The rest, with its `type`.
    pub body: serde_json::Value,
}

impl StoredEvent {
    /// The kind, or an empty text when the record has none.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.body.get("type").and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    /// The event as one line of JSON, without the line feed.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut line = serde_json::Map::new();
        line.insert("seq".into(), self.seq.into());
        line.insert("turn".into(), self.turn.into());
        line.insert("at".into(), timestamp(self.at).into());
        if let serde_json::Value::Object(body) = &self.body {
            line.extend(body.clone());
        }
        serde_json::Value::Object(line).to_string()
    }
}

/// A time in milliseconds since 1970 as RFC 3339 in UTC.
#[must_use]
pub fn timestamp(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).map(|at| format!("{at:.3}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_with_its_number_and_kind() {
        let body = serde_json::to_value(Event::Note { text: "a\nb".into() }).unwrap();
        let event = StoredEvent { seq: 3, turn: 1, at: 1_767_323_045_678, body };
        let line = event.to_json();
        assert!(!line.contains('\n'), "{line}");
        let back: serde_json::Value = serde_json::from_str(&line).unwrap();
        let want =
            serde_json::json!({"seq": 3, "turn": 1, "at": "2026-01-02T03:04:05.678Z", "type": "note", "text": "a\nb"});
        assert_eq!(back, want);
    }
}
