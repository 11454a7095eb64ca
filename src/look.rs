//! What a model says when it looks at a tree: the schemas of the arguments, and the options that they stand for. The tools
//! of the server, of the harness and of other agents share them, so that a model finds the same names in all.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::read::ReadOptions;
use crate::search::{GlobOptions, Mode, SearchError, SearchOptions, Sort, Syntax};

/// The most rows of a search that can be asked for at once.
const MOST_ROWS: u64 = 1000;

/// The most lines of context on one side.
const MOST_CONTEXT: u64 = 50;

/// The most lines of a file that can be asked for at once.
const MOST_LINES: u64 = 2000;

/// The arguments of a tool that reads a file, as a model gives them: JSON in the form of [`ReadArgs::schema`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = std::env::temp_dir().join(format!("restitch-args-{}", std::process::id()));
/// # std::fs::create_dir_all(&root)?;
/// # std::fs::write(root.join("a.txt"), "one\ntwo\n")?;
/// let workspace = restitch::Workspace::open(&root)?;
/// let args: restitch::ReadArgs = serde_json::from_str(r#"{"path": "a.txt", "first_line": 2}"#)?;
/// let view = args.options().read(&workspace, args.path())?;
/// assert_eq!(view.lines().len(), 1);
/// # std::fs::remove_dir_all(&root)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadArgs {
    path: String,
    first_line: Option<u64>,
    lines: Option<u64>,
    last: Option<u64>,
}

impl ReadArgs {
    /// The JSON schema of the arguments. Nothing else is allowed.
    #[must_use]
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "first_line": {"type": "integer", "minimum": 1, "description": "Where to begin. Default: 1."},
                "lines": {"type": "integer", "minimum": 1, "maximum": MOST_LINES, "description": "How many lines. Default: 2000."},
                "last": {"type": "integer", "minimum": 1, "description": "Begin so many lines before the end instead."}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    /// The path, as it was given.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The options that they stand for. Numbers that are too large are brought down to what the schema allows.
    #[must_use]
    pub fn options(&self) -> ReadOptions {
        let lines = self.lines.unwrap_or(MOST_LINES).min(MOST_LINES);
        let options = ReadOptions::new().first_line(self.first_line.unwrap_or(1)).lines(lines);
        self.last.into_iter().fold(options, ReadOptions::last)
    }
}

/// The arguments of a tool that searches in files, as a model gives them: JSON in the form of [`SearchArgs::schema`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchArgs {
    pattern: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    mode: ModeName,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    word: bool,
    #[serde(default)]
    multiline: bool,
    #[serde(default)]
    context: u64,
    before: Option<u64>,
    after: Option<u64>,
    #[serde(default)]
    glob: Vec<String>,
    #[serde(default)]
    file_type: Vec<String>,
    #[serde(default)]
    include_ignored: bool,
    limit: Option<u64>,
    #[serde(default)]
    offset: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    #[default]
    Files,
    Content,
    Count,
}

impl SearchArgs {
    /// The JSON schema of the arguments. Nothing else is allowed.
    #[must_use]
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression; plain text when it has no special character."},
                "path": {"type": "string", "description": "File or directory to search. Default: the whole workspace."},
                "mode": {"enum": ["files", "content", "count"], "description": "files: names of files with a match (default). content: the lines. count: lines for each file."},
                "literal": {"type": "boolean", "description": "The pattern is plain text."},
                "ignore_case": {"type": "boolean"},
                "word": {"type": "boolean", "description": "Match whole words only."},
                "multiline": {"type": "boolean", "description": "A match may span lines."},
                "context": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT, "description": "Lines shown around each match, in mode content."},
                "before": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT},
                "after": {"type": "integer", "minimum": 0, "maximum": MOST_CONTEXT},
                "glob": {"type": "array", "items": {"type": "string"}, "description": "Only files that fit; `!` in front leaves out."},
                "file_type": {"type": "array", "items": {"type": "string"}, "description": "Only files of these types: rust, ts, py, …"},
                "include_ignored": {"type": "boolean", "description": "Search what ignore rules name, too."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Rows. Default: 50."},
                "offset": {"type": "integer", "minimum": 0, "description": "Rows to pass over, to go on from an earlier answer."}
            },
            "required": ["pattern"],
            "additionalProperties": false
        })
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The path, as it was given; empty when it was not.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The options that they stand for. Numbers that are too large are brought down to what the schema allows.
    #[must_use]
    pub fn options(&self) -> SearchOptions {
        let lines = |asked: Option<u64>| small(asked.unwrap_or(self.context), MOST_CONTEXT);
        let options = SearchOptions::new()
            .mode(match self.mode {
                ModeName::Files => Mode::Files,
                ModeName::Content => Mode::Content,
                ModeName::Count => Mode::Count,
            })
            .syntax(if self.literal { Syntax::Literal } else { Syntax::Auto })
            .ignore_case(self.ignore_case)
            .word(self.word)
            .multiline(self.multiline)
            .before(lines(self.before))
            .after(lines(self.after))
            .ignore_rules(!self.include_ignored)
            .limit(small(self.limit.unwrap_or(50), MOST_ROWS))
            .offset(self.offset)
            .max_row_bytes(2000);
        let options = self.glob.iter().fold(options, |options, glob| options.glob(glob));
        self.file_type.iter().fold(options, |options, name| options.file_type(name))
    }
}

/// The arguments of a tool that finds files, as a model gives them: JSON in the form of [`GlobArgs::schema`].
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GlobArgs {
    pattern: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    sort: SortName,
    #[serde(default)]
    include_ignored: bool,
    limit: Option<u64>,
    #[serde(default)]
    offset: usize,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SortName {
    #[default]
    Path,
    Time,
}

impl GlobArgs {
    /// The JSON schema of the arguments. Nothing else is allowed.
    #[must_use]
    pub fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Such as `*.rs` or `src/**/mod.rs`; without a slash it fits at any depth."},
                "path": {"type": "string", "description": "The directory to look in. Default: the whole workspace."},
                "sort": {"enum": ["path", "time"], "description": "time: the file that was changed last comes first. Default: path."},
                "include_ignored": {"type": "boolean", "description": "Find what ignore rules name, too."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "description": "Paths. Default: 100."},
                "offset": {"type": "integer", "minimum": 0, "description": "Paths to pass over, to go on from an earlier answer."}
            },
            "required": ["pattern"],
            "additionalProperties": false
        })
    }

    /// The pattern.
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// The path, as it was given; empty when it was not.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The options that they stand for. Numbers that are too large are brought down to what the schema allows.
    #[must_use]
    pub fn options(&self) -> GlobOptions {
        GlobOptions::new()
            .sort(match self.sort {
                SortName::Path => Sort::Path,
                SortName::Time => Sort::Time,
            })
            .ignore_rules(!self.include_ignored)
            .limit(small(self.limit.unwrap_or(100), MOST_ROWS))
            .offset(self.offset)
    }
}

/// A number, at most `most`, which is small.
fn small(number: u64, most: u64) -> usize {
    usize::try_from(number.min(most)).unwrap_or(usize::MAX)
}

impl SearchError {
    /// Why there was no search, for a model: in the names of [`SearchArgs`] instead of those of the program's flags.
    #[must_use]
    pub fn for_model(&self) -> String {
        match self {
            SearchError::Regex { pattern, message, column } => format!(
                "`{pattern}` is no regular expression: {message} at character {column}; to find the text as it stands, set `literal`"
            ),
            SearchError::LineEnd { pattern } => {
                format!("`{pattern}` has a line end in it, and lines are searched one by one; set `multiline`")
            }
            other => other.to_string(),
        }
    }
}
