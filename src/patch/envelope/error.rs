//! Why a text is no patch in the `*** Begin Patch` language: every refusal of its machine.

use bstr::ByteSlice as _;

use crate::patch::marker::{BEGIN, END, ENVIRONMENT_ID, header, with_stars};

/// What is wrong. Every refusal of the machine is one of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::patch) enum Kind {
    /// There is no text, or nothing but white space and an opened wrapper.
    #[error("the patch is empty")]
    NoText,
    /// The first line that is not blank, wrappers aside, is not Begin.
    #[error("the patch does not begin with `*** Begin Patch`")]
    NoBegin,
    /// The first line is the beginning of a JSON value.
    #[error("the patch is wrapped in JSON")]
    Json,
    /// The text ends before End: forgotten or cut off.
    #[error("the patch has no `*** End Patch`, and this is its last line")]
    NoEnd,
    /// A wrapper is closed before End.
    #[error("the patch has no `*** End Patch` above the line that closes its wrapper")]
    WrapperClosed,
    /// The text ends before End, but its last line has one behind its content.
    #[error("`*** End Patch` does not stand at the start of a line of its own")]
    EndGlued,
    /// Something that is not blank and closes no wrapper follows End.
    #[error("there is text after `*** End Patch`")]
    AfterEnd,
    /// The heredoc round the patch is not closed by its word.
    #[error("the heredoc round the patch is not closed by `{word}`")]
    HeredocOpen {
        /// The word.
        word: String,
    },
    /// Something else stands below End where the word of the heredoc belongs.
    #[error("this stands below `*** End Patch` where `{word}` closes the heredoc")]
    HeredocWrong {
        /// The word.
        word: String,
    },
    /// End follows Begin at once.
    #[error("the patch has no operation")]
    NoOperation,
    /// The first line after Begin is no header.
    #[error("this is no operation")]
    NoHeader,
    /// A header or End in a diff that is the body of one operation.
    #[error("a header stands in a diff that has none")]
    HeaderInDiff,
    /// A line begins with `***` and is no header.
    #[error("unknown header")]
    UnknownHeader,
    /// A header without a path.
    #[error("the header names no path")]
    NoPath,
    /// A Move where it does not belong.
    #[error("`*** Move to:` stands in the wrong place")]
    MisplacedMove,
    /// An End of File where it does not belong.
    #[error("`*** End of File` stands in the wrong place")]
    MisplacedEndOfFile,
    /// A second Begin.
    #[error("`*** Begin Patch` stands inside of a patch")]
    SecondBegin,
    /// The same header twice with nothing between.
    #[error("`{path}` was opened the same way on line {opened} and left empty")]
    OpenedTwice {
        /// Its path.
        path: String,
        /// Where it was opened first.
        opened: u64,
    },
    /// An Update without hunks and without Move ends here.
    #[error("the update of `{path}` on line {opened} has nothing in it")]
    EmptyUpdate {
        /// Its path.
        path: String,
        /// The line of its header.
        opened: u64,
    },
    /// A hunk without rows ends here.
    #[error("the hunk of `{path}` on line {opened} has no lines")]
    EmptyHunk {
        /// The path of its Update.
        path: String,
        /// Its first line.
        opened: u64,
    },
    /// A line of an Add lacks its `+`.
    #[error("a line of the new file `{path}` does not start with `+`")]
    NoPlus {
        /// The path of the Add.
        path: String,
    },
    /// A Delete has lines.
    #[error("the delete of `{path}` has lines")]
    DeleteWithLines {
        /// Its path.
        path: String,
    },
    /// A line of a hunk has no sign.
    #[error("a line in the update of `{path}` has no sign")]
    NoSign {
        /// The path of the Update.
        path: String,
    },
    /// A no-newline note without a row above it.
    #[error("the note on the missing newline has no line above it in the update of `{path}`")]
    NoNewlineAlone {
        /// The path of the Update.
        path: String,
    },
    /// A row follows End of File without a new hunk.
    #[error("a line follows `*** End of File` in the update of `{path}`")]
    AfterEndOfFile {
        /// The path of the Update.
        path: String,
    },
    /// An Environment ID without a value, or one that is not UTF-8.
    #[error("the environment has no readable name")]
    NoEnvironment,
    /// An Environment ID below an operation.
    #[error("`*** Environment ID:` stands in the wrong place")]
    MisplacedEnvironment,
    /// A second Environment ID.
    #[error("there are two environments")]
    TwoEnvironments,
}

impl Kind {
    /// Whether a text that was cut off looks like this.
    pub(in crate::patch) fn is_cut_off(&self) -> bool {
        matches!(self, Kind::NoText | Kind::NoEnd | Kind::HeredocOpen { .. })
    }

