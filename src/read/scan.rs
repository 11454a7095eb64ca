//! The first look at a content: all of it, for what does not depend on the window.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};

use super::ReadFileError;
use super::decode::Decoder;
use crate::text::{UTF8_BOM, WideEncoding};
use crate::workspace::{Digest, Hasher};

/// How much is read at once.
const PIECE: usize = 256 << 10;

/// How far from the start a NUL makes a file binary.
const BINARY_WITHIN: u64 = 8 << 10;

/// The bytes of a file.
pub(super) enum Content {
    /// All of them.
    Held(Vec<u8>),
    /// Too many to be held.
    File(File),
}

/// Why a content could not be looked through.
#[derive(Debug)]
pub(super) enum Failed {
    Io(io::Error),
    Stopped,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Failed::Io(error)
    }
}

impl Failed {
    /// The error for the file at `path`.
    pub(super) fn at(self, path: &str) -> ReadFileError {
        match self {
            Failed::Io(error) => ReadFileError::Io { path: path.into(), message: error.to_string() },
            Failed::Stopped => ReadFileError::Stopped { path: path.into() },
        }
    }
}

impl Content {
    /// Hands the content to `each`, piece by piece, until it returns false.
    pub(super) fn pieces(
        &mut self,
        stop: &dyn Fn() -> bool,
        mut each: impl FnMut(&[u8]) -> bool,
    ) -> Result<(), Failed> {
        match self {
            Content::Held(bytes) => {
                each(bytes);
                Ok(())
            }
            Content::File(file) => {
                file.rewind()?;
                let mut piece = vec![0; PIECE];
                loop {
                    if stop() {
                        return Err(Failed::Stopped);
                    }
                    match file.read(&mut piece) {
                        Ok(0) => return Ok(()),
                        Ok(read) if each(&piece[..read]) => {}
                        Ok(_) => return Ok(()),
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
        }
    }
}

/// What a whole content tells.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) digest: Digest,
    pub(super) size: u64,
    pub(super) encoding: Option<WideEncoding>,
    pub(super) bom: bool,
    /// Line feeds, those of CRLF among them.
    pub(super) lf: u64,
    pub(super) crlf: u64,
    /// Carriage returns, those of CRLF among them.
    pub(super) cr: u64,
    /// Whether all of the text is UTF-8.
    pub(super) utf8: bool,
    /// The beginning of a character whose end is in the next piece.
    partial: Vec<u8>,
    /// Where in the text the first NUL is.
    nul: Option<u64>,
    /// Bytes of text, the byte order mark aside.
    text: u64,
    last: Option<u8>,
}

impl Scan {
    pub(super) fn of(content: &mut Content, stop: &dyn Fn() -> bool) -> Result<Self, Failed> {
        let mut scan = Scan {
            digest: Digest::of(b""),
            size: 0,
            encoding: None,
            bom: false,
            lf: 0,
            crlf: 0,
            cr: 0,
            utf8: true,
            partial: Vec::new(),
            nul: None,
            text: 0,
            last: None,
        };
        let mut hasher = Hasher::default();
        let mut decoder = None;
        content.pieces(stop, |raw| {
            hasher.update(raw);
            scan.size += raw.len() as u64;
            let decoder = decoder.get_or_insert_with(|| {
                scan.encoding = WideEncoding::detect(raw);
                Decoder::new(scan.encoding)
            });
            scan.piece(decoder.decode(raw));
            true
        })?;
        scan.utf8 &= scan.partial.is_empty();
        scan.digest = hasher.digest();
        Ok(scan)
    }

    fn piece(&mut self, text: &[u8]) {
        let mut text = text;
        if self.text == 0 && self.last.is_none() && text.starts_with(UTF8_BOM) {
            self.bom = true;
            text = &text[UTF8_BOM.len()..];
        }
        for at in memchr::memchr_iter(b'\n', text) {
            let before = if at == 0 { self.last } else { Some(text[at - 1]) };
            self.lf += 1;
            self.crlf += u64::from(before == Some(b'\r'));
        }
        self.check(text);
        self.cr += memchr::memchr_iter(b'\r', text).count() as u64;
        self.nul = self.nul.or_else(|| memchr::memchr(0, text).map(|at| self.text + at as u64));
        self.text += text.len() as u64;
        self.last = text.last().copied().or(self.last);
    }

    /// Looks whether a piece goes on as UTF-8.
    fn check(&mut self, mut text: &[u8]) {
        while self.utf8 && !self.partial.is_empty() && !text.is_empty() {
            self.partial.push(text[0]);
            text = &text[1..];
            match std::str::from_utf8(&self.partial) {
                Ok(_) => self.partial.clear(),
                Err(error) => self.utf8 = error.error_len().is_none(),
            }
        }
        if self.utf8
            && let Err(error) = std::str::from_utf8(text)
        {
            self.utf8 = error.error_len().is_none();
            self.partial.extend_from_slice(&text[error.valid_up_to()..]);
        }
    }

    /// The name of the encoding in JSON.
    pub(super) fn encoding_name(&self) -> &'static str {
        match self.encoding {
            Some(WideEncoding::Utf16Le) => "utf-16le",
            Some(WideEncoding::Utf16Be) => "utf-16be",
            Some(WideEncoding::Utf32Le) => "utf-32le",
            Some(WideEncoding::Utf32Be) => "utf-32be",
            None if self.utf8 => "utf-8",
            None => "unknown",
        }
    }

    /// The byte that ends lines.
    pub(super) fn line_end(&self) -> u8 {
        if self.lf == 0 && self.cr > 0 { b'\r' } else { b'\n' }
    }

    /// Whether the last line has an end.
    pub(super) fn final_newline(&self) -> bool {
        self.last == Some(self.line_end())
    }

    /// How many lines there are.
    pub(super) fn lines(&self) -> u64 {
        let ends = if self.line_end() == b'\n' { self.lf } else { self.cr };
        ends + u64::from(self.text > 0 && !self.final_newline())
    }

    /// Whether it is no text that can be shown.
    pub(super) fn binary(&self) -> bool {
        let wide = matches!(self.encoding, Some(WideEncoding::Utf32Le | WideEncoding::Utf32Be));
        wide || self.nul.is_some_and(|at| at < BINARY_WITHIN)
    }

    /// Whether there is a NUL in the text.
    pub(super) fn has_nul(&self) -> bool {
        self.nul.is_some()
    }
}
