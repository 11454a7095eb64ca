//! Any pattern in any bytes: no panic, an answer within its budget, rows in order, the same in all modes and pages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Mode, Search, Workspace};
use restitch_fuzz::{matches, scratch, search_options};

fuzz_target!(|data: (&str, u8, u8, &[u8])| {
    let (pattern, flags, numbers, bytes) = data;
    std::fs::write(scratch().join("file"), bytes).unwrap();
    let workspace = Workspace::open(scratch()).unwrap();
    let (options, budget) = search_options(flags, numbers);
    let Ok(search) = Search::new(pattern, options.clone()) else { return };
    let run = |options| Search::new(pattern, options).unwrap().run(&workspace, "").unwrap();
    let answer = search.run(&workspace, "").unwrap();
    let mut text = Vec::new();
    answer.write_text(&mut text).unwrap();
    assert!(text.len() <= budget);
    assert!(answer.rows().iter().filter_map(|row| row.line()).is_sorted_by(|a, b| a < b));
    assert_eq!(matches(&answer).len() as u64, answer.shown());
    assert_eq!(run(options.clone().mode(Mode::Files)).rows().len(), usize::from(answer.total().value > 0));
    let next = run(options.offset(usize::try_from(answer.shown()).unwrap()));
    assert_eq!(next.rows().is_empty(), !answer.truncated());
    assert!(matches(&next).first().is_none_or(|first| matches(&answer).last() < Some(first)));
});
