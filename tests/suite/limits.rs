#![allow(clippy::print_stdout, reason = "what was counted or skipped is shown on demand")]

use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Said, TestDir, apply_patch, run, tree};

fn patch(ops: &str) -> String {
    format!("*** Begin Patch\n{ops}*** End Patch\n")
}

/// A file system in memory; `None`, with a word about it, where mounting is not allowed.
struct Mount(PathBuf);

impl Mount {
    fn new(at: &Path, options: &str) -> Option<Self> {
        let done = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(at).output().ok()?;
        if !done.status.success() {
            println!("skipped: this test must be allowed to mount");
            return None;
        }
        Some(Mount(at.to_owned()))
    }

    fn read_only(&self) {
        let done = Command::new("mount").args(["-o", "remount,ro"]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _the_system_does_it_later = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn a_read_only_file_system_is_told_and_nothing_changes() {
    let dir = TestDir::new(&[]);
    let Some(mount) = Mount::new(dir.path(), "size=1m") else { return };
    dir.write("a", b"1\n");
    dir.write("b", b"1\n");
    mount.read_only();
    for ops in ["*** Update File: a\n@@\n-1\n+2\n", "*** Update File: a\n@@\n-1\n+2\n*** Delete File: b\n"] {
        let said = apply_patch(dir.path(), &[], &patch(ops)).exits(3);
        assert!(said.err.contains("Read-only file system") && said.err.contains("nothing was changed"), "{}", said.err);
    }
    assert_eq!((dir.read("a"), dir.read("b")), ("1\n".into(), "1\n".into()));
}

#[test]
fn a_full_file_system_is_told_and_everything_put_back() {
    let dir = TestDir::new(&[]);
    let Some(_mount) = Mount::new(dir.path(), "size=256k") else { return };
    dir.write("a", b"1\n");
    let before = dir.tree();
    let large = "+0123456789abcdef0123456789abcdef\n".repeat(2_000);
    let ops = format!(
        "*** Update File: a\n@@\n-1\n+2\n*** Add File: x/1\n{large}*** Add File: x/2\n{large}{large}{large}{large}"
    );
    let said = apply_patch(dir.path(), &[], &patch(&ops)).exits(3);
    assert!(said.err.contains("No space left") && said.err.contains("x/2"), "{}", said.err);
    assert_eq!(dir.tree(), before);
    apply_patch(dir.path(), &[], &patch("*** Update File: a\n@@\n-1\n+2\n")).exits(0);
}

/// Runs the program as nobody; `None` where that is not possible.
fn as_nobody(root: &Path, text: &str) -> Option<Said> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can become somebody else");
        return None;
    }
    // The program must be somewhere nobody may go to.
    let public = tempfile::tempdir_in("/tmp").ok()?;
    std::fs::set_permissions(public.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let program = public.path().join("apply_patch");
    // By another process: were it open for writing in this one, what other tests start meanwhile would hold it open, and a
    // program that is open for writing cannot be started.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_apply_patch")).arg(&program).status().unwrap();
    assert!(copied.success());
    Some(run(Command::new(&program).current_dir(root).uid(65_534).gid(65_534), text.as_bytes()))
}

fn given_to_all(dir: &TestDir) {
    for (path, _) in dir.tree() {
        std::os::unix::fs::chown(dir.path().join(path), Some(65_534), Some(65_534)).ok();
    }
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o777)).unwrap();
}

#[test]
fn one_directory_of_many_without_permission_is_named_and_nothing_changes() {
    let names: Vec<String> = (0..30).map(|n| format!("d{n}/f")).collect();
    let dir = TestDir::new(&names.iter().map(|name| (name.as_str(), "1\n")).collect::<Vec<_>>());
    given_to_all(&dir);
    std::fs::set_permissions(dir.path().join("d17"), PermissionsExt::from_mode(0o555)).unwrap();
    std::os::unix::fs::chown(dir.path().join("d17"), Some(0), Some(0)).ok();
    let before = dir.tree();
    let ops: String = names.iter().map(|name| format!("*** Update File: {name}\n@@\n-1\n+2\n")).collect();
    let Some(said) = as_nobody(dir.path(), &patch(&ops)) else { return };
    let said = said.exits(3);
    assert!(said.err.contains("d17/f") && said.err.contains("Permission denied"), "{}", said.err);
    assert_eq!(dir.tree(), before);
}

