//! Files that this program writes for itself: a header with name, version, length and fingerprint, and a body of plain
//! parts. Pure; any bytes can be read without harm.
//!
//! | bytes | what |
//! | --- | --- |
//! | 16 | the kind of file, as text |
//! | 4 | version, u32 |
//! | 8 | length of the body, u64 |
//! | 16 | XXH3-128 of the body, most significant byte first |
//! | the rest | the body, and what may be appended to it |
//!
//! Numbers are little-endian on every machine. A *text* is its length (u32) and its bytes, a *path* a text in the form
//! of [`RelPath`] that does not enter `.git`, a *content* its length (u64) and its bytes, a *list* its count (u32) and its items.

use std::borrow::Cow;

use crate::path::RelPath;
use crate::workspace::Digest;

/// Length of the header.
pub(crate) const HEAD: usize = 16 + 4 + 8 + 16;

/// What a kind of file is called in its header.
pub(crate) type Magic = [u8; 16];

/// Why a file is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    #[error("it is something else")]
    Other,
    #[error("it is of version {0}, which this program does not know; use a newer one")]
    Version(u32),
    #[error("it is damaged: its content does not match its fingerprint")]
    Damaged,
    #[error("it is not consistent: {0}")]
    Inconsistent(&'static str),
}

/// Body and what follows it.
pub(crate) type Opened<'a> = Option<(Reader<'a>, &'a [u8])>;

/// Looks at the header: the body and what follows it, or `None` when the file is shorter than its header says.
///
/// # Errors
/// [`FrameError`] when the file is of another kind or version, or damaged.
pub(crate) fn open<'a>(bytes: &'a [u8], magic: &Magic, version: u32) -> Result<Opened<'a>, FrameError> {
    let common = bytes.len().min(magic.len());
    if bytes[..common] != magic[..common] {
        return Err(FrameError::Other);
    }
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Ok(None) };
    let mut head = Reader(&head[magic.len()..]);
    let found = head.u32()?;
    if found != version {
        return Err(FrameError::Version(found));
    }
    let Some((body, after)) = usize::try_from(head.u64()?).ok().and_then(|len| rest.split_at_checked(len)) else {
        return Ok(None);
    };
    if Digest::from_bytes(head.array()?) != Digest::of(body) {
        return Err(FrameError::Damaged);
    }
    Ok(Some((Reader(body), after)))
}

/// A body on its way.
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn new() -> Self {
        Writer(vec![0; HEAD])
    }

    /// The whole file.
    pub(crate) fn seal(self, magic: &Magic, version: u32) -> Vec<u8> {
        let mut bytes = self.0;
        let (head, body) = bytes.split_at_mut(HEAD);
        head[..16].copy_from_slice(magic);
        head[16..20].copy_from_slice(&version.to_le_bytes());
        head[20..28].copy_from_slice(&(body.len() as u64).to_le_bytes());
        head[28..].copy_from_slice(&Digest::of(body).to_bytes());
        bytes
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn digest(&mut self, digest: Digest) {
        self.0.extend_from_slice(&digest.to_bytes());
    }

    /// A count of things in memory; no plan has four billion of them.
    pub(crate) fn count(&mut self, value: usize) {
        self.u32(u32::try_from(value).unwrap_or(u32::MAX));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn path(&mut self, path: &RelPath) {
        self.text(path.as_str());
    }

    pub(crate) fn content<'a>(&mut self, len: usize, slices: impl IntoIterator<Item = &'a [u8]>) {
        self.u64(len as u64);
        for slice in slices {
            self.0.extend_from_slice(slice);
        }
    }

    /// One byte that says whether there is something, and then that.
    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// What is left to read of a body.
pub(crate) struct Reader<'a>(&'a [u8]);

/// A part of a body.
pub(crate) type Part<T> = Result<T, FrameError>;

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Part<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(FrameError::Inconsistent("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Part<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Part<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Part<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Part<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn digest(&mut self) -> Part<Digest> {
        Ok(Digest::from_bytes(self.array()?))
    }

    pub(crate) fn text(&mut self) -> Part<&'a [u8]> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    pub(crate) fn path(&mut self) -> Part<RelPath> {
        let text = self.text()?;
        match RelPath::new(text) {
            Ok(path) if path.as_str().as_bytes() == text && !path.enters_git() => Ok(path),
            _ => Err(FrameError::Inconsistent("a path leaves the root or enters `.git`")),
        }
    }

    pub(crate) fn content(&mut self) -> Part<Cow<'a, [u8]>> {
        let len = usize::try_from(self.u64()?).unwrap_or(usize::MAX);
        Ok(Cow::Borrowed(self.take(len)?))
    }

    /// A list whose items are at least one byte long.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Part<T>) -> Part<Vec<T>> {
        let count = self.u32()? as usize;
        if count > self.0.len() {
            return Err(FrameError::Inconsistent("a list is longer than the file"));
        }
        (0..count).map(|_| item(self)).collect()
    }

    /// What [`Writer::option`] wrote.
    pub(crate) fn option<T>(&mut self, read: impl FnOnce(&mut Self) -> Part<T>) -> Part<Option<T>> {
        match self.u8()? {
            0 => Ok(None),
            1 => read(self).map(Some),
            _ => Err(FrameError::Inconsistent("neither something nor nothing")),
        }
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Part<()> {
        if self.0.is_empty() { Ok(()) } else { Err(FrameError::Inconsistent("something follows its end")) }
    }
}
