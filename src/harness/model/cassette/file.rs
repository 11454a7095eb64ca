//! The cassette's file: the only place of the model clients that touches the disk.
#![expect(clippy::disallowed_methods, reason = "a cassette is a file of the agent's author, outside any workspace")]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind as IoKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::super::error::{ErrorKind, ModelError};
use super::{Header, Take, VERSION};

/// The first line.
const HEADER: &[u8] = b"{\"cassette\":1}\n";

/// The largest cassette that is read.
const LIMIT: u64 = 256 << 20;

/// An error about the cassette at `path`.
pub(super) fn trouble(path: &Path, what: impl std::fmt::Display) -> ModelError {
    ModelError::new(ErrorKind::Cassette, format!("the cassette {}: {what}", path.display()))
}

/// A cassette open for writing.
#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    file: File,
}

impl Writer {
    /// Opens a cassette to add to it; makes it and its directory when they are not there.
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let cannot = |error: std::io::Error| trouble(path, format_args!("cannot be written: {error}"));
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(cannot)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(cannot)?;
        let text = load(path)?;
        let end = whole_lines(&text);
        let mut writer = Self { path: path.to_owned(), file };
        if end > 0 {
            // A broken or foreign file is left as it is.
            parse(&text[..end]).map_err(|why| trouble(path, why))?;
        } else if !HEADER.starts_with(&text) {
            return Err(trouble(path, "is something else, and is left as it is"));
        }
        // What a crash left of a last line would spoil the next one.
        if end < text.len() {
            writer.file.set_len(end as u64).map_err(cannot)?;
        }
        if end == 0 {
            writer.write(HEADER)?;
        }
        Ok(writer)
    }

    /// Adds a call.
    pub(super) fn add(&mut self, take: &Take) -> Result<(), ModelError> {
        let mut line = serde_json::to_vec(take).map_err(|error| trouble(&self.path, error))?;
        line.push(b'\n');
        self.write(&line)
    }

    /// One write, so that a crash can only lose the tail of the last line.
    fn write(&mut self, line: &[u8]) -> Result<(), ModelError> {
        self.file.write_all(line).map_err(|error| trouble(&self.path, format_args!("cannot be written: {error}")))
    }
}

/// Reads a cassette. A last line without its end is what a crash left and is dropped.
pub(super) fn read(path: &Path) -> Result<Vec<Take>, ModelError> {
    let text = load(path)?;
    parse(&text[..whole_lines(&text)]).map_err(|why| trouble(path, why))
}

fn load(path: &Path) -> Result<Vec<u8>, ModelError> {
    let cannot = |error: std::io::Error| match error.kind() {
        IoKind::NotFound => trouble(path, "does not exist; record it first, with `record:` before the model's id"),
        _ => trouble(path, format_args!("cannot be read: {error}")),
    };
    let mut text = Vec::new();
    File::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut text)).map_err(cannot)?;
    if text.len() as u64 > LIMIT {
        return Err(trouble(path, format_args!("is larger than {} MiB", LIMIT >> 20)));
    }
    Ok(text)
}

/// Where the last whole line ends.
fn whole_lines(text: &[u8]) -> usize {
    memchr::memrchr(b'\n', text).map_or(0, |at| at + 1)
}

fn parse(text: &[u8]) -> Result<Vec<Take>, String> {
    let mut lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let header: Option<Header> = lines.next().and_then(|line| serde_json::from_slice(line).ok());
    match header {
        Some(Header { cassette: VERSION }) => {}
        Some(Header { cassette }) => return Err(format!("has format {cassette}, this program knows {VERSION}")),
        None => return Err("is no cassette: its first line should be {\"cassette\":1}".to_owned()),
    }
    let takes = (2..).zip(lines).map(|(number, line)| {
        serde_json::from_slice(line).map_err(|error| format!("line {number} cannot be read: {error}"))
    });
    takes.collect()
}
