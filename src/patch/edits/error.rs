//! Why a JSON text is no list of edits.

use super::shown;
use crate::patch::ParseError;

/// What is wrong. Every refusal of the machine is one of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::patch) enum Kind {
    /// The text is no UTF-8.
    #[error("the JSON text is not UTF-8")]
    NotUtf8,
    /// The text is no JSON.
    #[error("the text is no JSON: {message}")]
    Json { message: String, cut_off: bool },
    /// A value is no object of the right form.
    #[error("this is no edit: {message}")]
    Object { message: String },
    /// A patch stands in a JSON string.
    #[error("the patch is wrapped in JSON")]
    Wrapped,
    /// Lists in lists in lists.
    #[error("the lists are nested too deep")]
    TooDeep,
    /// There is no operation.
    #[error("there is no edit in the JSON text")]
    Nothing,
    /// A key is missing.
    #[error("the key `{key}` is missing or empty")]
    Missing { key: &'static str },
    /// Keys of several kinds of operations.
    #[error("the object mixes keys of different edits")]
    Mixed,
    /// A type or command that is not known.
    #[error("`{name}` is no known kind of edit")]
    UnknownType { name: String },
    /// An empty old text in a list of edits.
    #[error("`old_string` is empty")]
    EmptyOld,
    /// Both texts are equal.
    #[error("`old_string` and `new_string` are equal")]
    Equal,
    /// A hash that is none.
    #[error("`{hash}` is no content hash")]
    BadHash { hash: String },
    /// A headerless diff cannot be read.
    #[error("in the diff of operation {number} (`{path}`): {problem}")]
    InDiff { number: usize, path: String, problem: Box<ParseError> },
}

impl Kind {
    /// The error of a text that is no JSON.
    pub(super) fn json(error: &serde_json::Error) -> Self {
        Kind::Json { message: shown(&error.to_string()), cut_off: error.is_eof() }
    }

    /// The error of a value that is no edit.
    pub(super) fn object(text: &str, error: &serde_json::Error) -> Self {
        if text.contains("*** Begin Patch") {
            return Kind::Wrapped;
        }
        let message = error.to_string();
        let message = message.split_once(", expected one of").map_or(message.as_str(), |(start, _)| start);
        let message = message.rsplit_once(" at line ").map_or(message, |(start, _)| start);
        Kind::Object { message: shown(message) }
    }

    /// Whether a text that was cut off looks like this.
    pub(in crate::patch) fn is_cut_off(&self) -> bool {
        matches!(self, Kind::Json { cut_off: true, .. })
    }

    /// A short name that stays the same between versions.
    pub(in crate::patch) fn code(&self) -> &'static str {
        match self {
            Kind::NotUtf8 => "not-utf8",
            Kind::Json { .. } => "no-json",
            Kind::Object { .. } => "no-edit",
            Kind::Wrapped => "json",
            Kind::TooDeep => "too-deep",
            Kind::Nothing => "no-operation",
            Kind::Missing { .. } => "missing-key",
            Kind::Mixed => "mixed-keys",
            Kind::UnknownType { .. } => "unknown-type",
            Kind::EmptyOld => "empty-old-string",
            Kind::Equal => "no-change",
            Kind::BadHash { .. } => "bad-hash",
            Kind::InDiff { problem, .. } => problem.code(),
        }
    }

    /// What to do about it.
    pub(in crate::patch) fn advice(&self, _received: &[u8]) -> &'static str {
        match self {
            Kind::NotUtf8 => "send the JSON text as UTF-8",
            Kind::Json { .. } => "send one complete JSON value: an object, or a list of objects",
            Kind::Object { .. } => {
                "the keys are `path` with `old_string` and `new_string`, or `edits`, or `content`, or `insert_line` and \
                 `text`, or `type` and `diff`"
            }
            Kind::Wrapped => "send the text of the patch itself, with real line breaks, not a JSON value that holds it",
            Kind::TooDeep => "send one list of objects",
            Kind::Nothing => "send at least one object with a `path`",
            Kind::Missing { .. } => "add it",
            Kind::Mixed => "make an object for each edit",
            Kind::UnknownType { .. } => "the types are `create_file`, `update_file` and `delete_file`",
            Kind::EmptyOld => "quote what shall be replaced; to make a file, send `content`",
            Kind::Equal => "change `new_string`, or leave the edit out",
            Kind::BadHash { .. } => "send the 32 hexadecimal digits that `read` gave",
            Kind::InDiff { .. } => "lines of a diff start with a space, `-` or `+`, and hunks with `@@`",
        }
    }
}
