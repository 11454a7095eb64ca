use proptest::prelude::*;

use super::*;
use crate::frame::HEAD;

fn path() -> impl Strategy<Value = RelPath> {
    "[a-c]{1,3}(/[a-zé \n]{1,4}){0,2}".prop_map(|text| RelPath::new(text.as_bytes()).unwrap())
}

fn names() -> impl Strategy<Value = Names> {
    prop_oneof!["[0-9a-f]{16}", "[0-9a-f]{48}"].prop_map(|text| text.parse().unwrap())
}

fn old() -> impl Strategy<Value = Option<Old>> {
    proptest::option::of(any::<(bool, u64, u64, i64, u32)>().prop_map(|(link, ino, size, mtime, mode)| Old {
        link,
        ino,
        size,
        mtime,
        mode,
    }))
}

fn new() -> impl Strategy<Value = New<'static>> {
    let content = || proptest::collection::vec(any::<u8>(), 0..20).prop_map(Cow::Owned);
    prop_oneof![
        Just(New::None),
        any::<(bool, u64, [u8; 16])>().prop_map(|(link, size, digest)| New::Staged {
            link,
            size,
            digest: Digest::from_bytes(digest)
        }),
        (any::<u32>(), any::<u32>(), content(), content()).prop_map(|(old_mode, new_mode, old, new)| New::InPlace {
            old_mode,
            new_mode,
            old,
            new
        }),
    ]
}

fn entry() -> impl Strategy<Value = Entry<'static>> {
    (path(), old(), proptest::option::of(path()), new()).prop_map(|(path, old, staged, new)| Entry {
        path: Cow::Owned(path),
        old,
        staged: staged.map(Cow::Owned),
        new,
    })
}

fn action(steps: usize) -> impl Strategy<Value = Action> {
    let thing =
        move || (any::<bool>(), 0..steps).prop_map(|(old, at)| if old { Thing::Old(at) } else { Thing::New(at) });
    prop_oneof![
        path().prop_map(Action::MakeDir),
        (thing(), path(), path()).prop_map(|(thing, from, to)| Action::Rename { thing, from, to }),
        (path(), path(), thing(), thing()).prop_map(|(a, b, at_a, at_b)| Action::Exchange { a, b, at_a, at_b }),
        (0..steps).prop_map(Action::Overwrite),
    ]
}

fn journal() -> impl Strategy<Value = Journal<'static>> {
    let steps = proptest::collection::vec(entry(), 1..5);
    let head = (any::<u64>(), any::<u32>(), any::<bool>(), names());
    (head, steps).prop_flat_map(|(head, steps)| {
        let most = steps.len();
        let actions = proptest::collection::vec(action(most), 0..6);
        let discard = proptest::collection::vec((path(), 0..most), 0..4);
        (Just(head), Just(steps), actions, discard).prop_map(
            |((root, pid, power, names), steps, mut actions, discard)| {
                actions.retain(|action| match action {
                    Action::Overwrite(step) => matches!(steps[*step].new, New::InPlace { .. }),
                    _ => true,
                });
                Journal { root, pid, power, names, steps, actions: actions.into(), discard: discard.into() }
            },
        )
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_and_what_is_cut_or_changed_is_not_acted_upon(
        journal in journal(),
        place in any::<proptest::sample::Index>(),
        bit in 0..8u8,
    ) {
        let mut bytes = journal.encode();
        prop_assert_eq!(decode(&bytes), Ok(Read::Whole { journal: journal.clone(), done: false }));
        let cut = place.index(bytes.len());
        prop_assert_eq!(decode(&bytes[..cut]), Ok(Read::CutOff));
        let whole = bytes.len();
        for end in 1..=DONE.len() {
            bytes.extend_from_slice(&DONE[..end]);
            let done = end == DONE.len();
            prop_assert_eq!(decode(&bytes), Ok(Read::Whole { journal: journal.clone(), done }));
            bytes.truncate(whole);
        }
        bytes[cut] ^= 1 << bit;
        let changed = decode(&bytes);
        prop_assert!(matches!(changed, Err(_) | Ok(Read::CutOff)), "{:?}", changed);
    }

    #[test]
    fn no_bytes_are_too_odd_to_be_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&Digest::of(&body).to_bytes());
        bytes.extend_from_slice(&body);
        let _any_answer_but_a_panic = decode(&bytes);
        let _likewise = decode(&body);
    }
}

#[test]
fn a_path_that_leaves_the_root_or_enters_git_is_refused() {
    for bad in ["../x", "/x", ".git/config", "a/.GIT/x", "./a"] {
        let entry =
            Entry { path: Cow::Owned(RelPath::new(b"aaaaaaaaaaa").unwrap()), old: None, staged: None, new: New::None };
        let journal = Journal {
            root: 1,
            pid: 1,
            power: false,
            names: Names::new(),
            steps: vec![entry],
            actions: Cow::Owned(Vec::new()),
            discard: Cow::Owned(Vec::new()),
        };
        let mut bytes = journal.encode();
        // The path with its length, as it is written.
        let at = bytes.windows(11).position(|window| window == b"aaaaaaaaaaa").unwrap();
        let mut forged = bytes[..at - 4].to_vec();
        forged.extend_from_slice(&(bad.len() as u32).to_le_bytes());
        forged.extend_from_slice(bad.as_bytes());
        forged.extend_from_slice(&bytes.split_off(at + 11));
        let body = forged.split_off(HEAD);
        forged[20..28].copy_from_slice(&(body.len() as u64).to_le_bytes());
        forged[28..].copy_from_slice(&Digest::of(&body).to_bytes());
        forged.extend_from_slice(&body);
        assert!(matches!(decode(&forged), Err(FrameError::Inconsistent(_))), "{bad}");
    }
}

#[test]
fn other_files_are_no_journals() {
    assert_eq!(decode(b""), Ok(Read::CutOff));
    assert_eq!(decode(b"restitch-jour"), Ok(Read::CutOff));
    assert_eq!(decode(b"hello"), Err(FrameError::Other));
    let mut newer = MAGIC.to_vec();
    newer.extend_from_slice(&2u32.to_le_bytes());
    newer.resize(HEAD, 0);
    assert_eq!(decode(&newer), Err(FrameError::Version(2)));
}
