//! The rows of the journal as data: sessions, turns, operations, waits, file changes. No behaviour.

use std::fmt;

use crate::harness::manifest::Effects;
use crate::harness::tools::FileChange;

/// Makes an enum whose values have fixed names, as the database and the event stream write them.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $variant,)* }

        impl $name {
            /// The name in the database and in events.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value of that name.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

named! {
    /// Where a session stands.
    SessionState {
        /// No turn is open.
        Idle = "idle",
        /// A turn is open and has work to do.
        Running = "running",
        /// A turn is open and waits for a person.
        Waiting = "waiting",
    }
}

named! {
    /// Where a turn stands.
    TurnState {
        /// It has steps to make.
        Open = "open",
        /// It ended with an answer.
        Done = "done",
        /// It ended without one; the outcome says why.
        Failed = "failed",
        /// A person stopped it.
        Cancelled = "cancelled",
    }
}

named! {
    /// Where an operation stands. The order is `intended`, `started`, then one of the others.
    OpState {
        /// It is to run; nothing of it has happened.
        Intended = "intended",
        /// It may have happened, wholly or in part.
        Started = "started",
        /// It happened, and its result is recorded.
        Done = "done",
        /// It ended with an error, which is its result.
        Failed = "failed",
        /// The process died while it ran and it must not be repeated unasked.
        Unknown = "unknown",
    }
}

named! {
    /// What an operation is.
    OpKind {
        /// A call of the model.
        Model = "model",
        /// A call of a tool.
        Tool = "tool",
        /// A call of the model that summarises the older part of the history.
        Compact = "compact",
    }
}

impl Effects {
    /// The name in the database and in events.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Effects::Pure => "pure",
            Effects::Read => "read",
            Effects::Idempotent => "idempotent",
            Effects::Once => "once",
        }
    }

    /// The value of that name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Effects::Pure, Effects::Read, Effects::Idempotent, Effects::Once].into_iter().find(|it| it.as_str() == text)
    }

    /// Whether a run that may have happened can simply be made again.
    #[must_use]
    pub fn repeatable(self) -> bool {
        self != Effects::Once
    }

    /// Whether the world is left as it was.
    #[must_use]
    pub fn harmless(self) -> bool {
        matches!(self, Effects::Pure | Effects::Read)
    }
}

named! {
    /// What a turn waits for.
    WaitKind {
        /// A tool call needs a yes.
        Approval = "approval",
        /// The model asked something.
        Question = "question",
        /// A tool call may or may not have happened when the process died.
        Unknown = "unknown",
        /// A limit was reached; a yes goes on.
        Limit = "limit",
    }
}

/// What a session is made from. Fixed for its whole life.
#[derive(Clone, Debug)]
pub struct NewSession {
    /// Its id, unique in the world.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The workspace's root, absolute.
    pub root: String,
    /// The model's id.
    pub model: String,
    /// The fingerprint of the manifest it was made from.
    pub manifest: String,
    /// The base prompt: the same bytes for every call of the session.
    pub prompt: String,
    /// The tool definitions as JSON: the same bytes for every call of the session.
    pub tools: String,
    /// A line for lists, usually the beginning of the first message.
    pub title: String,
}

/// Tokens spent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Spent {
    /// Tokens read by the model, cached ones included.
    pub input: u64,
    /// Of those, read from the provider's cache.
    pub cached: u64,
    /// Tokens written by the model, reasoning included.
    pub output: u64,
}

impl Spent {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Spent) -> Spent {
        Spent {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
        }
    }

    /// Input and output together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// A session as the list shows it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The agent's name.
    pub agent: String,
    /// The workspace's root, absolute.
    pub root: String,
    /// The model's id.
    pub model: String,
    /// The fingerprint of the manifest it was made from.
    pub manifest: String,
    /// A line for lists.
    pub title: String,
    /// Where it stands.
    pub state: SessionState,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it was last written to.
    pub updated_at: i64,
    /// Tokens spent.
    pub spent: Spent,
    /// How often a model was called, calls that failed included, calls that were made again not.
    pub calls: u32,
    /// The number of its newest event; 0 before the first.
    pub last_event: u64,
    /// Who runs it, if anybody does.
    pub owner: Option<String>,
    /// Until when, in milliseconds since 1970, unless renewed.
    pub lease_until: Option<i64>,
}

