//! What a server may do, with its defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{Format, ParseOptions, Policy};

/// What the roots that a client names mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientRoots {
    /// They narrow the server's own root: of each, the part inside it counts. Roots that have nothing in common with it
    /// are left out; if that leaves none, every call is refused.
    #[default]
    Within,
    /// They take the place of the server's own root. For a server that the client started and could as well have
    /// started elsewhere.
    Trust,
    /// Nothing; the client is not asked.
    Ignore,
}

/// What a server may do.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    pub(super) root: PathBuf,
    pub(super) client_roots: ClientRoots,
    pub(super) read_only: bool,
    pub(super) structured: bool,
    pub(super) timeout: Duration,
    pub(super) policy: Policy,
    pub(super) parse: ParseOptions,
    pub(super) keep_undo: usize,
}

impl ServeOptions {
    /// Serves the tree below `root`.
    #[must_use]
    pub fn new(root: impl AsRef<Path>) -> Self {
        ServeOptions {
            root: root.as_ref().to_owned(),
            client_roots: ClientRoots::default(),
            read_only: false,
            structured: true,
            timeout: Duration::from_secs(60),
            policy: Policy::default(),
            parse: ParseOptions::default().format(Format::Auto),
            keep_undo: 10,
        }
    }

    /// Sets what the client's roots mean. Default: [`ClientRoots::Within`].
    #[must_use]
    pub fn client_roots(mut self, roots: ClientRoots) -> Self {
        self.client_roots = roots;
        self
    }

    /// Sets whether only the tools that write nothing are offered. Default: `false`.
    #[must_use]
    pub fn read_only(mut self, yes: bool) -> Self {
        self.read_only = yes;
        self
    }

    /// Sets whether answers carry data beside the text. Some clients show the model the data instead of the text, which is
    /// longer. Default: `true`.
    #[must_use]
    pub fn structured(mut self, yes: bool) -> Self {
        self.structured = yes;
        self
    }

    /// Sets how long one call may take. Default: 60 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the rules for patches. Default: [`Policy::default`].
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how patches are parsed. Default: any language, as
    /// [`Format::Auto`] finds it out.
    #[must_use]
    pub fn parse(mut self, parse: ParseOptions) -> Self {
        self.parse = parse;
        self
    }

    /// Sets how many patches the tool `undo` can undo; with 0 there is no such tool. Default: 10.
    #[must_use]
    pub fn keep_undo(mut self, patches: usize) -> Self {
        self.keep_undo = patches;
        self
    }
}
