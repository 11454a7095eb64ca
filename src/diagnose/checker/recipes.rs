//! Checkers that many projects have, ready to be used.

use super::Format;
use crate::path::RelPath;
use crate::workspace::Workspace;

/// A checker that needs no table entry.
pub(super) struct Recipe {
    pub(super) name: &'static str,
    /// Files in the root of which one says that the project uses it.
    marks: &'static [&'static str],
    pub(super) globs: &'static [&'static str],
    command: &'static [&'static str],
    pub(super) format: Format,
}

/// None of them may change a file that is under version control, or reach for the network.
pub(super) const ALL: &[Recipe] = &[
    Recipe {
        name: "tsc",
        marks: &["tsconfig.json"],
        globs: &["**/*.{ts,tsx,mts,cts}", "**/tsconfig*.json"],
        command: &["tsc", "--noEmit", "--pretty", "false"],
        format: Format::Tsc,
    },
    Recipe {
        name: "cargo",
        marks: &["Cargo.toml"],
        globs: &["**/*.rs", "**/Cargo.toml", "Cargo.lock"],
        command: &["cargo", "check", "--workspace", "--quiet", "--message-format=json", "--locked", "--offline"],
        format: Format::RustcJson,
    },
    Recipe {
        name: "ruff",
        marks: &["ruff.toml", ".ruff.toml", "pyproject.toml"],
        globs: &["**/*.{py,pyi}"],
        command: &["ruff", "check", "--output-format=json", "--no-cache", "--force-exclude", "{files}"],
        format: Format::RuffJson,
    },
    Recipe {
        name: "gofmt",
        marks: &["go.mod"],
        globs: &["**/*.go"],
        command: &["gofmt", "-e", "-l", "{files}"],
        format: Format::Gcc,
    },
    Recipe {
        name: "go-vet",
        marks: &["go.mod"],
        globs: &["**/*.go", "go.mod"],
        command: &["go", "vet", "./..."],
        format: Format::Gcc,
    },
    Recipe {
        name: "eslint",
        marks: &["eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc.json"],
        globs: &["**/*.{js,jsx,mjs,cjs,ts,tsx,mts,cts}"],
        command: &["eslint", "--format", "json", "--no-error-on-unmatched-pattern", "{files}"],
        format: Format::EslintJson,
    },
];

impl Recipe {
    /// Whether the project in `workspace` uses it.
    pub(super) fn fits(&self, workspace: &Workspace) -> bool {
        self.marks.iter().any(|mark| is_there(workspace, mark))
    }

    /// Its command; the project's own copy of the program if it has one.
    pub(super) fn command(&self, workspace: &Workspace) -> Vec<String> {
        let mut command: Vec<String> = self.command.iter().map(|word| (*word).to_owned()).collect();
        for dir in ["node_modules/.bin", ".venv/bin"] {
            let own = format!("{dir}/{}", command[0]);
            if is_there(workspace, &own) {
                command[0] = own;
                break;
            }
        }
        command
    }
}

fn is_there(workspace: &Workspace, path: &str) -> bool {
    RelPath::new(path.as_bytes()).is_ok_and(|path| matches!(workspace.stat(&path), Ok(Some(_))))
}
