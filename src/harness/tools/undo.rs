//! What a session changed, as a diff, and putting it back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::change::{LINK, fingerprint};
use super::{FileChange, ToolEnv};
use crate::{
    After, Before, CommitOptions, DiffOptions, Digest, NewContent, NewMode, Patch, Plan, PlanOptions, Policy, RelPath,
    Report, Source as _, Spliced, State, Step, prepare,
};

/// The net change of a file over a whole session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// The path below the root.
    pub path: String,
    /// The content before the session's first change.
    pub before: Option<Digest>,
    /// The content after its last one.
    pub after: Option<Digest>,
    /// Permission bits before.
    pub mode: Option<u32>,
    /// Whether someone else changed it between two changes of the session.
    pub mixed: bool,
}

/// Why changes cannot be put back. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// Someone has changed files since.
    #[error("changed since by someone else, so nothing was put back: {}", .0.join(", "))]
    Changed(Vec<String>),
    /// A content that is needed is not kept, or the file is one that cannot be put back.
    #[error("`{path}` cannot be put back: {why}; nothing was changed")]
    Path {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// The transaction failed.
    #[error("{0}")]
    Commit(#[from] crate::CommitError),
}

/// The net changes, by path; files that are as they were are left out.
#[must_use]
pub fn net<'a>(changes: impl IntoIterator<Item = &'a FileChange>) -> Vec<Net> {
    let mut files: BTreeMap<&str, Net> = BTreeMap::new();
    for change in changes {
        let FileChange { path, before, after, mode } = change;
        let net = files.entry(path).or_insert_with(|| Net {
            path: path.clone(),
            before: *before,
            after: *before,
            mode: *mode,
            mixed: false,
        });
        net.mixed |= net.after != *before;
        net.after = *after;
    }
    files.into_values().filter(|net| net.before != net.after).collect()
}

/// The changes as a git-style diff. `content` finds contents by their fingerprint.
///
/// # Errors
/// [`UndoError::Path`] when a content is not kept.
pub fn diff(files: &[Net], content: impl Fn(Digest) -> Option<Vec<u8>>) -> Result<Vec<u8>, UndoError> {
    let moves = moves(files);
    let targets: BTreeSet<&str> = moves.values().copied().collect();
    let mut tree = crate::MemSource::new();
    let mut ops = Vec::new();
    for file in files {
        if let Some(before) = file.before {
            let bytes = find(file, before, &content)?;
            tree = match (file.mode, bytes.strip_prefix(LINK)) {
                // What had no permission bits was a link.
                (None, Some(target)) => tree.link(&file.path, &String::from_utf8_lossy(target)),
                (mode, _) => tree.file_with(&file.path, bytes, |stamp| {
                    stamp.mode = mode.map_or(stamp.mode, |mode| stamp.mode & !0o7777 | mode);
                }),
            };
        }
        let to = moves.get(file.path.as_str());
        let kind = match file.after {
            None if to.is_some() => {
                crate::OpKind::Update { move_to: to.map(|to| to.as_bytes().to_vec()), hunks: Vec::new() }
            }
            None => crate::OpKind::Delete { hunks: Vec::new() },
            Some(_) if targets.contains(file.path.as_str()) => continue,
            Some(after) => crate::OpKind::Add { content: find(file, after, &content)? },
        };
        ops.push(crate::FileOp::new(1, file.path.as_bytes(), kind));
    }
    let policy = Policy::default().overwrite(crate::Overwrite::Allow);
    let plan = Plan::new(Patch { ops, ..Patch::default() }, &tree, &PlanOptions::default().policy(policy));
    let plan = plan.map_err(|error| UndoError::Path { path: "the diff".into(), why: error.to_string() })?;
    Ok(Report::planned(plan, Vec::new()).diff(&DiffOptions::default()))
}

/// Files that went elsewhere as they were, with their new paths: so they keep their modes.
fn moves(files: &[Net]) -> BTreeMap<&str, &str> {
    let mut gone: BTreeMap<Option<Digest>, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.mode.is_some() && file.after.is_none()) {
        gone.entry(file.before).or_default().push(&file.path);
    }
    let mut moves = BTreeMap::new();
    for file in files.iter().filter(|file| file.before.is_none()) {
        if let Some(from) = gone.get_mut(&file.after).and_then(Vec::pop) {
            moves.insert(from, file.path.as_str());
        }
    }
    moves
}

/// Puts the files back to what they were, all of them or none. A file that someone else has changed since is not
/// touched, and then no file is.
///
/// # Errors
/// [`UndoError`].
pub fn undo(
    env: &ToolEnv,
    files: &[Net],
    content: impl Fn(Digest) -> Option<Vec<u8>>,
) -> Result<Vec<FileChange>, UndoError> {
    let error = |file: &Net, why: String| UndoError::Path { path: file.path.clone(), why };
    let mut changed = Vec::new();
    for file in files {
        let now = fingerprint(env.workspace(), &file.path).map_err(|why| error(file, why))?;
        if file.mixed || now != file.after {
            changed.push(file.path.clone());
        }
    }
    if !changed.is_empty() {
        return Err(UndoError::Changed(changed));
    }
    let steps = files.iter().map(|file| step(env, file, &content)).collect::<Result<Vec<_>, _>>()?;
    prepare(env.workspace(), &steps, &CommitOptions::default())?.commit()?;
    let back = |net: &Net| FileChange { path: net.path.clone(), before: net.after, after: net.before, mode: None };
    Ok(files.iter().map(back).collect())
}

/// The step that puts one file back.
fn step(env: &ToolEnv, file: &Net, content: &impl Fn(Digest) -> Option<Vec<u8>>) -> Result<Step, UndoError> {
    let error = |why: String| UndoError::Path { path: file.path.clone(), why };
    let path = RelPath::new(file.path.as_bytes()).map_err(|why| error(why.to_string()))?;
    let loaded = env.workspace().load(&path).map_err(|why| error(why.to_string()))?;
    let before = match loaded.state {
        State::Absent => Before::Absent,
        State::File(data) => Before::File(data),
        State::Link(target) => Before::Link(target),
        State::Dir | State::Special(_) => return Err(error("it is no file".into())),
    };
    let after = match file.before {
        None => After::Absent,
        Some(digest) => {
            let bytes = find(file, digest, content)?;
            // What had no permission bits was a link.
            if let (None, Some(target)) = (file.mode, bytes.strip_prefix(LINK)) {
                return Ok(Step { path, before, after: After::Link { target: target.to_vec() } });
            }
            let like = matches!(before, Before::File(_)).then(|| path.clone());
            let content = NewContent { base: Arc::default(), spliced: Spliced::from_fresh(bytes) };
            After::Content { content, like, mode: file.mode.map(NewMode::Exactly) }
        }
    };
    Ok(Step { path, before, after })
}

fn find(file: &Net, digest: Digest, content: &impl Fn(Digest) -> Option<Vec<u8>>) -> Result<Vec<u8>, UndoError> {
    let why = || UndoError::Path { path: file.path.clone(), why: format!("its content {digest} is not kept") };
    content(digest).ok_or_else(why)
}
