//! `apply_patch` and `check_patch`.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Place, Tool, input};
use crate::mcp::answer::Answer;
use crate::mcp::call::Call;
use crate::{
    ApplyError, ApplyOptions, CommitError, CommitErrorKind, CommitOptions, DiffOptions, Digest, DiskState,
    Expectations, OpKind, Patch, PlanOptions, Report,
};

/// How long a patch waits for other writers of the tree.
const LOCK: Duration = Duration::from_secs(10);

/// The longest diff in a text, in bytes.
const MAX_DIFF: usize = 48 << 10;

pub(super) const APPLY: Tool = Tool {
    name: "apply_patch",
    title: "Apply a patch",
    description: "Edits files with a patch: all of it is applied, or nothing is. The patch is\n\
                  *** Begin Patch\n\
                  *** Update File: PATH        (or *** Add File: PATH with + lines, or *** Delete File: PATH)\n\
                  *** Move to: PATH            (optional, after Update)\n\
                  @@ ANCHOR                    (optional: a line above the change, such as a function's head)\n \
                  context line\n\
                  -removed line\n\
                  +added line\n\
                  *** End Patch\n\
                  Give about three lines of context around each change, as they stand in the file. A patch that does not \
                  fit in exactly one place is refused with the lines of the file as it is now, and nothing is changed.",
    schema,
    writes: true,
    run: apply,
};

pub(super) const CHECK: Tool = Tool {
    name: "check_patch",
    title: "Check a patch",
    description: "Says whether apply_patch would take this patch, and shows the changes as a diff. Writes nothing.",
    schema,
    writes: false,
    run: check,
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "patch": {"type": "string", "description": "The whole patch, from Begin to End."},
            "expect": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Paths with the hashes that read_file gave: refuses the patch when a file has changed since."
            }
        },
        "required": ["patch"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    patch: String,
    #[serde(default)]
    expect: BTreeMap<String, String>,
}

fn apply(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    run(input(APPLY.name, args)?, place, call, false)
}

fn check(args: Value, place: &Place<'_>, call: &Call) -> Result<Answer, Answer> {
    run(input(CHECK.name, args)?, place, call, true)
}

fn run(input: Input, place: &Place<'_>, call: &Call, check: bool) -> Result<Answer, Answer> {
    call.stage("parsing the patch")?;
    let parse = &place.options.parse;
    // What decides the root is known from the patch alone; one that cannot be parsed says so below.
    let root = Patch::parse_with(input.patch.as_bytes(), parse).ok();
    let root = root.as_ref().and_then(first_absolute).unwrap_or_default();
    let workspace = place.open(root)?;
    let plan = PlanOptions::default().policy(place.options.policy.clone()).expectations(expectations(&input.expect)?);
    let options = ApplyOptions::default()
        .parse(parse.clone())
        .plan(plan)
        .commit(CommitOptions::default().wait(call.left(LOCK)))
        .keep_undo(place.options.keep_undo)
        .cancel(call.cancel())
        .check(check);
    call.stage(if check { "checking the patch" } else { "applying the patch" })?;
    let report = loop {
        match options.apply(&workspace, input.patch.as_bytes()) {
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
