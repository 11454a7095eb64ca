//! What the compiler says about a tree: every finding with a stable code, a place and a way out.

use std::fmt;

use serde::{Serialize, Serializer};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// There is no manifest until it is mended.
    Error,
    /// The agent runs, but something is not as it seems.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// The word for people and machines.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "info",
        }
    }
}

/// Declares the codes with their names, severities and meanings in one table.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal $severity:ident;)*) => {
        /// What kind of finding it is. The names are stable: scripts and editors may rely on them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The stable name, `discover/…` or `compile/…`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// How bad it is; the same for every finding of the code.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Code::$variant => Severity::$severity,)* }
            }
        }
    };
}

codes! {
    /// There is neither `agent.toml` nor instructions.
    NoAgent = "discover/no-agent" Error;
    /// A directory or file cannot be read.
    Unreadable = "discover/unreadable" Error;
    /// A symbolic link leads out of the tree, nowhere, or to a directory.
    Link = "discover/link" Error;
    /// There are too many files, or directories too deep.
    TooMany = "discover/too-many" Error;
    /// A file is larger than its kind may be.
    TooLarge = "discover/too-large" Error;
    /// A file that means nothing where it is.
    UnknownFile = "discover/unknown-file" Warning;
    /// A folder that means nothing where it is.
    UnknownFolder = "discover/unknown-folder" Warning;
    /// A file's name gives no valid name.
    BadName = "discover/bad-name" Error;
    /// A name that belongs to the program or to a connection.
    ReservedName = "discover/reserved-name" Error;
    /// Two files fill one slot.
    SlotCollision = "discover/slot-collision" Error;
    /// Two paths give one name.
    NameCollision = "discover/name-collision" Error;
    /// A flat and a packaged skill have one id.
    SkillCollision = "discover/skill-collision" Error;
    /// A tool and a subagent have one name.
    ToolSubagentCollision = "discover/tool-subagent-collision" Error;
    /// A slot of the root in a subagent.
    RootOnly = "discover/root-only" Error;
    /// A subagent without `agent.toml`.
    MissingConfig = "discover/missing-config" Error;
    /// A packaged skill without `SKILL.md`.
    MissingSkillFile = "discover/missing-skill-file" Error;
    /// Something this version keeps in the manifest but does not run.
    NotRun = "discover/not-run" Warning;
    /// A text file that is not UTF-8.
    NotUtf8 = "compile/not-utf8" Error;
    /// TOML, YAML or JSON that does not parse.
    Syntax = "compile/syntax" Error;
    /// Front matter that is not closed.
    FrontMatter = "compile/front-matter" Error;
    /// A field that does not exist.
    UnknownField = "compile/unknown-field" Error;
    /// A field that other programs know and this one does not use.
    IgnoredField = "compile/ignored-field" Warning;
    /// A field that must be there.
    MissingField = "compile/missing-field" Error;
    /// A value of the wrong type.
    WrongType = "compile/wrong-type" Error;
    /// A value that is not allowed.
    BadValue = "compile/bad-value" Error;
    /// A model id whose provider is not known.
    UnknownProvider = "compile/unknown-provider" Error;
    /// No model is named, so the built-in echo answers.
    NoModel = "compile/no-model" Warning;
    /// A file that is referred to is not there.
    MissingFile = "compile/missing-file" Error;
    /// A reference leads out of the agent's directory.
    Outside = "compile/outside" Error;
    /// A program of the tree may not be executed.
    NotExecutable = "compile/not-executable" Error;
    /// A tool's input is no valid JSON Schema of an object.
    BadSchema = "compile/bad-schema" Error;
    /// A text that says nothing.
    Empty = "compile/empty" Warning;
    /// A skill's `name` is not its id.
    SkillName = "compile/skill-name" Warning;
    /// A marker disables what is no default.
    DisablesNothing = "compile/disables-nothing" Warning;
    /// A rule names no tool.
    UnknownTool = "compile/unknown-tool" Warning;
    /// An authored tool stands in a default's place.
    ReplacesDefault = "compile/replaces-default" Info;
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in a text, counted from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Place {
    /// The place of byte `offset` in `text`. Linear in the offset.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Place {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before[start..].chars().count() + 1;
        Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What kind it is.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The file or folder, relative to the agent's directory; `.` is the directory itself.
    pub file: String,
    /// Where in the file, when it is about a part of it.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// What was found.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The other file it is about, as for a collision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

impl Diagnostic {
    pub(super) fn new(
        code: Code,
        file: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Diagnostic {
            code,
            severity: code.severity(),
            file: file.into(),
            place: None,
            message: message.into(),
            help: help.into(),
            other: None,
        }
    }

    pub(super) fn at(mut self, place: impl Into<Option<Place>>) -> Self {
        self.place = place.into();
        self
    }

    pub(super) fn other(mut self, other: impl Into<String>) -> Self {
        self.other = Some(other.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(Place { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}: {} [{}]", self.severity.as_str(), self.message, self.code)?;
        if let Some(other) = &self.other {
            write!(f, "\n  also: {other}")?;
        }
        write!(f, "\n  help: {}", self.help)
    }
}

/// Sorts findings by file, place and code, so that equal trees give equal reports.
pub(super) fn sort(found: &mut [Diagnostic]) {
    found.sort_by(|a, b| {
        let key = |d: &Diagnostic| (d.file.clone(), d.place, d.code);
        key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
    });
}

/// The name of `known` that `given` was probably meant to be, if one is near enough.
pub(crate) fn nearest<'n>(given: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given: String = given.to_lowercase().chars().take(80).collect();
    let most = (given.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (distance(&given, &name.to_lowercase()), name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// How many characters must be put in, taken out, changed or swapped with their neighbour to get from `a` to `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut best = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "ab\nçd\n";
        for (offset, line, column) in [(0, 1, 1), (2, 1, 3), (3, 2, 1), (5, 2, 2), (7, 3, 1), (99, 3, 1)] {
            assert_eq!(Place::of(text, offset), Place { line, column }, "{offset}");
        }
    }

    #[test]
    fn the_nearest_name_is_near() {
        let known = ["model", "limits", "skills", "tools"];
        for (given, want) in
            [("modle", Some("model")), ("Skill", Some("skills")), ("toosl", Some("tools")), ("x", None)]
        {
            assert_eq!(nearest(given, known), want, "{given}");
        }
        assert_eq!(nearest("zzzzzz", known), None);
    }

    #[test]
    fn codes_have_one_name_each_under_a_stage() {
        let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(names.iter().all(|name| name.starts_with("discover/") || name.starts_with("compile/")));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
