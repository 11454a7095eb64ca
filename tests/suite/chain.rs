use proptest::prelude::*;
use restitch::{ApplyError, ApplyOptions, Workspace};
use similar::{ChangeTag, TextDiff};

use crate::support::TestDir;

/// Lines that repeat, so that places are easily confused, with the endings and odd bytes that files have.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[a-c]{0,2}",
        1 => "[ \t]{1,4}[a-c]{1,2}",
        1 => Just("}".to_owned()),
        1 => Just("naïve — “quote”".to_owned()),
    ];
    let ending = prop_oneof![9 => Just("\n"), 1 => Just("\r\n")];
    (prop::collection::vec(line, 0..25), ending, any::<bool>()).prop_map(|(lines, ending, closed)| {
        let mut out = lines.join(ending);
        if closed && !out.is_empty() {
            out.push_str(ending);
        }
        out
    })
}

/// A patch of one hunk that quotes the whole old text, so that its place is certain.
fn whole_file_patch(old: &str, new: &str) -> String {
    let mut out = String::from("*** Begin Patch\n*** Update File: f\n@@\n");
    for change in TextDiff::from_lines(old, new).iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value();
        out.push(sign);
        out.push_str(line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line));
        out.push('\n');
        if !line.ends_with('\n') {
            out.push_str("\\ No newline at end of file\n");
        }
    }
    out.push_str("*** End of File\n*** End Patch\n");
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A patch made from two texts turns the first into the second, byte for byte.
    #[test]
    fn a_patch_of_two_texts_makes_the_second(old in text(), new in text()) {
        // An update cannot empty a file it quotes nothing of, and endings are the file's to choose.
        prop_assume!(!old.is_empty() && !new.is_empty() && old != new);
        prop_assume!(old.contains("\r\n") == new.contains("\r\n") || !old.contains('\n') || !new.contains('\n'));
        prop_assume!(!new.contains("\r\n") || old.contains("\r\n"));
        prop_assume!(!(old.contains("\r\n") && new.contains('\n') && !new.contains("\r\n")));
        let dir = TestDir::new(&[("f", &old)]);
        let workspace = Workspace::open(dir.path()).unwrap();
        let patch = whole_file_patch(&old, &new);
        let done = ApplyOptions::default().apply(&workspace, patch.as_bytes());
        prop_assert!(done.is_ok(), "{patch}\n{:?}", done.err());
        prop_assert_eq!(dir.read("f"), new, "{}", patch);
        prop_assert_eq!(dir.tree().len(), 1, "nothing but the file is left");
    }

    /// A patch that is refused leaves the tree as it was, whatever comes before the misfit.
    #[test]
    fn a_refused_patch_changes_nothing(old in text(), new in text(), at in 0usize..4) {
        let mut sections = vec![
            "*** Add File: d/new\n+x\n".to_owned(),
            "*** Delete File: g\n".to_owned(),
            format!("*** Update File: h\n*** Move to: moved\n@@\n-h\n+{}\n", new.lines().next().unwrap_or_default()),
        ];
        sections.insert(at, "*** Update File: f\n@@\n-this line is nowhere\n+x\n".to_owned());
        let dir = TestDir::new(&[("f", &old), ("g", "g\n"), ("h", "h\n")]);
        let before = dir.tree();
        let workspace = Workspace::open(dir.path()).unwrap();
        let patch = format!("*** Begin Patch\n{}*** End Patch\n", sections.concat());
        let done = ApplyOptions::default().apply(&workspace, patch.as_bytes());
        prop_assert!(matches!(done, Err(ApplyError::Plan(_))));
        prop_assert_eq!(dir.tree(), before);
    }
}

/// What the documentation says of the types: a thread may hand them on and share them. Does not compile otherwise.
#[test]
fn every_type_can_be_sent_and_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<restitch::LiveFiles>();
    shared::<restitch::LiveApply<'static>>();
    shared::<(restitch::Workspace, restitch::MemSource, restitch::ApplyOptions, restitch::Policy)>();
    shared::<(restitch::Patch, restitch::Parser, restitch::Plan, restitch::HunkPlacer<'_>, restitch::Report)>();
    shared::<(restitch::Prepared<'_>, restitch::Outcome, restitch::RecoveryReport, restitch::Undone)>();
    shared::<(restitch::LiveEvent, restitch::CancelToken, restitch::Deadline)>();
    shared::<(restitch::Search, restitch::Glob, restitch::Answer, restitch::ReadOptions, restitch::FileView)>();
    shared::<(restitch::ApplyError, restitch::ParseError, restitch::PlanError, restitch::CommitError)>();
    shared::<(restitch::SearchError, restitch::ReadFileError, restitch::UndoError, restitch::PathError)>();
}