    /// A short name that stays the same between versions.
    pub(in crate::patch) fn code(&self) -> &'static str {
        match self {
            Kind::NoText => "no-text",
            Kind::NoBegin => "no-begin",
            Kind::Json => "json",
            Kind::NoEnd => "no-end",
            Kind::WrapperClosed => "wrapper-closed",
            Kind::EndGlued => "end-glued",
            Kind::AfterEnd => "after-end",
            Kind::HeredocOpen { .. } => "heredoc-open",
            Kind::HeredocWrong { .. } => "heredoc-wrong",
            Kind::NoOperation => "no-operation",
            Kind::NoHeader => "no-header",
            Kind::HeaderInDiff => "header-in-diff",
            Kind::UnknownHeader => "unknown-header",
            Kind::NoPath => "no-path",
            Kind::MisplacedMove => "misplaced-move",
            Kind::MisplacedEndOfFile => "misplaced-end-of-file",
            Kind::SecondBegin => "second-begin",
            Kind::OpenedTwice { .. } => "opened-twice",
            Kind::EmptyUpdate { .. } => "empty-update",
            Kind::EmptyHunk { .. } => "empty-hunk",
            Kind::NoPlus { .. } => "no-plus",
            Kind::DeleteWithLines { .. } => "delete-with-lines",
            Kind::NoSign { .. } => "no-sign",
            Kind::NoNewlineAlone { .. } => "no-newline-alone",
            Kind::AfterEndOfFile { .. } => "after-end-of-file",
            Kind::NoEnvironment => "no-environment",
            Kind::MisplacedEnvironment => "misplaced-environment",
            Kind::TwoEnvironments => "two-environments",
        }
    }

    pub(in crate::patch) fn advice(&self, received: &[u8]) -> &'static str {
        match self {
            Kind::NoText => "send a patch that begins with `*** Begin Patch` and ends with `*** End Patch`",
            Kind::NoBegin => no_begin_advice(received),
            Kind::Json => "send the text of the patch itself, with real line breaks, not a JSON value that holds it",
            Kind::NoEnd | Kind::WrapperClosed => "send the whole patch again and end it with the line `*** End Patch`",
            Kind::EndGlued => "break the line before `*** End Patch`, with no sign in front of it",
            Kind::AfterEnd => after_end_advice(received),
            Kind::HeredocOpen { .. } | Kind::HeredocWrong { .. } => {
                "close it with that word alone on the last line, or leave the heredoc out"
            }
            Kind::NoOperation => {
                "put an operation between Begin and End: `*** Add File: PATH`, `*** Delete File: PATH` or \
                 `*** Update File: PATH`"
            }
            Kind::NoHeader | Kind::UnknownHeader => header_advice(received),
            Kind::HeaderInDiff => "send an operation for each file, its diff without Begin, End and headers",
            Kind::NoPath => "put a path behind the colon",
            Kind::MisplacedMove => {
                "put it once, with no white space in front, right below the `*** Update File: PATH` of the file that moves"
            }
            Kind::MisplacedEndOfFile => "put it below the last line of a hunk in an Update, or leave it out",
            Kind::SecondBegin => "put all operations between one Begin and one End",
            Kind::OpenedTwice { .. } => "remove one of the two headers",
            Kind::EmptyUpdate { .. } => {
                "give it a hunk (`@@`, then lines that start with a space, `-` or `+`) or a `*** Move to: PATH`, or \
                 remove it"
            }
            Kind::EmptyHunk { .. } => "put lines that start with a space, `-` or `+` below its `@@`, or remove it",
            Kind::NoPlus { .. } => "start every line of the file with `+`, the empty ones too",
            Kind::DeleteWithLines { .. } => "put nothing but the next header below a `*** Delete File: PATH`",
            Kind::NoSign { .. } => "start a line that stays with a space, one to remove with `-`, one to add with `+`",
            Kind::NoNewlineAlone { .. } => "put it below the line that it is about",
            Kind::AfterEndOfFile { .. } => "start a new hunk with `@@`, or move `*** End of File` below its last line",
            Kind::NoEnvironment => "put its name behind the colon, or remove the line",
            Kind::MisplacedEnvironment => "put it right below `*** Begin Patch`",
            Kind::TwoEnvironments => "name one environment for the whole patch",
        }
    }
}

fn no_begin_advice(received: &[u8]) -> &'static str {
    let line = received.trim();
    if received.starts_with(b"\xff\xfe") || received.starts_with(b"\xfe\xff") {
        "this looks like UTF-16; send the patch as UTF-8"
    } else if line.get(..BEGIN.len()).is_some_and(|start| start.eq_ignore_ascii_case(BEGIN)) {
        "write the line exactly as `*** Begin Patch`, nothing else on it"
    } else if with_stars(line, END).is_some() {
        "begin with `*** Begin Patch`; `*** End Patch` is the last line"
    } else if header(line).is_some() {
        "put the line `*** Begin Patch` above it"
    } else if ["--- ", "+++ ", "diff --git ", "index "].iter().any(|start| line.starts_with(start.as_bytes())) {
        "this looks like a unified diff; write it in the `*** Begin Patch` format, or say that it is one"
    } else if line.starts_with(b"*** ") && !line.starts_with(ENVIRONMENT_ID) {
        "this looks like a context diff; write it in the `*** Begin Patch` format, or as a unified diff"
    } else {
        "make `*** Begin Patch` the first line and leave out any other text"
    }
}

fn after_end_advice(received: &[u8]) -> &'static str {
    let line = received.trim();
    if with_stars(line, BEGIN).is_some() {
        "put all operations between one Begin and one End"
    } else if line.starts_with(b"***") {
        "move `*** End Patch` below the last operation"
    } else {
        "make `*** End Patch` the last line and leave out any other text"
    }
}

fn header_advice(received: &[u8]) -> &'static str {
    let line = received.trim_start();
    if line.starts_with(b"@@") || line.first().is_some_and(|byte| b"+-".contains(byte)) {
        "name the file first, with `*** Update File: PATH`"
    } else {
        "the headers are `*** Add File: PATH`, `*** Delete File: PATH` and `*** Update File: PATH`, spelled so; content \
         needs its sign in front"
    }
}
