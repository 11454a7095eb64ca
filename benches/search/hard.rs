//! Trees that are hard to search, each answered within a budget: what an answer takes at most.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use crate::once;

/// Files of the wide tree.
const FILES: usize = 50_000;

/// What is asked, where, and by which words of `restitch`.
const ASKED: [(&str, &str, &[&str]); 14] = [
    ("50,000 files, an absent word", "wide", &["search", "-F", "absent"]),
    ("50,000 files, a word of all, 50 rows", "wide", &["search", "-F", "common"]),
    ("the same, counted to the end", "wide", &["search", "--stats", "-F", "common"]),
    (
        "the same, all rows",
        "wide",
        &["search", "--mode", "count", "--limit", "50000", "--max-bytes", "9999999", "common"],
    ),
    ("the same, paths by time", "wide", &["glob", "--sort", "time", "*"]),
    ("a line of 1 GiB, literal", "long", &["search", "--mode", "content", "-F", "needle"]),
    ("a line of 1 GiB, regular expression", "long", &["search", "--mode", "content", "need[l]e"]),
    ("a line of 1 GiB, multi-line", "long", &["search", "-U", "absent", "line.txt"]),
    ("a line of 1 GiB, read", "long", &["read", "line.txt"]),
    ("a tree with pipe, socket, links in loops", "odd", &["search", "--follow", "--stats", "needle"]),
    ("a pipe by its name", "odd", &["search", "needle", "pipe"]),
    ("a loop of links by its name", "odd", &["search", "needle", "loop1"]),
    ("a device by its name", "odd", &["search", "--root", "/dev", "needle", "zero"]),
    ("a directory that denies access", "locked", &["search", "needle"]),
];

/// Asks all of them and prints a table.
pub(crate) fn run(dir: &Path, myself: &str, program: &str) {
    let made = Command::new(myself).args(["hard", dir.to_str().expect("as UTF-8")]).status();
    assert!(made.is_ok_and(|status| status.success()), "the trees can be made");
    println!("\n| Asked | CPU ms | peak MB | bytes | exit | last line |\n| --- | ---: | ---: | ---: | ---: | --- |");
    for (name, tree, words) in ASKED {
        let tree = dir.join(tree);
        let ask = || {
            let mut command = Command::new(program);
            if fs::read_dir(tree.join("denied")).is_ok() {
                // Nothing is denied to this user.
                command = Command::new("setpriv");
                command.args(["--reuid=65534", "--clear-groups", program]);
            }
            command.args(words);
            command
        };
        let (run, code) = once(ask(), &tree);
        let (size, last) = said(ask().current_dir(&tree), &dir.join("said")).expect("it can be started");
        println!("| {name} | {:.0} | {:.1} | {size} | {code} | {last} |", run.cpu, run.peak as f64 / 1e6);
    }
}

/// How many bytes a program says, and the last line. It goes through a file, since what is started inherits the peak memory
/// of what starts it.
fn said(command: &mut Command, file: &Path) -> std::io::Result<(u64, String)> {
    let out = fs::File::create(file)?;
    command.stdout(out.try_clone()?).stderr(out).status()?;
    let mut out = fs::File::open(file)?;
    let size = out.metadata()?.len();
    out.seek(SeekFrom::Start(size.saturating_sub(400)))?;
    let mut tail = Vec::new();
    out.read_to_end(&mut tail)?;
    let last = String::from_utf8_lossy(&tail).lines().last().unwrap_or_default().chars().take(70).collect();
    Ok((size, last))
}

/// Makes the trees that are not there yet.
pub(crate) fn make(dir: &Path) -> std::io::Result<()> {
    if dir.join("done").exists() {
        return Ok(());
    }
    for file in 0..FILES {
        let part = dir.join(format!("wide/d{:03}", file / 500));
        fs::create_dir_all(&part)?;
        fs::write(part.join(format!("f{file:05}.txt")), format!("file {file}\ncommon\n{}\n", "x".repeat(200)))?;
    }
    for tree in ["long", "odd/a", "locked/denied", "locked/open"] {
        fs::create_dir_all(dir.join(tree))?;
    }
    let mut line = fs::File::create(dir.join("long/line.txt"))?;
    let block = vec![b'x'; 1 << 20];
    for part in 0..1024 {
        line.write_all(if part == 700 { b"needle" } else { b"xxxxxx" })?;
        line.write_all(&block[6..])?;
    }
    let odd = dir.join("odd");
    fs::write(odd.join("a/found.txt"), "needle\n")?;
    Command::new("mkfifo").arg(odd.join("pipe")).status()?;
    let _socket = std::os::unix::net::UnixListener::bind(odd.join("socket"))?;
    for (target, link) in [("..", "a/up"), ("a", "again"), ("loop2", "loop1"), ("loop1", "loop2"), ("/etc", "outside")]
    {
        symlink(target, odd.join(link))?;
    }
    fs::write(dir.join("locked/open/found.txt"), "needle\n")?;
    fs::write(dir.join("locked/denied/hidden.txt"), "needle\n")?;
    fs::set_permissions(dir.join("locked/denied"), fs::Permissions::from_mode(0o000))?;
    fs::write(dir.join("done"), "")
}