#[test]
fn a_git_directory_that_may_not_be_written_is_no_obstacle() {
    let dir = TestDir::new(&[("a", "1\n"), ("b", "1\n"), (".git/HEAD", "x")]);
    given_to_all(&dir);
    std::os::unix::fs::chown(dir.path().join(".git"), Some(0), Some(0)).ok();
    std::fs::set_permissions(dir.path().join(".git"), PermissionsExt::from_mode(0o755)).unwrap();
    let Some(said) = as_nobody(dir.path(), &patch("*** Update File: a\n@@\n-1\n+2\n*** Delete File: b\n")) else {
        return;
    };
    said.exits(0);
    assert_eq!(dir.tree().keys().map(String::as_str).collect::<Vec<_>>(), [".git", ".git/HEAD", "a"]);
}

#[test]
fn a_name_that_is_too_long_is_named_and_nothing_changes() {
    let dir = TestDir::new(&[("a", "1\n")]);
    let before = dir.tree();
    let long = "n".repeat(256);
    for ops in [
        format!("*** Update File: a\n@@\n-1\n+2\n*** Add File: {long}\n+x\n"),
        format!("*** Update File: a\n*** Move to: new/{long}\n"),
        format!("*** Add File: new/1\n+x\n*** Add File: new/2\n+x\n*** Add File: new/{long}\n+x\n"),
    ] {
        let said = apply_patch(dir.path(), &[], &patch(&ops));
        assert!(matches!(said.code, Some(1 | 3)), "{said:?}");
        assert!(said.err.contains("File name too long") && said.err.len() < 8 << 10, "{}", said.err);
        assert_eq!(dir.tree(), before);
    }
    // The longest name there can be has room for a temporary file beside it.
    let longest = "n".repeat(255);
    apply_patch(dir.path(), &[], &patch(&format!("*** Update File: a\n*** Move to: {longest}\n@@\n-1\n+2\n"))).exits(0);
    assert_eq!(dir.read(&longest), "2\n");
}

#[test]
fn ten_thousand_files_need_few_open_ones() {
    let dir = TestDir::new(&[]);
    let mut ops = String::new();
    for n in 0..5_000 {
        dir.write(&format!("d{}/e{}/f{n}", n % 10, n % 70), b"1\n");
        ops.push_str(&format!("*** Update File: d{}/e{}/f{n}\n@@\n-1\n+2\n", n % 10, n % 70));
        ops.push_str(&format!("*** Add File: new{}/n{n}\n+x\n", n % 90));
    }
    let program = env!("CARGO_BIN_EXE_apply_patch");
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n 64; exec '{program}'")]).current_dir(dir.path());
    run(&mut shell, patch(&ops).as_bytes()).exits(0);
    let tree = tree(dir.path());
    assert!(!tree.keys().any(|path| path.contains(".restitch")));
    for n in 0..5_000 {
        assert_eq!(dir.read(&format!("d{}/e{}/f{n}", n % 10, n % 70)), "2\n");
        assert_eq!(dir.read(&format!("new{}/n{n}", n % 90)), "x\n");
    }
}

#[test]
fn whoever_holds_the_lock_is_named() {
    let dir = TestDir::new(&[("a", "1\n")]);
    let root = std::fs::File::open(dir.path()).unwrap();
    rustix::fs::flock(root.as_fd(), rustix::fs::FlockOperation::LockExclusive).unwrap();
    let fine = patch("*** Update File: a\n@@\n-1\n+2\n");
    let said = apply_patch(dir.path(), &["--wait", "0.05"], &fine).exits(1);
    assert!(said.err.contains("another process is at work in this tree"), "{}", said.err);
    if cfg!(target_os = "linux") {
        assert!(said.err.contains(&format!("process {}", std::process::id())), "{}", said.err);
    }
    assert_eq!(dir.read("a"), "1\n");
    drop(root);
    apply_patch(dir.path(), &["--wait", "5", "--durability", "power"], &fine).exits(0);
}
