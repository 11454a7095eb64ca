//! The tree as the patch has made it so far, in memory: each operation sees what those above it did.

use std::collections::HashMap;
use std::sync::Arc;

use rapidhash::fast::RandomState;

use crate::path::{RelPath, split_last};
use crate::plan::error::FailureKind;
use crate::plan::{After, Before, NewContent, NewMode, Step};
use crate::text::Spliced;
use crate::workspace::{Bytes, FileData, Loaded, Source, SourceError, State};

/// How many links of moved links a path may lead through.
const MAX_LINKS: usize = 40;

/// Longer names are not possible on the file systems we know; whether they are, the system shall say.
const MAX_NAME: usize = 255;

type Map<K, V> = HashMap<K, V, RandomState>;

/// What stands at a path now, in the overlay.
#[derive(Clone, Debug)]
pub(super) enum Now {
    Absent,
    File(File),
    /// A symbolic link and the path it stood at before the patch.
    Link {
        target: Vec<u8>,
        origin: RelPath,
    },
}

/// A regular file in the overlay.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// The path its inode stood at before the patch; `None` when the patch made it.
    pub(super) origin: Option<RelPath>,
    /// The path whose file gives its mode and attributes, when it has no origin.
    pub(super) like: Option<RelPath>,
    /// Permission bits that the patch sets.
    pub(super) mode: Option<u32>,
    /// The content that `spliced` points into.
    pub(super) base: Arc<Bytes>,
    /// The new content; `None` while it is the base.
    pub(super) spliced: Option<Spliced>,
}

impl File {
    /// The content as one buffer; shared while it is unchanged.
    pub(super) fn bytes(&self) -> Arc<Bytes> {
        match &self.spliced {
            None => Arc::clone(&self.base),
            Some(spliced) => Arc::new(spliced.to_vec(&self.base).into()),
        }
    }

    /// The file with a content made from what it holds. It stays spliced from its base: what stood there before the patch.
    pub(super) fn edited(self, spliced: Spliced) -> File {
        let spliced = match &self.spliced {
            Some(before) => spliced.over(before),
            None => spliced,
        };
        File { spliced: Some(spliced), ..self }
    }

    /// Length of the content in bytes.
    pub(super) fn len(&self) -> usize {
        self.spliced.as_ref().map_or(self.base.len(), Spliced::len)
    }
}

/// What an operation finds at a path.
#[derive(Debug)]
pub(super) enum Found {
    /// A path the overlay may change: its slot.
    Slot(usize),
    /// A directory, on the disk or made by the patch.
    Dir,
    /// Something that must not be opened.
    Special(&'static str),
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) path: RelPath,
    pub(super) before: Before,
    pub(super) now: Now,
    /// The patch deleted what stood here, so an Add is a replacement.
    pub(super) deleted: bool,
    /// An operation on it failed: later ones are not judged.
    pub(super) poisoned: bool,
}

/// What is below a directory besides what the patch put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ground {
    /// What the disk has there, if anything.
    Disk,
    /// Nothing: it stands where a file or link was, so what the disk has to say of paths below it holds no more.
    Bare,
}

/// The overlay. Memory: one slot a path that was looked at.
pub(super) struct Overlay<'s, S: ?Sized> {
    source: &'s S,
    slots: Vec<Slot>,
    by_path: Map<RelPath, usize>,
    /// Directories that hold, or held, something the patch put there.
    made_dirs: Map<RelPath, Ground>,
    /// Directories in which a path was not there.
    missing: Map<Box<str>, Missing>,
    /// By device and inode, the slots of files with several names, to notice two names of one file.
    shared: Map<(u64, u64), Vec<usize>>,
    /// The patch took a link away or put a directory in the place of something: what the disk says of a path that
    /// leads through links may hold no more, so they are followed here.
    rerouted: bool,
    /// What stood, when the batch began, in the slots that it has changed; `None` outside of a batch.
    begun: Option<Map<usize, Now>>,
}

impl<'s, S: Source + ?Sized> Overlay<'s, S> {
    pub(super) fn new(source: &'s S) -> Self {
        Overlay {
            source,
            slots: Vec::new(),
            by_path: Map::default(),
            made_dirs: Map::default(),
            missing: Map::default(),
            shared: Map::default(),
            rerouted: false,
            begun: None,
        }
    }

    /// Begins a batch, or with `false` goes on without one.
    pub(super) fn begin_batch(&mut self, batch: bool) {
        self.begun = batch.then(Map::default);
    }

