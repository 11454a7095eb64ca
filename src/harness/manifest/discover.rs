//! Which file fills which slot of which node. Names and paths only: nothing is read, nothing of the author's runs.

use super::diagnostic::{Code, Diagnostic, nearest};
use super::fields::Findings;
use super::names::{self, NameKind};
use super::slots::{self, Filled, Slots};
use super::types::ROOT;
use super::walk::{Dir, FOLDERS, File};
use crate::RelPath;

/// The files of one node, told apart.
#[derive(Debug, Default)]
pub(super) struct NodeFiles {
    /// Its id.
    pub(super) id: String,
    /// Its directory; `None`: the top.
    pub(super) dir: Option<RelPath>,
    pub(super) config: Option<RelPath>,
    pub(super) instructions: Vec<RelPath>,
    pub(super) skills: Vec<SkillFiles>,
    /// Declarations, markers and modules.
    pub(super) tools: Vec<Filled>,
    /// What else lies in `tools/`: programs that declarations name.
    pub(super) programs: Vec<File>,
    pub(super) connections: Vec<Filled>,
    pub(super) hooks: Vec<Filled>,
    pub(super) channels: Vec<Filled>,
    pub(super) schedules: Vec<Filled>,
    pub(super) remotes: Vec<Filled>,
    pub(super) sandbox: Option<RelPath>,
    pub(super) workspace: Vec<RelPath>,
    pub(super) lib: Vec<File>,
    pub(super) children: Vec<NodeFiles>,
}

/// The files of one skill.
#[derive(Debug)]
pub(super) struct SkillFiles {
    pub(super) id: String,
    pub(super) file: RelPath,
    pub(super) packaged: bool,
    pub(super) resources: Vec<RelPath>,
}

/// The files at a node's top that are not another slot's.
const FILES: &[&str] = &["agent.toml", "instructions.md", "sandbox.toml"];
/// What people put beside anything, and what modules need.
const BESIDE: &[&str] =
    &["README", "LICENSE", "CHANGELOG", "AGENTS", "package.json", "package-lock.json", "tsconfig.json"];

/// Tells the files of the tree apart. In a `flat` agent the top is also a project's, whose own files are no news.
pub(super) fn discover(tree: &Dir, flat: bool, out: &mut Findings) -> NodeFiles {
    let mut root = node(tree, ROOT, flat, out);
    root.id = ROOT.into();
    if root.config.is_none() && root.instructions.is_empty() {
        let help = "write instructions.md (what the agent is to do) and agent.toml (its model), or let `restitch agent \
                    new` write them";
        out.push(Diagnostic::new(Code::NoAgent, ".", "there is neither agent.toml nor instructions", help));
    }
    root
}

fn node(dir: &Dir, id: &str, flat: bool, out: &mut Findings) -> NodeFiles {
    let mut found = NodeFiles { id: id.into(), dir: dir.path.clone(), ..NodeFiles::default() };
    top_files(dir, flat, &mut found, out);
    top_folders(dir, flat, out);
    instructions(dir, &mut found, out);
    if let Some(skills) = dir.dir("skills") {
        found.skills = self::skills(skills, out);
    }
    tools(dir, &mut found, out);
    found.connections = slots::fill(dir.dir("connections"), &Slots::CONNECTIONS, out).filled;
    found.hooks = slots::fill(dir.dir("hooks"), &Slots::HOOKS, out).filled;
    root_only(dir, id == ROOT, &mut found, out);
    sandbox(dir, &mut found, out);
    if let Some(lib) = dir.dir("lib") {
        let mut files = Vec::new();
        lib.all(&mut files);
        found.lib = files.into_iter().cloned().collect();
    }
    if let Some(memory) = dir.dir("memory").and_then(|memory| memory.path.as_ref()) {
        out.push(not_run(memory.as_str(), "memory/"));
    }
    subagents(dir, id, &mut found, out);
    found
}

