use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::{Entry, TestDir, Tree, apply_patch, restitch, run};

fn start() -> TestDir {
    let dir = TestDir::new(&[
        ("a.txt", "one\ntwo\nthree\n"),
        ("crlf.txt", "one\r\ntwo\r\nmixed\nlast without end"),
        ("sub/b.txt", "b\n"),
        ("sub/run.sh", "#!/bin/sh\n"),
        ("sub/deep/with space.txt", "spaced\n"),
        ("odd\"na\\me\t.txt", "odd\n"),
        ("ünïcode.txt", "u\n"),
        ("empty", ""),
    ]);
    dir.write("blob.bin", b"\0\x01\xff\xfe\r\n\0binary\n\0no end");
    symlink("a.txt", dir.path().join("link")).unwrap();
    for (path, mode) in [("sub/run.sh", 0o755), ("sub/b.txt", 0o600)] {
        std::fs::set_permissions(dir.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    dir
}

/// Patches, one a line: a name and its operations.
const PATCHES: &[(&str, &str)] = &[
    ("update", "*** Update File: a.txt\n@@\n one\n-two\n+2\n+2b\n three\n"),
    (
        "update a file with mixed endings",
        "*** Update File: crlf.txt\n@@\n-two\n+zwei\n+drei\n@@\n-last without end\n+end\n",
    ),
    ("add", "*** Add File: new.txt\n+new\n"),
    ("add in new directories", "*** Add File: x/y/z.txt\n+new\n*** Add File: x/w.txt\n+new\n"),
    ("add an empty file", "*** Add File: nothing\n"),
    ("delete", "*** Delete File: sub/run.sh\n"),
    ("delete a binary file", "*** Delete File: blob.bin\n"),
    ("delete an empty file", "*** Delete File: empty\n"),
    ("delete a link", "*** Delete File: link\n"),
    ("delete what ends without a newline", "*** Delete File: crlf.txt\n"),
    ("move", "*** Update File: sub/run.sh\n*** Move to: bin/run.sh\n"),
    ("move and edit", "*** Update File: a.txt\n*** Move to: sub/a.txt\n@@\n-two\n+2\n"),
    (
        "swap",
        "*** Update File: a.txt\n*** Move to: t\n*** Update File: sub/run.sh\n*** Move to: a.txt\n\
         *** Update File: t\n*** Move to: sub/run.sh\n",
    ),
    ("replace", "*** Delete File: sub/run.sh\n*** Add File: sub/run.sh\n+#!/bin/bash\n"),
    ("delete and move into its place", "*** Delete File: a.txt\n*** Update File: sub/run.sh\n*** Move to: a.txt\n"),
    ("file to directory", "*** Delete File: a.txt\n*** Add File: a.txt/inside\n+x\n"),
    ("link to file", "*** Delete File: link\n*** Add File: link\n+no link\n"),
    (
        "odd names",
        "*** Update File: odd\"na\\me\t.txt\n@@\n-odd\n+even\n*** Update File: ünïcode.txt\n@@\n-u\n+v\n\
         *** Update File: sub/deep/with space.txt\n@@\n-spaced\n+spaced out\n",
    ),
    (
        "many at once",
        "*** Update File: a.txt\n@@\n-two\n+2\n*** Delete File: blob.bin\n*** Add File: n/n\n+n\n\
         *** Update File: sub/b.txt\n*** Move to: sub/c.txt\n*** Delete File: link\n",
    ),
];

fn patch(ops: &str) -> String {
    format!("*** Begin Patch\n{ops}*** End Patch\n")
}

fn outside(name: &str) -> (TestDir, String) {
    let dir = TestDir::new(&[]);
    let path = dir.path().join(name).to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn a_kept_patch_is_undone_byte_for_byte_and_mode_for_mode() {
    for (name, ops) in PATCHES {
        if *name == "file to directory" {
            continue;
        }
        let dir = start();
        let before = dir.tree();
        apply_patch(dir.path(), &["--keep-undo", "3"], &patch(ops)).exits(0);
        let after = without_records(dir.tree());
        assert_ne!(after, before, "{name}");
        let said = restitch(dir.path(), &["undo"], "").exits(0);
        assert!(said.out.starts_with("Undone. Updated the following files:\n"), "{name}: {}", said.out);
        assert_eq!(without_records(dir.tree()), before, "{name}");
        assert!(restitch(dir.path(), &["undo"], "").exits(1).err.contains("nothing to undo"), "{name}");
    }
}

fn without_records(tree: Tree) -> Tree {
    tree.into_iter().filter(|(path, _)| !path.starts_with(".restitch-undo")).collect()
}

/// What git can tell of a tree: it knows one permission bit.
fn as_git_sees(tree: Tree) -> Tree {
    let files = tree.into_iter().filter(|(_, entry)| *entry != Entry::Dir);
    files
        .map(|(path, entry)| match entry {
            Entry::File { bytes, mode } => (path, Entry::File { bytes, mode: mode & 0o100 }),
            other => (path, other),
        })
        .collect()
}

#[test]
fn git_applies_the_undo_file() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: there is no git here");
        return;
    }
    for (name, ops) in PATCHES {
        let dir = start();
        let before = as_git_sees(dir.tree());
        let (_keep, file) = outside("undo.patch");
        apply_patch(dir.path(), &["--undo-file", &file], &patch(ops)).exits(0);
        let said = git_apply(dir.path(), &file);
        assert_eq!(
            as_git_sees(dir.tree()),
            before,
            "{name}: {said}\n{}",
            std::fs::read_to_string(&file).unwrap_or_default()
        );
    }
}

fn git_apply(root: &Path, file: &str) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", file]).current_dir(root);
    git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap()).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let said = run(&mut git, b"");
    format!("{:?} {}", said.code, said.err)
}

