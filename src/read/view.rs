//! What was read of a file.

use super::scan::Scan;
use super::window::Window;
use crate::text::WideEncoding;
use crate::workspace::Digest;

/// How the lines of a file end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Endings {
    /// There is at most one line, without an end.
    None,
    /// LF.
    Lf,
    /// CRLF.
    CrLf,
    /// A lone CR.
    Cr,
    /// Some in LF, some in CRLF.
    Mixed,
}

impl Endings {
    /// The name used in JSON: `none`, `lf`, `crlf`, `cr` or `mixed`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Endings::None => "none",
            Endings::Lf => "lf",
            Endings::CrLf => "crlf",
            Endings::Cr => "cr",
            Endings::Mixed => "mixed",
        }
    }
}

/// One line of a file, or the beginning of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileLine {
    pub(super) number: u64,
    pub(super) text: Box<[u8]>,
    pub(super) cut: u64,
}

impl FileLine {
    /// Its number, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Its bytes without the ending, as UTF-8 if the file is UTF-16; without those that were cut.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many characters were cut at its end.
    #[must_use]
    pub fn cut(&self) -> u64 {
        self.cut
    }
}

/// A window of a file, and what is true of all of it.
#[derive(Clone, Debug)]
#[must_use = "the view is all that reading a file does"]
pub struct FileView {
    pub(super) path: String,
    pub(super) digest: Digest,
    pub(super) size: u64,
    pub(super) encoding: &'static str,
    pub(super) wide: Option<WideEncoding>,
    pub(super) bom: bool,
    pub(super) endings: Endings,
    pub(super) final_newline: bool,
    pub(super) binary: bool,
    pub(super) has_nul: bool,
    pub(super) total: u64,
    pub(super) first: u64,
    pub(super) lines: Vec<FileLine>,
    pub(super) next: Option<u64>,
}

impl FileView {
    pub(super) fn new(path: &str, scan: &Scan, window: Window, first: u64, shown: bool) -> Self {
        let total = scan.lines();
        let after = window.lines.last().map_or(first, |line| line.number + 1);
        let endings = match (scan.lf, scan.crlf, scan.cr) {
            (0, _, 0) => Endings::None,
            (0, ..) => Endings::Cr,
            (lf, crlf, _) if lf == crlf => Endings::CrLf,
            (_, 0, _) => Endings::Lf,
            _ => Endings::Mixed,
        };
        FileView {
            path: path.to_owned(),
            digest: scan.digest,
            size: scan.size,
            encoding: scan.encoding_name(),
            wide: scan.encoding,
            bom: scan.bom,
            endings,
            final_newline: scan.final_newline(),
            binary: scan.binary(),
            has_nul: scan.has_nul(),
            total,
            first,
            next: (shown && after <= total).then_some(after),
            lines: window.lines,
        }
    }

    /// The path below the root.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The fingerprint of the whole content, as [`Expectations`](crate::Expectations) takes it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Bytes of the whole content.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Lines of the whole content.
    #[must_use]
    pub fn total_lines(&self) -> u64 {
        self.total
    }

    /// The lines of the window.
    #[must_use]
    pub fn lines(&self) -> &[FileLine] {
        &self.lines
    }

    /// The number of the first line after the window, if there is one.
    #[must_use]
    pub fn next_line(&self) -> Option<u64> {
        self.next
    }

    /// How the lines end.
    #[must_use]
    pub fn endings(&self) -> Endings {
        self.endings
    }

    /// Whether the last line has an end.
    #[must_use]
    pub fn final_newline(&self) -> bool {
        self.final_newline
    }

    /// The encoding: `utf-8`, `utf-16le`, `utf-16be`, `utf-32le`, `utf-32be`, or `unknown`.
    #[must_use]
    pub fn encoding(&self) -> &'static str {
        self.encoding
    }

    /// Whether it begins with a byte order mark.
    #[must_use]
    pub fn has_bom(&self) -> bool {
        self.bom
    }

    /// Whether it is binary: then no lines are shown, unless that was asked for.
    #[must_use]
    pub fn is_binary(&self) -> bool {
        self.binary
    }
}
