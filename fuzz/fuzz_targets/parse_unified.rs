//! Any bytes are unified diffs or an error that says where, whatever the pieces; what can be written as a git diff is read
//! back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, ParseOptions, Parser, Patch};

fuzz_target!(|input: (u8, Option<u8>, &[u8])| {
    let (size, strip, text) = input;
    let options = ParseOptions::default().format(Format::Unified).strip(strip.map(|strip| usize::from(strip % 4)));
    let whole = Patch::parse_with(text, &options);
    let mut parser = Parser::new(&options);
    for piece in text.chunks(usize::from(size) + 1) {
        parser.feed(piece);
        while let Ok(Some(_)) = parser.next_event() {}
    }
    assert_eq!(parser.finish(), whole);
    match whole {
        Ok(patch) => {
            let Ok(written) = patch.to_git() else { return };
            let plain = ParseOptions::default().format(Format::Unified).strip(Some(1));
            let Ok(again) = Patch::parse_with(&written, &plain) else { return };
            assert_eq!(again.to_git().as_ref(), Ok(&written), "writing is stable");
        }
        Err(error) => {
            let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            assert!(error.line() <= lines && error.span().end <= text.len() as u64);
            assert!(error.to_string().len() <= 8 * 1024);
        }
    }
});
