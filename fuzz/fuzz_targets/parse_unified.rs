//! Any bytes are unified diffs or an error that says where, whatever the pieces; what can be written as a git diff is read
//! back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, ParseOptions, Patch};
use restitch_fuzz::{points_into, whole_and_in_pieces};

fuzz_target!(|input: (u8, Option<u8>, &[u8])| {
    let (size, strip, text) = input;
    let options = ParseOptions::default().format(Format::Unified);
    match whole_and_in_pieces(text, size, &options.clone().strip(strip.map(|strip| usize::from(strip % 4)))) {
        Ok(patch) => {
            let Ok(written) = patch.to_git() else { return };
            let Ok(again) = Patch::parse_with(&written, &options.strip(Some(1))) else { return };
            assert_eq!(again.to_git().as_ref(), Ok(&written), "writing is stable");
        }
        Err(error) => points_into(&error, text),
    }
});
