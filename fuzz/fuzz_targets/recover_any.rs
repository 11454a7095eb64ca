//! Any bytes where the journal of a dead process would be: no panic, a look changes nothing, and what the journal cannot
//! prove to be the commit's own stays.
#![no_main]

use std::os::unix::fs::MetadataExt as _;

use libfuzzer_sys::fuzz_target;
use restitch::{RecoverOptions, Workspace, recover};
use restitch_fuzz::{framed, scratch};

fuzz_target!(|input: (bool, bool, &[u8])| {
    let (of_here, done, body) = input;
    let root = scratch();
    std::fs::write(root.join("mine"), "mine").unwrap();
    // A journal of another tree is left alone, so most are given the number of this one.
    let here = std::fs::metadata(root).unwrap().ino().to_le_bytes();
    let body = if of_here { [&here, body].concat() } else { body.to_vec() };
    let journal = [framed(&body), if done { b"done\n".to_vec() } else { Vec::new() }].concat();
    std::fs::write(root.join(".restitch-journal"), &journal).unwrap();
    let workspace = Workspace::open(root).unwrap();
    let looked = recover(&workspace, &RecoverOptions::default().check(true)).map(|report| report.commits.len());
    assert_eq!(std::fs::read(root.join(".restitch-journal")).unwrap(), journal);
    let _what_can_be_done = recover(&workspace, &RecoverOptions::default());
    assert_eq!(std::fs::read(root.join("mine")).unwrap(), b"mine");
    assert!(looked.is_ok_and(|commits| commits > 0) || root.join(".restitch-journal").exists());
});
