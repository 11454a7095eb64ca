//! Front matter: the YAML between two lines `---` at the top of a Markdown file.

use super::diagnostic::{Code, Diagnostic, Place};
use super::doc::{self, Table};

/// A Markdown file taken apart.
#[derive(Debug)]
pub(super) struct Front<'t> {
    /// What the front matter says; `None` when there is none.
    pub(super) table: Option<Table>,
    /// What follows it, without the blank lines between.
    pub(super) body: &'t str,
}

/// Takes `text` apart. Findings name `file`.
pub(super) fn split<'t>(file: &str, text: &'t str) -> Result<Front<'t>, Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((yaml, body)) = cut(text) else {
        if text.lines().next().is_some_and(|line| line.trim_end() == "---") {
            let what = "the front matter is not closed";
            let help = "end it with a line `---`; if the first `---` was meant as a rule, put an empty line above it";
            return Err(Diagnostic::new(Code::FrontMatter, file, what, help).at(Place { line: 1, column: 1 }));
        }
        return Ok(Front { table: None, body: text });
    };
    let table = doc::yaml(yaml, 1).map_err(|misfit| {
        let help = "front matter is YAML: one `key: value` a line, a text with `: ` or `#` in it in quotes";
        Diagnostic::new(Code::Syntax, file, misfit.message, help).at(misfit.place)
    })?;
    Ok(Front { table: Some(table), body: body.trim_start_matches(['\r', '\n']) })
}

/// The body of a Markdown file: what follows its front matter, if it has any.
#[must_use]
pub(crate) fn body(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    cut(text).map_or(text, |(_, body)| body.trim_start_matches(['\r', '\n']))
}

/// The YAML and what follows its closing line.
fn cut(text: &str) -> Option<(&str, &str)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some((&text[first.len()..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_cut_off() {
        let cases = [
            ("plain\n", "plain\n"),
            ("---\na: 1\n---\n\nbody\n", "body\n"),
            ("\u{feff}---\r\na: 1\r\n---\r\nbody\r\n", "body\r\n"),
            ("---\n---\nbody", "body"),
            ("\n---\na\n---\n", "\n---\na\n---\n"),
            ("--- \na: 1\n---", ""),
        ];
        for (text, want) in cases {
            assert_eq!(body(text), want, "{text:?}");
            assert_eq!(split("f", text).unwrap().body, want, "{text:?}");
        }
    }

    #[test]
    fn front_matter_that_is_not_closed_is_an_error() {
        let error = split("f.md", "---\na: 1\nbody\n").unwrap_err();
        assert_eq!((error.code, error.place), (Code::FrontMatter, Some(Place { line: 1, column: 1 })));
        let error = split("f.md", "---\na: b: c\n---\n").unwrap_err();
        assert_eq!((error.code, error.place.map(|place| place.line)), (Code::Syntax, Some(2)));
    }
}
