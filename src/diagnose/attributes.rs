//! What git's settings say about a file: `.gitattributes`, `info/attributes`, and two values of `core` in its config.
//!
//! Honoured: the attributes `whitespace`, `conflict-marker-size`, `diff`, `text`, `eol`, the macro `binary` and macros that
//! the root's file defines. Not honoured: settings outside the repository (the user's and the system's), and includes.

use std::collections::HashMap;

use globset::{GlobBuilder, GlobMatcher};

use super::change::ChangedFile;
use crate::path::RelPath;
use crate::workspace::{Source as _, State, Workspace};

/// An attribute's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing is said, or it was taken back (`!name`).
    #[default]
    Unspecified,
    /// `name`.
    Set,
    /// `-name`.
    Unset,
    /// `name=text`.
    Text(String),
}

/// What is said about one file.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes(HashMap<String, Value>);

impl Attributes {
    pub(super) fn get(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Unspecified)
    }
}

/// The settings of one tree, as they are after the patch.
pub(super) struct Settings<'t> {
    workspace: &'t Workspace,
    changes: &'t [ChangedFile],
    files: HashMap<Option<RelPath>, Vec<Rule>>,
    info: Vec<Rule>,
    macros: HashMap<String, Vec<(String, Value)>>,
    /// `core.whitespace`.
    pub(super) whitespace: Option<String>,
    /// Whether `core.autocrlf` makes git take CRLF for LF.
    pub(super) autocrlf: bool,
}

/// One line of an attributes file.
struct Rule {
    pattern: GlobMatcher,
    /// The pattern has no slash: it is about names, wherever they are.
    by_name: bool,
    assignments: Vec<(String, Value)>,
}

impl<'t> Settings<'t> {
    pub(super) fn read(workspace: &'t Workspace, changes: &'t [ChangedFile]) -> Self {
        let config = Config::parse(&workspace.git_settings("config").unwrap_or_default());
        let mut macros = HashMap::new();
        let binary = ["diff", "merge", "text"].map(|name| (name.to_owned(), Value::Unset));
        macros.insert("binary".to_owned(), binary.to_vec());
        let info = rules(&workspace.git_settings("info/attributes").unwrap_or_default(), Some(&mut macros));
        Settings {
            workspace,
            changes,
            files: HashMap::new(),
            info,
            macros,
            whitespace: config.whitespace,
            autocrlf: config.autocrlf,
        }
    }

    /// What is said about `path`. Each attributes file is read once.
    pub(super) fn of(&mut self, path: &RelPath) -> Attributes {
        let mut dirs = vec![None];
        let parts: Vec<&str> = path.parts().collect();
        for part in &parts[..parts.len() - 1] {
            let parent = dirs.last().and_then(Option::as_ref);
            dirs.push(Some(RelPath::child(parent, part)));
        }
        for dir in &dirs {
            self.load(dir.as_ref());
        }
        let mut said = Attributes::default();
        for dir in &dirs {
            let below = dir.as_ref().map_or(path.as_str(), |dir| &path.as_str()[dir.as_str().len() + 1..]);
            self.apply(self.files.get(dir).map_or(&[], Vec::as_slice), below, &mut said);
        }
        self.apply(&self.info, path.as_str(), &mut said);
        said
    }

    fn apply(&self, rules: &[Rule], path: &str, said: &mut Attributes) {
        let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
        for rule in rules.iter().filter(|rule| rule.pattern.is_match(if rule.by_name { name } else { path })) {
            for (name, value) in &rule.assignments {
                if let (Value::Set, Some(more)) = (value, self.macros.get(name)) {
                    said.0.extend(more.iter().cloned());
                }
                said.0.insert(name.clone(), value.clone());
            }
        }
    }

    fn load(&mut self, dir: Option<&RelPath>) {
        if self.files.contains_key(&dir.cloned()) {
            return;
        }
        let text = self.text(&RelPath::child(dir, ".gitattributes"));
        // Only the root's file may define macros.
        let macros = dir.is_none().then_some(&mut self.macros);
        self.files.insert(dir.cloned(), rules(&text, macros));
    }

    /// The content of a file after the patch; empty when there is none.
    fn text(&self, path: &RelPath) -> Vec<u8> {
        if let Some(change) = self.changes.iter().find(|change| change.path == *path) {
            return change.contents().1.to_vec();
        }
        match self.workspace.load(path) {
            Ok(loaded) => match loaded.state {
                State::File(data) => data.bytes.to_vec(),
                _ => Vec::new(),
            },
            Err(_) => Vec::new(),
        }
    }
}

/// Reads an attributes file; lines that make no sense are left out, as git does.
fn rules(text: &[u8], mut macros: Option<&mut HashMap<String, Vec<(String, Value)>>>) -> Vec<Rule> {
    let text = String::from_utf8_lossy(text);
    let mut rules = Vec::new();
    for line in text.trim_start_matches('\u{feff}').lines().map(str::trim_start) {
        let Some((pattern, rest)) = pattern(line) else { continue };
        let assignments: Vec<_> = rest.split_ascii_whitespace().map(assignment).collect();
        if let Some(name) = pattern.strip_prefix("[attr]") {
            if let Some(macros) = &mut macros {
                macros.insert(name.to_owned(), assignments);
            }
        } else if let Some(rule) = rule(&pattern, assignments) {
            rules.push(rule);
        }
    }
    rules
}

