//! One sorted look at the whole tree, by names alone. What cannot be part of an agent is said here.

use super::diagnostic::{Code, Diagnostic};
use super::fields::Findings;
use super::names;
use super::source::{EntryKind, Source};
use crate::RelPath;

/// Files of one tree at most.
const MAX_FILES: usize = 10_000;
/// Directories within each other at most.
const MAX_DEPTH: usize = 24;

/// A directory and all that is in it, sorted by name.
#[derive(Debug, Default)]
pub(super) struct Dir {
    /// `None`: the top.
    pub(super) path: Option<RelPath>,
    pub(super) dirs: Vec<Dir>,
    pub(super) files: Vec<File>,
    /// Directories that were not looked into, because nothing of an agent has their name.
    pub(super) unread: Vec<RelPath>,
}

/// A file's name.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: RelPath,
}

impl File {
    /// Its name up to the last dot, and what follows it.
    pub(super) fn stem(&self) -> (&str, &str) {
        self.path.name().rsplit_once('.').unwrap_or((self.path.name(), ""))
    }
}

impl Dir {
    pub(super) fn name(&self) -> &str {
        self.path.as_ref().map_or("", RelPath::name)
    }

    pub(super) fn dir(&self, name: &str) -> Option<&Dir> {
        self.dirs.iter().find(|dir| dir.name() == name)
    }

    pub(super) fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path.name() == name)
    }

    /// All files below, in the order of their paths' parts.
    pub(super) fn all<'d>(&'d self, out: &mut Vec<&'d File>) {
        out.extend(&self.files);
        self.dirs.iter().for_each(|dir| dir.all(out));
    }
}

/// How a directory's names are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Zone {
    /// The top of a node: only folders that mean something are looked into.
    Node,
    /// `subagents/`: each folder is a node.
    Subagents,
    /// `skills/`: each folder is taken as it is.
    Skills,
    /// `sandbox/`: `workspace/` is taken as it is.
    Sandbox,
    /// All else of an agent.
    Plain,
    /// A skill's package or a workspace: hidden files and tests belong to it.
    Verbatim,
}

impl Zone {
    fn below(self, name: &str) -> Zone {
        match (self, name) {
            (Zone::Node, "subagents") => Zone::Subagents,
            (Zone::Node, "skills") => Zone::Skills,
            (Zone::Node, "sandbox") => Zone::Sandbox,
            (Zone::Subagents, _) => Zone::Node,
            (Zone::Skills, _) | (Zone::Sandbox, "workspace") | (Zone::Verbatim, _) => Zone::Verbatim,
            (Zone::Node | Zone::Sandbox | Zone::Plain, _) => Zone::Plain,
        }
    }

    fn ignores(self, name: &str, dir: bool) -> bool {
        match self {
            Zone::Verbatim => {
                dir && (name.eq_ignore_ascii_case(".git")
                    || [".restitch", "node_modules", "__pycache__"].contains(&name))
            }
            _ => name.starts_with('.') || names::ignored(name, dir),
        }
    }
}

/// The folders that mean something in a node.
pub(super) const FOLDERS: &[&str] = &[
    "channels",
    "connections",
    "hooks",
    "instructions",
    "lib",
    "memory",
    "sandbox",
    "schedules",
    "skills",
    "subagents",
    "tools",
];

struct Walk<'s> {
    source: &'s dyn Source,
    files: usize,
    out: &'s mut Findings,
}

/// Looks at the tree of `source`.
pub(super) fn walk(source: &dyn Source, out: &mut Findings) -> Dir {
    Walk { source, files: 0, out }.dir(None, Zone::Node, 0)
}

impl Walk<'_> {
    fn dir(&mut self, path: Option<&RelPath>, zone: Zone, depth: usize) -> Dir {
        let mut dir = Dir { path: path.cloned(), ..Dir::default() };
        let shown = path.map_or(".", RelPath::as_str);
        let entries = match self.source.list(path, MAX_FILES + 1) {
            Ok(entries) if entries.len() <= MAX_FILES => entries,
            Ok(_) => {
                self.too_many(shown, format!("`{shown}` has more than {MAX_FILES} entries"));
                return dir;
            }
            Err(error) => {
                let message = format!("`{shown}` {error}");
                self.say(Code::Unreadable, shown, message, "make it readable, or take it out of the agent");
                return dir;
            }
        };
        let mut named = Vec::with_capacity(entries.len());
        for entry in entries {
            match String::from_utf8(entry.name) {
                Ok(name) => named.push((name, entry.kind)),
                Err(error) => self.bad_bytes(shown, error.as_bytes()),
            }
        }
        named.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, kind) in named {
            self.entry(&mut dir, &name, kind, zone, depth);
        }
        dir
    }

    fn entry(&mut self, dir: &mut Dir, name: &str, kind: EntryKind, zone: Zone, depth: usize) {
        if zone.ignores(name, kind == EntryKind::Dir) {
            return;
        }
        let path = names::child(dir.path.as_ref(), name);
        match kind {
            EntryKind::Dir if zone == Zone::Node && !FOLDERS.contains(&name) => dir.unread.push(path),
            EntryKind::Dir if depth >= MAX_DEPTH => {
                self.too_many(path.as_str(), format!("`{path}` is more than {MAX_DEPTH} directories deep"));
            }
            EntryKind::Dir => dir.dirs.push(self.dir(Some(&path), zone.below(name), depth + 1)),
            EntryKind::File { .. } => {
                self.files += 1;
                match self.files.cmp(&(MAX_FILES + 1)) {
                    std::cmp::Ordering::Less => dir.files.push(File { path }),
                    std::cmp::Ordering::Equal => {
                        self.too_many(path.as_str(), format!("the agent has more than {MAX_FILES} files"));
                    }
                    std::cmp::Ordering::Greater => {}
                }
            }
            EntryKind::BadLink => {
                let message = format!("the link `{path}` leads to a directory, out of the agent, or nowhere");
                self.say(
                    Code::Link,
                    path.as_str(),
                    message,
                    "put a copy in its place, or a link to a file of the agent",
                );
            }
            EntryKind::Special => {
                let message = format!("`{path}` is a pipe, a socket or a device");
                self.say(Code::Unreadable, path.as_str(), message, "take it out of the agent");
            }
        }
    }

    fn bad_bytes(&mut self, dir: &str, name: &[u8]) {
        let message = format!("a name in `{dir}` is not UTF-8: {}", name.escape_ascii());
        self.say(Code::BadName, dir, message, "rename it");
    }

    fn too_many(&mut self, file: &str, message: String) {
        self.say(Code::TooMany, file, message, "keep data out of the agent's folders, or generate it at run time");
    }

    fn say(&mut self, code: Code, file: &str, message: String, help: &str) {
        self.out.push(Diagnostic::new(code, file, message, help));
    }
}
