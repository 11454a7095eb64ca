//! The language found is the one that `Auto` parses, whatever the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, ParseOptions, Parser, Patch};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, text) = input;
    let auto = ParseOptions::default().format(Format::Auto);
    let found = Format::detect(text).unwrap_or(Format::Envelope);
    let whole = Patch::parse_with(text, &auto);
    assert_eq!(whole, Patch::parse_with(text, &auto.clone().format(found)));
    let mut parser = Parser::new(&auto);
    for piece in text.chunks(usize::from(size) + 1) {
        parser.feed(piece);
        while let Ok(Some(_)) = parser.next_event() {}
    }
    assert_eq!(parser.finish(), whole);
});
