//! Trees in one text file each: `-- path --` begins a file, `-- path [x] --` one that may be executed; what stands
//! above the first is for the test that reads the tree.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use restitch::harness::manifest::{Compilation, CompileOptions, DiskSource, MemSource, compile};
use restitch::{RelPath, Workspace};

/// A file: its path, whether it may be executed, its content.
pub(crate) struct TreeFile {
    pub(crate) path: String,
    pub(crate) executable: bool,
    pub(crate) content: String,
}

/// A tree and what stands above it.
pub(crate) struct Tree {
    pub(crate) head: String,
    pub(crate) files: Vec<TreeFile>,
}

impl Tree {
    pub(crate) fn parse(text: &str) -> Tree {
        let mut tree = Tree { head: String::new(), files: Vec::new() };
        for line in text.split_inclusive('\n') {
            let header = line.trim_end().strip_prefix("-- ").and_then(|line| line.strip_suffix(" --"));
            match (header, tree.files.last_mut()) {
                (Some(header), _) => {
                    let (path, executable) = match header.strip_suffix(" [x]") {
                        Some(path) => (path, true),
                        None => (header, false),
                    };
                    tree.files.push(TreeFile { path: path.into(), executable, content: String::new() });
                }
                (None, Some(file)) => file.content.push_str(line),
                (None, None) => tree.head.push_str(line),
            }
        }
        tree
    }

    /// Whether the head has the line `flag`.
    pub(crate) fn flag(&self, flag: &str) -> bool {
        self.head.lines().any(|line| line == flag)
    }

    pub(crate) fn options(&self) -> CompileOptions {
        CompileOptions::new().flat(self.flag("# flat"))
    }

    pub(crate) fn memory(&self) -> MemSource {
        self.files.iter().fold(MemSource::new(), |source, file| {
            let path = path(&file.path);
            match file.executable {
                true => source.executable(path, file.content.as_bytes()),
                false => source.file(path, file.content.as_bytes()),
            }
        })
    }

    pub(crate) fn write(&self, root: &Path) {
        for file in &self.files {
            let path = root.join(&file.path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &file.content).unwrap();
            let mode = if file.executable { 0o755 } else { 0o644 };
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
    }

    pub(crate) fn compile(&self) -> Compilation {
        compile(&self.memory(), self.options())
    }
}

pub(crate) fn path(text: &str) -> RelPath {
    RelPath::new(text.as_bytes()).unwrap()
}

pub(crate) fn disk(root: &Path) -> DiskSource {
    DiskSource::new(Workspace::open(root).unwrap())
}

/// The findings as a person reads them.
pub(crate) fn shown(compilation: &Compilation) -> String {
    compilation.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect()
}
