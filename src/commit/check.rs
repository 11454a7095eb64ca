//! Is the disk still what the plan was made from? Contents are compared, not only times.

use std::collections::{HashMap, HashSet};
use std::os::fd::AsFd as _;

use super::attributes;
use super::error::{Change, CommitErrorKind, Failure};
use super::transaction::{Seen, Transaction, holds, open_failure, unsupported};
use crate::path::RelPath;
use crate::plan::{After, Before, Step};
use crate::policy::HardLinks;
use crate::workspace::ops::{self, Errno, How, Kind};
use crate::workspace::{FileData, Stamp};

impl Transaction<'_> {
    /// Compares every step's expectation with the disk and remembers what was found.
    ///
    /// Costs five calls for a file: open, stat, read, list attributes, close.
    pub(super) fn check(&mut self) -> Result<(), Failure> {
        let steps = self.steps;
        let mut no_dirs = HashSet::new();
        for step in steps {
            let seen = match &step.before {
                Before::Absent => self.check_absent(&step.path, &mut no_dirs)?,
                Before::File(data) => self.check_file(step, data)?,
                Before::Link(target) => self.check_link(&step.path, target)?,
            };
            self.seen.push(seen);
        }
        self.check_names_of_one_file()
    }

    fn check_absent<'p>(&mut self, path: &'p RelPath, no_dirs: &mut HashSet<&'p str>) -> Result<Seen, Failure> {
        let dir = super::dirs::split(path).0;
        if no_dirs.contains(dir) {
            return Ok(Seen::default());
        }
        match self.stat(path) {
            Ok(_) => Err(Failure::stale(Change::Appeared, path)),
            // With its directory missing the path is free; with a file in that place staging decides.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                if self.dirs.get(dir).is_err() {
                    no_dirs.insert(dir);
                }
                Ok(Seen::default())
            }
            Err(error) => Err(Failure::io("cannot look whether it is free", error, path)),
        }
    }

    fn check_file(&mut self, step: &Step, data: &FileData) -> Result<Seen, Failure> {
        let path = &step.path;
        let doing = "cannot read it again";
        let file =
            self.workspace.open_resolved(path.as_str(), How::Read).map_err(|error| open_failure(doing, error, path))?;
        let (stamp, mounted) = ops::stat_mount(file.as_fd()).map_err(|error| Failure::io(doing, error, path))?;
        if ops::kind(stamp.mode) != Kind::File {
            return Err(Failure::stale(Change::Type, path));
        }
        let planned = &data.stamp;
        let same = stamp.size == data.bytes.len() as u64
            && holds(file.as_fd(), [data.bytes.as_slice()], data.bytes.len(), &mut self.window)
                .map_err(|error| Failure::io(doing, error, path))?;
        if !same {
            return Err(Failure::stale(Change::Content, path));
        }
        if (stamp.mode, stamp.uid, stamp.gid) != (planned.mode, planned.uid, planned.gid) {
            return Err(Failure::stale(Change::Attributes, path));
        }
        let written = matches!(step.after, After::Content { .. });
        // A file that takes another's place is not the one that has other names.
        let edited = matches!(&step.after, After::Content { like: Some(like), .. } if like == path);
        let linked = stamp.links > 1 && edited;
        if linked && self.options.hard_links == HardLinks::Deny {
            return Err(Failure::new(CommitErrorKind::HardLinked(stamp.links), path));
        }
        let mut seen = Seen { in_place: linked || (written && mounted), ..Seen::of(stamp) };
        if self.abilities.attributes && !seen.in_place {
            seen.extras = match attributes::extras(file.as_fd()) {
                Ok(extras) => extras,
                Err(error) if unsupported(error) => {
                    self.abilities.attributes = false;
                    None
                }
                Err(error) => return Err(Failure::io("cannot read its attributes", error, path)),
            };
        }
        Ok(seen)
    }

    fn check_link(&mut self, path: &RelPath, target: &[u8]) -> Result<Seen, Failure> {
        let doing = "cannot read the link again";
        let (dir, name) = self.dirs.of(path).map_err(|error| open_failure(doing, error, path))?;
        let found = ops::read_link(dir.as_fd(), name.as_bytes());
        match found {
            Ok(found) if found == target => {}
            Ok(_) => return Err(Failure::stale(Change::Content, path)),
            Err(Errno::INVAL) => return Err(Failure::stale(Change::Type, path)),
            Err(error) => return Err(open_failure(doing, error, path)),
        }
        let stamp = self.stat(path).map_err(|error| open_failure(doing, error, path))?;
        Ok(Seen::of(stamp))
    }

    /// Two names of one file cannot be given two contents.
    fn check_names_of_one_file(&self) -> Result<(), Failure> {
        let mut first: HashMap<(u64, u64), usize> = HashMap::new();
        for (at, seen) in self.seen.iter().enumerate().filter(|(_, seen)| seen.in_place) {
            let other = *first.entry((seen.stamp.dev, seen.stamp.ino)).or_insert(at);
            if other == at {
                continue;
            }
            let (After::Content { content: one, .. }, After::Content { content: two, .. }) =
                (&self.steps[other].after, &self.steps[at].after)
            else {
                continue;
            };
            if one.to_vec() != two.to_vec() {
                let other = self.steps[other].path.clone();
                return Err(Failure::new(CommitErrorKind::SameFile(other), &self.steps[at].path));
            }
        }
        Ok(())
    }

    /// Looks once more, by times and identity, right before the first change: what was checked may be long ago.
    ///
    /// Costs one call a step.
    pub(super) fn check_again(&mut self) -> Result<(), Failure> {
        let steps = self.steps;
        for (at, step) in steps.iter().enumerate() {
            if matches!(step.before, Before::Absent) {
                // The rename onto a free name will tell.
                continue;
            }
            let found =
                self.stat(&step.path).map_err(|error| open_failure("cannot look at it again", error, &step.path))?;
            if found != self.seen[at].stamp {
                return Err(Failure::stale(change(&self.seen[at].stamp, &found), &step.path));
            }
        }
        Ok(())
    }
}

/// In what two stamps of one path differ.
pub(super) fn change(before: &Stamp, now: &Stamp) -> Change {
    let content = |stamp: &Stamp| (stamp.dev, stamp.ino, stamp.size, stamp.mtime);
    if ops::kind(before.mode) != ops::kind(now.mode) {
        Change::Type
    } else if content(before) == content(now) {
        Change::Attributes
    } else {
        Change::Content
    }
}