/// Splits a line into its pattern, quotes taken off, and the rest.
fn pattern(line: &str) -> Option<(String, &str)> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    if let Some(quoted) = line.strip_prefix('"') {
        let (pattern, rest) = quoted.split_once('"')?;
        return Some((pattern.to_owned(), rest));
    }
    let end = line.find([' ', '\t', '\r']).unwrap_or(line.len());
    Some((line[..end].to_owned(), &line[end..]))
}

fn assignment(word: &str) -> (String, Value) {
    match word.split_once('=') {
        Some((name, value)) => (name.to_owned(), Value::Text(value.to_owned())),
        None => match word.split_at_checked(1) {
            Some(("-", name)) => (name.to_owned(), Value::Unset),
            Some(("!", name)) => (name.to_owned(), Value::Unspecified),
            _ => (word.to_owned(), Value::Set),
        },
    }
}

fn rule(pattern: &str, assignments: Vec<(String, Value)>) -> Option<Rule> {
    // A pattern for directories says nothing about the files in them, and none may be negated.
    if pattern.ends_with('/') || pattern.starts_with('!') {
        return None;
    }
    let by_name = !pattern.contains('/');
    let glob = pattern.strip_prefix('/').unwrap_or(pattern);
    let pattern = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build().ok()?;
    Some(Rule { pattern: pattern.compile_matcher(), by_name, assignments })
}

/// The values of git's config that matter here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Config {
    whitespace: Option<String>,
    autocrlf: bool,
}

impl Config {
    fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text).replace("\\\r\n", "").replace("\\\n", "");
        let mut config = Config::default();
        let mut in_core = false;
        for line in text.lines().map(str::trim) {
            let mut line = line;
            if let Some(section) = line.strip_prefix('[') {
                let Some((name, rest)) = section.split_once(']') else { continue };
                in_core = name.trim().eq_ignore_ascii_case("core");
                line = rest.trim_start();
            }
            let (name, value) = line.split_once('=').unwrap_or((line, "true"));
            if !in_core || line.starts_with(['#', ';']) {
                continue;
            }
            let value = plain(value);
            match name.trim().to_ascii_lowercase().as_str() {
                "whitespace" => config.whitespace = Some(value),
                "autocrlf" => {
                    config.autocrlf = matches!(&*value.to_ascii_lowercase(), "true" | "yes" | "on" | "1" | "input")
                }
                _ => {}
            }
        }
        config
    }
}

/// A value without its comment and quotes.
fn plain(value: &str) -> String {
    let mut out = String::new();
    let mut quoted = false;
    for letter in value.trim().chars() {
        match letter {
            '"' => quoted = !quoted,
            '#' | ';' if !quoted => break,
            letter => out.push(letter),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_config_is_read_as_git_reads_it() {
        let cases = [
            ("[core]\n\twhitespace = tab-in-indent\n", Some("tab-in-indent"), false),
            ("[CORE] WhiteSpace=\"-trailing-space, cr-at-eol\" ; why\n", Some("-trailing-space, cr-at-eol"), false),
            ("[core]\nwhitespace = a,\\\nb\nautocrlf = input\n", Some("a,b"), true),
            ("[core \"x\"]\nwhitespace = a\n[other]\nwhitespace = b\n", None, false),
            ("[core]\nautocrlf\n; whitespace = a\n", None, true),
            ("whitespace = a\n", None, false),
        ];
        for (text, whitespace, autocrlf) in cases {
            let want = Config { whitespace: whitespace.map(str::to_owned), autocrlf };
            assert_eq!(Config::parse(text.as_bytes()), want, "{text}");
        }
    }

    #[test]
    fn deeper_and_later_lines_win() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            std::fs::write(dir.path().join(path), text).unwrap();
        };
        write(".git/info/attributes", "/top.rs text\n");
        let root = "# no\n*.rs whitespace=a\n[attr]odd diff=x -text\n*.odd odd\n*.png binary\n\"a b\" text\n/only -diff\nsub/deep/* eol=lf\ndir/ -text\n";
        write(".gitattributes", root);
        write("sub/.gitattributes", "*.rs whitespace=b\n*.rs whitespace=c\nx.rs !whitespace\n");
        let workspace = Workspace::open(dir.path()).unwrap();
        let mut settings = Settings::read(&workspace, &[]);
        let text = |text: &str| Value::Text(text.to_owned());
        let cases = [
            ("a.rs", "whitespace", text("a")),
            ("sub/a.rs", "whitespace", text("c")),
            ("sub/x.rs", "whitespace", Value::Unspecified),
            ("other/a.rs", "whitespace", text("a")),
            ("top.rs", "text", Value::Set),
            ("sub/top.rs", "text", Value::Unspecified),
            ("a.odd", "diff", text("x")),
            ("a.odd", "text", Value::Unset),
            ("deep/p.png", "diff", Value::Unset),
            ("a b", "text", Value::Set),
            ("only", "diff", Value::Unset),
            ("sub/only", "diff", Value::Unspecified),
            ("sub/deep/f", "eol", text("lf")),
            ("sub/deep/er/f", "eol", Value::Unspecified),
            ("dir/f", "text", Value::Unspecified),
        ];
        for (path, name, want) in cases {
            let path = RelPath::new(path.as_bytes()).unwrap();
            assert_eq!(*settings.of(&path).get(name), want, "{path} {name}");
        }
    }
}
