//! `apply_patch`, `check_patch` and `edit`: the road of the data, within the bounds of a call.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Place, Tool, input};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{
    ApplyError, ApplyOptions, Audience, CommitError, CommitErrorKind, CommitOptions, DiffOptions, Digest, DiskState,
    Expectations, Format, OpKind, ParseOptions, Patch, PatchTool, PlanOptions, Report,
};

/// How long a patch waits for other writers of the tree.
const LOCK: Duration = Duration::from_secs(10);

/// The longest diff in a text, in bytes.
const MAX_DIFF: usize = 48 << 10;

pub(super) const APPLY: Tool = Tool {
    name: "apply_patch",
    title: "Apply a patch",
    description: || defined(Format::Envelope).0,
    schema: patch_schema,
    writes: true,
    run: apply,
};

pub(super) const CHECK: Tool = Tool {
    name: "check_patch",
    title: "Check a patch",
    description: || {
        Cow::Borrowed(
            "Says whether apply_patch would take this patch, and shows the changes as a diff. Writes nothing.",
        )
    },
    schema: check_schema,
    writes: false,
    run: check,
};

pub(super) const EDIT: Tool = Tool {
    name: "edit",
    title: "Edit files",
    description: || defined(Format::Edits).0,
    schema: || defined(Format::Edits).1,
    writes: true,
    run: edit,
};

/// Description and schema as `restitch schema --for mcp` prints them.
fn defined(format: Format) -> (Cow<'static, str>, Value) {
    let mut definition: Value =
        serde_json::from_str(&PatchTool::new(format).definition(Audience::Mcp)).unwrap_or_default();
    let description = definition["description"].as_str().unwrap_or_default().to_owned();
    (Cow::Owned(description), definition["inputSchema"].take())
}

fn patch_schema() -> Value {
    with_expect(defined(Format::Envelope).1)
}

/// The other tool tells how patches are written.
fn check_schema() -> Value {
    let mut schema = patch_schema();
    schema["properties"]["patch"]["description"] = "As for apply_patch.".into();
    schema
}

fn with_expect(mut schema: Value) -> Value {
    schema["properties"]["expect"] = json!({
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Paths with the hashes that read_file gave: refuses the patch when a file has changed since."
    });
    schema
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    patch: String,
    #[serde(default)]
    expect: BTreeMap<String, String>,
}

fn apply(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let Input { patch, expect } = input(APPLY.name, args)?;
    run(patch.as_bytes(), place.options.parse.clone(), &expect, place, call, false)
}

fn check(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let Input { patch, expect } = input(CHECK.name, args)?;
    run(patch.as_bytes(), place.options.parse.clone(), &expect, place, call, true)
}

/// The arguments are themselves the text that the parser of edits takes; what they expect of the files is part of it.
fn edit(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    let parse = place.options.parse.clone().format(Format::Edits);
    run(args.to_string().as_bytes(), parse, &BTreeMap::new(), place, call, false)
}

fn run(
    text: &[u8],
    parse: ParseOptions,
    expect: &BTreeMap<String, String>,
    place: &Place<'_>,
    call: &Call,
    check: bool,
) -> Result<Answer, Answer> {
    call.stage("parsing the patch")?;
    let patch = Patch::parse_with(text, &parse).map_err(|error| refused(&error.into()))?;
    let workspace = place.open(first_absolute(&patch).unwrap_or_default())?;
    let plan = PlanOptions::default().policy(place.options.policy.clone()).expectations(expectations(expect)?);
    let options = ApplyOptions::default()
        .parse(parse)
        .plan(plan)
        .commit(CommitOptions::default().wait(call.left(LOCK)))
        .keep_undo(place.options.keep_undo)
        .cancel(call.cancel())
        .check(check);
    call.stage(if check { "checking the patch" } else { "applying the patch" })?;
    let report = loop {
        match options.run(&workspace, patch.clone()) {
            // Another writer came first while this patch was planned: it is planned anew on what they left.
            Err(ApplyError::Commit(error)) if overtaken(&error) => call.stage("applying the patch, again")?,
            done => break done.map_err(|error| refused(&error))?,
        }
    };
    let mut answer = Answer::done(report.text()).with_json(&report.json());
    if check {
        let diff = diff(&report);
        answer = answer.note(&diff).with("diff", diff);
    }
    for warning in report.warnings() {
        answer = answer.note(&format!("warning: {warning}\n"));
    }
    Ok(place.placed(answer, &workspace))
}

/// Whether files changed between planning and locking. What the caller expects of them is asked anew by the next try.
fn overtaken(error: &CommitError) -> bool {
    matches!((error.kind(), error.state()), (CommitErrorKind::Stale(_), DiskState::Untouched))
}

fn refused(error: &ApplyError) -> Answer {
    Answer::refused(error.explain()).with_json(&error.json())
}

/// The changes as a diff, as far as it may be long.
fn diff(report: &Report) -> String {
    let mut diff = String::from_utf8_lossy(&report.diff(&DiffOptions::default())).into_owned();
    if diff.len() > MAX_DIFF {
        let end = (0..=MAX_DIFF).rev().find(|end| diff.is_char_boundary(*end)).unwrap_or(0);
        let more = diff.len() - end;
        diff.truncate(end);
        diff.push_str(&format!("\n[cut: {more} bytes more of the diff]\n"));
    }
    diff
}

/// The absolute path that decides which root a patch belongs to.
fn first_absolute(patch: &Patch) -> Option<&str> {
    let absolute = |path: &&[u8]| path.starts_with(b"/");
    let paths = patch.ops.iter().flat_map(|op| {
        let moved = match &op.kind {
            OpKind::Update { move_to: Some(to), .. } => Some(to.as_slice()),
            _ => None,
        };
        std::iter::once(op.path.as_slice()).chain(moved)
    });
    paths.filter(absolute).find_map(|path| str::from_utf8(path).ok())
}

fn expectations(expect: &BTreeMap<String, String>) -> Result<Expectations, Answer> {
    let mut expected = Expectations::new();
    for (path, hash) in expect {
        let wrong = |why: String| Answer::refused(format!("`expect` for `{path}`: {why}; nothing was changed"));
        let digest: Digest = hash.parse().map_err(|error| wrong(format!("`{hash}` is no content hash: {error}")))?;
        expected = expected.digest(path, digest).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(expected)
}
