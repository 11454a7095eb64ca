//! What the parser is told: the language of the text and what it may accept.

/// The language of a patch text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `*** Begin Patch` … `*** End Patch`.
    #[default]
    Envelope,
    /// Unified diffs, as `diff -u`, `git diff` and `git format-patch` write them.
    Unified,
    /// SEARCH/REPLACE blocks.
    Blocks,
    /// JSON: edits by `old_string` and `new_string`, whole files, and file operations with headerless diffs.
    Edits,
    /// Whichever of these the text turns out to be; see [`Format::detect`].
    Auto,
}

impl Format {
    /// All languages, without [`Format::Auto`].
    pub const ALL: [Format; 4] = [Format::Envelope, Format::Unified, Format::Blocks, Format::Edits];

    /// The name used on the command line: `envelope`, `unified`, `blocks`, `edits` or `auto`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Envelope => "envelope",
            Format::Unified => "unified",
            Format::Blocks => "blocks",
            Format::Edits => "edits",
            Format::Auto => "auto",
        }
    }
}

/// What the parser may accept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParseOptions {
    pub(super) format: Format,
    pub(super) repeated_add: bool,
    pub(super) strip: Option<usize>,
}

impl ParseOptions {
    /// The options that go with [`Policy::codex`](crate::policy::Policy::codex).
    #[must_use]
    pub fn codex() -> Self {
        ParseOptions::default().repeated_add(true)
    }

    /// Sets the language of the text. Default: [`Format::Envelope`].
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Sets whether an Add without lines may be followed by an Add of the same path, which then replaces the empty file.
    /// Default: `false`.
    #[must_use]
    pub fn repeated_add(mut self, allowed: bool) -> Self {
        self.repeated_add = allowed;
        self
    }

    /// Sets how many leading directories are taken off the names in a unified diff. Default: `None`, as many as it takes
    /// to make the old and the new name equal (one for `a/x` and `b/x`, none for `x` and `x`).
    #[must_use]
    pub fn strip(mut self, components: Option<usize>) -> Self {
        self.strip = components;
        self
    }
}
