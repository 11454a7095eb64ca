//! One tree, three ways to look at it (the kernel's call, the walk, memory): all must give the same answers.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// Name and link target (`None`: a file that holds its own name).
const TREE: &[(&str, Option<&str>)] = &[
    ("file", None),
    ("dir/sub/deep", None),
    ("dir/beside", None),
    (".gitignore", None),
    (".git/config", None),
    ("to_file", Some("file")),
    ("to_dir", Some("dir")),
    ("dir/up_and_in", Some("../file")),
    ("dir/sub/chain", Some("../up_and_in")),
    ("dangling", Some("no/where")),
    ("out", Some("../outside")),
    ("out_dir", Some("..")),
    ("out_and_back", Some("../root/file")),
    ("absolute_out", Some("/nowhere/else")),
    ("to_git", Some(".git")),
    ("loop_a", Some("loop_b")),
    ("loop_b", Some("loop_a")),
    ("to_self", Some(".")),
    ("missing_then_out", Some("no/../../outside")),
    ("through_file", Some("file/x")),
];

fn disk() -> (tempfile::TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(dir.path().join("outside"), "outside").unwrap();
    for (name, target) in TREE {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match target {
            None => std::fs::write(path, name).unwrap(),
            Some(target) => symlink(target, path).unwrap(),
        }
    }
    symlink(root.join("dir/sub"), root.join("absolute_in")).unwrap();
    let workspace = Workspace::open(&root).unwrap();
    (dir, workspace)
}

fn memory() -> MemSource {
    let tree = TREE.iter().fold(MemSource::new(), |tree, (name, target)| match target {
        None => tree.file(name, *name),
        Some(target) => tree.link(name, target),
    });
    tree.link("absolute_in", "/root/dir/sub")
}

fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

/// The answer of `load` in one line.
fn loaded(source: &dyn Source, at: &str) -> String {
    match source.load(&path(at)) {
        Ok(Loaded { path, state: State::Absent }) => format!("{path} absent"),
        Ok(Loaded { path, state: State::File(data) }) => format!("{path} file {}", bstr::BStr::new(&**data.bytes)),
        Ok(Loaded { path, state: State::Dir }) => format!("{path} dir"),
        Ok(Loaded { path, state: State::Link(to) }) => format!("{path} link {}", bstr::BStr::new(&to)),
        Ok(Loaded { path, state: State::Special(what) }) => format!("{path} {what}"),
        Err(error) => error.to_string(),
    }
}

fn followed(source: &dyn Source, at: &str) -> String {
    source.follow(&path(at)).map_or_else(|error| error.to_string(), |path| path.to_string())
}

const OUTSIDE: &str = "leads outside the root through a symbolic link";
const GIT: &str = "lies inside `.git`, which no patch may touch";
const LOOP: &str = "its symbolic links form a loop";

const LOADED: &[(&str, &str)] = &[
    ("file", "file file file"),
    ("dir", "dir dir"),
    ("dir/sub/deep", "dir/sub/deep file dir/sub/deep"),
    ("nothing", "nothing absent"),
    ("no/where", "no/where absent"),
    ("file/x", "`file` on the way is not a directory"),
    ("file/x/y", "`file` on the way is not a directory"),
    ("to_file", "to_file link file"),
    ("to_file/x", "`file` on the way is not a directory"),
    ("to_dir", "to_dir link dir"),
    ("to_dir/beside", "dir/beside file dir/beside"),
    ("to_dir/sub/chain", "dir/sub/chain link ../up_and_in"),
    ("to_dir/new/file", "dir/new/file absent"),
    ("absolute_in/deep", "dir/sub/deep file dir/sub/deep"),
    ("to_self/to_dir/beside", "dir/beside file dir/beside"),
    ("dangling/x", "no/where/x absent"),
    ("out", "out link ../outside"),
    ("out/x", OUTSIDE),
    ("out_dir/outside", OUTSIDE),
    ("out_dir/root/file", OUTSIDE),
    ("absolute_out/x", OUTSIDE),
    ("missing_then_out/x", OUTSIDE),
    ("loop_a/x", LOOP),
    (".git/config", GIT),
    (".GIT/config", GIT),
    ("dir/.git", GIT),
    ("to_git/config", GIT),
    (".gitignore", ".gitignore file .gitignore"),
];

const FOLLOWED: &[(&str, &str)] = &[
    ("file", "file"),
    ("to_file", "file"),
    ("dir/sub/chain", "file"),
    ("to_dir/sub/chain", "file"),
    ("to_dir", "dir"),
    ("dangling", "no/where"),
    ("out", OUTSIDE),
    ("out_and_back", OUTSIDE),
    ("absolute_out", OUTSIDE),
    ("absolute_in", "dir/sub"),
    ("missing_then_out", OUTSIDE),
    ("loop_a", LOOP),
    ("to_git", GIT),
    ("through_file", "`file` on the way is not a directory"),
];

#[test]
fn the_kernel_the_walk_and_memory_agree() {
    let (_keep, kernel) = disk();
    let (_keep2, walk) = disk();
    let walk = walk.walk_only();
    let memory = memory();
    for (name, source) in [("kernel", &kernel as &dyn Source), ("walk", &walk), ("memory", &memory)] {
        for (at, want) in LOADED {
            assert_eq!(loaded(source, at), *want, "load {at} by {name}");
        }
        for (at, want) in FOLLOWED {
            assert_eq!(followed(source, at), *want, "follow {at} by {name}");
        }
    }
    let fell_back = kernel.walk_only.load(Ordering::Relaxed);
    assert_eq!(fell_back, cfg!(not(target_os = "linux")), "the kernel's call was really used");
}

