//! Paths that no patch may touch, and what makes such files instead.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::path::RelPath;
use crate::plan::error::FailureKind;

/// Globs of files that tools generate: lock files, build output, installed packages. For
/// [`Policy::protected`](crate::policy::Policy::protected).
pub const GENERATED: &[&str] = &[
    "pnpm-lock.yaml",
    "package-lock.json",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "Cargo.lock",
    "go.sum",
    "poetry.lock",
    "uv.lock",
    "Gemfile.lock",
    "composer.lock",
    "dist/",
    ".next/",
    "coverage/",
    "node_modules/",
    "vendor-compiled/",
];

/// What makes a generated file, by the last part of its glob.
const REMEDIES: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "run `pnpm install`"),
    ("package-lock.json", "run `npm install`"),
    ("yarn.lock", "run `yarn install`"),
    ("bun.lock", "run `bun install`"),
    ("bun.lockb", "run `bun install`"),
    ("Cargo.lock", "run `cargo update` or `cargo build`"),
    ("go.sum", "run `go mod tidy`"),
    ("poetry.lock", "run `poetry lock`"),
    ("uv.lock", "run `uv lock`"),
    ("Gemfile.lock", "run `bundle install`"),
    ("composer.lock", "run `composer update`"),
    ("dist", "edit the sources and run the project's build"),
    (".next", "edit the sources and run `next build`"),
    ("coverage", "run the tests with coverage"),
    ("node_modules", "change package.json and run the package manager's install"),
    ("vendor-compiled", "edit the sources and run the project's build"),
];

/// The policy's globs, compiled.
pub(super) struct Protected {
    set: GlobSet,
    globs: Vec<String>,
}

impl Protected {
    pub(super) fn new(globs: &[String]) -> Result<Self, FailureKind> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            for pattern in patterns(glob) {
                let built = GlobBuilder::new(&pattern).literal_separator(true).build();
                set.add(built.map_err(|e| bad_glob(glob, &e))?);
            }
        }
        let set = set.build().map_err(|e| bad_glob("", &e))?;
        Ok(Protected { set, globs: globs.to_vec() })
    }

    /// Protects nothing.
    pub(super) fn none() -> Self {
        Protected { set: GlobSet::empty(), globs: Vec::new() }
    }

    /// Refuses a protected path.
    pub(super) fn check(&self, path: &RelPath) -> Result<(), FailureKind> {
        if self.globs.is_empty() {
            return Ok(());
        }
        let Some(&first) = self.set.matches(path.as_str()).first() else { return Ok(()) };
        let glob = self.globs[first / 2].clone();
        let name = glob.trim_end_matches('/');
        let name = name.rsplit('/').next().unwrap_or(name);
        let remedy = REMEDIES.iter().find(|(known, _)| *known == name).map(|(_, remedy)| *remedy);
        Err(FailureKind::Protected { glob, remedy })
    }
}

/// The two patterns of a glob: the path itself and everything below it. Without a `/` it may stand at any depth.
fn patterns(glob: &str) -> [String; 2] {
    let bare = glob.trim_end_matches('/');
    let bare = bare.strip_prefix("./").unwrap_or(bare);
    match bare.strip_prefix('/') {
        Some(rooted) => [rooted.to_owned(), format!("{rooted}/**")],
        None if bare.contains('/') => [bare.to_owned(), format!("{bare}/**")],
        None => [format!("**/{bare}"), format!("**/{bare}/**")],
    }
}

fn bad_glob(glob: &str, error: &globset::Error) -> FailureKind {
    FailureKind::BadGlob { glob: glob.to_owned(), message: error.kind().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_protects_its_paths_and_nothing_else() {
        let cases: &[(&str, &str, bool)] = &[
            ("Cargo.lock", "Cargo.lock", true),
            ("Cargo.lock", "a/b/Cargo.lock", true),
            ("Cargo.lock", "Cargo.lock.txt", false),
            ("dist/", "dist/a.js", true),
            ("dist/", "packages/x/dist/a/b.js", true),
            ("dist/", "distance/a.js", false),
            ("/dist", "a/dist/b", false),
            ("src/*.gen.rs", "src/a.gen.rs", true),
            ("src/*.gen.rs", "src/deep/a.gen.rs", false),
            ("src/**", "src/deep/a.rs", true),
        ];
        for (glob, path, want) in cases {
            let protected = Protected::new(&[(*glob).to_owned()]).unwrap();
            let got = protected.check(&RelPath::new(path.as_bytes()).unwrap()).is_err();
            assert_eq!(got, *want, "{glob} on {path}");
        }
    }

    #[test]
    fn a_refusal_names_the_rule_and_the_remedy() {
        let globs: Vec<String> = GENERATED.iter().map(|glob| (*glob).to_owned()).collect();
        let protected = Protected::new(&globs).unwrap();
        match protected.check(&RelPath::new(b"web/pnpm-lock.yaml").unwrap()) {
            Err(FailureKind::Protected { glob, remedy }) => {
                assert_eq!((glob.as_str(), remedy), ("pnpm-lock.yaml", Some("run `pnpm install`")));
            }
            other => panic!("{other:?}"),
        }
        for glob in GENERATED {
            let name = glob.trim_end_matches('/');
            assert!(REMEDIES.iter().any(|(known, _)| *known == name), "{glob} has no remedy");
        }
    }

    #[test]
    fn a_broken_glob_is_an_error_that_names_it() {
        assert!(matches!(Protected::new(&["a[".to_owned()]), Err(FailureKind::BadGlob { glob, .. }) if glob == "a["));
    }
}
