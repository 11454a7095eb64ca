//! The way back of a plan: steps that lead from what it makes to what it found. Pure; the contents are all in memory.

use std::collections::HashMap;
use std::sync::Arc;

use crate::path::RelPath;
use crate::plan::{After, Before, NewContent, NewMode, Plan, Step};
use crate::text::{Piece, Spliced};
use crate::workspace::{FileData, Stamp};

impl Plan {
    /// The plan that undoes this one, once it is committed. What it expects of a file is its content and mode; identities
    /// and times are not known before a commit.
    ///
    /// # Complexity
    /// Linear in the files; each new content is copied once.
    pub fn reversed(&self) -> Plan {
        let ground = Ground::new(&self.steps);
        Plan { steps: self.steps.iter().map(|step| ground.reversed(step)).collect(), changes: Vec::new() }
    }

    /// As [`Plan::reversed`], but a file goes back to another path only where nothing stands and leaves nothing: what
    /// every reader of diffs can do.
    pub(crate) fn reversed_simply(&self) -> Plan {
        let mut plan = self.reversed();
        let found: HashMap<RelPath, (Before, bool)> = plan
            .steps
            .iter()
            .map(|step| (step.path.clone(), (step.before.clone(), matches!(step.after, After::Absent))))
            .collect();
        for step in &mut plan.steps {
            let source = match &step.after {
                After::Moved { from } => from,
                After::Content { like: Some(like), .. } if *like != step.path => like,
                _ => continue,
            };
            let Some((there, goes)) = found.get(source) else { continue };
            if *goes && matches!(step.before, Before::Absent) {
                continue;
            }
            let like = matches!(step.before, Before::File(_)).then(|| step.path.clone());
            step.after = match (&step.after, there) {
                (After::Content { content, mode, .. }, Before::File(data)) => {
                    After::Content { content: content.clone(), like, mode: mode.or(Some(mode_of(data))) }
                }
                (_, Before::File(data)) => After::Content { content: whole(data), like, mode: Some(mode_of(data)) },
                (_, Before::Link(target)) => After::Link { target: target.clone() },
                (after, Before::Absent) => after.clone(),
            };
        }
        plan
    }
}

/// Where everything that the plan found is afterwards.
struct Ground<'s> {
    steps: HashMap<&'s RelPath, &'s Step>,
    /// For each path whose file goes to another one, that one.
    heirs: HashMap<&'s RelPath, &'s Step>,
}

impl<'s> Ground<'s> {
    fn new(steps: &'s [Step]) -> Self {
        let mut heirs = HashMap::new();
        for step in steps {
            let (After::Moved { from: source } | After::Content { like: Some(source), .. }) = &step.after else {
                continue;
            };
            if *source != step.path {
                heirs.entry(source).or_insert(step);
            }
        }
        Ground { steps: steps.iter().map(|step| (&step.path, step)).collect(), heirs }
    }

    fn reversed(&self, step: &Step) -> Step {
        Step { path: step.path.clone(), before: self.made(step), after: self.found(step) }
    }

    /// What stands at the path of a step once it is done.
    fn made(&self, step: &Step) -> Before {
        match &step.after {
            After::Absent => Before::Absent,
            After::Link { target } => Before::Link(target.clone()),
            After::Moved { from } => self.steps.get(from).map_or(Before::Absent, |source| source.before.clone()),
            After::Content { content, like, mode } => {
                let model = like.as_ref().and_then(|like| self.steps.get(like)).map(|source| &source.before);
                let known = match model {
                    Some(Before::File(data)) => Some(data.stamp.mode),
                    _ => None,
                };
                let mode = mode.map(NewMode::bits).or(known).unwrap_or(0o644) & 0o7777;
                let bytes = content.to_vec();
                let stamp = Stamp { size: bytes.len() as u64, mode: FILE | mode, ..Stamp::default() };
                Before::File(Arc::new(FileData { bytes: Arc::new(bytes.into()), stamp }))
            }
        }
    }

    /// What stood at the path of a step before it.
    fn found(&self, step: &Step) -> After {
        let data = match &step.before {
            Before::Absent => return After::Absent,
            Before::Link(target) => {
                return match self.heirs.get(&step.path).map(|heir| (&heir.after, &heir.path)) {
                    Some((After::Moved { .. }, to)) => After::Moved { from: to.clone() },
                    _ => After::Link { target: target.clone() },
                };
            }
            Before::File(data) => data,
        };
        let old_mode = Some(mode_of(data));
        if let After::Content { content, like: Some(like), mode } = &step.after
            && *like == step.path
        {
            return After::Content { content: back(content, data), like: Some(like.clone()), mode: mode.and(old_mode) };
        }
        match self.heirs.get(&step.path).map(|heir| (&heir.after, &heir.path)) {
            Some((After::Moved { .. }, to)) => After::Moved { from: to.clone() },
            Some((After::Content { content, mode, .. }, to)) => {
                After::Content { content: back(content, data), like: Some(to.clone()), mode: mode.and(old_mode) }
            }
            _ => After::Content { content: whole(data), like: None, mode: old_mode },
        }
    }
}

/// The type bits of a regular file.
const FILE: u32 = 0o100_000;

fn mode_of(data: &FileData) -> NewMode {
    NewMode::Exactly(data.stamp.mode & 0o7777)
}

fn whole(data: &FileData) -> NewContent {
    NewContent { base: Arc::default(), spliced: Spliced::from_fresh(data.bytes.to_vec()) }
}

/// The old content as stretches of the new one, so that a diff need not compare what was kept.
fn back(content: &NewContent, data: &FileData) -> NewContent {
    let old: &[u8] = &data.bytes;
    let mut spliced = Spliced::default();
    let (mut old_at, mut new_at) = (0, 0);
    for (piece, bytes) in content.spliced.pieces().iter().zip(content.slices()) {
        if let Piece::Kept(kept) = piece {
            // A stretch that was moved up, or of another content, is no stretch to keep.
            if kept.start >= old_at && old.get(kept.clone()) == Some(bytes) {
                spliced.add(&old[old_at..kept.start]);
                spliced.keep(new_at..new_at + bytes.len());
                old_at = kept.end;
            }
        }
        new_at += bytes.len();
    }
    spliced.add(&old[old_at..]);
    NewContent { base: Arc::new(content.to_vec().into()), spliced }
}
