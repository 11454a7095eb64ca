//! The chain: walk, discover, read, check, manifest. Pure but for what it reads through the [`Source`].

use std::collections::BTreeMap;

use super::agent_toml::{self, AgentToml};
use super::diagnostic::{self, Code, Diagnostic, Severity};
use super::discover::{self, NodeFiles, not_run};
use super::fields::Findings;
use super::markdown;
use super::reader::Reader;
use super::slots::{Filled, MODULES};
use super::source::Source;
use super::tool_toml::{self, Declared};
use super::types::{BUILTINS, Edge, Feature, FileRef, KIND, Manifest, Node, Sandbox, Slot, Tool, VERSION};
use super::walk::{self, File};

/// What became of a tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compilation {
    /// The manifest; `None` when there are errors.
    pub manifest: Option<Manifest>,
    /// All findings, sorted by file and place.
    pub diagnostics: Vec<Diagnostic>,
    /// All files that were read, sorted by path.
    pub inputs: Vec<FileRef>,
}

impl Compilation {
    /// How many findings have this severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count()
    }
}

/// How a tree is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions {
    flat: bool,
}

impl CompileOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the agent's directory is a project's too, whose own files are no news. Default: no.
    #[must_use]
    pub fn flat(mut self, flat: bool) -> Self {
        self.flat = flat;
        self
    }
}

/// Compiles the tree of `source`. Equal trees give equal results; nothing of the author's is run.
///
/// # Complexity
/// Linear in the bytes of the tree, which is bounded in files, depth and bytes a file.
#[must_use]
pub fn compile(source: &dyn Source, options: CompileOptions) -> Compilation {
    let mut out = Findings::new();
    let tree = walk::walk(source, &mut out);
    let root = discover::discover(&tree, options.flat, &mut out);
    let mut compiler = Compiler { reader: Reader::new(source), nodes: BTreeMap::new(), edges: Vec::new(), out };
    compiler.node(root);
    let Compiler { reader, nodes, mut edges, out: mut diagnostics } = compiler;
    // A file that something names means something, wherever it lies.
    diagnostics.retain(|diagnostic| {
        !matches!(diagnostic.code, Code::UnknownFile | Code::UnknownFolder) || !reader.has_read(&diagnostic.file)
    });
    diagnostic::sort(&mut diagnostics);
    edges.sort();
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let manifest =
        (!failed).then(|| Manifest { kind: KIND.into(), version: VERSION, features: features(&nodes), nodes, edges });
    Compilation { manifest, diagnostics, inputs: reader.into_inputs() }
}

struct Compiler<'s> {
    reader: Reader<'s>,
    nodes: BTreeMap<String, Node>,
    edges: Vec<Edge>,
    out: Findings,
}

impl Compiler<'_> {
    /// Compiles a node and all below it.
    fn node(&mut self, files: NodeFiles) {
        let (reader, out) = (&mut self.reader, &mut self.out);
        let agent = agent(&files, reader, out);
        let tools = tools(&files, &agent.defaults, reader, out);
        check_names(&files, &tools, out);
        if let Some(config) = &files.config {
            let mut names: Vec<&str> = tools.iter().map(Tool::name).collect();
            names.extend(files.children.iter().map(|child| discover::last(&child.id)));
            agent_toml::check_rules(config.as_str(), &agent.rule_tools, &names, out);
        }
        for file in &files.lib {
            reader.data(&file.path, out);
        }
        let node = Node {
            dir: files.dir.as_ref().map(ToString::to_string).unwrap_or_default(),
            file: agent.file,
            config: agent.config,
            instructions: files
                .instructions
                .iter()
                .filter_map(|path| markdown::instruction(path, reader, out))
                .collect(),
            tools,
            skills: files.skills.iter().filter_map(|skill| markdown::skill(skill, reader, out)).collect(),
            connections: slots(&files.connections, reader, out),
            remotes: slots(&files.remotes, reader, out),
            hooks: slots(&files.hooks, reader, out),
            sandbox: sandbox(&files, reader, out),
            channels: slots(&files.channels, reader, out),
            schedules: slots(&files.schedules, reader, out),
        };
        self.nodes.insert(files.id.clone(), node);
        for child in files.children {
            self.edges.push(Edge { parent: files.id.clone(), child: child.id.clone() });
            self.node(child);
        }
    }
}

fn agent(files: &NodeFiles, reader: &mut Reader<'_>, out: &mut Findings) -> AgentToml {
    let Some(path) = &files.config else {
        // Without any file there is no agent, and a subagent's missing file has been told.
        if files.dir.is_none() && !files.instructions.is_empty() {
            let help = "write agent.toml with `model = \"provider/name\"`";
            out.push(Diagnostic::new(Code::NoModel, ".", "no model is named; the built-in echo will answer", help));
        }
        return AgentToml::default();
    };
    match reader.toml(path, out) {
        Some((file, table)) => agent_toml::read(&file, table, files.dir.as_ref(), reader, out),
        None => AgentToml::default(),
    }
}

/// The defaults, less the disabled, with the author's on top.
fn tools(files: &NodeFiles, defaults: &[&str], reader: &mut Reader<'_>, out: &mut Findings) -> Vec<Tool> {
    let mut tools: BTreeMap<String, Tool> =
        defaults.iter().map(|name| ((*name).to_owned(), Tool::Builtin { name: (*name).into() })).collect();
    for Filled { name, file } in &files.tools {
        let path = file.path.as_str();
        match declared(name, file, reader, out) {
            Some(Authored::Off) => drop(tools.remove(name)),
            Some(Authored::Tool(tool)) => {
                if let Some(Tool::Builtin { .. }) = tools.insert(name.clone(), *tool) {
                    let message = format!("`{path}` stands in the place of the default tool `{name}`");
                    let help = "rename it if the default is wanted too";
                    out.push(Diagnostic::new(Code::ReplacesDefault, path, message, help));
                }
            }
            None => {}
        }
    }
    programs(&files.programs, reader, out);
    tools.into_values().collect()
}

