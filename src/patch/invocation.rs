//! Is a command a call of `apply_patch`, and with which patch?
//!
//! An agent that lets its model run commands can take such calls itself, in the process and all or nothing, instead of
//! handing them to a shell. Only what is certain is taken: a script is read with a real grammar of the shell, and it is a
//! call only if that is all it does. Anything else is left to the shell.
//!
//! Taken are
//! - the program itself with the patch as its one argument, as words or in a script, in quotes without expansions;
//! - a heredoc, as input of the program or of `cat` in a pipe before it, whose word is quoted or whose text has nothing to
//!   expand;
//! - a here-string of PowerShell that is the argument of the program or is piped into it;
//! - one `cd DIR &&` before any of these, and one wrapper: `sh`, `bash`, `zsh`, `dash`, `ksh` with `-c` or `-lc`, `pwsh` or
//!   `powershell` with `-Command` or `-c`, `cmd` with `/c`.

use tree_sitter::{Node, Parser};

use super::marker::BEGIN;

/// A call of `apply_patch`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invocation {
    /// The text of the patch.
    pub patch: String,
    /// The directory that the script changes to before it, as written.
    pub directory: Option<String>,
}

/// What a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detected {
    /// A call of `apply_patch` and nothing else.
    Call(Invocation),
    /// A patch where a command belongs: no shell can run it. [`Detected::ADVICE`] says what to do.
    BarePatch,
    /// Something else, or something that is not certain.
    Other,
}

impl Detected {
    /// What to tell a model that sent a patch where a command belongs.
    pub const ADVICE: &'static str = "this is a patch, not a command: call the tool `apply_patch` with it, or run `apply_patch <<'PATCH'` with the patch \
         below and `PATCH` on the last line";

    /// What a command is that is given as words.
    #[must_use]
    pub fn of_words<S: AsRef<str>>(words: &[S]) -> Detected {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let (Some(first), rest) = (words.first(), words.get(1..).unwrap_or_default()) else { return Detected::Other };
        if is_patch(first) {
            return Detected::BarePatch;
        }
        match (program(first), rest) {
            (name, [patch]) if is_apply_patch(name) => call(patch, None),
            (name, rest) => match script(name, rest) {
                Some(script) => Detected::of_script(script),
                None => Detected::Other,
            },
        }
    }

    /// What a script of a shell is.
    ///
    /// # Complexity
    /// Linear in the script.
    #[must_use]
    pub fn of_script(script: &str) -> Detected {
        if is_patch(script) {
            return Detected::BarePatch;
        }
        // The grammar need not be asked about what cannot be a call.
        if !script.contains("apply_patch") && !script.contains("applypatch") {
            return Detected::Other;
        }
        here_string(script)
            .or_else(|| shell(script))
            .map_or(Detected::Other, |(patch, directory)| call(&patch, directory))
    }
}

fn call(patch: &str, directory: Option<String>) -> Detected {
    Detected::Call(Invocation { patch: patch.to_owned(), directory })
}

fn is_patch(text: &str) -> bool {
    text.trim_start().as_bytes().starts_with(BEGIN)
}

/// The name of a program without directory and ending.
fn program(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_apply_patch(name: &str) -> bool {
    name == "apply_patch" || name == "applypatch"
}

/// The script that a wrapper runs, if that is all it does.
fn script<'w>(name: &str, rest: &[&'w str]) -> Option<&'w str> {
    match (name, rest) {
        ("sh" | "bash" | "zsh" | "dash" | "ksh", [flag, script]) => {
            matches!(*flag, "-c" | "-lc" | "-cl").then_some(*script)
        }
        ("sh" | "bash" | "zsh" | "dash" | "ksh", ["-l", "-c", script]) => Some(script),
        ("pwsh" | "powershell", [flags @ .., command, script]) => {
            let quiet =
                |flag: &&str| ["-noprofile", "-nologo", "-noninteractive"].contains(&&*flag.to_ascii_lowercase());
            let runs = matches!(&*command.to_ascii_lowercase(), "-command" | "-c");
            (runs && flags.iter().all(quiet)).then_some(*script)
        }
        ("cmd", [flag, script]) => flag.eq_ignore_ascii_case("/c").then_some(*script),
        _ => None,
    }
}

type Found = (String, Option<String>);

/// A here-string of PowerShell: `apply_patch @'…'@` or `@'…'@ | apply_patch`.
fn here_string(script: &str) -> Option<Found> {
    let script = script.trim();
    let (before, rest) = script.split_once("@'\n").or_else(|| script.split_once("@'\r\n"))?;
    let (body, after) = rest.rsplit_once("\n'@")?;
    if body.starts_with("'@") || body.contains("\n'@") {
        return None;
    }
    let piped = after.trim().strip_prefix('|').map(str::trim);
    let called = match (before.trim(), piped) {
        (name, None) => is_apply_patch(name) && after.trim().is_empty(),
        ("", Some(name)) => is_apply_patch(name),
        _ => false,
    };
    called.then(|| (body.strip_suffix('\r').unwrap_or(body).to_owned() + "\n", None))
}

/// A script of a POSIX shell that is one statement, a call.
fn shell(script: &str) -> Option<Found> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let tree = parser.parse(script, None)?;
    let root = tree.root_node();
    if root.has_error() || root.named_child_count() != 1 {
        return None;
    }
    let text = Text { script };
    text.statement(root.named_child(0)?)
}

