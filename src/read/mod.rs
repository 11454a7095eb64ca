//! One file, or a window of it, as numbered lines within a budget.
//!
//! The answer tells what a reader who wants to edit the file must know: its content hash (so that an edit can demand
//! the file as it was read), its encoding, byte order mark, line endings and whether it ends in one.
//!
//! Lines are those of the patch language: they end in LF or CRLF; a lone CR ends a line only in a file without any LF.
//!
//! # Complexity
//! The whole file is read once for the hash and the number of its lines, and once more up to the end of the window when
//! it is larger than 8 MiB. Memory: the window, and at most 8 MiB of the file.

mod decode;
mod error;
mod render;
mod scan;
mod view;
mod window;

pub use error::ReadFileError;
pub use view::{Endings, FileLine, FileView};

use std::fs::File;

use crate::limits::{Bounds, bounded};
use crate::path::RelPath;
use crate::workspace::tree::{read_up_to, stamp_of};
use crate::workspace::{Purpose, RefusedReason, SourceError, Stamp, Workspace};
use scan::{Content, Scan};
use window::Window;

/// Files up to this size are read once and held.
const HELD: usize = 8 << 20;

/// How often a file that changes while it is read is read again.
const TRIES: usize = 4;

/// The knobs of reading a file, each with a default.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    from: Start,
    lines: u64,
    max_bytes: usize,
    max_line_chars: usize,
    as_text: bool,
    bounds: Bounds,
}

/// Where the window begins.
#[derive(Clone, Copy, Debug)]
enum Start {
    Line(u64),
    /// So many lines before the end.
    Last(u64),
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            from: Start::Line(1),
            lines: 2000,
            max_bytes: 50 << 10,
            max_line_chars: 2000,
            as_text: false,
            bounds: Bounds::default(),
        }
    }
}

impl ReadOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of the first line, from 1. Default: 1.
    #[must_use]
    pub fn first_line(mut self, line: u64) -> Self {
        self.from = Start::Line(line.max(1));
        self
    }

    /// Begins so many lines before the end. Default: not.
    #[must_use]
    pub fn last(mut self, lines: u64) -> Self {
        self.from = Start::Last(lines);
        self
    }

    /// How many lines are shown. Default: 2,000.
    #[must_use]
    pub fn lines(mut self, lines: u64) -> Self {
        self.lines = lines;
        self
    }

    /// How many bytes the lines take as text, numbers included; notices come on top (at most 1 KiB). At least one line
    /// is shown. Default: 50 KiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How many characters of a line are shown. Default: 2,000.
    #[must_use]
    pub fn max_line_chars(mut self, chars: usize) -> Self {
        self.max_line_chars = chars.max(1);
        self
    }

    /// Shows a binary file, too, as if it were text. Default: no.
    #[must_use]
    pub fn as_text(mut self, yes: bool) -> Self {
        self.as_text = yes;
        self
    }

    bounded!(bounds, "is an error");

    /// Reads the file at `path`, relative to the root of `workspace` or absolute and inside it; links that stay inside
    /// are followed.
    ///
    /// # Errors
    /// [`ReadFileError`] when there is no such file, when it cannot be read or keeps changing, or when time ran out.
    pub fn read(&self, workspace: &Workspace, path: &str) -> Result<FileView, ReadFileError> {
        let stop = self.bounds.begin();
        let refuse = |reason| ReadFileError::Refused(Purpose::Read.refuse(path, reason));
        let named = workspace.relative(path).map_err(|reason| refuse(RefusedReason::NoPath(reason)))?;
        let named = named.ok_or_else(|| refuse(RefusedReason::NotThat("a directory")))?;
        for _ in 0..TRIES {
            let (file, stamp) =
                workspace.open_read(&named, true).map_err(|error| refuse(reason(workspace, &named, error)))?;
            let stop = || stop.asked();
            if let Some(view) = self.view(&named, file, &stamp, &stop).map_err(|error| error.at(path))? {
                return Ok(view);
            }
        }
        Err(ReadFileError::Changing { path: path.into() })
    }

    /// Reads an open file; `None` when it changed meanwhile.
    fn view(
        &self,
        path: &RelPath,
        file: File,
        stamp: &Stamp,
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<FileView>, scan::Failed> {
        let mut held = Vec::new();
        let mut content = if read_up_to(&file, stamp.size, HELD, &mut held).map_err(std::io::Error::from)? {
            Content::Held(held)
        } else {
            Content::File(file)
        };
        let scan = Scan::of(&mut content, stop)?;
        let total = scan.lines();
        let first = match self.from {
            Start::Line(line) => line,
            Start::Last(lines) => total.saturating_sub(lines) + 1,
        };
        let mut window = Window::new(first, self.lines, self.max_bytes, self.max_line_chars, scan.line_end());
        let shows = self.as_text || !scan.binary();
        if shows && first <= total {
            window.fill(&mut content, scan.encoding, stop)?;
        }
        if let Content::File(file) = &content
            && stamp_of(file).map_err(std::io::Error::from)? != *stamp
        {
            return Ok(None);
        }
        Ok(Some(FileView::new(path.as_str(), &scan, window, first, shows)))
    }
}

/// Why a path could not be opened, in the reader's words.
fn reason(workspace: &Workspace, path: &RelPath, error: SourceError) -> RefusedReason {
    match error {
        SourceError::Io { kind: std::io::ErrorKind::NotFound, .. } | SourceError::NotADirectory(_) => {
            RefusedReason::Absent(workspace.suggestion(path.as_str()))
        }
        SourceError::NotAFile(what) => RefusedReason::NotThat(what),
        error => RefusedReason::Access(error),
    }
}

#[cfg(test)]
mod tests;