    /// What stood in a slot when the batch began; what stands there now, outside of one.
    pub(super) fn begun(&self, slot: usize) -> &Now {
        self.begun.as_ref().and_then(|begun| begun.get(&slot)).unwrap_or(&self.slots[slot].now)
    }

    /// Whether the batch has put something into this slot.
    pub(super) fn filled_by_batch(&self, slot: usize) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.contains_key(&slot))
            && !matches!(self.slots[slot].now, Now::Absent)
    }

    /// Whether a batch is on.
    pub(super) fn in_batch(&self) -> bool {
        self.begun.is_some()
    }

    /// The permission bits a file has, unless the patch has made it.
    pub(super) fn mode(&self, file: &File) -> Option<u32> {
        let like = file.origin.as_ref().or(file.like.as_ref());
        let stamp = || match &self.slots[*self.by_path.get(like?)?].before {
            Before::File(data) => Some(data.stamp.mode & 0o7777),
            _ => None,
        };
        file.mode.or_else(stamp)
    }

    /// The content that a file had before the patch; `None` when the patch has made it.
    pub(super) fn original(&self, slot: usize) -> Option<&Arc<FileData>> {
        let slot = match &self.slots[slot].now {
            Now::File(File { origin: Some(origin), .. }) => *self.by_path.get(origin)?,
            _ => slot,
        };
        match &self.slots[slot].before {
            Before::File(data) => Some(data),
            _ => None,
        }
    }

    pub(super) fn source(&self) -> &'s S {
        self.source
    }

    pub(super) fn slot(&self, slot: usize) -> &Slot {
        &self.slots[slot]
    }

    pub(super) fn slot_mut(&mut self, slot: usize) -> &mut Slot {
        &mut self.slots[slot]
    }

    /// What stands at `path`; a link at its end is not followed.
    pub(super) fn look(&mut self, path: &RelPath) -> Result<Found, FailureKind> {
        let mut path = path.clone();
        for _ in 0..MAX_LINKS {
            match self.blocked(&path)? {
                Way::Clear => return self.look_at(&path),
                Way::Gone => return Ok(self.known(&path).unwrap_or_else(|| Found::Slot(self.absent(path)))),
                Way::Through(next) => path = next,
            }
        }
        Err(FailureKind::Source(SourceError::LinkLoop))
    }

    /// What the link in `slot` leads to, through as many links as it takes.
    pub(super) fn follow(&mut self, slot: usize) -> Result<Found, FailureKind> {
        let mut slot = slot;
        for _ in 0..MAX_LINKS {
            let Now::Link { target, origin } = &self.slots[slot].now else {
                return Ok(Found::Slot(slot));
            };
            let next = if *origin == self.slots[slot].path && !self.rerouted {
                self.source.follow(origin).map_err(FailureKind::Source)?
            } else {
                self.relink(&self.slots[slot].path, target, "")?
            };
            match self.look(&next)? {
                Found::Slot(next) => slot = next,
                other => return Ok(other),
            }
        }
        Err(FailureKind::Source(SourceError::LinkLoop))
    }

    /// Whether the patch has changed what the directories of `path` are.
    fn blocked(&self, path: &RelPath) -> Result<Way, FailureKind> {
        let text = path.as_str();
        let Some((parent, _)) = split_last(text) else { return Ok(Way::Clear) };
        match self.made_dirs.get(parent) {
            Some(Ground::Disk) => return Ok(Way::Clear),
            Some(Ground::Bare) => return Ok(Way::Gone),
            None if self.slots.is_empty() => return Ok(Way::Clear),
            None => {}
        }
        for (end, _) in text.match_indices('/') {
            let (dir, rest) = (&text[..end], &text[end + 1..]);
            let Some(&slot) = self.by_path.get(dir) else {
                match self.link_on_disk(dir) {
                    Some(target) => return self.relink(&RelPath::below("", dir), &target, rest).map(Way::Through),
                    None => continue,
                }
            };
            let Slot { path: dir, before, now, .. } = &self.slots[slot];
            return match now {
                Now::File(_) => Err(FailureKind::Source(SourceError::NotADirectory(dir.to_string()))),
                Now::Link { origin, .. } if origin == dir && !self.rerouted => continue,
                Now::Link { target, .. } => self.relink(dir, target, rest).map(Way::Through),
                Now::Absent if matches!(before, Before::Absent) => continue,
                Now::Absent => Ok(Way::Gone),
            };
        }
        Ok(Way::Clear)
    }

    /// What the link at `dir` holds, if one is there and the patch makes it worth a look.
    fn link_on_disk(&self, dir: &str) -> Option<Vec<u8>> {
        if !self.rerouted || self.made_dirs.contains_key(dir) {
            return None;
        }
        match self.source.load(&RelPath::below("", dir)) {
            Ok(Loaded { state: State::Link(target), .. }) => Some(target),
            _ => None,
        }
    }

    /// `rest` below what a link at `link` holding `target` leads to, by the text alone.
    fn relink(&self, link: &RelPath, target: &[u8], rest: &str) -> Result<RelPath, FailureKind> {
        let (above, target) = match target.first() {
            Some(b'/') => (None, self.source.strip_root(target)),
            _ => (link.parent(), Some(target)),
        };
        let joined = target.and_then(|target| join(above.as_ref(), target, rest));
        joined.ok_or(FailureKind::Source(SourceError::Outside))
    }

    /// What the patch has made of a path. A directory counts more than the slot of what it took the place of.
    fn known(&self, path: &RelPath) -> Option<Found> {
        match self.by_path.get(path) {
            Some(&slot) if !matches!(self.slots[slot].now, Now::Absent) => Some(Found::Slot(slot)),
            _ if self.made_dirs.contains_key(path) => Some(Found::Dir),
            slot => slot.map(|&slot| Found::Slot(slot)),
        }
    }

    fn look_at(&mut self, path: &RelPath) -> Result<Found, FailureKind> {
        if let Some(found) = self.known(path) {
            return Ok(found);
        }
        let Loaded { path, state } = self.load(path).map_err(FailureKind::Source)?;
        if let Some(found) = self.known(&path) {
            return Ok(found);
        }
        Ok(match state {
            State::Dir => Found::Dir,
            State::Special(what) => Found::Special(what),
            State::Absent => Found::Slot(self.absent(path)),
            State::Link(target) => {
                let now = Now::Link { target: target.clone(), origin: path.clone() };
                Found::Slot(self.insert(path, Before::Link(target), now))
            }
            State::File(data) => Found::Slot(self.insert_file(path, data)),
        })
    }

    /// As [`Source::load`], but in a directory in which several paths were not there it is asked once whether the directory is: a
    /// patch that makes a thousand files in a new one need not ask for each.
    fn load(&mut self, path: &RelPath) -> Result<Loaded, SourceError> {
        let Some((dir, name)) = split_last(path.as_str()) else { return self.source.load(path) };
        let known = self.missing.get(dir);
        if let Some(Missing::Yes(dir)) = known
            && name.len() <= MAX_NAME
            && !name.eq_ignore_ascii_case(".git")
        {
            return Ok(Loaded { path: RelPath::child(Some(dir), name), state: State::Absent });
        }
        let loaded = self.source.load(path)?;
        if !matches!(loaded.state, State::Absent) {
            return Ok(loaded);
        }
        let now = match known {
            None => Missing::Perhaps,
            Some(Missing::Perhaps) => match path.parent().map(|dir| self.source.load(&dir)) {
                Some(Ok(Loaded { path, state: State::Absent })) => Missing::Yes(path),
                _ => Missing::No,
            },
            Some(_) => return Ok(loaded),
        };
        self.missing.insert(dir.into(), now);
        Ok(loaded)
    }

    /// The slot of a path where nothing is known to stand.
    pub(super) fn absent(&mut self, path: RelPath) -> usize {
        match self.by_path.get(&path) {
            Some(&slot) => slot,
            None => self.insert(path, Before::Absent, Now::Absent),
        }
    }

    fn insert_file(&mut self, path: RelPath, data: Arc<FileData>) -> usize {
        let stamp = data.stamp;
        let file =
            File { origin: Some(path.clone()), like: None, mode: None, base: Arc::clone(&data.bytes), spliced: None };
        let slot = self.insert(path, Before::File(data), Now::File(file));
        if stamp.links > 1 {
            self.shared.entry((stamp.dev, stamp.ino)).or_default().push(slot);
        }
        slot
    }

    fn insert(&mut self, path: RelPath, before: Before, now: Now) -> usize {
        let slot = self.slots.len();
        self.by_path.insert(path.clone(), slot);
        self.slots.push(Slot { path, before, now, deleted: false, poisoned: false });
        slot
    }

    /// Another path of this patch that names the same file as `slot` and is edited already.
    pub(super) fn edited_twin(&self, slot: usize) -> Option<&RelPath> {
        let Before::File(data) = &self.slots[slot].before else { return None };
        let twins = self.shared.get(&(data.stamp.dev, data.stamp.ino))?;
        let other = twins.iter().find(|&&other| other != slot && edited(&self.slots[other]))?;
        Some(&self.slots[*other].path)
    }

    /// Changes what stands in a slot.
    pub(super) fn set(&mut self, slot: usize, now: Now) {
        let before = std::mem::replace(&mut self.slots[slot].now, now);
        if let Some(begun) = &mut self.begun {
            begun.entry(slot).or_insert(before);
        }
    }

    /// Takes away what stands at the path of `slot`.
    pub(super) fn take(&mut self, slot: usize) {
        self.rerouted |= matches!(self.slots[slot].now, Now::Link { .. });
        self.set(slot, Now::Absent);
    }

    /// Puts a file or link at the path of `slot` and remembers its directories.
    pub(super) fn put(&mut self, slot: usize, now: Now) {
        self.set(slot, now);
        let path = self.slots[slot].path.clone();
        let mut missing = Vec::new();
        let mut ground = Ground::Disk;
        for (end, _) in path.as_str().rmatch_indices('/') {
            let dir = &path.as_str()[..end];
            match self.made_dirs.get(dir) {
                Some(&known) => {
                    ground = known;
                    break;
                }
                None => missing.push(dir),
            }
        }
        for dir in missing.into_iter().rev() {
            let stood = self.by_path.get(dir).map(|&slot| &self.slots[slot].before);
            if stood.is_some_and(|before| !matches!(before, Before::Absent)) {
                ground = Ground::Bare;
                self.rerouted = true;
            }
            self.made_dirs.insert(RelPath::below("", dir), ground);
        }
    }

    /// The net effect: one step for each path that is not what it was.
    pub(super) fn into_steps(self) -> Vec<Step> {
        self.slots.into_iter().filter_map(Slot::into_step).collect()
    }
}

