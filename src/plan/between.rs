//! The plan that makes one tree out of another: what `diff` is for two directories.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::path::RelPath;
use crate::plan::{After, Before, NewContent, NewMode, Plan, Step};
use crate::text::Spliced;
use crate::workspace::{Digest, FileData, Loaded, Source, SourceError, State};

/// How deep directories are followed.
const DEEPEST: usize = 200;

/// Why no patch turns one tree into the other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BetweenError {
    /// A path cannot be looked up.
    #[error("`{path}` {error}")]
    Source {
        /// The path.
        path: String,
        /// Why.
        error: SourceError,
    },
    /// Differences that no patch can say.
    #[error("no patch can say how these paths differ: {}", list(.0))]
    Unsayable(Vec<Unsayable>),
}

/// A difference that no patch can say.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsayable {
    /// The path.
    pub path: String,
    /// What stands there: `a binary file`, `a symbolic link`, ...
    pub what: &'static str,
}

fn list(differences: &[Unsayable]) -> String {
    let shown = differences.iter().take(20).map(|one| format!("{} ({})", one.path, one.what));
    let mut out = shown.collect::<Vec<_>>().join(", ");
    if differences.len() > 20 {
        out.push_str(&format!(" and {} more", differences.len() - 20));
    }
    out
}

impl Plan {
    /// Works out what turns the tree `old` into the tree `new`. Files under `.git` are left out; a file that is gone and
    /// stands elsewhere with the same content and mode has moved.
    ///
    /// # Errors
    /// A path cannot be read, or differs in a way that no patch can say: binary files, links, special files, a file where a
    /// directory was.
    ///
    /// # Complexity
    /// Reads every file of both trees once and holds those that differ.
    pub fn between<A: Source + ?Sized, B: Source + ?Sized>(old: &A, new: &B) -> Result<Plan, BetweenError> {
        let (old, new) = (tree(old)?, tree(new)?);
        let mut work = Work::default();
        for (path, state) in &old {
            work.path(path, Some(state), new.get(path));
        }
        for (path, state) in new.iter().filter(|(path, _)| !old.contains_key(*path)) {
            work.path(path, None, Some(state));
        }
        if !work.unsayable.is_empty() {
            return Err(BetweenError::Unsayable(work.unsayable));
        }
        work.find_moves();
        work.steps.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Plan { steps: work.steps, changes: Vec::new() })
    }
}

/// Everything below the root, directories aside.
fn tree<S: Source + ?Sized>(source: &S) -> Result<BTreeMap<RelPath, State>, BetweenError> {
    let mut out = BTreeMap::new();
    let mut dirs = vec![None::<RelPath>];
    while let Some(dir) = dirs.pop() {
        for name in source.names(dir.as_ref(), usize::MAX) {
            let path = RelPath::child(dir.as_ref(), &name);
            if path.enters_git() {
                continue;
            }
            let fail = |error| BetweenError::Source { path: path.to_string(), error };
            let Loaded { state, .. } = source.load(&path).map_err(fail)?;
            match state {
                State::Dir if path.parts().count() < DEEPEST => dirs.push(Some(path)),
                State::Dir => return Err(fail(SourceError::LinkLoop)),
                State::Absent => {}
                state => drop(out.insert(path, state)),
            }
        }
    }
    Ok(out)
}

#[derive(Default)]
struct Work {
    steps: Vec<Step>,
    unsayable: Vec<Unsayable>,
}

impl Work {
    fn path(&mut self, path: &RelPath, old: Option<&State>, new: Option<&State>) {
        let step = |before, after| Step { path: path.clone(), before, after };
        let refuse = |what| Unsayable { path: path.to_string(), what };
        match (old, new) {
            (Some(State::Link(a)), Some(State::Link(b))) if a == b => {}
            (Some(State::Link(a)), None) => self.steps.push(step(Before::Link(a.clone()), After::Absent)),
            (Some(State::Link(_)), _) | (_, Some(State::Link(_))) => self.unsayable.push(refuse("a symbolic link")),
            (Some(State::Special(a)), Some(State::Special(b))) if a == b => {}
            (Some(State::Special(what)), _) | (_, Some(State::Special(what))) => self.unsayable.push(refuse(what)),
            (Some(State::File(a)), Some(State::File(b))) => self.both(path, a, b),
            (Some(State::File(a)), _) => {
                self.text(path, &[a]);
                self.steps.push(step(Before::File(Arc::clone(a)), After::Absent));
            }
            (_, Some(State::File(b))) => {
                self.text(path, &[b]);
                let content = NewContent { base: Arc::default(), spliced: Spliced::from_fresh(b.bytes.to_vec()) };
                let mode = is_executable(b).then_some(NewMode::Exactly(0o777));
                self.steps.push(step(Before::Absent, After::Content { content, like: None, mode }));
            }
            _ => {}
        }
    }

    fn both(&mut self, path: &RelPath, old: &Arc<FileData>, new: &Arc<FileData>) {
        let same = old.bytes == new.bytes;
        if same && is_executable(old) == is_executable(new) {
            return;
        }
        let spliced = if same {
            let mut whole = Spliced::default();
            whole.keep(0..old.bytes.len());
            whole
        } else {
            self.text(path, &[old, new]);
            Spliced::from_fresh(new.bytes.to_vec())
        };
        let mode = (is_executable(old) != is_executable(new)).then(|| match is_executable(new) {
            true => NewMode::Exactly(old.stamp.mode & 0o777 | ((old.stamp.mode & 0o444) >> 2)),
            false => NewMode::Exactly(old.stamp.mode & 0o666),
        });
        let content = NewContent { base: Arc::clone(&old.bytes), spliced };
        let after = After::Content { content, like: Some(path.clone()), mode };
        self.steps.push(Step { path: path.clone(), before: Before::File(Arc::clone(old)), after });
    }

    /// Refuses contents that have no lines.
    fn text(&mut self, path: &RelPath, contents: &[&Arc<FileData>]) {
        if contents.iter().any(|data| memchr::memchr(0, &data.bytes).is_some()) {
            self.unsayable.push(Unsayable { path: path.to_string(), what: "a binary file" });
        }
    }

    /// A new file with the content of one that goes is that file, moved.
    fn find_moves(&mut self) {
        let mut gone: HashMap<(Digest, bool), Vec<RelPath>> = HashMap::new();
        for step in self.steps.iter().rev() {
            if let (Before::File(data), After::Absent) = (&step.before, &step.after)
                && !data.bytes.is_empty()
            {
                gone.entry((Digest::of(&data.bytes), is_executable(data))).or_default().push(step.path.clone());
            }
        }
        for step in &mut self.steps {
            let After::Content { content, like: None, mode } = &step.after else { continue };
            let key = (Digest::of_slices(content.slices()), mode.is_some());
            if let Some(from) = gone.get_mut(&key).and_then(Vec::pop) {
                step.after = After::Moved { from };
            }
        }
    }
}

fn is_executable(data: &FileData) -> bool {
    data.stamp.mode & 0o100 != 0
}
