//! Why a text is no unified diff that can be applied.

/// What is wrong. Every refusal of the machine is one of these.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::patch) enum Kind {
    /// No header of a file was found.
    #[error("there is no unified diff in the text")]
    NoDiff,
    /// A hunk without names above it.
    #[error("a hunk stands here and no file is named above it")]
    NoFile,
    /// `--- NAME` without `+++ NAME`.
    #[error("the line with the old name is not followed by `+++ NEW NAME`")]
    NoNewName,
    /// Names without a hunk.
    #[error("`{path}` is named and no hunk follows")]
    NoHunk { path: String },
    /// A git header that says nothing.
    #[error("the header of `{path}` says no change")]
    NoChange { path: String },
    /// A hunk without lines.
    #[error("the hunk of `{path}` on line {opened} has no lines")]
    EmptyHunk { path: String, opened: u64 },
    /// A line of a hunk without a sign.
    #[error("a line in the hunk of `{path}` has no sign")]
    NoSign { path: String },
    /// The text ends inside of a hunk.
    #[error("the text ends inside of a hunk of `{path}`: its header promises {old} old and {new} new lines more")]
    CutOff { path: String, old: u64, new: u64 },
    /// A new file has a line that is not added, or a second hunk.
    #[error("the new file `{path}` has more than added lines")]
    NotNew { path: String },
    /// A note on the missing newline above the first line.
    #[error("the note on the missing newline has no line above it in the hunk of `{path}`")]
    NoNewlineAlone { path: String },
    /// The old and the new name are of different files.
    #[error("the names `{old}` and `{new}` are of two files, and nothing says that one is renamed")]
    NamesDiffer { old: String, new: String },
    /// A name with fewer directories than shall be taken off.
    #[error("`{name}` has no {strip} leading directories to take off")]
    TooShort { name: String, strip: usize },
    /// A name in quotes that cannot be read.
    #[error("the quoted name cannot be read")]
    BadQuotes,
    /// No name, or two times `/dev/null`.
    #[error("no file is named")]
    NoName,
    /// `rename from` without `rename to`, or the other way round; the same for a copy.
    #[error("one of the two names of a rename or copy is missing")]
    HalfRename,
    /// A mode that git does not know.
    #[error("the mode is none that git knows")]
    BadMode,
    /// A binary patch.
    #[error("`{path}` is binary here, and binary patches are not supported")]
    Binary { path: String },
    /// A symbolic link is made or changed.
    #[error("`{path}` is a symbolic link, which a patch cannot make or change")]
    SymbolicLink { path: String },
    /// A submodule is changed.
    #[error("`{path}` is a submodule, which a patch cannot change")]
    Submodule { path: String },
    /// A diff of a merge.
    #[error("this is a combined diff of a merge")]
    Combined,
    /// A context diff.
    #[error("this is a context diff")]
    Context,
}

impl Kind {
    /// Whether a text that was cut off looks like this.
    pub(in crate::patch) fn is_cut_off(&self) -> bool {
        matches!(self, Kind::NoDiff | Kind::CutOff { .. } | Kind::NoHunk { .. } | Kind::NoNewName | Kind::HalfRename)
    }

    /// A short name that stays the same between versions.
    pub(in crate::patch) fn code(&self) -> &'static str {
        match self {
            Kind::NoDiff => "no-diff",
            Kind::NoFile => "no-file",
            Kind::NoNewName => "no-new-name",
            Kind::NoHunk { .. } => "no-hunk",
            Kind::NoChange { .. } => "no-change",
            Kind::EmptyHunk { .. } => "empty-hunk",
            Kind::NoSign { .. } => "no-sign",
            Kind::CutOff { .. } => "cut-off",
            Kind::NotNew { .. } => "not-new",
            Kind::NoNewlineAlone { .. } => "no-newline-alone",
            Kind::NamesDiffer { .. } => "names-differ",
            Kind::TooShort { .. } => "strip",
            Kind::BadQuotes => "bad-quotes",
            Kind::NoName => "no-path",
            Kind::HalfRename => "half-rename",
            Kind::BadMode => "bad-mode",
            Kind::Binary { .. } => "binary",
            Kind::SymbolicLink { .. } => "symbolic-link",
            Kind::Submodule { .. } => "submodule",
            Kind::Combined => "combined-diff",
            Kind::Context => "context-diff",
        }
    }

    /// What to do about it.
    pub(in crate::patch) fn advice(&self, _received: &[u8]) -> &'static str {
        match self {
            Kind::NoDiff => "send `--- a/PATH`, `+++ b/PATH` and hunks that begin with `@@ -LINE,COUNT +LINE,COUNT @@`",
            Kind::NoFile => "put `--- a/PATH` and `+++ b/PATH` above it",
            Kind::NoNewName => "put `+++ b/PATH` right below it",
            Kind::NoHunk { .. } => "put its hunks below the two names, or remove them",
            Kind::NoChange { .. } => "send its hunks too, or remove the header",
            Kind::EmptyHunk { .. } => "put lines that start with a space, `-` or `+` below its `@@`, or remove it",
            Kind::NoSign { .. } => "start a line that stays with a space, one to remove with `-`, one to add with `+`",
            Kind::CutOff { .. } => "send the whole text again, or write the right counts into the `@@` line",
            Kind::NotNew { .. } => "start every line of a new file with `+`, in one hunk; `/dev/null` says it is new",
            Kind::NoNewlineAlone { .. } => "put it below the line that it is about",
            Kind::NamesDiffer { .. } => "name one file twice, or say `rename from` and `rename to` as git does",
            Kind::TooShort { .. } => "choose a smaller number for `--strip`",
            Kind::BadQuotes => "write it as git does: in double quotes, with `\\n`, `\\\"` and `\\303` for odd bytes",
            Kind::NoName => "name the file behind `---` and `+++`",
            Kind::HalfRename => "give both: `rename from` and `rename to`, or `copy from` and `copy to`",
            Kind::BadMode => "the modes are 100644 and 100755",
            Kind::Binary { .. } => "leave this file out of the diff and copy it another way",
            Kind::SymbolicLink { .. } => "leave it out of the diff and make the link with `ln -s`",
            Kind::Submodule { .. } => "leave it out of the diff and update the submodule with git",
            Kind::Combined => "make a diff against one parent, as `git diff PARENT` does",
            Kind::Context => "make a unified diff: `diff -u`",
        }
    }
}
