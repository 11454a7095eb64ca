//! One JSON object: its keys, and the operation that they stand for.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Kind, shown};
use crate::patch::draft::{Action, Draft};
use crate::patch::envelope::Headerless;
use crate::patch::{Count, FileOp, OpKind, ParseOptions, TextEdit};

/// Every key that an object may have.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Object<'t> {
    #[serde(alias = "file_path")]
    path: Option<String>,
    #[serde(alias = "old_str")]
    old_string: Option<String>,
    #[serde(alias = "new_str")]
    new_string: Option<String>,
    replace_all: Option<bool>,
    expected_replacements: Option<u64>,
    insert_line: Option<u64>,
    #[serde(alias = "insert_text")]
    text: Option<String>,
    #[serde(alias = "file_text")]
    content: Option<String>,
    expected_hash: Option<String>,
    command: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    diff: Option<String>,
    executable: Option<bool>,
    #[serde(borrow, alias = "operations", alias = "calls")]
    edits: Option<Vec<&'t RawValue>>,
    #[serde(borrow)]
    operation: Option<&'t RawValue>,
    call_id: Option<String>,
    // What the caller's protocol adds and an edit does not need.
    #[serde(rename = "id")]
    _id: Option<serde::de::IgnoredAny>,
    #[serde(rename = "status")]
    _status: Option<serde::de::IgnoredAny>,
}

/// What an object is.
pub(super) enum Entry<'t> {
    /// A list of objects.
    List(Vec<&'t RawValue>),
    /// A call that holds an operation.
    Call { id: String, operation: &'t RawValue },
    /// An operation.
    Op(Op),
}

/// An operation on a file.
pub(super) struct Op {
    path: String,
    expected: Option<[u8; 16]>,
    executable: Option<bool>,
    what: What,
}

enum What {
    /// An operation that is complete.
    Whole(OpKind),
    /// A file to be made or edited by a headerless diff.
    Diff { action: Action, diff: String },
}

impl<'t> Object<'t> {
    /// What the object is.
    pub(super) fn entry(self) -> Result<Entry<'t>, Kind> {
        if let Some(operation) = self.operation {
            if self.path.is_some() || self.edits.is_some() {
                return Err(Kind::Mixed);
            }
            let id = self.call_id.ok_or(Kind::Missing { key: "call_id" })?;
            return Ok(Entry::Call { id, operation });
        }
        if self.path.is_none()
            && let Some(items) = self.edits
        {
            return Ok(Entry::List(items));
        }
        self.op().map(Entry::Op)
    }

    fn op(mut self) -> Result<Op, Kind> {
        let path = self.path.take().filter(|path| !path.is_empty()).ok_or(Kind::Missing { key: "path" })?;
        let expected = self.expected_hash.take().map(|hash| fingerprint(&hash)).transpose()?;
        let executable = self.executable;
        let what = match self.kind.take().as_deref() {
            Some("create_file") => self.diff_of(Action::Add)?,
            Some("update_file") => self.diff_of(Action::Update)?,
            Some("delete_file") => {
                if self.diff.as_deref().is_some_and(|diff| !diff.is_empty()) {
                    return Err(Kind::Mixed);
                }
                What::Whole(OpKind::Delete { hunks: Vec::new() })
            }
            Some(other) => return Err(Kind::UnknownType { name: shown(other) }),
            None => self.whole()?,
        };
        Ok(Op { path, expected, executable, what })
    }

    fn diff_of(self, action: Action) -> Result<What, Kind> {
        let diff = self.diff.ok_or(Kind::Missing { key: "diff" })?;
        Ok(What::Diff { action, diff })
    }

    /// An operation without `type`: told by its keys.
    fn whole(mut self) -> Result<What, Kind> {
        self.check_command()?;
        if let Some(items) = self.edits.take() {
            if self.old_string.is_some() || self.content.is_some() || self.insert_line.is_some() {
                return Err(Kind::Mixed);
            }
            let edits = items.into_iter().map(one_edit).collect::<Result<Vec<_>, _>>()?;
            return if edits.is_empty() { Err(Kind::Missing { key: "edits" }) } else { Ok(edit(edits)) };
        }
        if let Some(content) = self.content.take() {
            if self.old_string.is_some() || self.insert_line.is_some() {
                return Err(Kind::Mixed);
            }
            return Ok(What::Whole(OpKind::Write { content: content.into_bytes() }));
        }
        if self.old_string.as_deref() == Some("") {
            let content = self.new_string.take().ok_or(Kind::Missing { key: "new_string" })?;
            return Ok(What::Whole(OpKind::Add { content: content.into_bytes() }));
        }
        Ok(edit(vec![self.text_edit()?]))
    }

    fn check_command(&self) -> Result<(), Kind> {
        let wanted = match self.command.as_deref() {
            None => return Ok(()),
            Some("str_replace") => self.old_string.is_some(),
            Some("create") => self.content.is_some(),
            Some("insert") => self.insert_line.is_some(),
            Some(other) => return Err(Kind::UnknownType { name: shown(other) }),
        };
        if wanted { Ok(()) } else { Err(Kind::Mixed) }
    }

    fn text_edit(self) -> Result<TextEdit, Kind> {
        match (self.old_string, self.insert_line) {
            (Some(_), Some(_)) => Err(Kind::Mixed),
            (Some(old), None) => {
                let new = self.new_string.ok_or(Kind::Missing { key: "new_string" })?;
                if old.is_empty() {
                    return Err(Kind::EmptyOld);
                }
                if old == new {
                    return Err(Kind::Equal);
                }
                let count = match (self.expected_replacements, self.replace_all) {
                    (Some(times), _) => Count::Exactly(times),
                    (None, Some(true)) => Count::All,
                    (None, _) => Count::Once,
                };
                Ok(TextEdit::Replace { old: old.into_bytes(), new: new.into_bytes(), count })
            }
            (None, Some(after_line)) => {
                let text = self.text.or(self.new_string).ok_or(Kind::Missing { key: "text" })?;
                Ok(TextEdit::Insert { after_line, text: text.into_bytes() })
            }
            (None, None) => Err(Kind::Missing { key: "old_string" }),
        }
    }
}

