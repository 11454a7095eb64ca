//! Why a hunk does not go into a file, as data.

use crate::policy::Tier;
use crate::text::WideEncoding;

/// Lines of the file that a failure shows.
pub(super) const EXCERPT_LINES: usize = 16;
/// Bytes of a line that a failure keeps.
pub(super) const LINE_BYTES: usize = 240;

/// Why a file's hunks cannot be applied. Nothing of them is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The file's lines cannot be told apart as bytes.
    #[error("the file is {0}, which cannot be edited; convert it to UTF-8 first")]
    Encoding(WideEncoding),
    /// The file has more lines than can be numbered.
    #[error("the file has {lines} lines; at most {} can be edited", u32::MAX)]
    TooManyLines {
        /// How many it has.
        lines: usize,
    },
    /// Hunks that do not apply.
    #[error("{} of the file's hunks cannot be applied", failures.len() + not_searched)]
    Hunks {
        /// All that failed, in the order of the patch.
        failures: Vec<HunkFailure>,
        /// Further hunks that were not looked for, because too many before them had failed.
        not_searched: usize,
    },
}

/// One hunk that does not apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkFailure {
    /// Which hunk of the file's update it is, counted from 1.
    pub hunk: usize,
    /// The line of the patch where the hunk begins, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub kind: FailureKind,
    /// The tier of the places told, or the loosest one tried when there are none.
    pub tier: Tier,
    /// The first line that differs at the nearest place.
    pub differs: Option<Difference>,
    /// The file round the nearest place, as it is now.
    pub excerpt: Option<Excerpt>,
}

/// Line numbers of the file, counted from 1, the first few of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundAt {
    /// The lines, ascending.
    pub lines: Vec<usize>,
    /// Whether there are more than those told.
    pub more: bool,
}

/// What is wrong with a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// Its old lines are nowhere in the file.
    NotFound,
    /// Its old lines are nowhere, but its new lines are there already.
    AlreadyApplied {
        /// The line where they begin, counted from 1.
        line: usize,
    },
    /// Its old lines are only above the hunk before it, where this policy does not look.
    OutOfOrder {
        /// Where they are.
        found: FoundAt,
    },
    /// Its old lines fit in several places.
    Ambiguous {
        /// Where they fit.
        found: FoundAt,
    },
    /// An anchor is nowhere, or nowhere below the one before it.
    AnchorNotFound {
        /// The anchor as written, cut to a bounded length.
        anchor: Vec<u8>,
        /// The anchor above it in the stack, below which it is not; that one is there.
        below: Option<Vec<u8>>,
        /// The line of the file that is most like it, or else holds a part of it, counted from 1.
        nearest: Option<usize>,
    },
    /// It only adds lines, and its anchor stands in several places.
    AnchorAmbiguous {
        /// The anchor as written, cut to a bounded length.
        anchor: Vec<u8>,
        /// Where it stands.
        found: FoundAt,
    },
    /// Its old lines are in the file, but not where its anchor says.
    OutsideAnchor {
        /// Where they would fit.
        found: FoundAt,
    },
    /// It changes or quotes what another hunk changes, or inserts at the same point out of order.
    Overlap {
        /// The other hunk, counted from 1.
        other: usize,
        /// The line of the file where they meet, counted from 1.
        line: usize,
    },
    /// Its text is in the file, but not as often as it says.
    WrongTimes {
        /// How often it should be there.
        wanted: u64,
        /// Where it is.
        found: FoundAt,
        /// How often it is there.
        times: u64,
    },
    /// It only adds lines, and only a line number or a hint says where.
    OnlyLineNumber,
    /// It has no rows.
    NoRows,
}

/// The first line that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which old line of the hunk it is, counted from 1.
    pub old_line: usize,
    /// The line of the file, counted from 1.
    pub file_line: usize,
    /// What the hunk has.
    pub expected: CutLine,
    /// What the file has; `None` below its last line.
    pub found: Option<CutLine>,
}

/// Some lines of the file in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The number of the first one, counted from 1.
    pub first_line: usize,
    /// At most 16 lines, without their endings.
    pub lines: Vec<CutLine>,
}

/// The first 240 bytes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutLine {
    /// The bytes, as they are.
    pub bytes: Vec<u8>,
    /// Whether the line goes on.
    pub cut: bool,
}

impl CutLine {
    /// Cuts a line. Two lines that differ only beyond the cut are shown from a little before the difference by
    /// [`CutLine::pair`].
    pub(super) fn new(line: &[u8]) -> Self {
        CutLine { bytes: line[..line.len().min(LINE_BYTES)].to_vec(), cut: line.len() > LINE_BYTES }
    }

    /// Cuts two lines that differ so that the difference is shown.
    pub(super) fn pair(a: &[u8], b: &[u8]) -> (Self, Self) {
        let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let skip = if same < LINE_BYTES { 0 } else { same - LINE_BYTES / 4 };
        (CutLine::new(&a[skip..]), CutLine::new(&b[skip..]))
    }
}
