//! Slots: folders in which each file is a thing whose name is its path.

use std::collections::BTreeMap;

use super::diagnostic::{Code, Diagnostic};
use super::discover::{not_run, unknown_file};
use super::fields::Findings;
use super::names::{self, NameKind};
use super::walk::{Dir, File};
use crate::RelPath;

/// Extensions of modules, which this version does not run.
pub(super) const MODULES: &[&str] = &["js", "ts"];

/// What a folder of slots takes.
pub(super) struct Slots {
    /// Its name.
    pub(super) folder: &'static str,
    kind: NameKind,
    /// What fills a slot, besides modules.
    extensions: &'static [&'static str],
    /// Whether folders within give parts of names; otherwise the caller looks at them.
    nested: bool,
    /// Whether what fills a slot runs in this version.
    runs: bool,
    /// Whether other files belong here too.
    others: bool,
}

impl Slots {
    const BASE: Slots =
        Slots { folder: "", kind: NameKind::Entry, extensions: &["toml"], nested: true, runs: false, others: false };
    pub(super) const TOOLS: Slots =
        Slots { folder: "tools", kind: NameKind::Tool, runs: true, others: true, ..Slots::BASE };
    pub(super) const SKILLS: Slots = Slots {
        folder: "skills",
        kind: NameKind::Skill,
        extensions: &["md"],
        nested: false,
        runs: true,
        ..Slots::BASE
    };
    pub(super) const CONNECTIONS: Slots =
        Slots { folder: "connections", kind: NameKind::Connection, nested: false, ..Slots::BASE };
    pub(super) const HOOKS: Slots = Slots { folder: "hooks", kind: NameKind::Tool, ..Slots::BASE };
    pub(super) const CHANNELS: Slots = Slots { folder: "channels", ..Slots::BASE };
    pub(super) const SCHEDULES: Slots = Slots { folder: "schedules", extensions: &["toml", "md"], ..Slots::BASE };
    pub(super) const REMOTES: Slots = Slots { folder: "subagents", kind: NameKind::Tool, nested: false, ..Slots::BASE };
}

/// A file that fills a slot.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    /// The name its path gives.
    pub(super) name: String,
    pub(super) file: File,
}

/// The files of a folder of slots.
#[derive(Debug, Default)]
pub(super) struct Filling {
    /// What fills slots, sorted by name.
    pub(super) filled: Vec<Filled>,
    /// What does not.
    pub(super) others: Vec<File>,
}

/// Tells the files of `dir` apart.
pub(super) fn fill(dir: Option<&Dir>, slots: &Slots, out: &mut Findings) -> Filling {
    let mut filling = Filling::default();
    let Some(dir) = dir else { return filling };
    collect(dir, slots, "", &mut filling, out);
    filling.filled.sort_by(|a, b| (&a.name, &a.file.path).cmp(&(&b.name, &b.file.path)));
    // Ignoring case: a model mixes such names up, and so does a file system that ignores it.
    let mut seen: BTreeMap<String, &RelPath> = BTreeMap::new();
    for Filled { name, file } in &filling.filled {
        if let Some(other) = seen.insert(name.to_ascii_lowercase(), &file.path) {
            out.push(if without_extension(other) == without_extension(&file.path) {
                collision(other, &file.path)
            } else {
                same_name(name, &file.path, other)
            });
        }
    }
    filling
}

fn collect(dir: &Dir, slots: &Slots, prefix: &str, filling: &mut Filling, out: &mut Findings) {
    for file in &dir.files {
        let (stem, extension) = file.stem();
        let module = MODULES.contains(&extension);
        if stem.eq_ignore_ascii_case("readme") || stem.ends_with(".d") && extension == "ts" {
            continue;
        }
        if !module && !slots.extensions.contains(&extension) {
            match slots.others {
                true if extension == "md" => beside_a_module(dir, file, out),
                true => filling.others.push(file.clone()),
                false => out.push(unknown_file(&file.path, None, &known(slots))),
            }
            continue;
        }
        let name = format!("{prefix}{stem}");
        if !check_name(&file.path, &name, slots.kind, out) {
            continue;
        }
        if module || !slots.runs {
            let what = if slots.runs { "a module" } else { slots.folder };
            out.push(not_run(file.path.as_str(), &format!("`{name}` ({what})")));
        }
        filling.filled.push(Filled { name, file: file.clone() });
    }
    if slots.nested {
        for inner in &dir.dirs {
            collect(inner, slots, &format!("{prefix}{}-", inner.name()), filling, out);
        }
    } else if slots.folder == "connections" {
        for path in dir.dirs.iter().filter_map(|inner| inner.path.as_ref()) {
            let message = format!("the folder `{path}` means nothing here");
            out.push(Diagnostic::new(
                Code::UnknownFolder,
                path.as_str(),
                message,
                "connections are `connections/*.toml`",
            ));
        }
    }
}

/// A Markdown file in `tools/`: a second filling of a module's slot, or nothing.
fn beside_a_module(dir: &Dir, file: &File, out: &mut Findings) {
    let stem = file.stem().0;
    match dir.files.iter().find(|other| other.stem().0 == stem && other.path != file.path) {
        Some(other) => out.push(collision(&other.path, &file.path)),
        None => out.push(unknown_file(&file.path, None, &known(&Slots::TOOLS))),
    }
}

fn known(slots: &Slots) -> Vec<&'static str> {
    slots
        .extensions
        .iter()
        .chain(MODULES)
        .map(|extension| match *extension {
            "md" => "*.md",
            "toml" => "*.toml",
            "js" => "*.js",
            _ => "*.ts",
        })
        .collect()
}

fn without_extension(path: &RelPath) -> &str {
    path.as_str().rsplit_once('.').map_or(path.as_str(), |(stem, _)| stem)
}

/// Whether `path` may give `name`; if not, says why.
pub(super) fn check_name(path: &RelPath, name: &str, kind: NameKind, out: &mut Findings) -> bool {
    if !kind.allows(name) {
        let message = format!("`{path}` would have the name `{name}`, which is not allowed");
        out.push(Diagnostic::new(Code::BadName, path.as_str(), message, format!("rename it: {}", kind.pattern())));
        return false;
    }
    if names::reserved(name) {
        let message = format!("the name `{name}` of `{path}` belongs to the program");
        out.push(Diagnostic::new(Code::ReservedName, path.as_str(), message, "rename it"));
        return false;
    }
    true
}

/// Two files in one slot.
pub(super) fn collision(first: &RelPath, second: &RelPath) -> Diagnostic {
    let message = format!("`{second}` and `{first}` fill the same slot");
    let help = "keep one of the two";
    Diagnostic::new(Code::SlotCollision, second.as_str(), message, help).other(first.as_str())
}

/// Two paths with one name.
pub(super) fn same_name(name: &str, path: &RelPath, other: &RelPath) -> Diagnostic {
    let message = format!("`{path}` and `{other}` both have the name `{name}`");
    Diagnostic::new(Code::NameCollision, path.as_str(), message, "rename one of the two").other(other.as_str())
}
