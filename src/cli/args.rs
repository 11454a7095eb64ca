//! Values of flags that several programs share.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use crate::{Ambiguity, Digest, Durability, Format, Policy, Tier, Workspace};

/// `--profile`: the preset of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Profile {
    /// Refuse what is ambiguous; keep what the patch does not name
    #[default]
    Default,
    /// Leave what the reference tool leaves: first match wins, overwrite, always a final newline
    Codex,
}

impl Profile {
    pub(super) fn policy(self) -> Policy {
        match self {
            Profile::Default => Policy::default(),
            Profile::Codex => Policy::codex(),
        }
    }
}

/// `--format`: the language of the patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FormatArg {
    /// Whichever it turns out to be
    #[default]
    Auto,
    /// `*** Begin Patch` … `*** End Patch`
    Envelope,
    /// Unified diffs, of git too
    #[value(alias = "diff", alias = "git")]
    Unified,
    /// SEARCH/REPLACE blocks
    Blocks,
    /// JSON: edits by quoted text, whole files, file operations with headerless diffs
    #[value(alias = "json")]
    Edits,
}

impl From<FormatArg> for Format {
    fn from(arg: FormatArg) -> Format {
        match arg {
            FormatArg::Auto => Format::Auto,
            FormatArg::Envelope => Format::Envelope,
            FormatArg::Unified => Format::Unified,
            FormatArg::Blocks => Format::Blocks,
            FormatArg::Edits => Format::Edits,
        }
    }
}

/// A language that patches are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TargetArg {
    /// `*** Begin Patch` … `*** End Patch`
    Envelope,
    /// A git diff
    #[value(alias = "diff", alias = "git")]
    Unified,
}

/// `--tier`: the loosest comparison allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TierArg {
    /// Bytes are equal
    Exact,
    /// White space at the end may differ
    TrimEnd,
    /// White space at both ends may differ
    Trim,
    /// Typographic characters may differ too
    Unicode,
}

impl From<TierArg> for Tier {
    fn from(tier: TierArg) -> Tier {
        match tier {
            TierArg::Exact => Tier::Exact,
            TierArg::TrimEnd => Tier::TrimEnd,
            TierArg::Trim => Tier::Trim,
            TierArg::Unicode => Tier::Unicode,
        }
    }
}

/// `--durability`: what a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DurabilityArg {
    /// The death of the process at any moment
    #[default]
    Process,
    /// A loss of power too; waits for the disk
    Power,
}

impl From<DurabilityArg> for Durability {
    fn from(arg: DurabilityArg) -> Durability {
        match arg {
            DurabilityArg::Process => Durability::Process,
            DurabilityArg::Power => Durability::Power,
        }
    }
}

/// `--ambiguous`: what to do when a hunk fits in several places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum AmbiguousArg {
    /// Refuse and name the places
    Refuse,
    /// Take the first
    First,
}

impl From<AmbiguousArg> for Ambiguity {
    fn from(arg: AmbiguousArg) -> Ambiguity {
        match arg {
            AmbiguousArg::Refuse => Ambiguity::Refuse,
            AmbiguousArg::First => Ambiguity::First,
        }
    }
}

/// The root of a program that only reads: `None` is the current directory.
pub(super) fn open_root(root: Option<&Path>) -> Result<Workspace, String> {
    let root = root.unwrap_or(Path::new("."));
    Workspace::open(root).map_err(|error| format!("the root `{}` cannot be opened: {error}", root.display()))
}

/// A number of seconds, with or without a fraction.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "a number of seconds is expected".to_owned())?;
    Duration::try_from_secs_f64(number).map_err(|error| error.to_string())
}

/// `--read PATH=HASH`: what the caller read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReadArg {
    pub(super) path: String,
    pub(super) digest: Digest,
}

impl FromStr for ReadArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (path, hash) =
            text.rsplit_once('=').ok_or("write it PATH=HASH, with the hash that `restitch read` prints")?;
        let digest = hash.parse().map_err(|e: crate::DigestError| e.to_string())?;
        Ok(ReadArg { path: path.to_owned(), digest })
    }
}
