use std::collections::BTreeMap;
use std::path::Path;

use restitch::{CommitOptions, Patch, Plan, PlanOptions, Workspace, prepare};

use crate::support::{TestDir, apply_patch, restitch};

const PATCH: &str =
    "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Add File: x/n\n+n\n*** Delete File: b\n*** End Patch\n";
const NEXT: &str = "*** Begin Patch\n*** Add File: next\n+next\n*** End Patch\n";

fn hidden(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let names = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| name.starts_with(".restitch"));
    names.map(|name| (name.clone(), std::fs::read(root.join(&name)).unwrap())).collect()
}

/// A tree in which a process died when everything was staged and nothing published.
fn interrupted() -> TestDir {
    let dir = TestDir::new(&[("a", "1\n"), ("b", "1\n")]);
    let workspace = Workspace::open(dir.path()).unwrap();
    let plan = Plan::new(Patch::parse(PATCH.as_bytes()).unwrap(), &workspace, &PlanOptions::default()).unwrap();
    let prepared = prepare(&workspace, plan.steps(), &CommitOptions::default()).unwrap();
    let left = hidden(dir.path());
    assert!(left.contains_key(".restitch-journal") && left.len() == 3, "{:?}", left.keys());
    drop(prepared);
    assert!(hidden(dir.path()).is_empty());
    for (name, bytes) in left {
        dir.write(&name, &bytes);
    }
    dir
}

fn names(dir: &TestDir) -> Vec<String> {
    dir.tree().into_keys().collect()
}

#[test]
fn the_program_says_what_it_finds_and_does() {
    let dir = interrupted();
    let left = dir.tree();
    let said = restitch(dir.path(), &["recover", "--check"], "").exits(1).out;
    assert!(said.contains("would be undone") && said.contains("  x/n\n"), "{said}");
    assert_eq!(dir.tree(), left, "--check only looks");
    let said = restitch(dir.path(), &["recover"], "").exits(0).out;
    assert!(
        said.starts_with("an interrupted commit of process ") && said.contains("3 paths are as before it"),
        "{said}"
    );
    assert_eq!(names(&dir), ["a", "b"]);
    for args in [&["recover"][..], &["recover", "--check"]] {
        assert_eq!(restitch(dir.path(), args, "").exits(0).out, "Nothing to recover.\n");
    }
}

#[test]
fn the_next_patch_recovers_and_says_so_and_a_check_writes_nothing() {
    let dir = interrupted();
    let left = dir.tree();
    let said = apply_patch(dir.path(), &["--check"], NEXT).exits(1);
    assert!(said.err.contains("`restitch recover` brings it back; nothing was changed"), "{}", said.err);
    assert_eq!(dir.tree(), left);
    let said = apply_patch(dir.path(), &[], NEXT).exits(0);
    assert!(said.err.contains("warning: an interrupted commit of process"), "{}", said.err);
    assert_eq!(names(&dir), ["a", "b", "next"]);
}

#[test]
fn a_journal_that_was_cut_off_is_removed() {
    let dir = interrupted();
    let journal = std::fs::read(dir.path().join(".restitch-journal")).unwrap();
    for name in hidden(dir.path()).keys() {
        std::fs::remove_file(dir.path().join(name)).unwrap();
    }
    for len in [0, 7, 30, journal.len() - 1] {
        dir.write(".restitch-journal", &journal[..len]);
        assert_eq!(restitch(dir.path(), &["recover"], "").exits(0).out, "Nothing to recover.\n");
        assert_eq!(names(&dir), ["a", "b"]);
    }
}

#[test]
fn a_journal_that_is_damaged_or_of_another_tree_stops_everything_and_is_named() {
    let damaged = interrupted();
    let path = damaged.path().join(".restitch-journal");
    let mut journal = std::fs::read(&path).unwrap();
    *journal.last_mut().unwrap() ^= 1;
    std::fs::write(&path, &journal).unwrap();
    let copied = TestDir::new(&[("a", "1\n")]);
    std::fs::copy(interrupted().path().join(".restitch-journal"), copied.path().join(".restitch-journal")).unwrap();
    for (dir, why) in [(damaged, "damaged"), (copied, "made for another directory")] {
        let before = dir.tree();
        for said in [restitch(dir.path(), &["recover"], ""), apply_patch(dir.path(), &[], NEXT)] {
            let said = said.exits(1).err;
            assert!(said.contains(why) && said.contains(".restitch-journal"), "{said}");
        }
        assert_eq!(dir.tree(), before);
    }
}

#[test]
fn what_was_changed_since_is_left_alone() {
    // Nothing had been published, so even a changed file is in nobody's way.
    let dir = interrupted();
    dir.write("a", b"someone else's\n");
    dir.write("x", b"a file where the directory was to be\n");
    restitch(dir.path(), &["recover"], "").exits(0);
    assert_eq!(names(&dir), ["a", "b", "x"]);
    assert_eq!(dir.read("a"), "someone else's\n");
}

#[test]
fn a_temporary_file_of_unknown_origin_is_shown_and_kept() {
    let dir = TestDir::new(&[("a", "1\n")]);
    dir.write("sub/.restitch-0123456789abcdef-0n.tmp", b"whose?");
    dir.write("sub/.restitch-note", b"not ours at all");
    let said = restitch(dir.path(), &["recover"], "").exits(4).out;
    assert!(said.contains("sub/.restitch-0123456789abcdef-0n.tmp belongs to a commit whose journal is gone"), "{said}");
    assert!(!said.contains("note"), "{said}");
    assert_eq!(dir.tree().len(), 4);
}

#[test]
fn a_worktree_keeps_its_journal_in_its_own_git_directory_and_a_forged_one_does_not() {
    let dir = TestDir::new(&[("main/.git/worktrees/w/HEAD", "x"), ("w/a", "1\n"), ("w/b", "1\n")]);
    let own = dir.path().join("main/.git/worktrees/w");
    dir.write("w/.git", format!("gitdir: {}\n", own.display()).as_bytes());
    let root = dir.path().join("w");
    let journals = || {
        let workspace = Workspace::open(&root).unwrap();
        let plan = Plan::new(Patch::parse(PATCH.as_bytes()).unwrap(), &workspace, &PlanOptions::default()).unwrap();
        let prepared = prepare(&workspace, plan.steps(), &CommitOptions::default()).unwrap();
        let found = (own.join("restitch-journal").exists(), root.join(".restitch-journal").exists());
        drop(prepared);
        found
    };
    assert_eq!(journals(), (false, true), "that directory does not name this root");
    dir.write("main/.git/worktrees/w/gitdir", format!("{}\n", root.join(".git").display()).as_bytes());
    assert_eq!(journals(), (true, false));
}