/// Whether a directory in which one path was not there is missing itself.
enum Missing {
    /// It was not asked yet.
    Perhaps,
    No,
    /// It is, and this is where it would be.
    Yes(RelPath),
}

enum Way {
    /// Nothing on the way was touched.
    Clear,
    /// A directory link or file on the way is gone, so nothing is below it.
    Gone,
    /// A link that the patch moved is on the way: go on here.
    Through(RelPath),
}

fn edited(slot: &Slot) -> bool {
    matches!(&slot.now, Now::File(file) if file.spliced.is_some())
}

/// `rest` below `target`, seen from the directory `above` (`None`: the root); `None` when that leaves the root.
fn join(above: Option<&RelPath>, target: &[u8], rest: &str) -> Option<RelPath> {
    let target = std::str::from_utf8(target).ok()?;
    let mut parts: Vec<&str> = above.into_iter().flat_map(RelPath::parts).collect();
    let mut named = false;
    for part in target.split('/').chain(rest.split('/')) {
        match part {
            "" | "." => {}
            // Behind a name, which may be one more link, the text alone cannot tell where this leads.
            ".." if named => return None,
            ".." => {
                parts.pop()?;
            }
            part => {
                parts.push(part);
                named = true;
            }
        }
    }
    RelPath::new(parts.join("/").as_bytes()).ok()
}

