//! The pieces a text comes in, and when somebody asks, never change what is said.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Parser, Patch};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, text) = input;
    let (mut parser, mut events, mut asked) = (Parser::default(), Vec::new(), Parser::default());
    parser.feed(text);
    parser.end();
    while let Ok(Some(event)) = parser.next_event() {
        events.push(format!("{event:?}"));
    }
    let mut expected = events.into_iter();
    for piece in text.chunks(usize::from(size) + 1) {
        asked.feed(piece);
        while let Ok(Some(event)) = asked.next_event() {
            assert_eq!(Some(format!("{event:?}")), expected.next());
        }
    }
    assert_eq!(asked.finish(), Patch::parse(text));
});
