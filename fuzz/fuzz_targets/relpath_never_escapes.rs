//! A path that is accepted has only plain parts, as the standard library sees them, and stays what it is.
#![no_main]

use std::path::Component;

use libfuzzer_sys::fuzz_target;
use restitch::RelPath;

fuzz_target!(|text: &[u8]| {
    let Ok(path) = RelPath::new(text) else { return };
    let parts: Vec<_> = path.as_path().components().collect();
    assert!(!parts.is_empty() && parts.iter().all(|part| matches!(part, Component::Normal(_))));
    assert_eq!(parts.len(), path.parts().count());
    assert!(!path.as_str().contains('\0'));
    assert_eq!(RelPath::new(path.as_str().as_bytes()).as_ref(), Ok(&path), "checking twice changes nothing");
    assert_eq!(path.parent().map_or(0, |parent| parent.parts().count()), parts.len() - 1);
});
