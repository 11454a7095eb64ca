//! Any bytes are SEARCH/REPLACE blocks or an error that says where, whatever the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, ParseOptions, Parser, Patch};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, text) = input;
    let options = ParseOptions::default().format(Format::Blocks);
    let whole = Patch::parse_with(text, &options);
    let mut parser = Parser::new(&options);
    for piece in text.chunks(usize::from(size) + 1) {
        parser.feed(piece);
        while let Ok(Some(_)) = parser.next_event() {}
    }
    assert_eq!(parser.finish(), whole);
    if let Err(error) = whole {
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        assert!(error.line() <= lines && error.to_string().len() <= 8 * 1024);
    }
});
