//! `tools/**/*.toml`: executables and markers.

use serde_json::{Value, json};

use super::agent_toml::{ASK, MAX_DESCRIPTION, one_line};
use super::config::Effects;
use super::diagnostic::Code;
use super::doc::{Data, Table};
use super::fields::{Fields, Findings, Got, clip};
use super::model_id::{inside, referred};
use super::reader::Reader;
use super::source::EntryKind;
use super::types::{Executable, FileRef};
use crate::RelPath;

/// How long a call may take unless the file says otherwise, in milliseconds.
const TIMEOUT_MS: u64 = 60_000;

const EFFECTS: &[(&str, Effects)] =
    &[("pure", Effects::Pure), ("read", Effects::Read), ("idempotent", Effects::Idempotent), ("once", Effects::Once)];

/// What a tool's file declares.
pub(super) enum Declared {
    /// The tool is taken away; whether it is declared besides, and so only switched off.
    Disabled { declared: bool },
    /// A tool of a connection, which a later version runs.
    Connection,
    /// A program.
    Executable(Box<Executable>),
    /// Nothing that holds; it was said why.
    Broken,
}

/// Reads the table of `file`, which declares the tool `name`.
pub(super) fn read(name: &str, file: &FileRef, table: Table, reader: &mut Reader<'_>, out: &mut Findings) -> Declared {
    let mut fields = Fields::new(&file.path, table);
    if fields.boolean("disabled", out) == Some(true) {
        return Declared::Disabled { declared: fields.look("command").is_some() };
    }
    if fields.look("connection").is_some() && fields.look("command").is_none() {
        return Declared::Connection;
    }
    let dir = RelPath::new(file.path.as_bytes()).ok().and_then(|path| path.parent());
    let description = fields.said("description", MAX_DESCRIPTION, out);
    if description.is_none() && !fields.tells("description") {
        fields.missing("description", "say what the tool does and when to use it; the model reads it", out);
    }
    let effects = fields.choice("effects", EFFECTS, out);
    if effects.is_none() && !fields.tells("effects") {
        let help = "say what a call does to the world: `pure` (nothing, same input same answer), `read` (nothing), \
                    `idempotent` (twice is once), `once` (must not happen twice)";
        fields.missing("effects", help, out);
    }
    let command = command(&mut fields, dir.as_ref(), reader, out);
    let input = input(&mut fields, dir.as_ref(), reader, out);
    let ask = fields.choice("ask", ASK, out);
    let timeout_ms = fields.duration("timeout", out).unwrap_or(TIMEOUT_MS);
    let env = env(&mut fields, out);
    fields.finish(out);
    let (Some(description), Some(effects), Some((command, program)), Some(input)) =
        (description, effects, command, input)
    else {
        return Declared::Broken;
    };
    Declared::Executable(Box::new(Executable {
        name: name.into(),
        description: one_line(&description.value),
        file: file.clone(),
        command,
        program,
        input,
        effects,
        ask,
        timeout_ms,
        env,
    }))
}

/// Reads the command; a first word with a `/` is a program of the tree.
fn command(
    fields: &mut Fields<'_>,
    dir: Option<&RelPath>,
    reader: &mut Reader<'_>,
    out: &mut Findings,
) -> Option<(Vec<String>, Option<FileRef>)> {
    let Some(words) = fields.texts("command", out) else {
        if !fields.tells("command") {
            let help = "write the program and its arguments, for example `command = [\"./run.sh\"]`";
            fields.missing("command", help, out);
        }
        return None;
    };
    let mut command: Vec<String> = words.iter().map(|word| word.value.clone()).collect();
    let Some(first) = words.first().filter(|word| !word.value.is_empty()) else {
        fields.bad(None, "`command` names no program", "write the program and its arguments", out);
        return None;
    };
    if !first.value.contains('/') || first.value.starts_with('/') {
        return Some((command, None));
    }
    let program = program(fields, first, dir, reader, out)?;
    command[0].clone_from(&program.path);
    Some((command, Some(program)))
}

fn program(
    fields: &Fields<'_>,
    first: &Got<String>,
    dir: Option<&RelPath>,
    reader: &mut Reader<'_>,
    out: &mut Findings,
) -> Option<FileRef> {
    let path = inside(fields, first, dir, out)?;
    if let Some(EntryKind::File { executable: false }) = reader.kind(&path) {
        let message = format!("`{path}` may not be executed");
        let help = format!("allow it: chmod +x {path}; or name its interpreter before it");
        out.push(fields.finding(Code::NotExecutable, message, help).at(first.place));
    }
    let path = referred(fields, first, dir, reader, out)?;
    reader.data(&path, out)
}

/// Reads the JSON Schema of the input: a table, the name of a JSON file, or nothing for a tool without input.
fn input(fields: &mut Fields<'_>, dir: Option<&RelPath>, reader: &mut Reader<'_>, out: &mut Findings) -> Option<Value> {
    let Some(item) = fields.take("input") else {
        return Some(json!({ "additionalProperties": false, "properties": {}, "type": "object" }));
    };
    match &item.data {
        Data::Table(_) => checked(fields, item.data.to_json(), item.place, out),
        Data::Text(text) => {
            let given = Got { value: text.clone(), place: item.place };
            let path = referred(fields, &given, dir, reader, out)?;
            let (_, text) = reader.text(&path, out)?;
            match serde_json::from_str(&text) {
                Ok(schema) => checked(fields, schema, item.place, out),
                Err(error) => {
                    let (line, column) = (error.line(), error.column());
                    let message = format!("`{path}` is no JSON (line {line}, column {column})");
                    let help = "mend it: one JSON value, names and texts in double quotes, no comma after the last";
                    out.push(fields.finding(Code::Syntax, message, help).at(item.place));
                    None
                }
            }
        }
        _ => fields.wrong_type("input", &item, "a JSON Schema as a table `[input]`, or the name of a JSON file", out),
    }
}

fn checked(
    fields: &Fields<'_>,
    schema: Value,
    place: Option<super::diagnostic::Place>,
    out: &mut Findings,
) -> Option<Value> {
    let wrong = match jsonschema::validator_for(&schema) {
        Err(error) => Some((format!("`input` is no JSON Schema: {}", clip(&error.to_string())), "mend the schema")),
        Ok(_) if schema.get("type").and_then(Value::as_str) != Some("object") => Some((
            "`input` does not describe an object".to_owned(),
            "write `type = \"object\"` at the top of the schema",
        )),
        Ok(_) => None,
    };
    if let Some((message, help)) = wrong {
        out.push(fields.finding(Code::BadSchema, message, help).at(place));
        return None;
    }
    Some(schema)
}

fn env(fields: &mut Fields<'_>, out: &mut Findings) -> Vec<String> {
    let mut names = Vec::new();
    for Got { value, place } in fields.texts("env", out).unwrap_or_default() {
        let first = value.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        if first && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            names.push(value);
        } else {
            // Not shown: it may hold a value.
            let help = "write names of environment variables; their values come from outside";
            fields.bad(place, "`env` holds something that is no variable's name", help, out);
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}