/// The files at the top of a node.
fn top_files(dir: &Dir, flat: bool, found: &mut NodeFiles, out: &mut Findings) {
    for file in &dir.files {
        let (name, (stem, extension)) = (file.path.name(), file.stem());
        match name {
            "agent.toml" => found.config = Some(file.path.clone()),
            "instructions.md" => {}
            "sandbox.toml" => {
                found.sandbox = Some(file.path.clone());
                out.push(not_run(file.path.as_str(), "sandbox.toml"));
            }
            _ if slots::MODULES.contains(&extension) && ["agent", "instructions", "sandbox"].contains(&stem) => {
                out.push(not_run(file.path.as_str(), "a module in this place"));
            }
            _ if BESIDE.contains(&name) || BESIDE.contains(&stem) => {}
            _ => {
                let near = nearest(name, FILES.iter().copied());
                if near.is_some() || !flat {
                    out.push(unknown_file(&file.path, near, FILES));
                }
            }
        }
    }
    for (stem, extension) in [("instructions", "md"), ("agent", "toml"), ("sandbox", "toml")] {
        let Some(first) = dir.file(&format!("{stem}.{extension}")) else { continue };
        for module in slots::MODULES.iter().filter_map(|module| dir.file(&format!("{stem}.{module}"))) {
            out.push(slots::collision(&first.path, &module.path));
        }
    }
}

/// The folders at the top of a node that mean nothing.
fn top_folders(dir: &Dir, flat: bool, out: &mut Findings) {
    // Recordings of a model's replies lie in `cassettes/`, which only the model's client reads.
    for path in dir.unread.iter().filter(|path| path.name() != "cassettes") {
        let near = nearest(path.name(), FOLDERS.iter().copied());
        if near.is_some() || !flat {
            let help = match near {
                Some(near) => format!("did you mean `{near}/`?"),
                None => format!("move it out of the agent; folders that mean something: {}", FOLDERS.join(", ")),
            };
            let message = format!("the folder `{path}` means nothing here and was not looked into");
            out.push(Diagnostic::new(Code::UnknownFolder, path.as_str(), message, help));
        }
    }
}

fn instructions(dir: &Dir, found: &mut NodeFiles, out: &mut Findings) {
    let single = dir.file("instructions.md");
    let Some(folder) = dir.dir("instructions") else {
        found.instructions.extend(single.map(|file| file.path.clone()));
        return;
    };
    if let (Some(single), Some(folder)) = (single, &folder.path) {
        out.push(slots::collision(&single.path, folder));
        return;
    }
    for file in &folder.files {
        match file.stem().1 {
            "md" => found.instructions.push(file.path.clone()),
            extension if slots::MODULES.contains(&extension) => {
                out.push(not_run(file.path.as_str(), "a module in this place"));
            }
            _ => out.push(unknown_file(&file.path, None, &["*.md"])),
        }
    }
    folder.dirs.iter().for_each(|inner| unknown_folder(inner, "instructions are `instructions/*.md`", out));
}

fn skills(dir: &Dir, out: &mut Findings) -> Vec<SkillFiles> {
    let flat = slots::fill(Some(dir), &Slots::SKILLS, out).filled;
    let mut skills: Vec<SkillFiles> = Vec::new();
    for Filled { name, file } in flat {
        if file.path.name().ends_with(".md") {
            skills.push(SkillFiles { id: name, file: file.path, packaged: false, resources: Vec::new() });
        }
    }
    for package in &dir.dirs {
        skills.extend(packaged(package, out));
    }
    skills.sort_by(|a, b| (&a.id, &a.file).cmp(&(&b.id, &b.file)));
    for pair in skills.windows(2) {
        if pair[0].id.eq_ignore_ascii_case(&pair[1].id) {
            let message = format!("two skills have the id `{}`", pair[1].id);
            let help = "rename one of them, or take it out";
            let diagnostic = Diagnostic::new(Code::SkillCollision, pair[1].file.as_str(), message, help);
            out.push(diagnostic.other(pair[0].file.as_str()));
        }
    }
    skills
}

fn packaged(dir: &Dir, out: &mut Findings) -> Option<SkillFiles> {
    let path = dir.path.as_ref()?;
    if !slots::check_name(path, dir.name(), NameKind::Skill, out) {
        return None;
    }
    let Some(file) = dir.file("SKILL.md") else {
        let near = dir.files.iter().find(|file| file.path.name().eq_ignore_ascii_case("skill.md"));
        let help = match near {
            Some(near) => format!("rename {} to SKILL.md", near.path),
            None => "write SKILL.md with `name` and `description` in its front matter".to_owned(),
        };
        let message = format!("the skill `{}` has no SKILL.md", dir.name());
        out.push(Diagnostic::new(Code::MissingSkillFile, path.as_str(), message, help));
        return None;
    };
    let mut files = Vec::new();
    dir.all(&mut files);
    let mut resources: Vec<RelPath> = files.iter().map(|file| file.path.clone()).collect();
    resources.retain(|path| *path != file.path);
    resources.sort();
    Some(SkillFiles { id: dir.name().into(), file: file.path.clone(), packaged: true, resources })
}