/// A turn: from a person's message to the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its number, from 1.
    pub turn: u32,
    /// Where it stands.
    pub state: TurnState,
    /// The step it is in, from 1; 0 before the first.
    pub step: u32,
    /// Options of the turn as JSON (the output schema, limits).
    pub options: String,
    /// Tokens spent in it.
    pub spent: Spent,
    /// When it began.
    pub started_at: i64,
    /// How it ended, as JSON, once it has.
    pub outcome: Option<String>,
}

/// A message of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number in the session, from 1, in the order of writing.
    pub seq: u64,
    /// Where it stands in the history: its own number, or that of the message it stands for.
    pub place: u64,
    /// The turn it was written in.
    pub turn: u32,
    /// The message as JSON.
    pub body: String,
}

/// A piece of work with an intent and a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpRow {
    /// Its name in the session: the idempotency key. `turn.step.m` or `turn.step.index`.
    pub key: String,
    /// The turn.
    pub turn: u32,
    /// The step.
    pub step: u32,
    /// A tool's place among the calls of its step, in the order of request; a model call's number in the session,
    /// from 0.
    pub index: u32,
    /// What it is.
    pub kind: OpKind,
    /// The tool's name, or the model's id.
    pub name: String,
    /// The id by which the model knows the call.
    pub call_id: String,
    /// What running it twice does.
    pub effects: Effects,
    /// Its input as JSON.
    pub input: String,
    /// Where it stands.
    pub state: OpState,
    /// How often it was started.
    pub attempt: u32,
    /// What the tool noted before it ran, as JSON, to tell after a crash what happened.
    pub checkpoint: Option<String>,
    /// Its result as JSON; dropped once the history holds it.
    pub result: Option<String>,
}

/// A thing the turn waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitRow {
    /// Its number in the session, from 1.
    pub id: u64,
    /// The turn.
    pub turn: u32,
    /// What it is.
    pub kind: WaitKind,
    /// The operation it holds up; empty for a limit.
    pub key: String,
    /// What to show the person, as JSON.
    pub prompt: String,
    /// The answer as JSON, once given.
    pub answer: Option<String>,
}

/// A file change as it was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// Its number in the session, from 1.
    pub seq: u64,
    /// The operation that made it.
    pub key: String,
    /// The change.
    pub change: FileChange,
}

/// Something that another process put in for the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxRow {
    /// Its number in the database.
    pub id: u64,
    /// What it is.
    pub item: InboxItem,
}

/// What can be put in for a session, whoever runs it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
#[non_exhaustive]
pub enum InboxItem {
    /// A message of the person: steers the open turn, or begins one.
    Message {
        /// The text.
        text: String,
    },
    /// Stop the open turn.
    Cancel,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for state in [OpState::Intended, OpState::Started, OpState::Done, OpState::Failed, OpState::Unknown] {
            assert_eq!(OpState::parse(state.as_str()), Some(state));
        }
        assert_eq!(Effects::parse("sometimes"), None);
        assert_eq!(serde_json::to_string(&Effects::Once).unwrap(), "\"once\"");
    }

    #[test]
    fn only_once_may_not_be_repeated() {
        let table = [
            (Effects::Pure, true, true),
            (Effects::Read, true, true),
            (Effects::Idempotent, true, false),
            (Effects::Once, false, false),
        ];
        for (effects, repeatable, harmless) in table {
            assert_eq!((effects.repeatable(), effects.harmless()), (repeatable, harmless), "{effects:?}");
        }
    }
}
