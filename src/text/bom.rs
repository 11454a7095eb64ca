//! Byte order marks: the one of UTF-8 is set aside, the others tell an encoding that cannot be edited as bytes.

use std::fmt;

/// The byte order mark of UTF-8.
pub(crate) const UTF8_BOM: &[u8] = b"\xef\xbb\xbf";

/// An encoding whose line feeds are no single bytes, so that lines cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideEncoding {
    /// UTF-16, little endian.
    Utf16Le,
    /// UTF-16, big endian.
    Utf16Be,
    /// UTF-32, little endian.
    Utf32Le,
    /// UTF-32, big endian.
    Utf32Be,
}

impl WideEncoding {
    /// The encoding that a content's byte order mark and NUL bytes tell, if it is one of these.
    ///
    /// The mark alone is not enough: `ff fe` is also "ÿþ" in Latin-1.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        let told = match bytes {
            [0xff, 0xfe, 0, 0, ..] => WideEncoding::Utf32Le,
            [0, 0, 0xfe, 0xff, ..] => WideEncoding::Utf32Be,
            [0xff, 0xfe, ..] => WideEncoding::Utf16Le,
            [0xfe, 0xff, ..] => WideEncoding::Utf16Be,
            _ => return None,
        };
        memchr::memchr(0, bytes).map(|_| told)
    }

    /// The name people know it by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            WideEncoding::Utf16Le => "UTF-16 (little endian)",
            WideEncoding::Utf16Be => "UTF-16 (big endian)",
            WideEncoding::Utf32Le => "UTF-32 (little endian)",
            WideEncoding::Utf32Be => "UTF-32 (big endian)",
        }
    }
}

impl fmt::Display for WideEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_encodings_are_told_by_mark_and_nul_together() {
        let table: &[(&[u8], Option<WideEncoding>)] = &[
            (b"", None),
            (b"a\0b", None),
            (b"\xff\xfea\0", Some(WideEncoding::Utf16Le)),
            (b"\xfe\xff\0a", Some(WideEncoding::Utf16Be)),
            (b"\xff\xfe\0\0a\0\0\0", Some(WideEncoding::Utf32Le)),
            (b"\0\0\xfe\xff\0\0\0a", Some(WideEncoding::Utf32Be)),
            (b"\xff\xfe in latin-1", None),
            (b"\xef\xbb\xbfa\0", None),
        ];
        for (bytes, told) in table {
            assert_eq!(WideEncoding::detect(bytes), *told, "{bytes:?}");
        }
    }
}
