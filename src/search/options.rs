//! What a search can be told, with its defaults.

use super::form::AnswerForm;
use super::select::Selection;
use crate::limits::{Bounds, bounded};

/// What a row of the answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// A file that has a match; its first match ends the file.
    #[default]
    Files,
    /// A line that has a match, and the context lines around it.
    Content,
    /// A file and the number of its matching lines (of its matches in a multi-line search).
    Count,
}

impl Mode {
    /// The name used on the command line and in JSON: `files`, `content` or `count`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Files => "files",
            Mode::Content => "content",
            Mode::Count => "count",
        }
    }
}

/// How patterns are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// As literal text when no pattern has a character that is special in regular expressions, else as those.
    #[default]
    Auto,
    /// As literal text.
    Literal,
    /// As regular expressions.
    Regex,
}

/// The knobs of a [`Search`](super::Search), each with a default.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    pub(super) mode: Mode,
    pub(super) syntax: Syntax,
    pub(super) ignore_case: bool,
    pub(super) word: bool,
    pub(super) multiline: bool,
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) limit: usize,
    pub(super) offset: usize,
    pub(super) max_row_bytes: usize,
    pub(super) max_bytes: usize,
    pub(super) form: AnswerForm,
    pub(super) bounds: Bounds,
    pub(super) threads: usize,
    pub(super) stats: bool,
    pub(super) selection: Selection,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions {
            mode: Mode::Files,
            syntax: Syntax::Auto,
            ignore_case: false,
            word: false,
            multiline: false,
            before: 0,
            after: 0,
            limit: 50,
            offset: 0,
            max_row_bytes: 8 << 10,
            max_bytes: 64 << 10,
            form: AnswerForm::Text,
            bounds: Bounds::default(),
            threads: 0,
            stats: false,
            selection: Selection::default(),
        }
    }
}

impl SearchOptions {
    /// The smallest answer that can be asked for, in bytes.
    pub const LEAST_BYTES: usize = 256;

    /// The smallest answer that can be asked for as JSON, in bytes.
    pub const LEAST_JSON_BYTES: usize = 1024;

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What a row is. `Files` is the cheapest: each file is read up to its first match. Default: [`Mode::Files`].
    #[must_use]
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// How patterns are read. Default: [`Syntax::Auto`].
    #[must_use]
    pub fn syntax(mut self, syntax: Syntax) -> Self {
        self.syntax = syntax;
        self
    }

    /// Matches letters of either case, as Unicode's simple case folding has it. Default: no.
    #[must_use]
    pub fn ignore_case(mut self, yes: bool) -> Self {
        self.ignore_case = yes;
        self
    }

    /// Matches only between word borders. Default: no.
    #[must_use]
    pub fn word(mut self, yes: bool) -> Self {
        self.word = yes;
        self
    }

    /// Lets a match go over line ends (`\n` in the pattern; `.` still stops at them). Each file is held in memory as
    /// a whole; files over 64 MiB are left out, and named. Default: no.
    #[must_use]
    pub fn multiline(mut self, yes: bool) -> Self {
        self.multiline = yes;
        self
    }

    /// How many lines before and after each match are shown, in [`Mode::Content`]; overlapping ones are merged.
    /// Default: 0.
    #[must_use]
    pub fn context(self, lines: usize) -> Self {
        self.before(lines).after(lines)
    }

    /// How many lines before each match are shown. Default: 0.
    #[must_use]
    pub fn before(mut self, lines: usize) -> Self {
        self.before = lines;
        self
    }

    /// How many lines after each match are shown. Default: 0.
    #[must_use]
    pub fn after(mut self, lines: usize) -> Self {
        self.after = lines;
        self
    }

    /// How many rows are shown; context lines do not count. The search ends soon after the first row that is not
    /// shown. Default: 50.
    #[must_use]
    pub fn limit(mut self, rows: usize) -> Self {
        self.limit = rows;
        self
    }

    /// How many rows are passed over before the first that is shown. Default: 0.
    #[must_use]
    pub fn offset(mut self, rows: usize) -> Self {
        self.offset = rows;
        self
    }

    /// How many bytes of a line are shown; a longer one is cut to a window round its first match. Default: 8 KiB.
    #[must_use]
    pub fn max_row_bytes(mut self, bytes: usize) -> Self {
        self.max_row_bytes = bytes.max(1);
        self
    }

    /// How many bytes the answer has in its [`form`](SearchOptions::form), notices included; never less than
    /// [`SearchOptions::LEAST_BYTES`], as JSON [`SearchOptions::LEAST_JSON_BYTES`]. When the rows do not fit, the longest
    /// lines are cut first. One row is always shown, however long its path. Default: 64 KiB.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes.max(Self::LEAST_BYTES);
        self
    }

    /// The form in which the answer is going to be written, whose bytes [`SearchOptions::max_bytes`] counts. Default:
    /// [`AnswerForm::Text`].
    #[must_use]
    pub fn form(mut self, form: AnswerForm) -> Self {
        self.form = form;
        self
    }

    /// The bytes of an answer.
    pub(super) fn bytes(&self) -> usize {
        match self.form {
            AnswerForm::Text => self.max_bytes,
            AnswerForm::Json => self.max_bytes.max(Self::LEAST_JSON_BYTES),
        }
    }

    bounded!(bounds, "returns what it has, and says so");

    /// How many threads work, 0 for as many as the machine has. The answer does not depend on it. Default: 0.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Searches to the end, so that `total` is exact, and says what was searched and what was left out. Costs the
    /// early end. Default: no.
    #[must_use]
    pub fn stats(mut self, yes: bool) -> Self {
        self.stats = yes;
        self
    }

    /// Takes only files that fit this glob; with `!` in front, leaves out what fits. Globs are relative to the root
    /// and read as in a `.gitignore` file: without a slash they fit at any depth, and the last one that fits decides.
    /// A glob never brings back what ignore rules leave out. May be called several times. Default: none.
    #[must_use]
    pub fn glob(mut self, glob: impl Into<String>) -> Self {
        self.selection.globs.push(glob.into());
        self
    }

    /// Takes only files of this type, by ripgrep's names (`rust`, `ts`, `py`). May be called several times. Default:
    /// none.
    #[must_use]
    pub fn file_type(mut self, name: impl Into<String>) -> Self {
        self.selection.types.push(name.into());
        self
    }

    /// Never shows a line of files that fit this glob, named outright or not; a hit in one is told without its text.
    /// (So whether a pattern occurs there can be found out.) May be called several times. Default: none.
    #[must_use]
    pub fn deny(mut self, glob: impl Into<String>) -> Self {
        self.selection.deny.push(glob.into());
        self
    }

    /// Denies the files that usually hold secrets: `.env` and its kin, private keys, credential stores.
    #[must_use]
    pub fn deny_secrets(mut self) -> Self {
        self.selection.deny.extend(super::select::SECRETS.iter().map(|glob| (*glob).to_owned()));
        self
    }

    /// Whether ignore files of the root and below (`.gitignore`, `.ignore`, `.rgignore`, `.git/info/exclude`) decide
    /// what is left out. Default: yes.
    #[must_use]
    pub fn ignore_rules(mut self, yes: bool) -> Self {
        self.selection.ignore = yes;
        self
    }

    /// Follows symbolic links that stay inside the root; each file is searched once. The directories are then listed
    /// by one thread at a time. Default: no.
    #[must_use]
    pub fn follow(mut self, yes: bool) -> Self {
        self.selection.follow = yes;
        self
    }
}
