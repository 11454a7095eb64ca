//! Trees of files that look like code, the same on every machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::load::{Chance, code_line};

/// A tree: how many files, and how many lines they have on average.
#[derive(Clone, Copy)]
pub(crate) struct Tree {
    pub(crate) name: &'static str,
    files: usize,
    lines: usize,
}

pub(crate) const TREES: [Tree; 3] = [
    Tree { name: "small", files: 201, lines: 200 },
    Tree { name: "medium", files: 6_243, lines: 320 },
    Tree { name: "large", files: 65_537, lines: 100 },
];

/// A word that few files have, and one that none has.
pub(crate) const RARE: &str = "rare_needle_xyzzy";
pub(crate) const ABSENT: &str = "zzqqxx";

/// One file in so many has the rare word.
const RARE_IN: usize = 80;

/// Files of a directory, and directories of one.
const FILES_OF_A_DIRECTORY: usize = 24;
const PARTS: usize = 16;

impl Tree {
    /// Where the tree is, made if it is not there.
    pub(crate) fn made(self, under: &Path) -> std::io::Result<PathBuf> {
        let dir = under.join(self.name);
        let done = under.join(format!("{}.done", self.name));
        if !done.exists() {
            let _none = fs::remove_dir_all(&dir);
            self.make(&dir)?;
            fs::write(done, "")?;
        }
        Ok(dir)
    }

    fn make(self, dir: &Path) -> std::io::Result<()> {
        let mut chance = Chance::new(self.files as u64);
        fs::create_dir_all(dir)?;
        fs::write(dir.join(".gitignore"), "*.log\ntarget/\n/notes/old*/\n")?;
        let mut text = String::new();
        for file in 0..self.files {
            let part = file / FILES_OF_A_DIRECTORY;
            let dir = dir.join(format!("pkg{:02}/mod{part:04}", part % PARTS));
            fs::create_dir_all(&dir)?;
            text.clear();
            // Most files are small, some are long.
            let lines = self.lines / 4 + chance.below(self.lines) + chance.below(self.lines / 2);
            for i in 0..lines {
                code_line(&mut chance, i, &mut text);
                text.push('\n');
            }
            if file % RARE_IN == 7 {
                text += &format!("// {RARE}\n");
            }
            fs::write(dir.join(format!("f{file:05}.rs")), &text)?;
        }
        Ok(())
    }
}
