//! The entries of a git diff: which renames, copies, new files, deletions and changes the steps of a plan are.
//!
//! git reads every entry against the tree as it was, whatever the order. So what goes to another path is a rename or a
//! copy only if that path is free once all of the diff is applied: nothing stood there, or what stood there is renamed
//! away too. A move onto anything else is told as a change of the target and a deletion of the source.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{DiffOptions, body, git_mode, head, push, quoted};
use crate::path::RelPath;
use crate::plan::{After, Before, NewContent, NewMode, Step};

/// The mode of a symbolic link in git.
const LINK: &str = "120000";
/// The mode of a new file that is like no other.
const PLAIN: u32 = 0o644;

/// The steps of a plan and which of their moves are renames.
pub(super) struct Entries<'p> {
    by_path: HashMap<&'p RelPath, &'p Step>,
    /// For each path of which what stood there is renamed, where it goes.
    renamed: HashMap<&'p RelPath, &'p RelPath>,
    /// Paths to which a copy goes of what stays elsewhere.
    copied: HashSet<&'p RelPath>,
}

/// What shall stand at a path.
struct New<'p> {
    content: Cow<'p, NewContent>,
    mode: &'static str,
}

impl<'p> Entries<'p> {
    /// Linear in the steps.
    pub(super) fn new(steps: &'p [Step]) -> Self {
        let by_path: HashMap<&RelPath, &Step> = steps.iter().map(|step| (&step.path, step)).collect();
        let mut renamed: HashMap<&RelPath, &RelPath> = HashMap::new();
        let mut copied = HashSet::new();
        for step in steps {
            match source(step) {
                Some(from) if by_path.get(from).is_some_and(|step| leaves(step)) && !renamed.contains_key(from) => {
                    renamed.insert(from, &step.path);
                }
                Some(_) => drop(copied.insert(&step.path)),
                None => {}
            }
        }
        for step in steps {
            let mut next = Some(step);
            while let Some(step) = next
                && !matches!(step.before, Before::Absent)
                && !renamed.contains_key(&step.path)
            {
                // Something stays at this path to be replaced, so what comes here is no rename: it stays, too.
                copied.remove(&step.path);
                let from = source(step).filter(|from| renamed.get(from) == Some(&&step.path));
                next = from.and_then(|from| renamed.remove(from).and(by_path.get(from))).copied();
            }
        }
        Entries { by_path, renamed, copied }
    }

    /// Writes what becomes of the path of one step.
    pub(super) fn write(&self, out: &mut Vec<u8>, step: &'p Step, options: &DiffOptions) {
        match source(step) {
            Some(from) if self.renamed.get(from) == Some(&&step.path) => self.taken(out, "rename", step, from, options),
            Some(from) if self.copied.contains(&step.path) => self.taken(out, "copy", step, from, options),
            _ => {
                let gone = self.renamed.contains_key(&step.path);
                self.changed(out, step, if gone { &Before::Absent } else { &step.before }, options);
            }
        }
    }

    fn before(&self, path: &RelPath) -> &'p Before {
        self.by_path.get(path).map_or(&Before::Absent, |step| &step.before)
    }

    /// What comes from another path, changed or not.
    fn taken(&self, out: &mut Vec<u8>, verb: &str, step: &Step, from: &RelPath, options: &DiffOptions) {
        let (from_text, path) = (from.as_str(), step.path.as_str());
        let names = [verb, " from ", &quoted(from_text), "\n", verb, " to ", &quoted(path), "\n"];
        head(out, from_text, path);
        let After::Content { content, mode, .. } = &step.after else {
            push(out, &["similarity index 100%\n"]);
            push(out, &names);
            return;
        };
        if let (Before::File(data), Some(mode)) = (self.before(from), mode) {
            modes(out, git_mode(data.stamp.mode), git_mode(mode.bits()));
        }
        push(out, &names);
        // A content made of another path's is spliced from what stood there, however often it was edited.
        body(out, Some(from_text), Some(path), &content.base, content, options);
    }

    fn changed(&self, out: &mut Vec<u8>, step: &'p Step, stayed: &Before, options: &DiffOptions) {
        let path = step.path.as_str();
        let new = self.new_thing(step);
        match (stayed, new) {
            (Before::File(data), Some(new)) if new.mode != LINK => {
                head(out, path, path);
                modes(out, git_mode(data.stamp.mode), new.mode);
                body(out, Some(path), Some(path), &data.bytes, &new.content, options);
            }
            (stayed, new) => {
                deleted(out, path, stayed, options);
                if let Some(new) = new {
                    head(out, path, path);
                    push(out, &["new file mode ", new.mode, "\n"]);
                    body(out, None, Some(path), b"", &new.content, options);
                }
            }
        }
    }

    fn new_thing(&self, step: &'p Step) -> Option<New<'p>> {
        let fresh = |bytes: &[u8]| Cow::Owned(NewContent::fresh(bytes.to_vec()));
        match &step.after {
            After::Absent => None,
            After::Link { target } => Some(New { content: fresh(target), mode: LINK }),
            After::Content { content, like, mode } => {
                let kept = || match like.as_ref().map(|like| self.before(like)) {
                    Some(Before::File(data)) => data.stamp.mode,
                    _ => PLAIN,
                };
                Some(New { content: Cow::Borrowed(content), mode: git_mode(mode.map_or_else(kept, NewMode::bits)) })
            }
            After::Moved { from } => match self.before(from) {
                Before::Absent => None,
                Before::File(data) => Some(New { content: fresh(&data.bytes), mode: git_mode(data.stamp.mode) }),
                Before::Link(target) => Some(New { content: fresh(target), mode: LINK }),
            },
        }
    }
}

/// The other path that the thing at the path of a step comes from.
fn source(step: &Step) -> Option<&RelPath> {
    let from = match &step.after {
        After::Moved { from } => from,
        After::Content { like: Some(like), .. } => like,
        _ => return None,
    };
    (*from != step.path).then_some(from)
}

/// Whether what stood at the path of a step does not stay there, changed or not.
fn leaves(step: &Step) -> bool {
    match &step.after {
        After::Content { like, .. } => like.as_ref() != Some(&step.path),
        _ => true,
    }
}

fn modes(out: &mut Vec<u8>, old: &str, new: &str) {
    if old != new {
        push(out, &["old mode ", old, "\nnew mode ", new, "\n"]);
    }
}

fn deleted(out: &mut Vec<u8>, path: &str, stayed: &Before, options: &DiffOptions) {
    let (mode, bytes) = match stayed {
        Before::Absent => return,
        Before::File(data) => (git_mode(data.stamp.mode), data.bytes.as_slice()),
        Before::Link(target) => (LINK, target.as_slice()),
    };
    head(out, path, path);
    push(out, &["deleted file mode ", mode, "\n"]);
    body(out, Some(path), None, bytes, &NewContent::default(), options);
}
