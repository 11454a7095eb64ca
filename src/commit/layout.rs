//! Before anything is written: where each new content will be staged, which directories are missing, what stands in
//! their way.

use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd as _;

use super::dirs::split;
use super::error::{CommitErrorKind, Failure};
use super::temp::{Names, Role, of_content};
use super::transaction::Transaction;
use crate::path::RelPath;
use crate::plan::{After, Before};
use crate::workspace::ops::{self, Answer, Errno};

/// What is known of the directories.
#[derive(Default)]
struct Ground {
    /// For each missing directory the nearest one that is there.
    nearest: HashMap<Box<str>, Box<str>>,
    /// Steps that stand where a directory must be.
    in_the_way: HashSet<usize>,
}

impl Transaction<'_> {
    /// Lays out where everything goes. Costs one call a directory.
    pub(super) fn lay_out(&mut self) -> Result<(), Failure> {
        let steps = self.steps;
        let references = self.cross_references();
        let mut ground = Ground::default();
        for (at, step) in steps.iter().enumerate() {
            let dir = match step.after {
                After::Absent => continue,
                After::Content { .. } if self.seen[at].in_place => continue,
                _ => self.nearest_dir(&step.path, &references, &mut ground)?,
            };
            if let After::Moved { from } = &step.after
                && !self.crosses_mounts(from, &dir)?
            {
                continue;
            }
            if let ([step], true) = (steps, self.layout.missing.is_empty() && self.lock.locked) {
                self.names = single_names(&self.seen[at].stamp, &step.after, step.path.name());
            }
            self.layout.staged[at] = Some(self.names.path(&dir, Role::New, at));
        }
        if let [step] = steps
            && matches!(step.after, After::Absent)
            && self.lock.locked
        {
            self.names = single_names(&self.seen[0].stamp, &step.after, step.path.name());
        }
        self.layout.in_the_way = ground.in_the_way.into_iter().collect();
        self.layout.in_the_way.sort_unstable();
        Ok(())
    }

    /// The nearest directory above `path` that is there; what is missing, and what stands in its place, is remembered.
    fn nearest_dir(
        &mut self,
        path: &RelPath,
        references: &HashMap<&str, usize>,
        ground: &mut Ground,
    ) -> Result<Box<str>, Failure> {
        let wanted = split(path).0;
        let mut dir = wanted;
        let mut missing = Vec::new();
        let (nearest, mut blocked) = loop {
            if let Some(nearest) = ground.nearest.get(dir) {
                // Missing, as was found before: nothing below it is in the way of anything.
                break (nearest.clone(), true);
            }
            match self.dirs.get(dir) {
                Ok(_) => break (dir.into(), false),
                Err(Errno::NOENT) => missing.push((dir, false)),
                Err(Errno::NOTDIR | Errno::LOOP) => missing.push((dir, true)),
                Err(error) => return Err(Failure::io("cannot open its directory", error, path)),
            }
            dir = dir.rsplit_once('/').map_or("", |(above, _)| above);
        };
        for (dir, no_dir) in missing.into_iter().rev() {
            // Only the outermost thing that is no directory stands in the way; below it there is nothing.
            if no_dir && !blocked {
                blocked = true;
                let step = self
                    .step_that_clears(dir, references)
                    .ok_or_else(|| Failure::new(CommitErrorKind::NotADirectory, path))?;
                ground.in_the_way.insert(step);
            }
            ground.nearest.insert(dir.into(), nearest.clone());
            self.layout.missing.push(RelPath::below("", dir));
        }
        Ok(nearest)
    }

    /// The step that takes away what stands at `path`.
    fn step_that_clears(&self, path: &str, references: &HashMap<&str, usize>) -> Option<usize> {
        let at = match references.get(path) {
            Some(at) => *at,
            None => self.steps.iter().position(|step| step.path.as_str() == path)?,
        };
        let step = &self.steps[at];
        (!matches!(step.before, Before::Absent) && matches!(step.after, After::Absent)).then_some(at)
    }

    /// Whether no rename can do a move, because it leads to another mount.
    fn crosses_mounts(&mut self, from: &RelPath, dir: &str) -> Result<bool, Failure> {
        let source_dir = split(from).0;
        if source_dir == dir {
            return Ok(false);
        }
        let mut mount = |dir: &str| -> Answer<u64> { ops::mount_of(self.dirs.get(dir)?.as_fd()) };
        let same = mount(source_dir).and_then(|source| Ok(source == mount(dir)?));
        Ok(!same.map_err(|error| Failure::io("cannot look at its directory", error, from))?)
    }
}

/// Names that say what they are about, for a commit that has no journal to say it.
fn single_names(old: &crate::workspace::Stamp, after: &After, name: &str) -> Names {
    let content = match after {
        After::Content { content, .. } => of_content(content.spliced.len() as u64, content.slices()),
        _ => 0,
    };
    Names::single(old, content, name)
}