fn tools(dir: &Dir, found: &mut NodeFiles, out: &mut Findings) {
    let filled = slots::fill(dir.dir("tools"), &Slots::TOOLS, out);
    (found.tools, found.programs) = (filled.filled, filled.others);
}

/// `channels/` and `schedules/`.
fn root_only(dir: &Dir, root: bool, found: &mut NodeFiles, out: &mut Findings) {
    for slots in [&Slots::CHANNELS, &Slots::SCHEDULES] {
        let Some(folder) = dir.dir(slots.folder) else { continue };
        if root {
            let filled = slots::fill(Some(folder), slots, out).filled;
            match slots.folder {
                "channels" => found.channels = filled,
                _ => found.schedules = filled,
            }
        } else if let Some(path) = &folder.path {
            let message = format!("`{path}` is in a subagent, which has no {}", slots.folder);
            let help = format!("move it to {}/ of the root agent", slots.folder);
            out.push(Diagnostic::new(Code::RootOnly, path.as_str(), message, help));
        }
    }
}

fn sandbox(dir: &Dir, found: &mut NodeFiles, out: &mut Findings) {
    let Some(sandbox) = dir.dir("sandbox") else { return };
    for inner in &sandbox.dirs {
        if inner.name() == "workspace" {
            let mut files = Vec::new();
            inner.all(&mut files);
            found.workspace = files.iter().map(|file| file.path.clone()).collect();
            found.workspace.sort();
        } else {
            unknown_folder(inner, "what a workspace starts with goes to sandbox/workspace/", out);
        }
    }
    for file in &sandbox.files {
        match file.stem() {
            ("sandbox", extension) if slots::MODULES.contains(&extension) => {
                out.push(not_run(file.path.as_str(), "a module in this place"));
            }
            _ => out.push(unknown_file(&file.path, None, &["workspace/"])),
        }
    }
}

fn subagents(dir: &Dir, parent: &str, found: &mut NodeFiles, out: &mut Findings) {
    let Some(folder) = dir.dir("subagents") else { return };
    found.remotes = slots::fill(Some(folder), &Slots::REMOTES, out).filled;
    for inner in &folder.dirs {
        let Some(path) = &inner.path else { continue };
        if !slots::check_name(path, inner.name(), NameKind::Tool, out) {
            continue;
        }
        let id = if parent == ROOT { inner.name().to_owned() } else { format!("{parent}/{}", inner.name()) };
        let child = node(inner, &id, false, out);
        if child.config.is_none() {
            let message = format!("the subagent `{}` has no agent.toml", inner.name());
            let help = "write agent.toml with a `description` (its parent's model reads it) and a model";
            out.push(Diagnostic::new(Code::MissingConfig, path.as_str(), message, help));
        }
        let before = found.remotes.iter().map(|remote| (remote.name.as_str(), &remote.file.path));
        let before =
            before.chain(found.children.iter().filter_map(|other| Some((last(&other.id), other.dir.as_ref()?))));
        if let Some((_, other)) = before.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(inner.name())) {
            out.push(slots::same_name(inner.name(), path, other));
        }
        // Said once for it and all that is below it.
        if parent == ROOT {
            out.push(not_run(path.as_str(), &format!("`{}` (subagents)", inner.name())));
        }
        found.children.push(child);
    }
}

/// The last part of a node's id: the name its parent sees.
pub(super) fn last(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(_, name)| name)
}

pub(super) fn not_run(file: &str, what: &str) -> Diagnostic {
    let message = format!("{what} is not run by this version");
    let help = "the agent works without it; leave it for a later version, or take it out";
    Diagnostic::new(Code::NotRun, file, message, help)
}

pub(super) fn unknown_file(path: &RelPath, near: Option<&str>, known: &[&str]) -> Diagnostic {
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("move it out of the agent; what means something here: {}", known.join(", ")),
    };
    Diagnostic::new(Code::UnknownFile, path.as_str(), format!("the file `{path}` means nothing here"), help)
}

fn unknown_folder(dir: &Dir, help: &str, out: &mut Findings) {
    if let Some(path) = &dir.path
        && !names::generated(dir.name())
    {
        let message = format!("the folder `{path}` means nothing here");
        out.push(Diagnostic::new(Code::UnknownFolder, path.as_str(), message, help));
    }
}
