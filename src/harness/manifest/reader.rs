//! Reads the files of the tree and remembers what it read, hash and all.

use std::collections::BTreeMap;

use super::diagnostic::{Code, Diagnostic, Place};
use super::doc::{self, Table};
use super::fields::Findings;
use super::source::{EntryKind, Source};
use super::types::FileRef;
use crate::RelPath;
use crate::{Digest, SourceError};

/// Bytes of a file that is read as text.
const MAX_TEXT: u64 = 1 << 20;
/// Bytes of any other file.
const MAX_DATA: u64 = 64 << 20;

/// The tree and what has been read of it.
pub(super) struct Reader<'s> {
    source: &'s dyn Source,
    read: BTreeMap<RelPath, FileRef>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(source: &'s dyn Source) -> Self {
        Reader { source, read: BTreeMap::new() }
    }

    /// All files that were read, sorted by path.
    pub(super) fn into_inputs(self) -> Vec<FileRef> {
        self.read.into_values().collect()
    }

    /// Whether something at or below `path` was read.
    pub(super) fn has_read(&self, path: &str) -> bool {
        let below = |file: &RelPath| {
            file.as_str().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.read.keys().any(below)
    }

    /// Reads a file as text.
    pub(super) fn text(&mut self, path: &RelPath, out: &mut Findings) -> Option<(FileRef, String)> {
        let (file, bytes) = self.bytes(path, MAX_TEXT, out)?;
        match String::from_utf8(bytes) {
            Ok(text) => Some((file, text)),
            Err(error) => {
                let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
                let place = Place::of(&good, good.len());
                let help = "save the file as UTF-8";
                out.push(Diagnostic::new(Code::NotUtf8, path.as_str(), "the file is not UTF-8", help).at(place));
                None
            }
        }
    }

    /// Reads a TOML file.
    pub(super) fn toml(&mut self, path: &RelPath, out: &mut Findings) -> Option<(FileRef, Table)> {
        let (file, text) = self.text(path, out)?;
        match doc::toml(&text) {
            Ok(table) => Some((file, table)),
            Err(misfits) => {
                out.extend(misfits.into_iter().map(|misfit| {
                    let help = "the file is TOML: `key = value`, texts in quotes, tables as `[name]`";
                    Diagnostic::new(Code::Syntax, path.as_str(), misfit.message, help).at(misfit.place)
                }));
                None
            }
        }
    }

    /// Reads a file for its hash.
    pub(super) fn data(&mut self, path: &RelPath, out: &mut Findings) -> Option<FileRef> {
        self.bytes(path, MAX_DATA, out).map(|(file, _)| file)
    }

    /// What is at `path`: nothing, or what its directory says.
    pub(super) fn kind(&self, path: &RelPath) -> Option<EntryKind> {
        let entries = self.source.list(path.parent().as_ref(), usize::MAX).ok()?;
        entries.into_iter().find(|entry| entry.name == path.name().as_bytes()).map(|entry| entry.kind)
    }

    fn bytes(&mut self, path: &RelPath, most: u64, out: &mut Findings) -> Option<(FileRef, Vec<u8>)> {
        match self.source.read(path, most) {
            Ok(bytes) => {
                let hash = Digest::of(&bytes).to_string();
                let file = FileRef { path: path.to_string(), hash, bytes: bytes.len() as u64 };
                self.read.insert(path.clone(), file.clone());
                Some((file, bytes))
            }
            Err(SourceError::TooLarge(bytes)) => {
                let message = format!("`{path}` has {bytes} bytes, {most} are allowed for its kind");
                let help = "make it smaller; large data is better fetched or generated at run time";
                out.push(Diagnostic::new(Code::TooLarge, path.as_str(), message, help));
                None
            }
            Err(error) => {
                let help = "make it readable, or take it out of the agent";
                out.push(Diagnostic::new(Code::Unreadable, path.as_str(), format!("`{path}` {error}"), help));
                None
            }
        }
    }
}

/// The path that `text` means in the directory `base`; `None` when it leads out of the tree or names no file.
pub(super) fn resolve(base: Option<&RelPath>, text: &str) -> Option<RelPath> {
    if text.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = base.map(|base| base.parts().collect()).unwrap_or_default();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    RelPath::new(parts.join("/").as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_stay_in_the_tree() {
        let base = RelPath::new(b"tools/a").ok();
        let cases = [
            ("./run.sh", Some("tools/a/run.sh")),
            ("../run.sh", Some("tools/run.sh")),
            ("../../lib/x", Some("lib/x")),
            ("../../../x", None),
            ("/bin/sh", None),
            ("../..", None),
            ("a\0", None),
        ];
        for (text, want) in cases {
            let got = resolve(base.as_ref(), text);
            assert_eq!(got.as_ref().map(RelPath::as_str), want, "{text}");
        }
    }
}
