//! `edit` and `write_file`: one file at a time, by the same transaction as a patch.

use serde_json::{Value, json};

use super::{Call, Intent, Outcome, Running, Settled, Tool, ToolDef, change};
use crate::harness::manifest::Effects;
use crate::{Digest, FileOp, OpKind, Overwrite, Patch, Policy, RelPath, Report, Source as _, State};

/// The tool `edit`: replaces a text that stands in a file.
#[derive(Debug)]
pub struct Edit {
    def: ToolDef,
}

/// The tool `write_file`: makes a file, or replaces one that was read.
#[derive(Debug)]
pub struct WriteFile {
    def: ToolDef,
}

impl Default for Edit {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "old_string": {"type": "string", "minLength": 1, "description": "The text to replace, exactly as it stands in the file."},
                "new_string": {"type": "string", "description": "What stands there afterwards."},
                "replace_all": {"type": "boolean", "description": "Replace every occurrence. Otherwise there must be exactly one."}
            },
            "required": ["path", "old_string", "new_string"],
            "additionalProperties": false
        });
        let description = "Replaces a text in one file. The old text must stand there exactly once, unless replace_all \
                           is set. For several places or files use apply_patch.";
        Edit { def: ToolDef::new("edit", description, schema, Effects::Idempotent) }
    }
}

impl Default for WriteFile {
    fn default() -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "content": {"type": "string", "description": "The whole content of the file."}
            },
            "required": ["path", "content"],
            "additionalProperties": false
        });
        let description = "Makes a file with this content, or replaces one: that must have been read before and must \
                           not have changed since. To change a part of a file use apply_patch or edit.";
        WriteFile { def: ToolDef::new("write_file", description, schema, Effects::Idempotent) }
    }
}

/// A patch that gives a file a whole content, and the policy for it.
fn whole(path: &str, content: Vec<u8>) -> (Patch, Policy) {
    let op = FileOp::new(1, path, OpKind::Add { content });
    (Patch { ops: vec![op], ..Patch::default() }, change::policy().overwrite(Overwrite::Allow))
}

/// The bytes of the file that a call names; links are followed.
fn load(call: &Call) -> Result<(RelPath, Option<Vec<u8>>), Box<Outcome>> {
    let given = call.text("path").unwrap_or_default();
    let workspace = call.env.workspace();
    let refused = |why: String| Box::new(Outcome::error(format!("`{given}` {why}; nothing was changed")));
    let inside = workspace.strip_root(given.as_bytes()).unwrap_or(given.as_bytes());
    let mut path = RelPath::new(inside).map_err(|error| refused(format!("cannot be used: {error}")))?;
    for _ in 0..2 {
        match workspace.load(&path).map_err(|error| refused(error.to_string()))?.state {
            State::Absent => return Ok((path, None)),
            State::File(file) => return Ok((path, Some(file.bytes.to_vec()))),
            State::Link(_) => path = workspace.follow(&path).map_err(|error| refused(error.to_string()))?,
            State::Dir => return Err(refused("is a directory".into())),
            State::Special(what) => return Err(refused(format!("is {what}"))),
        }
    }
    Err(refused("is a link that changes while it is read".into()))
}

/// The patch of an `edit`.
fn replacement(call: &Call) -> Result<(Patch, Policy), Box<Outcome>> {
    let (path, bytes) = load(call)?;
    let error = |text: String| Box::new(Outcome::error(text));
    let Some(bytes) = bytes else {
        return Err(error(format!("there is no file `{path}`; nothing was changed. write_file makes one")));
    };
    let old = call.text("old_string").unwrap_or_default().as_bytes();
    let new = call.text("new_string").unwrap_or_default().as_bytes();
    if old == new {
        return Err(error("the old and the new text are the same; nothing was changed".into()));
    }
    // A model writes LF; a file may hold CRLF throughout.
    let windows = !bytes.is_empty() && memchr::memmem::find(&bytes, old).is_none() && crlf_only(&bytes);
    let (old, new) = if windows { (to_crlf(old), to_crlf(new)) } else { (old.to_vec(), new.to_vec()) };
    let found = memchr::memmem::find_iter(&bytes, &old).count();
    match found {
        0 => {
            return Err(error(format!(
                "the old text does not stand in `{path}`; nothing was changed. It must be exact, white space and all: read the file and copy it"
            )));
        }
        1 => {}
        _ if call.flag("replace_all") => {}
        _ => {
            return Err(error(format!(
                "the old text stands in `{path}` {found} times; nothing was changed. Give more of the lines around the one you mean, or set replace_all"
            )));
        }
    }
    let mut out = Vec::with_capacity(bytes.len() + new.len());
    let mut from = 0;
    for at in memchr::memmem::find_iter(&bytes, &old) {
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(&new);
        from = at + old.len();
    }
    out.extend_from_slice(&bytes[from..]);
    Ok(whole(path.as_str(), out))
}

fn crlf_only(bytes: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', bytes).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && bytes[at - 1] == b'\r')
}

fn to_crlf(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    for (at, &byte) in text.iter().enumerate() {
        if byte == b'\n' && (at == 0 || text[at - 1] != b'\r') {
            out.push(b'\r');
        }
        out.push(byte);
    }
    out
}

/// The patch of a `write_file`.
fn content(call: &Call) -> Result<(Patch, Policy), Box<Outcome>> {
    let (path, bytes) = load(call)?;
    let content = call.text("content").unwrap_or_default().as_bytes().to_vec();
    if let Some(bytes) = bytes {
        let error = |text: String| Err(Box::new(Outcome::error(text)));
        match call.seen.get(path.as_str()).copied().flatten() {
            None => {
                return error(format!(
                    "`{path}` is there already and was not read; nothing was changed. Read it first, or change a part of it with apply_patch"
                ));
            }
            Some(seen) if seen != Digest::of(&bytes) => {
                return error(format!("`{path}` has changed since it was read; nothing was changed. Read it again"));
            }
            Some(_) => {}
        }
    }
    Ok(whole(path.as_str(), content))
}

fn said(report: &Report) -> String {
    report.plan().steps().iter().map(|step| format!("{} is written.\n", step.path)).collect()
}

impl Tool for Edit {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn intent(&self, call: &Call) -> Result<Intent, Box<Outcome>> {
        let (patch, policy) = replacement(call)?;
        change::intent(call, &patch, policy, said)
    }

    fn run(&self, call: Call, intent: Option<Value>) -> Running {
        super::blocking(move || match replacement(&call) {
            Ok((patch, policy)) => change::run(&call, &patch, policy, intent),
            Err(outcome) => *outcome,
        })
    }

    fn settle(&self, call: &Call, checkpoint: Option<&Value>) -> Settled {
        change::settle(call, checkpoint)
    }
}

impl Tool for WriteFile {
    fn def(&self) -> &ToolDef {
        &self.def
    }

    fn intent(&self, call: &Call) -> Result<Intent, Box<Outcome>> {
        let (patch, policy) = content(call)?;
        change::intent(call, &patch, policy, said)
    }

    fn run(&self, call: Call, intent: Option<Value>) -> Running {
        super::blocking(move || match content(&call) {
            Ok((patch, policy)) => change::run(&call, &patch, policy, intent),
            Err(outcome) => *outcome,
        })
    }

    fn settle(&self, call: &Call, checkpoint: Option<&Value>) -> Settled {
        change::settle(call, checkpoint)
    }
}
