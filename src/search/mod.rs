//! Search within a budget: ripgrep's own crates in the process, no child, no configuration, no environment.
//!
//! A [`Search`] is compiled once from patterns and [`SearchOptions`] and run on any part of a [`Workspace`]. The
//! answer holds rows in path order, the same on every run and with any number of threads, and says what it is not:
//! how many rows there are in all, what was cut, what was left out.
//!
//! # Guarantees
//! Every file is opened through the workspace, so nothing outside its root is read; links are followed only when asked
//! for. A directory `.git` is never entered. Standard input is never read. Rows and bytes are bounded, and so is
//! memory: by the answer that was asked for, 8 MiB of output that waits for its turn, and for each thread the largest
//! of a file of 1 MiB, a line of 8 MiB and, in a multi-line search, a file of 64 MiB.
//!
//! # Complexity
//! Linear in the bytes of the files searched, as far as the search goes: it ends a few files after the first row that
//! is not shown.

mod answer;
mod budget;
mod collect;
mod error;
mod file;
mod form;
mod found;
mod glob;
mod grep;
mod hits;
mod job;
mod links;
mod listing;
mod matcher;
mod notices;
mod options;
mod order;
mod pattern;
mod pieces;
mod render;
mod rules;
mod select;
mod start;
mod walk;

pub use answer::{Answer, Notice, NoticeCode, SearchRow, Total};
pub use error::SearchError;
pub use form::AnswerForm;
pub use found::RowKind;
pub use glob::{Glob, GlobOptions, Sort};
pub use options::{Mode, SearchOptions, Syntax};

use std::path::Path;

use answer::Asked;
use collect::Collector;
use job::{SearchJob, TreeJob};
use pattern::Pattern;
use select::Filter;
use start::Start;
use walk::Walk;

use crate::workspace::Workspace;
use crate::workspace::tree::Tree;

/// Patterns and options, compiled: can be run again and again, from several threads at once.
///
/// ```
/// use restitch::{Mode, Search, SearchOptions, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let root = std::env::temp_dir().join(format!("restitch-search-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&root)?;
/// # std::fs::write(root.join("main.rs"), "fn main() {}\n")?;
/// let workspace = Workspace::open(&root)?;
/// let search = Search::new(r"fn \w+", SearchOptions::new().mode(Mode::Content).limit(20))?;
/// let answer = search.run(&workspace, "")?;
/// assert_eq!((answer.total().value, answer.rows()[0].line()), (1, Some(1)));
/// let mut text = Vec::new();
/// answer.write_text(&mut text)?;
/// assert_eq!(text, b"main.rs:1:fn main() {}\n");
/// # std::fs::remove_dir_all(&root)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Search {
    patterns: Vec<String>,
    pattern: Pattern,
    filter: Filter,
    options: SearchOptions,
}

impl Search {
    /// Compiles a search for `pattern`.
    ///
    /// # Errors
    /// [`SearchError`] when the pattern, a glob or a file type cannot be understood.
    pub fn new(pattern: impl Into<String>, options: SearchOptions) -> Result<Self, SearchError> {
        Self::any_of([pattern], options)
    }

    /// Compiles a search for any of several patterns.
    ///
    /// # Errors
    /// As [`Search::new`]; also when there is no pattern.
    pub fn any_of<P: Into<String>>(
        patterns: impl IntoIterator<Item = P>,
        options: SearchOptions,
    ) -> Result<Self, SearchError> {
        let patterns: Vec<String> = patterns.into_iter().map(Into::into).collect();
        let pattern = Pattern::new(&patterns, &options)?;
        let filter = Filter::new(&options.selection, Path::new(""))?;
        Ok(Search { patterns, pattern, filter, options })
    }

    /// Searches `path`, a file or directory below the root of `workspace`; an empty path and `.` are the root itself.
    ///
    /// # Errors
    /// [`SearchError`] when the path is not there, leads outside the root or into `.git`, is a special file, or cannot
    /// be read. What cannot be read below it is told in the answer.
    pub fn run(&self, workspace: &Workspace, path: &str) -> Result<Answer, SearchError> {
        let options = &self.options;
        let stop = options.bounds.begin();
        let tree = Tree::new(workspace);
        let mut collector = Collector::new(options, job::LOOK_AHEAD);
        let search = SearchJob { pattern: &self.pattern, options, filter: &self.filter, stop: &stop };
        match start::find(&tree, path)? {
            Start::File { path, mut file, stamp } => {
                let batch = search.one_file(&path, &mut file, &stamp);
                collector.take(batch);
            }
            Start::Dir { path, real } => {
                let (walk, first) = Walk::new(tree, &self.filter, &path, &real);
                collector = order::run(&TreeJob { search, walk }, first, collector, options.threads);
            }
        }
        let asked = Asked { patterns: &self.patterns, path, names: false };
        Ok(Answer::new(collector, options, stop.cause(), &asked))
    }
}
