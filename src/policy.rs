//! What is allowed and what is preferred: one value that the planner, the matcher and the commit all read.
//!
//! [`Policy::default`] is the specification's rule set; [`Policy::codex`] reproduces the reference tool for callers
//! that need its results. Every knob can be set alone on top of either.

/// How loosely two lines may be compared. The strictest tier that has a match wins; looser ones are not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// The bytes are equal, line ending aside.
    Exact,
    /// Equal after trimming white space at the end.
    TrimEnd,
    /// Equal after trimming white space at both ends.
    Trim,
    /// Equal after trimming, folding typographic characters, NFKC, folding and trimming again.
    Unicode,
}

impl Tier {
    /// All tiers, strictest first.
    pub const ALL: [Tier; 4] = [Tier::Exact, Tier::TrimEnd, Tier::Trim, Tier::Unicode];

    /// The name used on the command line and in reports: `exact`, `trim-end`, `trim` or `unicode`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tier::Exact => "exact",
            Tier::TrimEnd => "trim-end",
            Tier::Trim => "trim",
            Tier::Unicode => "unicode",
        }
    }
}

/// What to do when a hunk fits in more than one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ambiguity {
    /// Refuse and name the candidates.
    Refuse,
    /// Take the first place, as the reference tool does; an anchor takes its first occurrence.
    First,
}

/// What an Add or a Move does to a file that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Refuse, except an Add over an empty file.
    Refuse,
    /// Replace it.
    Allow,
}

/// What becomes of the newline at the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinalNewline {
    /// Stays as the file had it.
    Keep,
    /// Is always written.
    Always,
}

/// What to do with a symbolic link that stays inside the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symlinks {
    /// Edit the file behind it; the link stays.
    Follow,
    /// Refuse every path that goes through a link.
    Deny,
}

/// What to do with a file that has several names (hard links).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardLinks {
    /// Write it in place, so that all names see the change.
    InPlace,
    /// Refuse to edit it.
    Deny,
}

/// Every knob of planning and committing in one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    pub(crate) loosest: Tier,
    pub(crate) ambiguity: Ambiguity,
    pub(crate) overwrite: Overwrite,
    pub(crate) reindent: bool,
    pub(crate) final_newline: FinalNewline,
    pub(crate) symlinks: Symlinks,
    pub(crate) hard_links: HardLinks,
    pub(crate) protected: Vec<String>,
    pub(crate) out_of_order: bool,
    pub(crate) shared_context: bool,
    pub(crate) additions_at_end: bool,
    pub(crate) accept_no_effect: bool,
    pub(crate) first_ending: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            loosest: Tier::Unicode,
            ambiguity: Ambiguity::Refuse,
            overwrite: Overwrite::Refuse,
            reindent: true,
            final_newline: FinalNewline::Keep,
            symlinks: Symlinks::Follow,
            hard_links: HardLinks::InPlace,
            protected: Vec::new(),
            out_of_order: true,
            shared_context: true,
            additions_at_end: false,
            accept_no_effect: false,
            first_ending: false,
        }
    }
}

impl Policy {
    /// The preset that leaves what the reference tool leaves: the first match wins, anchors take their first
    /// occurrence, Add and Move overwrite, a final newline is always written, nothing is reindented or looked for out
    /// of order, pure additions go to the end, an update without effect is accepted and added lines take the file's
    /// first ending. The root, the transaction, modes and the bytes of other lines stay protected.
    #[must_use]
    pub fn codex() -> Self {
        Policy {
            ambiguity: Ambiguity::First,
            overwrite: Overwrite::Allow,
            reindent: false,
            final_newline: FinalNewline::Always,
            out_of_order: false,
            shared_context: false,
            additions_at_end: true,
            accept_no_effect: true,
            first_ending: true,
            ..Policy::default()
        }
    }

    /// Sets the loosest tier that may be used. Default: [`Tier::Unicode`].
    #[must_use]
    pub fn loosest_tier(mut self, tier: Tier) -> Self {
        self.loosest = tier;
        self
    }

    /// Sets what happens when a hunk fits in several places. Default: [`Ambiguity::Refuse`].
    #[must_use]
    pub fn ambiguity(mut self, ambiguity: Ambiguity) -> Self {
        self.ambiguity = ambiguity;
        self
    }

    /// Sets whether Add and Move may replace a file. Default: [`Overwrite::Refuse`].
    #[must_use]
    pub fn overwrite(mut self, overwrite: Overwrite) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Sets whether added lines follow the file's indentation when the hunk matched loosely. Default: `true`.
    #[must_use]
    pub fn reindent(mut self, reindent: bool) -> Self {
        self.reindent = reindent;
        self
    }

    /// Sets what becomes of the final newline. Default: [`FinalNewline::Keep`].
    #[must_use]
    pub fn final_newline(mut self, final_newline: FinalNewline) -> Self {
        self.final_newline = final_newline;
        self
    }

    /// Sets whether links inside the root are followed. Default: [`Symlinks::Follow`].
    #[must_use]
    pub fn symlinks(mut self, symlinks: Symlinks) -> Self {
        self.symlinks = symlinks;
        self
    }

    /// Sets whether hard-linked files are edited in place. Default: [`HardLinks::InPlace`].
    #[must_use]
    pub fn hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// Sets the globs of paths that no patch may touch, judged on the resolved path. A glob without `/` is judged on
    /// every component. Default: none.
    #[must_use]
    pub fn protected<I, S>(mut self, globs: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.protected = globs.into_iter().map(Into::into).collect();
        self
    }
}
