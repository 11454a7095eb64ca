//! Any pattern in any bytes: no panic, an answer within its budget, rows in order, the same in all modes and pages.
#![no_main]

use std::cell::RefCell;
use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use restitch::{Mode, RowKind, Search, SearchOptions, Syntax, Workspace};

thread_local! {
    static ROOT: RefCell<Option<PathBuf>> = const { RefCell::new(None) };
}

/// A directory of this process.
fn root() -> PathBuf {
    ROOT.with_borrow_mut(|root| {
        root.get_or_insert_with(|| {
            let root = std::env::temp_dir().join(format!("restitch-fuzz-{}", std::process::id()));
            std::fs::create_dir_all(&root).unwrap();
            root
        })
        .clone()
    })
}

fuzz_target!(|data: (&str, u8, u8, &[u8])| {
    let (pattern, flags, numbers, bytes) = data;
    let root = root();
    std::fs::write(root.join("file"), bytes).unwrap();
    let on = |bit: u8| flags & (1 << bit) != 0;
    let syntax = if on(0) { Syntax::Literal } else { Syntax::Auto };
    let budget = 256 + usize::from(numbers) * 8;
    let options = SearchOptions::new().syntax(syntax).ignore_case(on(1)).word(on(2)).multiline(on(3)).max_bytes(budget);
    let options = options.context(usize::from(numbers % 3)).max_row_bytes(16 + usize::from(numbers));
    let workspace = Workspace::open(&root).unwrap();
    let Ok(search) = Search::new(pattern, options.clone().mode(Mode::Content)) else { return };
    let answer = search.run(&workspace, "").unwrap();
    let mut text = Vec::new();
    answer.write_text(&mut text).unwrap();
    assert!(text.len() <= budget);
    let lines: Vec<u64> = answer.rows().iter().filter_map(|row| row.line()).collect();
    assert!(lines.is_sorted_by(|a, b| a < b));
    let matching = answer.rows().iter().filter(|row| row.kind() == RowKind::Match).count() as u64;
    assert_eq!(matching, answer.shown());
    let files = Search::new(pattern, options.clone().mode(Mode::Files)).unwrap().run(&workspace, "").unwrap();
    assert_eq!(files.rows().len(), usize::from(answer.total().value > 0));
    let offset = usize::try_from(answer.shown()).unwrap();
    let next = Search::new(pattern, options.mode(Mode::Content).offset(offset)).unwrap().run(&workspace, "").unwrap();
    assert_eq!(next.rows().is_empty(), !answer.truncated());
    let first = next.rows().iter().find(|row| row.kind() == RowKind::Match).and_then(|row| row.line());
    let last = answer.rows().iter().rev().find(|row| row.kind() == RowKind::Match).and_then(|row| row.line());
    assert!(first.is_none() || last < first);
});