#[test]
fn undoing_again_goes_one_patch_further_back_and_only_the_last_are_kept() {
    let dir = TestDir::new(&[("a", "0\n")]);
    for n in 1..=5 {
        let ops = format!("*** Update File: a\n@@\n-{}\n+{n}\n", n - 1);
        apply_patch(dir.path(), &["--keep-undo", "3"], &patch(&ops)).exits(0);
    }
    let listed = restitch(dir.path(), &["undo", "--list"], "").exits(0).out;
    let ids: Vec<&str> = listed.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(ids, ["5", "4", "3"], "{listed}");
    for n in [4, 3, 2] {
        restitch(dir.path(), &["undo"], "").exits(0);
        assert_eq!(dir.read("a"), format!("{n}\n"));
    }
    restitch(dir.path(), &["undo"], "").exits(1);
    restitch(dir.path(), &["undo", "7"], "").exits(1);
}

#[test]
fn an_undo_can_be_told_as_json() {
    let dir = start();
    let ops = "*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: new\n+n\n*** Delete File: sub/b.txt\n";
    apply_patch(dir.path(), &["--keep-undo", "2"], &patch(ops)).exits(0);
    let json = |args: &[&str], code: i32| -> serde_json::Value {
        let said = restitch(dir.path(), args, "").exits(code);
        assert_eq!(said.err, "");
        serde_json::from_str(&said.out).unwrap()
    };
    let list = json(&["undo", "--list", "--json"], 0);
    assert_eq!((&list["version"], &list["entries"][0]["id"]), (&1.into(), &1.into()));
    assert_eq!(list["entries"][0]["paths"].as_array().unwrap().len(), 3);
    assert!(list["entries"][0]["when"].as_u64().unwrap() > 1_700_000_000);

    dir.write("new", b"someone else\n");
    let refused = json(&["undo", "--json"], 1);
    assert_eq!(refused["status"], "refused");
    assert!(refused["message"].as_str().unwrap().contains("`new` has another content"), "{refused}");
    dir.write("new", b"n\n");
    let mut done = json(&["undo", "--json"], 0);
    done["files"].as_array_mut().unwrap().sort_by_key(|file| file["path"].to_string());
    let files = serde_json::json!([
        {"action": "update", "path": "a.txt"}, {"action": "delete", "path": "new"}, {"action": "add", "path": "sub/b.txt"},
    ]);
    assert_eq!(done, serde_json::json!({"version": 1, "status": "undone", "id": 1, "files": files}));
    assert_eq!(json(&["undo", "--json"], 1)["status"], "refused");
    assert_eq!(json(&["undo", "--list", "--json"], 0)["entries"], serde_json::json!([]));
}

