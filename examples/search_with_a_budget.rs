//! Searches with a budget: so many rows, so many bytes, so much time, and an answer that says what it is not.
//!
//! `cargo run --example search_with_a_budget`
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use std::time::Duration;

use restitch::{Mode, Search, SearchOptions, Workspace};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::temp_dir().join(format!("restitch-search-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    for number in 0..200 {
        std::fs::write(root.join(format!("{number:03}.txt")), format!("nothing\nTODO: number {number}\n"))?;
    }

    let options = SearchOptions::new().mode(Mode::Content).limit(5).max_bytes(4 << 10).timeout(Duration::from_secs(2));
    let workspace = Workspace::open(&root)?;
    let answer = Search::new("TODO", options.clone())?.run(&workspace, "")?;
    let mut text = Vec::new();
    answer.write_text(&mut text)?;
    print!("{}", String::from_utf8_lossy(&text));

    // The rows are the same on every run, in path order, so going on is safe.
    assert_eq!(answer.rows()[0].path().to_str(), Some("000.txt"));
    let Some(offset) = answer.next_offset() else { return Err("there is more to be found".into()) };
    let next = Search::new("TODO", options.offset(usize::try_from(offset)?))?.run(&workspace, "")?;
    assert_eq!(next.rows()[0].path().to_str(), Some("005.txt"));

    std::fs::remove_dir_all(&root)?;
    Ok(())
}
