//! Which files are looked at: globs, file types and the list of files that are never shown.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};

use super::error::SearchError;
use crate::workspace::near;

/// The files that [`SearchOptions::deny_secrets`](super::SearchOptions::deny_secrets) denies.
pub(super) const SECRETS: &[&str] = &[
    ".env",
    ".env.*",
    "!.env.example",
    "!.env.sample",
    "!.env.template",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "**/.ssh/**",
    "**/.aws/credentials",
    "**/.docker/config.json",
    "**/.kube/config",
];

/// The choice of files, as it was asked for.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) globs: Vec<String>,
    pub(super) types: Vec<String>,
    pub(super) deny: Vec<String>,
    pub(super) ignore: bool,
    pub(super) follow: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Selection { globs: Vec::new(), types: Vec::new(), deny: Vec::new(), ignore: true, follow: false }
    }
}

/// The choice of files, ready to be asked.
#[derive(Debug)]
pub(super) struct Filter {
    // `None` where nothing was asked for: even a set without globs takes some time to build.
    globs: Option<Override>,
    types: Option<Types>,
    deny: Option<Gitignore>,
    pub(super) ignore: bool,
    pub(super) follow: bool,
}

impl Filter {
    /// Compiles a choice. Globs are relative to `base`, a path below the root.
    pub(super) fn new(selection: &Selection, base: &Path) -> Result<Self, SearchError> {
        Ok(Filter {
            globs: globs(&selection.globs, base)?,
            types: types(&selection.types)?,
            deny: deny(&selection.deny)?,
            ignore: selection.ignore,
            follow: selection.follow,
        })
    }

    /// Whether a directory may hold files that are wanted.
    pub(super) fn admits_dir(&self, path: &Path) -> bool {
        self.globs.as_ref().is_none_or(|globs| !globs.matched(path, true).is_ignore())
    }

    /// Whether a file is wanted.
    pub(super) fn admits_file(&self, path: &Path) -> bool {
        self.globs.as_ref().is_none_or(|globs| !globs.matched(path, false).is_ignore())
            && self.types.as_ref().is_none_or(|types| !types.matched(path, false).is_ignore())
    }

    /// Whether all files are wanted.
    pub(super) fn admits_all(&self) -> bool {
        self.globs.is_none() && self.types.is_none()
    }

    /// Whether there are files that must not be shown.
    pub(super) fn has_denied(&self) -> bool {
        self.deny.is_some()
    }

    /// Whether a file must not be shown.
    pub(super) fn denies(&self, path: &Path) -> bool {
        self.deny.as_ref().is_some_and(|deny| deny.matched_path_or_any_parents(path, false).is_ignore())
    }
}

fn globs(globs: &[String], base: &Path) -> Result<Option<Override>, SearchError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = OverrideBuilder::new(base);
    for glob in globs {
        builder.add(&plain(glob)).map_err(|error| bad_glob(glob, &error))?;
    }
    builder.build().map(Some).map_err(|error| bad_glob(&globs.join(" "), &error))
}

/// The glob without a `./` in front, which says nothing.
fn plain(glob: &str) -> String {
    let (sign, rest) = glob.strip_prefix('!').map_or(("", glob), |rest| ("!", rest));
    format!("{sign}{}", rest.strip_prefix("./").unwrap_or(rest))
}

fn deny(globs: &[String]) -> Result<Option<Gitignore>, SearchError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = GitignoreBuilder::new("");
    for glob in globs {
        builder.add_line(None, glob).map_err(|error| bad_glob(glob, &error))?;
    }
    builder.build().map(Some).map_err(|error| bad_glob(&globs.join(" "), &error))
}

fn bad_glob(glob: &str, error: &ignore::Error) -> SearchError {
    let message = match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    };
    SearchError::Glob { glob: glob.to_owned(), message }
}

fn types(names: &[String]) -> Result<Option<Types>, SearchError> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known: Vec<String> = builder.definitions().iter().map(|known| known.name().to_owned()).collect();
    for name in names {
        if name != "all" && !known.contains(name) {
            let near = near::nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(SearchError::FileType { name: name.clone(), near });
        }
        builder.select(name);
    }
    builder.build().map(Some).map_err(|error| SearchError::FileType { name: error.to_string(), near: None })
}
