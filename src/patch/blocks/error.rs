//! Why a text holds no SEARCH/REPLACE blocks that can be applied.

/// What is wrong. Every refusal of the machine is one of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::patch) enum Kind {
    /// No block was found.
    #[error("there is no SEARCH/REPLACE block in the text")]
    NoBlock,
    /// A block without a name above it.
    #[error("the block has no file name above it")]
    NoName,
    /// A block without `=======`.
    #[error("the block that begins on line {opened} has no `=======`")]
    NoDivider { opened: u64 },
    /// A block without its last mark.
    #[error("the block that begins on line {opened} has no `>>>>>>> REPLACE`")]
    NoClose { opened: u64 },
    /// A block with two lines that may be its `=======`.
    #[error("the block that begins on line {opened} has a second `=======`")]
    TwoDividers { opened: u64 },
    /// A mark outside of a block.
    #[error("this mark stands outside of a block")]
    Stray,
}

impl Kind {
    /// Whether a text that was cut off looks like this.
    pub(in crate::patch) fn is_cut_off(&self) -> bool {
        matches!(self, Kind::NoBlock | Kind::NoDivider { .. } | Kind::NoClose { .. })
    }

    /// A short name that stays the same between versions.
    pub(in crate::patch) fn code(&self) -> &'static str {
        match self {
            Kind::NoBlock => "no-block",
            Kind::NoName => "no-path",
            Kind::NoDivider { .. } => "no-divider",
            Kind::NoClose { .. } => "no-close",
            Kind::TwoDividers { .. } => "two-dividers",
            Kind::Stray => "stray-mark",
        }
    }

    /// What to do about it.
    pub(in crate::patch) fn advice(&self, _received: &[u8]) -> &'static str {
        match self {
            Kind::NoBlock => {
                "send the path on a line, then `<<<<<<< SEARCH`, the old lines, `=======`, the new lines, `>>>>>>> REPLACE`"
            }
            Kind::NoName => "put the path of the file alone on the line above the block",
            Kind::NoDivider { .. } => "put `=======` between the old and the new lines",
            Kind::NoClose { .. } => "end the block with `>>>>>>> REPLACE`, or send the whole text again",
            Kind::TwoDividers { .. } => {
                "if such lines are content, write all three marks of the block with another number of signs, such as nine"
            }
            Kind::Stray => "begin the block with `<<<<<<< SEARCH`; if the line is content, change the file another way",
        }
    }
}
