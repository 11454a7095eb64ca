//! Any bytes are JSON edits or an error; edits that parse can be planned on a small tree without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restitch::{Format, MemSource, ParseOptions, Patch, Plan, PlanOptions};

fuzz_target!(|text: &[u8]| {
    let options = ParseOptions::default().format(Format::Edits);
    match Patch::parse_with(text, &options) {
        Ok(patch) => {
            let tree = MemSource::new().file("f", "one\ntwo\r\nthree").file("d/g", "");
            let planned = Plan::new(patch, &tree, &PlanOptions::default());
            assert!(planned.is_ok_and(|plan| !plan.changes().is_empty()) || text.len() > 1);
        }
        Err(error) => assert!(error.to_string().len() <= 8 * 1024),
    }
});
