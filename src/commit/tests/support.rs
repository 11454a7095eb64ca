//! Trees as data, and steps from a line each.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use crate::commit::temp;
use crate::path::RelPath;
use crate::plan::{After, Before, NewContent, NewMode, Step};
use crate::text::Spliced;
use crate::workspace::{Loaded, Source as _, State, Workspace};

/// Path to `file MODE CONTENT`, `link TARGET` or `dir` (told only where nothing else tells that it is there).
pub(crate) type Tree = BTreeMap<String, String>;

pub(crate) fn tree(entries: &[(&str, &str)]) -> Tree {
    entries.iter().map(|(path, what)| ((*path).to_owned(), (*what).to_owned())).collect()
}

pub(crate) fn write(root: &Path, tree: &Tree) {
    for (path, what) in tree {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match what.split_once(' ').unwrap() {
            ("link", target) => symlink(target, path).unwrap(),
            (_, rest) => {
                let (mode, content) = rest.split_once(' ').unwrap();
                std::fs::write(&path, content).unwrap();
                let mode = u32::from_str_radix(mode, 8).unwrap();
                std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
            }
        }
    }
}

/// The tree as it is; of directories only those that were not there from the start.
pub(crate) fn read(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut todo = vec![root.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let meta = path.symlink_metadata().unwrap();
            let what = if meta.is_symlink() {
                format!("link {}", std::fs::read_link(&path).unwrap().display())
            } else if meta.is_dir() {
                todo.push(path);
                "dir".to_owned()
            } else {
                let content = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                format!("file {:o} {content}", meta.permissions().mode() & 0o7777)
            };
            if (&*name, &*what) != ("dir", "dir") {
                tree.insert(name, what);
            }
        }
    }
    tree
}

pub(crate) fn without_temporaries(tree: Tree) -> Tree {
    tree.into_iter().filter(|(path, _)| !path.contains(temp::PREFIX)).collect()
}

/// What shall be at a path.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    Absent,
    Content { content: String, like: Option<&'static str>, mode: Option<u32> },
    Moved(&'static str),
}

pub(crate) fn add(content: &str) -> Wish {
    Wish::Content { content: content.into(), like: None, mode: None }
}

pub(crate) fn edit(like: &'static str, content: &str) -> Wish {
    Wish::Content { content: content.into(), like: Some(like), mode: None }
}

pub(crate) fn edit_mode(like: &'static str, content: &str, mode: u32) -> Wish {
    Wish::Content { content: content.into(), like: Some(like), mode: Some(mode) }
}

/// The steps that lead from the disk as it is to the wishes.
pub(crate) fn plan(workspace: &Workspace, wishes: &[(&str, Wish)]) -> Vec<Step> {
    let path = |text: &str| RelPath::new(text.as_bytes()).unwrap();
    let step = |(at, wish): &(&str, Wish)| {
        let at = path(at);
        let before = match workspace.load(&at).map(|Loaded { state, .. }| state) {
            Ok(State::File(data)) => Before::File(data),
            Ok(State::Link(target)) => Before::Link(target),
            _ => Before::Absent,
        };
        let after = match wish {
            Wish::Absent => After::Absent,
            Wish::Moved(from) => After::Moved { from: path(from) },
            Wish::Content { content, like, mode } => {
                let spliced = Spliced::from_fresh(content.clone().into_bytes());
                let content = NewContent { base: Arc::default(), spliced };
                After::Content { content, like: like.map(path), mode: mode.map(NewMode::Exactly) }
            }
        };
        Step { path: at, before, after }
    };
    wishes.iter().map(step).collect()
}