/// What an author's file makes of its slot.
enum Authored {
    Tool(Box<Tool>),
    Off,
}

/// Reads one tool's file; `None` when there is no tool in it, which was said.
fn declared(name: &str, file: &File, reader: &mut Reader<'_>, out: &mut Findings) -> Option<Authored> {
    if MODULES.contains(&file.stem().1) {
        let file = reader.data(&file.path, out)?;
        return Some(Authored::Tool(Box::new(Tool::Module { name: name.into(), file })));
    }
    let (file, table) = reader.toml(&file.path, out)?;
    match tool_toml::read(name, &file, table, reader, out) {
        Declared::Executable(tool) => Some(Authored::Tool(Box::new(Tool::Executable(*tool)))),
        Declared::Disabled { declared } => {
            if !declared && !BUILTINS.contains(&name) {
                let message = format!("the marker disables `{name}`, which is no default tool");
                let help = format!("the default tools are {}", BUILTINS.join(", "));
                out.push(Diagnostic::new(Code::DisablesNothing, &*file.path, message, help));
            }
            Some(Authored::Off)
        }
        Declared::Connection => {
            out.push(not_run(&file.path, &format!("`{name}` (a connection's tool)")));
            None
        }
        Declared::Broken => None,
    }
}

/// What lies in `tools/` and no declaration names.
fn programs(programs: &[File], reader: &mut Reader<'_>, out: &mut Findings) {
    for File { path } in programs {
        if !reader.has_read(path.as_str()) {
            let help = "name it in the `command` of a tool's .toml, or move it to lib/";
            let message = format!("no tool names the file `{path}`");
            out.push(Diagnostic::new(Code::UnknownFile, path.as_str(), message, help));
        }
    }
}

/// A tool and a subagent of one name; names that a connection owns.
fn check_names(files: &NodeFiles, tools: &[Tool], out: &mut Findings) {
    let place = |name: &str| {
        let authored = files.tools.iter().find(|tool| tool.name == name);
        authored.map_or_else(|| format!("the default tool `{name}`"), |tool| tool.file.path.to_string())
    };
    let children = files.children.iter().filter_map(|child| Some((discover::last(&child.id), child.dir.as_ref()?)));
    let remotes = files.remotes.iter().map(|remote| (remote.name.as_str(), &remote.file.path));
    for (name, path) in children.chain(remotes) {
        if tools.iter().any(|tool| tool.name().eq_ignore_ascii_case(name)) {
            let message = format!("a tool and a subagent both have the name `{name}`");
            let diagnostic = Diagnostic::new(Code::ToolSubagentCollision, path.as_str(), message, "rename one of them");
            out.push(diagnostic.other(place(name)));
        }
    }
    for Filled { name, file } in &files.tools {
        let owner = files
            .connections
            .iter()
            .find(|owner| name.strip_prefix(owner.name.as_str()).is_some_and(|rest| rest.starts_with("__")));
        if let Some(owner) = owner {
            let message = format!("the name `{name}` belongs to the connection `{}`", owner.name);
            let diagnostic = Diagnostic::new(Code::ReservedName, file.path.as_str(), message, "rename the tool");
            out.push(diagnostic.other(owner.file.path.as_str()));
        }
    }
}

/// Files that a later version runs: read, and their syntax checked.
fn slots(filled: &[Filled], reader: &mut Reader<'_>, out: &mut Findings) -> Vec<Slot> {
    let read = |Filled { name, file }: &Filled| {
        let read = match file.stem().1 {
            "toml" => reader.toml(&file.path, out)?.0,
            _ => reader.text(&file.path, out)?.0,
        };
        Some(Slot { name: name.clone(), file: read })
    };
    filled.iter().filter_map(read).collect()
}

fn sandbox(files: &NodeFiles, reader: &mut Reader<'_>, out: &mut Findings) -> Sandbox {
    Sandbox {
        file: files.sandbox.as_ref().and_then(|path| reader.toml(path, out)).map(|(file, _)| file),
        workspace: files.workspace.iter().filter_map(|path| reader.data(path, out)).collect(),
    }
}

/// What a reader of these nodes must know to run them, and what it may do without.
fn features(nodes: &BTreeMap<String, Node>) -> Vec<Feature> {
    let any = |test: &dyn Fn(&Node) -> bool| nodes.values().any(test);
    let used = [
        ("channels", false, any(&|node| !node.channels.is_empty())),
        ("connections", false, any(&|node| !node.connections.is_empty())),
        ("executables", true, any(&|node| node.tools.iter().any(|tool| matches!(tool, Tool::Executable(_))))),
        ("hooks", false, any(&|node| !node.hooks.is_empty())),
        ("modules", false, any(&|node| node.tools.iter().any(|tool| matches!(tool, Tool::Module { .. })))),
        ("remotes", false, any(&|node| !node.remotes.is_empty())),
        ("sandbox", false, any(&|node| node.sandbox.file.is_some())),
        ("schedules", false, any(&|node| !node.schedules.is_empty())),
        ("skills", true, any(&|node| !node.skills.is_empty())),
        ("subagents", true, nodes.len() > 1),
        ("workspace", true, any(&|node| !node.sandbox.workspace.is_empty())),
    ];
    let feature = |(name, required, _): (&str, bool, bool)| Feature { name: name.into(), required };
    used.into_iter().filter(|(_, _, used)| *used).map(feature).collect()
}
