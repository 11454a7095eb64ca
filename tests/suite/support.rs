use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What stands at each path of a tree.
pub(crate) type Tree = BTreeMap<String, Entry>;

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
    Dir,
    Other,
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Entry::File { bytes, mode } => write!(f, "file {mode:o} {:?}", String::from_utf8_lossy(bytes)),
            Entry::Link(target) => write!(f, "link {}", target.display()),
            Entry::Dir => f.write_str("dir"),
            Entry::Other => f.write_str("other"),
        }
    }
}

/// A directory that is removed at the end of the test.
pub(crate) struct TestDir(tempfile::TempDir);

impl TestDir {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = TestDir(tempfile::tempdir().unwrap());
        for (path, text) in files {
            dir.write(path, text.as_bytes());
        }
        dir
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8(std::fs::read(self.path().join(path)).unwrap()).unwrap()
    }

    pub(crate) fn tree(&self) -> Tree {
        tree(self.path())
    }
}

/// Everything below `root`.
pub(crate) fn tree(root: &Path) -> Tree {
    let mut out = Tree::new();
    walk(root, root, &mut out);
    out
}

fn walk(root: &Path, dir: &Path, out: &mut Tree) {
    use std::os::unix::fs::PermissionsExt as _;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let meta = std::fs::symlink_metadata(&path).unwrap();
        let entry = if meta.is_symlink() {
            Entry::Link(std::fs::read_link(&path).unwrap())
        } else if meta.is_dir() {
            walk(root, &path, out);
            Entry::Dir
        } else if meta.is_file() {
            Entry::File { bytes: std::fs::read(&path).unwrap(), mode: meta.permissions().mode() & 0o7777 }
        } else {
            Entry::Other
        };
        out.insert(name, entry);
    }
}

/// What a program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Said {
    /// Asserts the exit code and shows everything when it is another.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "exit code; stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}

/// Runs `apply_patch` in `root`.
pub(crate) fn apply_patch(root: &Path, args: &[&str], patch: &str) -> Said {
    run(Command::new(env!("CARGO_BIN_EXE_apply_patch")).args(args).current_dir(root), patch.as_bytes())
}

/// Runs `restitch` in `root`.
pub(crate) fn restitch(root: &Path, args: &[&str], input: &str) -> Said {
    run(Command::new(env!("CARGO_BIN_EXE_restitch")).args(args).current_dir(root), input.as_bytes())
}

/// Runs a program with `input` on its standard input.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Said {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A program that does not read all of its input is no failure of the test.
        let _unread = stdin.write_all(&input);
    });
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Said {
        code: done.status.code(),
        out: String::from_utf8(done.stdout).unwrap(),
        err: String::from_utf8(done.stderr).unwrap(),
    }
}

/// Numbers that look random and are the same on every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
