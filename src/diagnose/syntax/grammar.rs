//! Thirteen languages, by tree-sitter grammars. A grammar's tables are constant data: they are not read before a file of
//! the language is parsed.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use super::Fault;
use super::language::Code;
use crate::diagnose::options::Limit;

/// The most faults taken from one content.
const MOST: usize = 10_000;
/// The longest piece of text in a message, in characters.
const PIECE: usize = 40;

pub(super) fn faults(code: Code, bytes: &[u8], limit: &Limit) -> Result<Vec<Fault>, String> {
    let tree = parse(code, bytes, limit)?;
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    if tree.root_node().has_error() || code == Code::Html {
        collect(&mut cursor, code, bytes, &mut found);
    }
    Ok(found)
}

fn parse(code: Code, bytes: &[u8], limit: &Limit) -> Result<Tree, String> {
    let language = match code {
        Code::Bash => tree_sitter_bash::LANGUAGE,
        Code::C => tree_sitter_c::LANGUAGE,
        Code::Cpp => tree_sitter_cpp::LANGUAGE,
        Code::Css => tree_sitter_css::LANGUAGE,
        Code::Go => tree_sitter_go::LANGUAGE,
        Code::Html => tree_sitter_html::LANGUAGE,
        Code::Java => tree_sitter_java::LANGUAGE,
        Code::JavaScript => tree_sitter_javascript::LANGUAGE,
        Code::Python => tree_sitter_python::LANGUAGE,
        Code::Ruby => tree_sitter_ruby::LANGUAGE,
        Code::Rust => tree_sitter_rust::LANGUAGE,
        Code::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Code::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    };
    limit.check()?;
    let mut parser = Parser::new();
    parser.set_language(&language.into()).map_err(|error| format!("the grammar does not load: {error}"))?;
    let mut stop = |_: &ParseState| match limit.check() {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut stop);
    let mut text = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut text, None, Some(options));
    tree.ok_or_else(|| limit.check().err().unwrap_or_else(|| "the parser gave up".to_owned()))
}

/// Takes every faulty node in the order of the text, without recursion: a tree may be deeper than the stack.
fn collect(cursor: &mut TreeCursor<'_>, code: Code, bytes: &[u8], found: &mut Vec<Fault>) {
    loop {
        let node = cursor.node();
        if let Some(message) = message(node, bytes)
            && found.len() < MOST
        {
            let (start, end) = (node.start_position(), node.end_position());
            found.push(Fault {
                lines: start.row..end.row.max(start.row) + usize::from(end.column > 0 || end.row == start.row),
                column: start.column,
                message,
            });
        }
        let inside = node.has_error() || code == Code::Html;
        if inside && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// What is wrong with the node itself, if anything.
fn message(node: Node<'_>, bytes: &[u8]) -> Option<String> {
    if node.is_missing() {
        return Some(format!("`{}` is missing", node.kind().escape_debug()));
    }
    let text = || {
        let text = String::from_utf8_lossy(&bytes[node.byte_range()]);
        let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
        line.chars().take(PIECE).collect::<String>()
    };
    match node.kind() {
        _ if node.is_error() && text().is_empty() => Some("something is missing".to_owned()),
        _ if node.is_error() => Some(format!("unexpected `{}`", text())),
        // The grammar of HTML takes a wrong closing tag for a node of its own.
        "erroneous_end_tag" => Some(format!("`{}` closes nothing that is open", text())),
        _ => None,
    }
}
