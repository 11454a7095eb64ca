//! One run of a checker: what it says of the tree as it is now, or why that cannot be known.

use std::collections::HashSet;

use super::parse::{self, Raw};
use super::{Checker, Finding};
use crate::diagnose::options::Limit;
use crate::limits::Deadline;
use crate::path::RelPath;
use crate::process::{End, Output, Program};
use crate::workspace::{Source as _, Workspace};

/// Runs a checker. `files` are the changed files it is for, as far as they are there.
pub(in crate::diagnose) fn run(
    checker: &Checker,
    workspace: &Workspace,
    files: &[&RelPath],
    limit: &Limit,
    max_output: usize,
) -> Result<Vec<Finding>, String> {
    limit.check()?;
    let takes_files = checker.command.iter().any(|word| word == "{files}");
    if takes_files && files.is_empty() {
        return Ok(Vec::new());
    }
    let left = [limit.deadline.left(), checker.timeout].into_iter().flatten().min();
    let output = Program::new(&checker.command[0], workspace.path())
        .args(arguments(&checker.command[1..], files))
        .deadline(left.map_or(Deadline::NONE, Deadline::after))
        .cancel(limit.cancel.clone())
        .max_output(max_output)
        .run()
        .map_err(|error| error.to_string())?;
    let raw = read(checker, &output, max_output)?;
    let mut seen = HashSet::new();
    let findings = raw.into_iter().filter_map(|raw| raw.resolve(workspace));
    // One file built for two targets is judged twice.
    Ok(findings.filter(|finding| seen.insert(finding.clone())).collect())
}

fn arguments(words: &[String], files: &[&RelPath]) -> Vec<String> {
    let mut arguments = Vec::with_capacity(words.len() + files.len());
    for word in words {
        match word.as_str() {
            // A file's name must not be taken for a flag.
            "{files}" => arguments.extend(files.iter().map(|file| match file.as_str().starts_with('-') {
                true => format!("./{file}"),
                false => file.to_string(),
            })),
            _ => arguments.push(word.clone()),
        }
    }
    arguments
}

fn read(checker: &Checker, output: &Output, max_output: usize) -> Result<Vec<Raw>, String> {
    let code = match output.end {
        End::Exited(code) => code,
        End::TimedOut => return Err("it did not end in time and was killed".to_owned()),
        End::Cancelled => return Err("it was cancelled".to_owned()),
        End::Signalled(signal) => return Err(format!("it was ended by signal {signal}{}", first_words(output))),
    };
    if output.cut {
        return Err(format!("it printed more than {max_output} bytes, which cannot be compared"));
    }
    let found = parse::parse(checker.format, output).map_err(|error| format!("{error}{}", first_words(output)))?;
    if code != 0 && found.is_empty() {
        return Err(format!("it failed with exit code {code} and no finding{}", first_words(output)));
    }
    Ok(found)
}

/// The first line that a failed program printed, for people.
fn first_words(output: &Output) -> String {
    let streams = [&output.stderr, &output.stdout];
    let line = streams
        .iter()
        .flat_map(|stream| stream.split(|&byte| byte == b'\n'))
        .find(|line| !line.trim_ascii().is_empty());
    line.map_or(String::new(), |line| {
        let line = String::from_utf8_lossy(line.trim_ascii());
        format!(": {}", line.chars().take(200).collect::<String>())
    })
}

impl Raw {
    /// Names its file as the workspace does. What is outside the root is nothing a patch could have made.
    fn resolve(self, workspace: &Workspace) -> Option<Finding> {
        let path = match self.path {
            None => None,
            Some(path) => {
                let below = workspace.strip_root(path.as_bytes()).unwrap_or(path.as_bytes());
                Some(RelPath::new(below).ok()?)
            }
        };
        let message = self.message.trim().to_owned();
        let (line, column) = (self.line.filter(|&line| line > 0), self.column.filter(|&column| column > 0));
        Some(Finding { path, line, column, severity: self.severity, code: self.code, message })
    }
}