impl Slot {
    fn into_step(self) -> Option<Step> {
        let Slot { path, before, now, .. } = self;
        let after = match now {
            Now::Absent if matches!(before, Before::Absent) => return None,
            Now::Absent => After::Absent,
            Now::Link { origin, .. } if origin == path => return None,
            Now::Link { origin, .. } => After::Moved { from: origin },
            Now::File(file) => file.into_after(&path, &before)?,
        };
        Some(Step { path, before, after })
    }
}

impl File {
    fn into_after(self, path: &RelPath, before: &Before) -> Option<After> {
        let same = self.spliced.as_ref().is_none_or(|spliced| spliced.equals_base(&self.base));
        if let Some(origin) = self.origin.as_ref().filter(|_| same && self.mode.is_none()) {
            return (origin != path).then(|| After::Moved { from: origin.clone() });
        }
        let spliced = self.spliced.unwrap_or_else(|| {
            let mut whole = Spliced::default();
            whole.keep(0..self.base.len());
            whole
        });
        let content = NewContent { base: self.base, spliced };
        let like = self.origin.or(self.like);
        let kept = like.as_ref() == Some(path) && self.mode.is_none();
        if kept && matches!(before, Before::File(data) if content.equals(&data.bytes)) {
            return None;
        }
        let mode = if like.is_none() { NewMode::LessUmask } else { NewMode::Exactly };
        Some(After::Content { content, like, mode: self.mode.map(|bits| mode(bits & 0o7777)) })
    }
}