#[test]
fn denied_links_are_refused_wherever_they_stand() {
    let (_keep, workspace) = disk();
    let workspace = workspace.symlinks(Symlinks::Deny);
    let memory = memory().symlinks(Symlinks::Deny);
    for source in [&workspace as &dyn Source, &memory] {
        for at in ["to_file", "to_dir/beside", "dangling", "out"] {
            assert_eq!(source.load(&path(at)).unwrap_err(), SourceError::LinkDenied, "{at}");
        }
        assert_eq!(loaded(source, "dir/beside"), "dir/beside file dir/beside");
    }
}

#[test]
fn special_files_are_named_and_not_read() {
    let (keep, workspace) = disk();
    let root = keep.path().join("root");
    let _listener = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(fifo.success());
    assert_eq!(loaded(&workspace, "socket"), "socket a socket");
    assert_eq!(loaded(&workspace, "pipe"), "pipe a named pipe");
    let walk = Workspace::open(&root).unwrap().walk_only();
    assert_eq!(loaded(&walk, "socket"), "socket a socket");
    assert_eq!(loaded(&walk, "pipe"), "pipe a named pipe");
    let refused = walk.open_read(&path("pipe"), true).unwrap_err();
    assert_eq!(refused, SourceError::NotAFile("a named pipe"));
}

#[test]
fn absolute_paths_are_known_by_name_and_by_identity() {
    let (keep, workspace) = disk();
    let alias = keep.path().join("alias");
    symlink(keep.path(), &alias).unwrap();
    let root = workspace.path().to_str().unwrap().to_owned();
    let alias = alias.to_str().unwrap();
    let cases = [
        (format!("{root}/dir/beside"), Some("dir/beside")),
        (format!("/.{root}//./dir/beside"), Some("dir/beside")),
        (root.clone(), Some("")),
        (format!("{root}-else/dir"), None),
        (format!("{root}/../outside"), Some("../outside")),
        (format!("{alias}/root/dir/beside"), Some("dir/beside")),
        (format!("{alias}/root"), Some("")),
        (format!("{alias}/root/../root/dir"), None),
        (format!("{alias}/none/dir"), None),
        ("/".into(), None),
        ("file".into(), None),
    ];
    for (absolute, want) in cases {
        let rest = workspace.strip_root(absolute.as_bytes());
        assert_eq!(rest.map(|rest| std::str::from_utf8(rest).unwrap()), want, "{absolute}");
    }
}

#[test]
fn reads_tell_size_and_attributes_and_stop_at_the_bound() {
    let (keep, workspace) = disk();
    let root = keep.path().join("root");
    std::fs::set_permissions(root.join("file"), PermissionsExt::from_mode(0o751)).unwrap();
    std::fs::hard_link(root.join("file"), root.join("other")).unwrap();
    let State::File(data) = workspace.load(&path("file")).unwrap().state else { panic!("a file") };
    assert_eq!((data.stamp.mode & 0o7777, data.stamp.links, data.stamp.size), (0o751, 2, 4));
    let (file, stamp) = workspace.open_read(&path("to_dir/up_and_in"), true).unwrap();
    assert_eq!(stamp, data.stamp);
    assert_eq!(std::io::read_to_string(file).unwrap(), "file");
    assert_eq!(workspace.stat(&path("other")).unwrap(), Some(stamp));
    assert_eq!(workspace.stat(&path("no/where")).unwrap(), None);
    let small = Workspace::open(&root).unwrap().max_file(3);
    assert_eq!(small.load(&path("file")).unwrap_err(), SourceError::TooLarge(4));
    assert!(small.load(&path("nothing")).is_ok());
}

#[test]
fn a_file_of_any_size_is_read_whole() {
    let (keep, workspace) = disk();
    for size in [0, 1, 4095, 4096, 4097, 300_000, 5_000_001] {
        let bytes = vec![b'x'; size];
        std::fs::write(keep.path().join("root/file"), &bytes).unwrap();
        let State::File(data) = workspace.load(&path("file")).unwrap().state else { panic!("a file") };
        assert!(data.bytes.as_slice() == bytes, "{size} bytes");
    }
    // The kernel makes these up as they are read and says their size is zero.
    if cfg!(target_os = "linux") {
        let proc = Workspace::open("/proc").unwrap();
        let State::File(data) = proc.load(&path("version")).unwrap().state else { panic!("a file") };
        assert!(data.bytes.starts_with(b"Linux"));
    }
}

#[test]
fn names_list_one_directory_up_to_the_bound() {
    let (_keep, workspace) = disk();
    for source in [&workspace as &dyn Source, &memory()] {
        let mut names = source.names(Some(&path("dir")), 100);
        names.sort();
        assert_eq!(names, ["beside", "sub", "up_and_in"]);
        assert_eq!(source.names(None, 2).len(), 2);
        assert!(source.names(Some(&path("nothing")), 5).is_empty());
    }
}

#[test]
fn a_root_that_is_none_is_an_error() {
    let (keep, _workspace) = disk();
    assert!(Workspace::open(keep.path().join("root/file")).is_err());
    assert!(Workspace::open(keep.path().join("nothing")).is_err());
}
