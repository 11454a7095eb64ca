use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use restitch::harness::manifest::{Code, CompileOptions, Entry, EntryKind, MemSource, Severity, Source, compile};
use restitch::{RelPath, SourceError};

use crate::trees::{Tree, disk, path, shown};

/// All trees with what is said of them, sorted by name.
fn fixtures() -> Vec<(PathBuf, Tree)> {
    let mut all: Vec<_> = fs::read_dir("tests/fixtures/manifests")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .map(|path| {
            let tree = Tree::parse(&fs::read_to_string(&path).unwrap());
            (path, tree)
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() > 30);
    all
}

/// The lines above a tree that say what is expected, flags left out.
fn expected(tree: &Tree) -> String {
    tree.head.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_tree_has_its_findings_on_disk_and_in_memory() {
    let mut wrong = Vec::new();
    for (file, tree) in fixtures() {
        let compiled = tree.compile();
        let dir = tempfile::tempdir().unwrap();
        tree.write(dir.path());
        let on_disk = compile(&disk(dir.path()), tree.options());
        assert_eq!(shown(&on_disk), shown(&compiled), "{}", file.display());
        assert_eq!((&on_disk.manifest, &on_disk.inputs), (&compiled.manifest, &compiled.inputs), "{}", file.display());
        assert_eq!(compiled.manifest.is_none(), compiled.count(Severity::Error) > 0, "{}", file.display());
        if shown(&compiled) != expected(&tree) {
            wrong.push((file, tree, shown(&compiled)));
        }
    }
    // To look at what has become of the expectations after a change of words: git diff.
    if std::env::var_os("RESTITCH_BLESS").is_some() {
        for (file, tree, now) in &wrong {
            let text = fs::read_to_string(file).unwrap();
            let flags: String =
                tree.head.lines().filter(|line| line.starts_with('#')).map(|l| format!("{l}\n")).collect();
            fs::write(file, format!("{flags}{now}{}", &text[tree.head.len()..])).unwrap();
        }
    }
    let wrong: Vec<String> = wrong
        .iter()
        .map(|(file, tree, now)| format!("{}\nexpected:\n{}got:\n{now}", file.display(), expected(tree)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_is_triggered_by_a_fixture() {
    // What no text file can hold is built by `trees_that_only_a_disk_can_hold` and `bounds_are_told`.
    let built = [Code::Link, Code::Unreadable, Code::TooMany, Code::TooLarge, Code::NotUtf8];
    let mut seen: BTreeSet<Code> = built.into();
    for (file, tree) in fixtures() {
        let codes: BTreeSet<Code> = tree.compile().diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        let named = file.file_stem().unwrap().to_str().unwrap();
        if let Some(code) = Code::ALL.iter().find(|code| code.as_str().replace('/', "-") == named) {
            assert!(codes.contains(code), "{named} does not trigger its code");
        }
        seen.extend(codes);
    }
    let unseen: Vec<&str> = Code::ALL.iter().filter(|code| !seen.contains(code)).map(|code| code.as_str()).collect();
    assert!(unseen.is_empty(), "no fixture triggers {unseen:?}");
}

#[test]
fn every_code_is_in_the_guide() {
    let guide = fs::read_to_string("docs/harness.md").unwrap();
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.as_str())
        .filter(|name| !guide.contains(&format!("`{}`", name.split_once('/').unwrap().1)))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The codes and files of all findings but warnings about the model.
fn found(source: &dyn Source) -> Vec<(Code, String)> {
    let all = compile(source, CompileOptions::new()).diagnostics;
    all.into_iter().filter(|d| d.code != Code::NoModel).map(|d| (d.code, d.file)).collect()
}

#[test]
fn trees_that_only_a_disk_can_hold() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("agent");
    for folder in ["", "skills", "tools", "sandbox/workspace/empty"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(dir.path().join("outside.md"), "outside").unwrap();
    fs::write(root.join("instructions.md"), "Help.\n").unwrap();
    fs::write(root.join("lib.md"), "Shared.\n").unwrap();
    symlink("../lib.md", root.join("skills/inside.md")).unwrap();
    symlink("../../outside.md", root.join("skills/outside.md")).unwrap();
    symlink("nowhere", root.join("skills/dangling.md")).unwrap();
    symlink("../skills", root.join("skills/folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("tools/socket.toml")).unwrap();
    fs::write(root.join("tools").join(std::ffi::OsStr::from_bytes(b"\xff.toml")), "").unwrap();
    fs::write(root.join("skills/latin.md"), b"# Caf\xe9\n").unwrap();
    let all = found(&disk(&root));
    let want = [
        (Code::UnknownFile, "lib.md"),
        (Code::Link, "skills/dangling.md"),
        (Code::Link, "skills/folder"),
        (Code::NotUtf8, "skills/latin.md"),
        (Code::Link, "skills/outside.md"),
        (Code::BadName, "tools"),
        (Code::Unreadable, "tools/socket.toml"),
    ];
    assert_eq!(all, want.map(|(code, file)| (code, file.to_owned())));
}

#[test]
fn bounds_are_told() {
    let base = || MemSource::new().file(path("instructions.md"), "Help.");
    let big = base().file(path("skills/big.md"), vec![b'x'; (1 << 20) + 1]);
    assert_eq!(found(&big), [(Code::TooLarge, "skills/big.md".to_owned())]);
    let exact = base().file(path("skills/big.md"), vec![b'x'; 1 << 20]);
    assert_eq!(found(&exact), []);
    let deep = base().file(path(&format!("lib/{}x", "d/".repeat(30))), "");
    assert_eq!(found(&deep).iter().map(|(code, _)| *code).collect::<Vec<_>>(), [Code::TooMany]);
    let many = (0..10_001).fold(base(), |tree, n| tree.file(path(&format!("lib/{}/{n}", n % 7)), ""));
    assert_eq!(found(&many).iter().filter(|(code, _)| *code == Code::TooMany).count(), 1);
}

/// A tree one directory of which cannot be listed.
struct Locked(MemSource);

impl Source for Locked {
    fn list(&self, dir: Option<&RelPath>, most: usize) -> Result<Vec<Entry>, SourceError> {
        if dir.is_some_and(|dir| dir.as_str() == "lib") {
            let message = "permission denied".into();
            return Err(SourceError::Io { kind: std::io::ErrorKind::PermissionDenied, message });
        }
        let mut entries = self.0.list(dir, most)?;
        if dir.is_none() {
            entries.push(Entry { name: b"lib".to_vec(), kind: EntryKind::Dir });
        }
        entries.reverse();
        Ok(entries)
    }

    fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, SourceError> {
        self.0.read(path, most)
    }
}

#[test]
fn a_directory_that_cannot_be_listed_is_an_error() {
    let locked = Locked(MemSource::new().file(path("instructions.md"), "Help."));
    assert_eq!(found(&locked), [(Code::Unreadable, "lib".to_owned())]);
}

/// A tree that lists its directories backwards.
struct Backwards(MemSource);

impl Source for Backwards {
    fn list(&self, dir: Option<&RelPath>, most: usize) -> Result<Vec<Entry>, SourceError> {
        self.0.list(dir, most).map(|mut entries| {
            entries.reverse();
            entries
        })
    }

    fn read(&self, path: &RelPath, most: u64) -> Result<Vec<u8>, SourceError> {
        self.0.read(path, most)
    }
}

#[test]
fn the_order_of_listings_does_not_matter() {
    for (file, tree) in fixtures() {
        let (one, two) = (tree.compile(), compile(&Backwards(tree.memory()), tree.options()));
        assert_eq!(one.manifest, two.manifest, "{}", file.display());
        assert_eq!(one.inputs, two.inputs, "{}", file.display());
        assert_eq!(shown(&one), shown(&two), "{}", file.display());
    }
}
