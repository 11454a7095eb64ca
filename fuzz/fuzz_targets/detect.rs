//! The language found is the one that `Auto` parses, whatever the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, ParseOptions, Patch};
use restitch_fuzz::whole_and_in_pieces;

fuzz_target!(|input: (u8, &[u8])| {
    let (size, text) = input;
    let auto = ParseOptions::default().format(Format::Auto);
    let found = Format::detect(text).unwrap_or(Format::Envelope);
    let whole = whole_and_in_pieces(text, size, &auto);
    assert_eq!(whole, Patch::parse_with(text, &auto.format(found)));
});