struct Text<'s> {
    script: &'s str,
}

impl<'s> Text<'s> {
    fn of(&self, node: Node<'_>) -> &'s str {
        &self.script[node.byte_range()]
    }

    fn statement(&self, node: Node<'_>) -> Option<Found> {
        match node.kind() {
            // `cd d && apply_patch <<E` is read as the redirection of the whole list.
            "redirected_statement" => {
                let (body, heredoc) = two(node)?;
                let (directory, command) = match body.kind() {
                    "list" => self.cd_and(body).map(|(directory, command)| (Some(directory), command))?,
                    _ => (None, body),
                };
                // `cat <<E | apply_patch` has the pipe inside of the heredoc.
                let piped = child(heredoc, "pipeline").and_then(|pipe| pipe.named_child(0));
                let called = match piped {
                    Some(piped) => self.words(command)? == ["cat"] && self.is_bare_call(piped),
                    None => self.is_bare_call(command),
                };
                called.then(|| self.heredoc(heredoc, piped.is_some())).flatten().map(|patch| (patch, directory))
            }
            "list" => {
                let (directory, rest) = self.cd_and(node)?;
                let (patch, None) = self.statement(rest)? else { return None };
                Some((patch, Some(directory)))
            }
            "command" => self.call_with_argument(node).map(|patch| (patch, None)),
            _ => None,
        }
    }

    /// The directory and the statement of `cd DIR && STATEMENT`.
    fn cd_and<'n>(&self, node: Node<'n>) -> Option<(String, Node<'n>)> {
        let (first, second) = two(node)?;
        let operator = node.child(1).filter(|operator| operator.kind() == "&&")?;
        debug_assert!(operator.start_byte() >= first.end_byte());
        let words = self.words(first)?;
        let [cd, directory] = words.as_slice() else { return None };
        (cd == "cd" && !directory.is_empty() && !directory.starts_with(['-', '~'])).then(|| (directory.clone(), second))
    }

    /// The words of a command, if all of them are plain: no assignment, no redirection, nothing to expand.
    fn words(&self, node: Node<'_>) -> Option<Vec<String>> {
        if node.kind() != "command" {
            return None;
        }
        let mut cursor = node.walk();
        node.children(&mut cursor).map(|child| self.word(child)).collect()
    }

    fn word(&self, node: Node<'_>) -> Option<String> {
        let text = self.of(node);
        match node.kind() {
            "command_name" if node.named_child_count() == 1 => self.word(node.named_child(0)?),
            "word" | "number" => (!text.contains(|c: char| "\\*?[]{}~$`\"'!".contains(c))).then(|| text.to_owned()),
            "raw_string" => text.strip_prefix('\'')?.strip_suffix('\'').map(str::to_owned),
            "string" => {
                let text = text.strip_prefix('"')?.strip_suffix('"')?;
                (!text.contains(['$', '`', '\\', '!'])).then(|| text.to_owned())
            }
            _ => None,
        }
    }

    fn is_bare_call(&self, node: Node<'_>) -> bool {
        self.words(node).is_some_and(|words| matches!(words.as_slice(), [name] if is_apply_patch(program(name))))
    }

    fn call_with_argument(&self, node: Node<'_>) -> Option<String> {
        let words = self.words(node)?;
        let [name, patch] = words.as_slice() else { return None };
        (is_apply_patch(program(name)) && is_patch(patch)).then(|| patch.clone())
    }

    /// The text of a heredoc, from the lines of the script: the grammar gets its borders wrong with `<<-` and CRLF.
    fn heredoc(&self, node: Node<'_>, piped: bool) -> Option<String> {
        if node.kind() != "heredoc_redirect" {
            return None;
        }
        let operator = node.child(0).map(|operator| self.of(operator))?;
        let start = child(node, "heredoc_start")?;
        let quoted = self.of(start);
        let word = quoted.trim_matches(['\'', '"']);
        if word.is_empty() || word.contains(['\'', '"', '\\', '$', '`']) || !matches!(operator, "<<" | "<<-") {
            return None;
        }
        let (line, below) = self.script[start.end_byte()..].split_once('\n')?;
        // What else is on the line is part of the statement.
        let rest = line.trim();
        let expected = match rest.strip_prefix('|') {
            Some(name) if piped => is_apply_patch(program(name.trim())),
            _ => rest.is_empty(),
        };
        if !expected {
            return None;
        }
        let mut body = String::new();
        let mut lines = below.split_inclusive('\n');
        loop {
            let line = lines.next()?;
            let line = if operator == "<<-" { line.trim_start_matches('\t') } else { line };
            if line.strip_suffix('\n').unwrap_or(line) == word {
                break;
            }
            body.push_str(line);
        }
        let literal = quoted.len() > word.len() || !body.contains(['$', '`', '\\']);
        (literal && lines.all(|line| line.trim().is_empty())).then_some(body)
    }
}

/// The two named children of a node that has just these.
fn two(node: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    (node.named_child_count() == 2).then(|| Some((node.named_child(0)?, node.named_child(1)?))).flatten()
}

fn child<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

#[cfg(test)]
mod tests;
