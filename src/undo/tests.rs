use proptest::prelude::*;

use super::record::{Then, Way, decode, encode};
use super::*;

fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

fn then() -> impl Strategy<Value = Then<'static>> {
    let bytes = || proptest::collection::vec(any::<u8>(), 0..20);
    prop_oneof![
        Just(Then::Absent),
        (bytes(), any::<bool>(), proptest::option::of(0..0o10_000u32)).prop_map(|(content, like, mode)| Then::File {
            content: content.into(),
            like: like.then(|| path("other")),
            mode,
        }),
        bytes().prop_map(Then::Link),
        Just(Then::Moved(path("x/y"))),
    ]
}

proptest! {
    #[test]
    fn a_record_is_read_as_it_was_written_and_a_cut_one_is_told(
        ways in proptest::collection::vec((then(), proptest::option::of("[a-z]{0,9}")), 0..4),
        at in any::<proptest::sample::Index>(),
    ) {
        let steps: Vec<Step> = ways.iter().enumerate().map(|(number, (then, link))| Step {
            path: path(&format!("f{number}")),
            before: link.as_ref().map_or(Before::Absent, |target| Before::Link(target.clone().into_bytes())),
            after: then.after(),
        }).collect();
        let bytes = encode(&steps, &[path("made")], 7);
        let want: Vec<Way<'_>> = ways.into_iter().enumerate().map(|(number, (then, link))| Way {
            path: path(&format!("f{number}")),
            now: link.map_or(Now::Absent, |target| Now::Link(target.into_bytes())),
            then,
        }).collect();
        prop_assert_eq!(decode(&bytes), Ok(Some(Record { when: 7, steps: want, made: vec![path("made")] })));
        prop_assert_eq!(decode(&bytes[..at.index(bytes.len())]), Ok(None));
    }
}