#[test]
fn what_has_changed_since_is_named_and_nothing_is_undone() {
    let dir = start();
    let ops = "*** Update File: a.txt\n@@\n-two\n+2\n*** Add File: new\n+n\n*** Delete File: sub/b.txt\n";
    apply_patch(dir.path(), &["--keep-undo", "1"], &patch(ops)).exits(0);
    dir.write("a.txt", b"someone else\n");
    std::fs::remove_file(dir.path().join("new")).unwrap();
    dir.write("sub/b.txt", b"again\n");
    let now = dir.tree();
    let said = restitch(dir.path(), &["undo"], "").exits(1).err;
    for part in ["`a.txt` has another content", "`new` is gone", "`sub/b.txt` is there again", "nothing was changed"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(dir.tree(), now);
}

#[test]
fn a_directory_in_the_place_of_a_file_is_no_way_back() {
    let dir = start();
    let ops = "*** Delete File: a.txt\n*** Add File: a.txt/inside\n+x\n";
    apply_patch(dir.path(), &["--keep-undo", "1"], &patch(ops)).exits(0);
    let now = dir.tree();
    let said = restitch(dir.path(), &["undo"], "").exits(1).err;
    assert!(said.contains("`a.txt` is a directory now"), "{said}");
    assert_eq!(dir.tree(), now);
}

#[test]
fn a_repository_keeps_its_records_in_its_git_directory() {
    let dir = TestDir::new(&[("a", "1\n"), (".git/HEAD", "ref: refs/heads/main\n")]);
    let before = dir.tree();
    apply_patch(dir.path(), &["--keep-undo", "1"], &patch("*** Update File: a\n@@\n-1\n+2\n")).exits(0);
    assert!(dir.tree().contains_key(".git/restitch-undo/00000001"));
    restitch(dir.path(), &["undo"], "").exits(0);
    let after: Tree = dir.tree().into_iter().filter(|(path, _)| path != ".git/restitch-undo").collect();
    assert_eq!(after, before);
}

#[test]
fn records_in_a_plain_root_are_ignored_by_searches() {
    let dir = TestDir::new(&[("a", "needle\n")]);
    apply_patch(dir.path(), &["--keep-undo", "1"], &patch("*** Update File: a\n@@\n-needle\n+other\n")).exits(0);
    restitch(dir.path(), &["search", "-F", "needle"], "").exits(1);
}

#[test]
fn the_undo_file_is_left_alone_when_nothing_is_applied_and_refused_when_it_cannot_be_written() {
    let dir = start();
    let before = dir.tree();
    let (keep, file) = outside("undo.patch");
    let refused = patch("*** Update File: a.txt\n@@\n-not there\n+x\n");
    apply_patch(dir.path(), &["--undo-file", &file], &refused).exits(1);
    assert!(keep.tree().is_empty());
    std::fs::write(&file, "earlier").unwrap();
    apply_patch(dir.path(), &["--undo-file", &file], &refused).exits(1);
    assert_eq!(keep.read("undo.patch"), "earlier");
    let wrong = keep.path().join("no/such/dir").to_str().unwrap().to_owned();
    let fine = patch("*** Update File: a.txt\n@@\n-two\n+2\n");
    apply_patch(dir.path(), &["--undo-file", &wrong], &fine).exits(2);
    assert_eq!(dir.tree(), before);
    apply_patch(dir.path(), &["--undo-file", &file, "--check"], &fine).exits(0);
    assert_eq!(keep.read("undo.patch"), "earlier");
}

#[test]
fn a_damaged_record_is_named_and_a_cut_off_one_is_passed_over() {
    let dir = TestDir::new(&[("a", "1\n")]);
    for (old, new) in [(1, 2), (2, 3)] {
        let ops = format!("*** Update File: a\n@@\n-{old}\n+{new}\n");
        apply_patch(dir.path(), &["--keep-undo", "5"], &patch(&ops)).exits(0);
    }
    let newest = dir.path().join(".restitch-undo/00000002");
    let whole = std::fs::read(&newest).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(&newest, damaged).unwrap();
    let said = restitch(dir.path(), &["undo"], "").exits(3).err;
    assert!(said.contains("damaged") && said.contains("00000002") && said.contains("remove it"), "{said}");
    // The others are told, and can be undone.
    let said = restitch(dir.path(), &["undo", "--list"], "").exits(0).out;
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.len() == 2 && lines[0].starts_with("2  damaged: ") && lines[1].starts_with("1  "), "{said}");
    let said = restitch(dir.path(), &["undo", "--list", "--json"], "").exits(0).out;
    let entries = serde_json::from_str::<serde_json::Value>(&said).unwrap()["entries"].clone();
    assert!(entries[0]["damaged"].as_str().unwrap().contains("00000002") && entries[1]["paths"][0] == "a", "{said}");
    std::fs::write(&newest, &whole[..whole.len() - 1]).unwrap();
    let said = restitch(dir.path(), &["undo", "--list"], "").exits(0).out;
    assert!(said.starts_with("1  ") && said.lines().count() == 1, "{said}");
}