fn edit(edits: Vec<TextEdit>) -> What {
    What::Whole(OpKind::Edit { edits })
}

/// One object of the list in an operation.
fn one_edit(raw: &RawValue) -> Result<TextEdit, Kind> {
    let object: Object<'_> = serde_json::from_str(raw.get()).map_err(|error| Kind::object(raw.get(), &error))?;
    if object.path.is_some() || object.edits.is_some() || object.kind.is_some() || object.content.is_some() {
        return Err(Kind::Mixed);
    }
    object.text_edit()
}

/// Thirty-two hexadecimal digits.
fn fingerprint(text: &str) -> Result<[u8; 16], Kind> {
    let bad = || Kind::BadHash { hash: shown(text) };
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(bad());
    }
    u128::from_str_radix(text, 16).map(u128::to_be_bytes).map_err(|_| bad())
}

impl Op {
    /// Puts the operation into the patch.
    pub(super) fn write(self, draft: &mut Draft, line: u64, number: usize) -> Result<(), Kind> {
        let Op { path, expected, executable, what } = self;
        let about = |op: FileOp| FileOp { expected, executable, ..op };
        match what {
            What::Whole(kind) => {
                draft.push(about(FileOp::new(line, path, kind)));
                Ok(())
            }
            What::Diff { action, diff } => {
                let read = Headerless::read(line, path.as_bytes(), action, diff.as_bytes(), &ParseOptions::default());
                let ops =
                    read.map_err(|error| Kind::InDiff { number, path: shown(&path), problem: Box::new(error) })?;
                ops.into_iter().for_each(|op| draft.push(about(op)));
                Ok(())
            }
        }
    }
}
