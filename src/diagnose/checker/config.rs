//! The project's table of checkers, `.restitch.toml` in the root:
//!
//! ```toml
//! [[checker]]
//! name = "types"                       # what it is called in findings and in a checks
//! glob = ["**/*.ts", "**/*.tsx"]       # the files whose change calls for it; one text or a list
//! command = ["npx", "tsc", "--noEmit", "--pretty", "false"]
//! format = "tsc"                       # rustc-json, tsc, gcc, ruff-json, eslint-json or sarif
//! timeout = 10                         # seconds; never more than is left of the time for all checks
//!
//! [[checker]]
//! recipe = "cargo"                     # a recipe; every other key may be given too and replaces its value
//! ```
//!
//! The command is a list of words, run in the root without a shell. The word `{files}` stands for the changed files that
//! match the glob and are there.

use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::recipes::{self, Recipe};
use super::{Checker, Format};
use crate::diagnose::Skipped;
use crate::diagnose::options::Checks;
use crate::path::RelPath;
use crate::workspace::{Source as _, State, Workspace};

/// The table's file.
const FILE: &str = ".restitch.toml";

#[derive(serde::Deserialize)]
struct Table {
    #[serde(default)]
    checker: Vec<Entry>,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Option<String>,
    recipe: Option<String>,
    glob: Option<Globs>,
    command: Option<Vec<String>>,
    format: Option<Format>,
    timeout: Option<f64>,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Globs {
    One(String),
    Many(Vec<String>),
}

/// The checkers that a checks asks for, in the order of the table, then of the recipes.
pub(in crate::diagnose) fn choose(workspace: &Workspace, checks: &Checks) -> (Vec<Checker>, Vec<Skipped>) {
    let mut skipped = Vec::new();
    let mut skip = |check: &str, because: String| skipped.push(Skipped { check: check.to_owned(), because });
    let table = table(workspace).unwrap_or_else(|because| {
        skip("checkers", because);
        Vec::new()
    });
    let mut chosen: Vec<Checker> = Vec::new();
    let mut known: Vec<String> = Vec::new();
    for (at, entry) in table.into_iter().enumerate() {
        match entry.into_checker(workspace) {
            Ok(checker) => {
                known.push(checker.name.clone());
                if checks.configured || checks.named.contains(&checker.name) {
                    chosen.push(checker);
                }
            }
            Err(because) => skip("checkers", format!("entry {} of `{FILE}` {because}", at + 1)),
        }
    }
    for recipe in recipes::ALL.iter().filter(|recipe| !known.iter().any(|name| name == recipe.name)) {
        if checks.named.contains(recipe.name) || checks.recipes && recipe.fits(workspace) {
            let entry = Entry { recipe: Some(recipe.name.to_owned()), ..Entry::default() };
            chosen.extend(entry.into_checker(workspace));
        }
    }
    known.extend(recipes::ALL.iter().map(|recipe| recipe.name.to_owned()));
    for name in checks.named.iter().filter(|name| !known.contains(name)) {
        skip(name, format!("there is no check, checker or recipe of that name; there are {}", known.join(", ")));
    }
    (chosen, skipped)
}

fn table(workspace: &Workspace) -> Result<Vec<Entry>, String> {
    let path = RelPath::new(FILE.as_bytes()).map_err(|error| error.to_string())?;
    let bytes = match workspace.load(&path).map_err(|error| format!("`{FILE}` {error}"))?.state {
        State::File(data) => data.bytes.clone(),
        State::Absent => return Ok(Vec::new()),
        _ => return Err(format!("`{FILE}` is no file")),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("`{FILE}` is not UTF-8"))?;
    let table: Table = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        format!("`{FILE}` does not parse: line {line}: {}", error.message())
    })?;
    Ok(table.checker)
}

impl Entry {
    fn into_checker(self, workspace: &Workspace) -> Result<Checker, String> {
        let recipe = self.recipe.as_deref().map(recipe).transpose()?;
        let name = self.name.or_else(|| recipe.map(|recipe| recipe.name.to_owned())).ok_or("has no `name`")?;
        let globs = match self.glob {
            Some(Globs::One(glob)) => vec![glob],
            Some(Globs::Many(globs)) => globs,
            None => recipe.ok_or("has no `glob`")?.globs.iter().map(|glob| (*glob).to_owned()).collect(),
        };
        let command = match self.command {
            Some(command) => command,
            None => recipe.ok_or("has no `command`")?.command(workspace),
        };
        if command.first().is_none_or(String::is_empty) {
            return Err("has an empty `command`".to_owned());
        }
        Ok(Checker {
            globs: glob_set(&globs)?,
            format: self.format.or(recipe.map(|recipe| recipe.format)).ok_or("has no `format`")?,
            timeout: self.timeout.map(seconds).transpose()?,
            name,
            command,
        })
    }
}

