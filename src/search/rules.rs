//! Ignore rules: those of a directory and of the directories above it, up to the root and no further.
//!
//! As ripgrep has them, four kinds of files are read: `.rgignore`, `.ignore`, `.gitignore` and a repository's
//! `.git/info/exclude`. An earlier kind outranks a later one at whatever depth; within a kind the deepest file that
//! says anything decides, and in a file its last rule. Rules hold whether or not there is a repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};

/// The names of ignore files, highest rank first.
pub(super) const FILES: [&str; 4] = [".rgignore", ".ignore", ".gitignore", ".git/info/exclude"];

/// The rules that hold in one directory. A clone costs one count.
#[derive(Clone, Default)]
pub(super) struct Rules(Option<Arc<Levels>>);

/// For each kind of file the compiled ones, the deepest last.
type Levels = [Vec<Arc<Gitignore>>; FILES.len()];

/// One line of one ignore file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    file: Option<PathBuf>,
    line: String,
}

/// The ignore files of one directory: their index in [`FILES`] and their text.
pub(super) type Texts = Vec<(usize, Vec<u8>)>;

impl Rules {
    /// The rules of the directory `dir` below the directory that `self` belongs to, from its ignore files.
    ///
    /// A line that cannot be read as a rule is passed over, as git does.
    pub(super) fn with(&self, dir: &Path, texts: &Texts) -> Rules {
        self.with_but(dir, texts, &[])
    }

    /// The same, but for some lines.
    fn with_but(&self, dir: &Path, texts: &Texts, waived: &[Rule]) -> Rules {
        let mut levels: Option<Levels> = None;
        for (kind, text) in texts {
            if let Some(compiled) = compile(dir, FILES[*kind], text, waived) {
                let levels = levels.get_or_insert_with(|| self.0.as_deref().cloned().unwrap_or_default());
                levels[*kind].push(Arc::new(compiled));
            }
        }
        levels.map_or_else(|| self.clone(), |levels| Rules(Some(Arc::new(levels))))
    }

    /// The rules that hold in `dir`, which was named outright: those of the directories above it, given from the root
    /// on, without the lines that leave out everything in it.
    pub(super) fn for_named(dir: &Path, above: &[(PathBuf, Texts)]) -> Rules {
        // No rule is about this very name, so one that fits it fits every name.
        let probe = dir.join("\u{1}restitch\u{1}");
        let mut waived = Vec::new();
        loop {
            let rules = above.iter().fold(Rules::default(), |rules, (dir, texts)| rules.with_but(dir, texts, &waived));
            let hiding = [false, true].into_iter().find_map(|is_dir| rules.deciding(&probe, is_dir));
            let Some(glob) = hiding else { return rules };
            let rule = Rule { file: glob.from().map(Path::to_owned), line: glob.original().to_owned() };
            if waived.contains(&rule) {
                return rules;
            }
            waived.push(rule);
        }
    }

    /// Whether no rule at all holds.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The ignore file whose rule leaves `path` out, if one does.
    pub(super) fn ignored(&self, path: &Path, is_dir: bool) -> Option<&Path> {
        let glob = self.deciding(path, is_dir)?;
        Some(glob.from().unwrap_or(Path::new("")))
    }

    /// The rule that leaves `path` out.
    fn deciding(&self, path: &Path, is_dir: bool) -> Option<&Glob> {
        for file in self.0.as_deref()?.iter().flat_map(|kind| kind.iter().rev()) {
            match file.matched(path, is_dir) {
                Match::None => {}
                Match::Ignore(glob) => return Some(glob),
                Match::Whitelist(_) => return None,
            }
        }
        None
    }
}

fn compile(dir: &Path, name: &str, text: &[u8], waived: &[Rule]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(dir);
    let from = dir.join(name);
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(line) = std::str::from_utf8(line) else { continue };
        let is = |rule: &Rule| rule.line == line.trim_end_matches(' ') && rule.file.as_ref() == Some(&from);
        if !waived.iter().any(is) {
            let _unreadable = builder.add_line(Some(from.clone()), line);
        }
    }
    builder.build().ok().filter(|compiled| !compiled.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds the rules of `dirs` (name of the directory, kind, text), outermost first.
    fn rules(files: &[(&str, usize, &str)]) -> Rules {
        files.iter().fold(Rules::default(), |rules, (dir, kind, text)| {
            rules.with(Path::new(dir), &vec![(*kind, text.as_bytes().to_vec())])
        })
    }

    #[test]
    fn the_deepest_file_of_the_highest_kind_decides() {
        let given: &[(&str, usize, &str)] = &[
            ("", 2, "*.log\n/top\nbuild/\ndeep/*.tmp\n"),
            ("", 1, "!keep.log\n"),
            ("a", 2, "!b.log\nlocal\n"),
            ("a", 1, "b.log\n"),
        ];
        let rules = rules(given);
        for (path, is_dir, want) in [
            ("x.log", false, Some(".gitignore")),
            ("keep.log", false, None),
            ("a/keep.log", false, None),
            ("a/b.log", false, Some("a/.ignore")),
            ("top", false, Some(".gitignore")),
            ("a/top", false, None),
            ("build", false, None),
            ("build", true, Some(".gitignore")),
            ("a/build", true, Some(".gitignore")),
            ("deep/x.tmp", false, Some(".gitignore")),
            ("a/deep/x.tmp", false, None),
            ("a/local", false, Some("a/.gitignore")),
            ("a/c/local", false, Some("a/.gitignore")),
            ("other", false, None),
        ] {
            assert_eq!(rules.ignored(Path::new(path), is_dir), want.map(Path::new), "{path}");
        }
    }

    #[test]
    fn only_a_rule_that_hides_everything_in_the_named_directory_is_waived() {
        for (text, file, want) in [
            ("dist/*\n", "dist/a.js", false),
            ("dist/**\n", "dist/b/a.js", false),
            ("*\n", "dist/a.js", false),
            ("*.log\ndist/*\n", "dist/a.log", true),
            ("dist/*\n!dist/keep\n", "dist/keep", false),
            ("*.js\n", "dist/a.js", true),
        ] {
            let above = [(PathBuf::new(), vec![(2, text.as_bytes().to_vec())])];
            let rules = Rules::for_named(Path::new("dist"), &above);
            assert_eq!(rules.ignored(Path::new(file), false).is_some(), want, "{text:?} {file}");
        }
    }

    #[test]
    fn bom_crlf_and_bad_lines_do_no_harm() {
        let text = b"\xEF\xBB\xBFa.txt\r\n\xFF\xFE\nb{.txt\n[\nc.txt".to_vec();
        let rules = Rules::default().with(Path::new(""), &vec![(2, text)]);
        for (path, want) in [("a.txt", true), ("c.txt", true), ("d.txt", false)] {
            assert_eq!(rules.ignored(Path::new(path), false).is_some(), want, "{path}");
        }
    }
}
