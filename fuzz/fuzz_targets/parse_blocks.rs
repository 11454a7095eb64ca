//! Any bytes are SEARCH/REPLACE blocks or an error that says where, whatever the pieces.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, ParseOptions};
use restitch_fuzz::{points_into, whole_and_in_pieces};

fuzz_target!(|input: (u8, &[u8])| {
    let (size, text) = input;
    if let Err(error) = whole_and_in_pieces(text, size, &ParseOptions::default().format(Format::Blocks)) {
        points_into(&error, text);
    }
});