fn recipe(name: &str) -> Result<&'static Recipe, String> {
    recipes::ALL.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
        let names: Vec<&str> = recipes::ALL.iter().map(|recipe| recipe.name).collect();
        format!("names the recipe `{name}`; there are {}", names.join(", "))
    })
}

fn seconds(seconds: f64) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("has a `timeout` that is no number of seconds: {seconds}"))
}

fn glob_set(globs: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        // A pattern without a slash is about names, in every directory.
        let anywhere = if glob.contains('/') { glob.clone() } else { format!("**/{glob}") };
        let built = GlobBuilder::new(&anywhere).literal_separator(true).build();
        set.add(built.map_err(|error| format!("has a `glob` that does not parse: {error}"))?);
    }
    set.build().map_err(|error| format!("has globs that do not fit together: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(table: &str, checks: &str) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE), table).unwrap();
        std::fs::write(dir.path().join("go.mod"), "").unwrap();
        let workspace = Workspace::open(dir.path()).unwrap();
        let (chosen, skipped) = choose(&workspace, &Checks::parse(checks));
        (
            chosen.iter().map(|checker| format!("{} {}", checker.name, checker.command.join(" "))).collect(),
            skipped.iter().map(|skipped| format!("{}: {}", skipped.check, skipped.because)).collect(),
        )
    }

    #[test]
    fn table_and_recipes_are_chosen_by_name_or_all_together() {
        let table = "[other]\nx = 1\n[[checker]]\nname = 'mine'\nglob = '*.x'\ncommand = ['m', '{files}']\nformat = 'gcc'\n\
                     [[checker]]\nrecipe = 'cargo'\ncommand = ['my-cargo']\n";
        assert_eq!(chosen(table, "mine").0, ["mine m {files}"]);
        assert_eq!(chosen(table, "checkers").0, ["mine m {files}", "cargo my-cargo"]);
        assert_eq!(chosen(table, "cargo,gofmt").0, ["cargo my-cargo", "gofmt gofmt -e -l {files}"]);
        let all = chosen(table, "all").0;
        assert_eq!(all, ["mine m {files}", "cargo my-cargo", "gofmt gofmt -e -l {files}", "go-vet go vet ./..."]);
        assert!(chosen(table, "syntax").0.is_empty());
    }

    #[test]
    fn what_makes_no_sense_is_said_and_the_rest_goes_on() {
        let good = "[[checker]]\nname = 'ok'\nglob = '*.x'\ncommand = ['m']\nformat = 'gcc'\n";
        let cases = [
            ("[[checker]]\nname = 'a'\n", "checkers: entry 2 of `.restitch.toml` has no `glob`"),
            (
                "[[checker]]\nrecipe = 'nope'\n",
                "checkers: entry 2 of `.restitch.toml` names the recipe `nope`; there are",
            ),
            (
                "[[checker]]\nrecipe = 'ruff'\nglob = '['\n",
                "checkers: entry 2 of `.restitch.toml` has a `glob` that does",
            ),
            (
                "[[checker]]\nrecipe = 'ruff'\ntimeout = -1\n",
                "checkers: entry 2 of `.restitch.toml` has a `timeout` that",
            ),
            (
                "[[checker]]\nrecipe = 'ruff'\ncommand = []\n",
                "checkers: entry 2 of `.restitch.toml` has an empty `command`",
            ),
        ];
        for (bad, want) in cases {
            let (chosen, skipped) = chosen(&format!("{good}{bad}"), "checkers");
            assert_eq!(chosen, ["ok m"]);
            assert!(skipped[0].starts_with(want), "{skipped:?}");
        }
        let (_, skipped) = chosen("[[checker]]\nnam = 'x'\n", "checkers");
        assert!(
            skipped[0].starts_with("checkers: `.restitch.toml` does not parse: line 2: unknown field `nam`"),
            "{skipped:?}"
        );
        let (_, skipped) = chosen(good, "typo");
        assert!(
            skipped[0].starts_with("typo: there is no check, checker or recipe of that name; there are ok, tsc,"),
            "{skipped:?}"
        );
    }
}
