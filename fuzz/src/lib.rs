//! What several fuzz targets need.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use restitch::{Answer, Digest, Mode, ParseError, ParseOptions, Parser, Patch, Piece, RowKind, SearchOptions, Syntax};

/// Parses a text whole and in pieces of `size + 1` bytes, which must come to the same.
pub fn whole_and_in_pieces(text: &[u8], size: u8, options: &ParseOptions) -> Result<Patch, ParseError> {
    let whole = Patch::parse_with(text, options);
    let mut parser = Parser::new(options);
    for piece in text.chunks(usize::from(size) + 1) {
        parser.feed(piece);
        while let Ok(Some(_)) = parser.next_event() {}
    }
    assert_eq!(parser.finish(), whole);
    whole
}

/// An error points into the text, and is not long.
pub fn points_into(error: &ParseError, text: &[u8]) {
    let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    assert!(error.line() <= lines && error.span().end <= text.len() as u64);
    assert!(error.to_string().len() <= 8 * 1024);
}

/// An empty directory of this process.
pub fn scratch() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    let root = ROOT.get_or_init(|| std::env::temp_dir().join(format!("restitch-fuzz-{}", std::process::id())));
    std::fs::create_dir_all(root).unwrap();
    root
}

/// A body as a file of the kind `restitch-journal`, version 1: the fingerprint is right.
pub fn framed(body: &[u8]) -> Vec<u8> {
    let (version, length) = (1_u32.to_le_bytes(), (body.len() as u64).to_le_bytes());
    [b"restitch-journal", &version[..], &length, &Digest::of(body).to_bytes(), body].concat()
}

/// Options of a search, and how long its text may be.
pub fn search_options(flags: u8, numbers: u8) -> (SearchOptions, usize) {
    let on = |bit: u8| flags & (1 << bit) != 0;
    let syntax = if on(0) { Syntax::Literal } else { Syntax::Auto };
    let budget = 256 + usize::from(numbers) * 8;
    let options = SearchOptions::new().syntax(syntax).ignore_case(on(1)).word(on(2)).multiline(on(3)).max_bytes(budget);
    let options = options.context(usize::from(numbers % 3)).max_row_bytes(16 + usize::from(numbers));
    (options.mode(Mode::Content), budget)
}

/// The lines with a match.
pub fn matches(answer: &Answer) -> Vec<u64> {
    answer.rows().iter().filter(|row| row.kind() == RowKind::Match).filter_map(|row| row.line()).collect()
}

/// A line, and what it counts as at each tier: equal numbers are equal lines.
pub const LINES: [(&str, [u8; 4]); 8] = [
    ("a", [0, 0, 0, 0]),
    ("a \t", [1, 0, 0, 0]),
    ("  a", [2, 1, 0, 0]),
    ("\u{200b}a", [3, 2, 1, 0]),
    ("x-y", [4, 3, 2, 1]),
    ("x\u{2013}y", [5, 4, 3, 1]),
    ("", [6, 5, 4, 2]),
    (" \u{a0}", [7, 5, 4, 2]),
];

/// The plainest search: strictest tier first, then the first place; the end first when it is asked for.
pub fn naive_seek(text: &[[u8; 4]], pattern: &[[u8; 4]], start: usize, eof: bool) -> Option<(usize, usize)> {
    let last = (text.len() + 1).checked_sub(pattern.len() + 1).filter(|last| *last >= start)?;
    let fits = |at: usize, tier: usize| (0..pattern.len()).all(|k| text[at + k][tier] == pattern[k][tier]);
    let find = |from: usize| (0..4).find_map(|tier| Some(((from..=last).find(|at| fits(*at, tier))?, tier)));
    eof.then(|| find(last)).flatten().or_else(|| find(start))
}

/// What of a file is not kept. What is kept is in order, and nothing is kept twice.
pub fn not_kept(base: &[u8], pieces: &[Piece]) -> Vec<u8> {
    let (mut at, mut gone) = (0, Vec::new());
    for piece in pieces {
        let Piece::Kept(range) = piece else { continue };
        assert!(at <= range.start, "in order, and none twice");
        gone.extend_from_slice(&base[std::mem::replace(&mut at, range.end)..range.start]);
    }
    gone.extend_from_slice(&base[at..]);
    gone
}

/// Lines as a text counts them: where there is no LF, each CR ends one.
pub fn count_lines(base: &[u8], text: &[u8]) -> usize {
    let end = if base.contains(&b'\n') { b'\n' } else { b'\r' };
    text.iter().filter(|byte| **byte == end).count()
}
