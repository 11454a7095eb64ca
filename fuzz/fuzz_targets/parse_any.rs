//! Any bytes are a patch or an error that says where; what is a patch can be written and is read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::Patch;
use restitch_fuzz::points_into;

fuzz_target!(|text: &[u8]| {
    match Patch::parse(text) {
        Ok(patch) => {
            let Ok(written) = patch.to_envelope() else { return };
            let again = Patch::parse(&written).expect("what was written parses");
            assert_eq!(again.to_envelope().as_ref(), Ok(&written), "writing is stable");
            assert_eq!(again.ops.len(), patch.ops.len());
            assert!(patch.notes.len() <= Patch::MAX_NOTES);
        }
        Err(error) => points_into(&error, text),
    }
});
