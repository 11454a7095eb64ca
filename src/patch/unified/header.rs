//! What stands above the hunks of a file: its names, and git's words on renames, copies and modes.

use super::Kind;
use super::names::{Name, git_pair, one_path, one_side, strip, stripped, unquote};
use crate::patch::error::quote;
use crate::patch::{FileOp, OpKind};

/// The mode of a file in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Plain,
    Executable,
    Link,
    Submodule,
}

impl Mode {
    fn read(text: &[u8]) -> Result<Mode, Kind> {
        match text.trim_ascii() {
            b"120000" => Ok(Mode::Link),
            b"160000" => Ok(Mode::Submodule),
            mode if mode.starts_with(b"100") && mode.len() == 6 => match mode[3] {
                b'7' | b'5' | b'3' | b'1' => Ok(Mode::Executable),
                b'6' | b'4' | b'2' | b'0' => Ok(Mode::Plain),
                _ => Err(Kind::BadMode),
            },
            _ => Err(Kind::BadMode),
        }
    }
}

/// The header as far as it has been read.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// The line on which it begins.
    pub(super) line: u64,
    /// What follows `diff --git`.
    pub(super) git: Option<Vec<u8>>,
    pub(super) old: Option<Name>,
    pub(super) new: Option<Name>,
    moved: [Option<Vec<u8>>; 2],
    copied: [Option<Vec<u8>>; 2],
    created: Option<Mode>,
    deleted: Option<Mode>,
    old_mode: Option<Mode>,
    new_mode: Option<Mode>,
    index_mode: Option<Mode>,
}

impl Header {
    pub(super) fn of_git(line: u64, rest: &[u8]) -> Self {
        Header { line, git: Some(rest.to_vec()), ..Header::default() }
    }

    pub(super) fn of_names(line: u64, old: Name, new: Name) -> Self {
        Header { line, old: Some(old), new: Some(new), ..Header::default() }
    }

    /// Takes one of git's extended header lines; says whether it is one.
    pub(super) fn take(&mut self, text: &[u8]) -> Result<bool, Kind> {
        let after = |start: &str| text.strip_prefix(start.as_bytes());
        if let Some(mode) = after("old mode ") {
            self.old_mode = Some(Mode::read(mode)?);
        } else if let Some(mode) = after("new mode ") {
            self.new_mode = Some(Mode::read(mode)?);
        } else if let Some(mode) = after("new file mode ") {
            self.created = Some(Mode::read(mode)?);
        } else if let Some(mode) = after("deleted file mode ") {
            self.deleted = Some(Mode::read(mode)?);
        } else if let Some(name) = after("rename from ").or_else(|| after("rename old ")) {
            self.moved[0] = Some(bare(name)?);
        } else if let Some(name) = after("rename to ").or_else(|| after("rename new ")) {
            self.moved[1] = Some(bare(name)?);
        } else if let Some(name) = after("copy from ") {
            self.copied[0] = Some(bare(name)?);
        } else if let Some(name) = after("copy to ") {
            self.copied[1] = Some(bare(name)?);
        } else if let Some(hashes) = after("index ") {
            let mode = hashes.rsplit(|byte| *byte == b' ').next().filter(|mode| mode.len() == 6);
            self.index_mode = mode.and_then(|mode| Mode::read(mode).ok());
        } else {
            return Ok(after("similarity index ").or_else(|| after("dissimilarity index ")).is_some());
        }
        Ok(true)
    }

    /// A name for messages.
    pub(super) fn shown(&self) -> String {
        let names = [&self.new, &self.old].into_iter().flatten().find_map(Name::path);
        let from_git = || self.git.as_deref().and_then(git_pair).map(|(_, new)| one_side(&new).to_vec());
        names.map(|name| quote(one_side(name))).or_else(|| from_git().map(|name| quote(&name))).unwrap_or_default()
    }

