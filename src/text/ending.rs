//! How a line ends.

/// What stands between a line and the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LineEnding {
    /// A line feed.
    Lf,
    /// A carriage return and a line feed.
    CrLf,
    /// A carriage return alone; only in a file that has no line feed at all.
    Cr,
    /// Nothing: the last line of a file without a final newline.
    None,
}

impl LineEnding {
    /// The bytes of the ending.
    #[must_use]
    pub(crate) fn as_bytes(self) -> &'static [u8] {
        match self {
            LineEnding::Lf => b"\n",
            LineEnding::CrLf => b"\r\n",
            LineEnding::Cr => b"\r",
            LineEnding::None => b"",
        }
    }

    /// Whether the line ends at all.
    #[must_use]
    pub(crate) fn is_some(self) -> bool {
        self != LineEnding::None
    }
}
