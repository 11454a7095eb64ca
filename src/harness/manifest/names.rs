//! Names come from paths: which paths give one, and which names are taken.

use crate::RelPath;

/// What a name is for; each kind has its own pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A tool, a hook or a subagent.
    Tool,
    /// A skill.
    Skill,
    /// A connection.
    Connection,
    /// A channel or a schedule.
    Entry,
}

impl NameKind {
    /// Whether `name` is well formed.
    pub(super) fn allows(self, name: &str) -> bool {
        let mut bytes = name.bytes();
        let Some(first) = bytes.next() else { return false };
        let rest = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let low = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        name.len() <= 64
            && match self {
                NameKind::Tool => first.is_ascii_alphabetic() && bytes.all(rest),
                NameKind::Skill | NameKind::Entry => first.is_ascii_alphanumeric() && bytes.all(rest),
                NameKind::Connection => low(first) && bytes.all(|byte| low(byte) || byte == b'-'),
            }
    }

    /// The pattern in words.
    pub(super) fn pattern(self) -> &'static str {
        match self {
            NameKind::Tool => "a letter, then letters, digits, `_` and `-`, 64 characters at most",
            NameKind::Skill | NameKind::Entry => {
                "a letter or digit, then letters, digits, `_` and `-`, 64 characters at most"
            }
            NameKind::Connection => "lower case letters, digits and `-`, not beginning with `-`, 64 characters at most",
        }
    }
}

/// Whether a name belongs to the program itself.
pub(super) fn reserved(name: &str) -> bool {
    name == "restitch" || name.starts_with("restitch__") || name == super::types::ROOT
}

/// The path of `name`, as a directory lists it, in `dir` (`None`: the top).
pub(super) fn child(dir: Option<&RelPath>, name: &str) -> RelPath {
    let path = dir.map_or_else(|| name.to_owned(), |dir| format!("{dir}/{name}"));
    RelPath::new(path.as_bytes()).expect("a directory lists single names without NUL, `.` and `..`")
}

/// Whether a file or folder is nobody's business: tests, generated folders, what editors and systems leave.
pub(super) fn ignored(name: &str, dir: bool) -> bool {
    if dir {
        return generated(name) || name == "__tests__";
    }
    let test = name.split('.').rev().skip(1).any(|part| part == "test" || part == "spec");
    let left_over = name == ".DS_Store" || name.ends_with('~') || name.ends_with(".swp");
    (test && name.split('.').count() > 2) || left_over || name == ".gitignore" || name == ".gitkeep"
}

/// Whether a folder holds what programs make.
pub(super) fn generated(name: &str) -> bool {
    const GENERATED: &[&str] =
        &[".restitch", "node_modules", "__pycache__", "target", "dist", ".venv", ".vercel", ".next", "coverage"];
    GENERATED.contains(&name) || name.eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_pattern() {
        use NameKind::{Connection, Skill, Tool};
        let long = "a".repeat(65);
        let cases = [
            ("grep", true, true, true),
            ("run_Tests-2", true, true, false),
            ("2fast", false, true, true),
            ("_x", false, false, false),
            ("-x", false, false, false),
            ("a.b", false, false, false),
            ("é", false, false, false),
            ("", false, false, false),
            (long.as_str(), false, false, false),
            (&long[1..], true, true, true),
        ];
        for (name, tool, skill, connection) in cases {
            let got = [Tool, Skill, Connection].map(|kind| kind.allows(name));
            assert_eq!(got, [tool, skill, connection], "{name}");
        }
    }

    #[test]
    fn tests_and_generated_folders_are_ignored() {
        let cases = [
            ("a.test.js", false, true),
            ("a.spec.ts", false, true),
            ("a.test.fixture.md", false, true),
            ("test.md", false, false),
            ("latest.toml", false, false),
            ("a.toml", false, false),
            ("__tests__", true, true),
            ("node_modules", true, true),
            (".GIT", true, true),
            ("tests", true, false),
        ];
        for (name, dir, want) in cases {
            assert_eq!(ignored(name, dir), want, "{name}");
        }
    }

    #[test]
    fn the_program_keeps_its_names() {
        for (name, want) in [("restitch", true), ("restitch__x", true), ("__root__", true), ("restitch-x", false)] {
            assert_eq!(reserved(name), want, "{name}");
        }
    }
}