    /// The operation that the header stands for. `first_old` is the old line number of the first hunk, if there is one.
    pub(super) fn op(&self, count: Option<usize>, first_old: Option<u64>, hunks: bool) -> Result<FileOp, Kind> {
        self.refuse_types()?;
        let executable = self.new_mode.or(self.created).map(|mode| mode == Mode::Executable);
        let kept = |path: Option<Vec<u8>>| match count.filter(|count| *count > 1).zip(path.as_deref()) {
            Some((count, path)) => stripped(path, count - 1).map(Some),
            None => Ok(path),
        };
        let [moved_from, moved_to] = self.moved.clone();
        let [copied_from, copied_to] = self.copied.clone();
        let (path, kind) = match (kept(moved_from)?, kept(moved_to)?, kept(copied_from)?, kept(copied_to)?) {
            (Some(from), Some(to), None, None) => (from, OpKind::Update { move_to: Some(to), hunks: Vec::new() }),
            (None, None, Some(from), Some(to)) => (from, OpKind::Copy { to, hunks: Vec::new() }),
            (None, None, None, None) => {
                let path = self.path(count)?;
                let new = self.created.is_some() || self.old.as_ref().is_some_and(Name::is_absent);
                let gone = self.deleted.is_some() || self.new.as_ref().is_some_and(Name::is_absent);
                let kind = match (new, gone) {
                    (true, true) => return Err(Kind::NoName),
                    (true, false) => OpKind::Add { content: Vec::new() },
                    (false, true) => OpKind::Delete { hunks: Vec::new() },
                    // A hunk of nothing old is the whole of a file that is new or empty; git says which.
                    (false, false) if first_old == Some(0) && self.git.is_none() => OpKind::Add { content: Vec::new() },
                    (false, false) => OpKind::Update { move_to: None, hunks: Vec::new() },
                };
                (path, kind)
            }
            _ => return Err(Kind::HalfRename),
        };
        let says = !matches!(kind, OpKind::Update { move_to: None, .. }) || executable.is_some();
        if !hunks && !says {
            return Err(Kind::NoChange { path: quote(&path) });
        }
        Ok(FileOp { executable, ..FileOp::new(self.line, path, kind) })
    }

    /// Whether what git says above is whole, and about another file than the one whose names follow. Texts that are put
    /// together by hand have such: a rename, and then a plain diff of the next file.
    pub(super) fn is_of_another(&self, old: &Name, new: &Name, count: Option<usize>) -> bool {
        let [moved_from, moved_to] = &self.moved;
        let [copied_from, copied_to] = &self.copied;
        let pair = self.git.as_deref().and_then(git_pair);
        let (from, to) = pair.map_or((None, None), |(from, to)| (Some(from), Some(to)));
        let sides = [
            (moved_from.as_ref().or(copied_from.as_ref()).or(from.as_ref()), old),
            (moved_to.as_ref().or(copied_to.as_ref()).or(to.as_ref()), new),
        ];
        let other = |(said, name): (Option<&Vec<u8>>, &Name)| {
            said.zip(name.path()).is_some_and(|(said, name)| !same_end(one_side(said), one_side(name)))
        };
        sides.into_iter().any(other) && self.op(count, None, false).is_ok()
    }

    /// Whether it is a link that goes, whose lines are its target.
    pub(super) fn deletes_link(&self) -> bool {
        self.deleted == Some(Mode::Link)
    }

    fn refuse_types(&self) -> Result<(), Kind> {
        let made = [self.created, self.old_mode, self.new_mode, self.index_mode];
        let path = || self.shown();
        if made.contains(&Some(Mode::Submodule)) || self.deleted == Some(Mode::Submodule) {
            return Err(Kind::Submodule { path: path() });
        }
        if made.contains(&Some(Mode::Link)) && self.deleted.is_none() {
            return Err(Kind::SymbolicLink { path: path() });
        }
        Ok(())
    }

    /// The one path of a header without rename.
    fn path(&self, count: Option<usize>) -> Result<Vec<u8>, Kind> {
        let names = [&self.old, &self.new].map(|name| name.as_ref().and_then(Name::path));
        let pair = self.git.as_deref().map(git_pair);
        match (names, pair) {
            ([Some(old), Some(new)], _) => one_path(old, new, count),
            // The line of git says what its prefixes are.
            ([None, None] | [Some(_), None] | [None, Some(_)], Some(Some((old, new)))) => one_path(&old, &new, count),
            ([Some(name), None] | [None, Some(name)], _) => match count {
                Some(count) => stripped(name, count),
                None => Ok(one_side(name).to_vec()),
            },
            ([None, None], _) => Err(Kind::NoName),
        }
    }
}

/// Whether one name is the other, or the other without its first directories.
fn same_end(a: &[u8], b: &[u8]) -> bool {
    let ends = |long: &[u8], short: &[u8]| {
        long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with(b"/"))
    };
    ends(a, b) || ends(b, a)
}

/// A name of a rename or copy, which has no prefix.
fn bare(text: &[u8]) -> Result<Vec<u8>, Kind> {
    let name = if text.starts_with(b"\"") { unquote(text).ok_or(Kind::BadQuotes)?.0 } else { text.to_vec() };
    strip(&name, 0).map(<[u8]>::to_vec).ok_or(Kind::NoName)
}
