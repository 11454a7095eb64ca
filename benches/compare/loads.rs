//! The work loads: their trees, patches, what must come out, and who takes part.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use xxhash_rust::xxh3::Xxh3;

use crate::load::{self, Change};
use crate::measure;

/// How large the loads are.
pub(crate) struct Sizes {
    /// Megabytes of the large file, lines of the file of equal lines, hunks in one file, megabytes of patch, new files.
    large: usize,
    equal: usize,
    hunks: usize,
    patch: usize,
    files: usize,
    /// Files of load C.
    many: usize,
}

impl Sizes {
    pub(crate) const FULL: Sizes =
        Sizes { large: 100, equal: 1_000_000, hunks: 10_000, patch: 50, files: 10_000, many: 100 };
    pub(crate) const QUICK: Sizes = Sizes { large: 10, equal: 50_000, hunks: 1_250, patch: 4, files: 500, many: 20 };
}

/// How a program is started.
enum Words {
    /// By words; `{}` stands for the load's directory.
    Plain(Vec<String>),
    /// As this program's floor, on every file of the tree.
    OnEachFile,
}

pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) own: bool,
    words: Words,
    stdin: bool,
}

impl Program {
    pub(crate) fn is_there(&self) -> bool {
        let Words::Plain(words) = &self.words else { return true };
        let Some(program) = words.first().filter(|word| !word.is_empty()) else { return false };
        let in_path = |dir: PathBuf| dir.join(program).is_file();
        Path::new(program).is_file()
            || std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(in_path))
    }

    pub(crate) fn command(&self, tree: &Path) -> Command {
        match &self.words {
            Words::Plain(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                // The trees may lie inside of a repository that is none of theirs.
                command.env("GIT_CEILING_DIRECTORIES", tree.parent().unwrap_or(tree));
                command
            }
            Words::OnEachFile => {
                let mut command = measure::own(["floor", "each"]);
                command.args(files_below(tree));
                command
            }
        }
    }
}

pub(crate) struct Load {
    pub(crate) name: String,
    /// Loads of one kind with their sizes, for how time grows.
    pub(crate) size: Option<(&'static str, usize)>,
    pub(crate) rounds: usize,
    /// The program that is the floor.
    pub(crate) floor: &'static str,
    pub(crate) programs: Vec<Program>,
    dir: PathBuf,
    base: Option<PathBuf>,
    refused: bool,
}

impl Load {
    pub(crate) fn tree(&self) -> PathBuf {
        self.dir.parent().unwrap_or(&self.dir).join("tree")
    }

    pub(crate) fn input(&self, program: &Program) -> Option<PathBuf> {
        program.stdin.then(|| self.dir.join("patch.txt"))
    }

    /// Makes the tree the programs work on.
    pub(crate) fn make_tree(&self) {
        let tree = self.tree();
        let _was_not_there = fs::remove_dir_all(&tree);
        fs::create_dir_all(&tree).expect("the target directory can be written");
        if let Some(base) = &self.base {
            measure::copy_tree(base, &tree).expect("the load was made");
        }
    }

    /// Whether a program left what it should. What a peer does to a file that is to be refused is its own affair.
    pub(crate) fn is_right(&self, program: &Program, code: Option<i32>) -> bool {
        if program.name == self.floor || code.is_none() {
            return code == Some(0);
        }
        if self.refused {
            return code != Some(0);
        }
        // A parser leaves nothing to look at.
        let want = self.base.is_some() || program.stdin;
        let want = if want { fs::read_to_string(self.dir.join("want")).unwrap_or_default() } else { String::new() };
        code == Some(0)
            && want.lines().all(|line| {
                let mut words = line.split(' ');
                let found = words.next().and_then(|name| hash_of_file(&self.tree().join(name)).ok());
                found.is_some_and(|found| words.any(|hash| hash == found))
            })
    }
}

fn plain(name: &'static str, words: &[&str], stdin: bool) -> Program {
    let words = Words::Plain(words.iter().map(|word| (*word).to_owned()).collect());
    Program { name, own: false, words, stdin }
}

/// This crate's program and the other `apply_patch`.
fn envelopes() -> Vec<Program> {
    let built = std::env::var("RESTITCH_APPLY_PATCH").unwrap_or_default();
    let peer = std::env::var("PEER_APPLY_PATCH").unwrap_or_default();
    vec![Program { own: true, ..plain("apply_patch", &[&built], true) }, plain("peer apply_patch", &[&peer], true)]
}

fn unified(dir: &Path) -> Vec<Program> {
    let diff = dir.join("patch.diff");
    let diff = diff.to_string_lossy();
    vec![
        plain("git apply", &["git", "apply", &diff], false),
        plain("patch", &["patch", "-p1", "-s", "-i", &diff], false),
    ]
}

fn own_floor(name: &'static str, words: &[&str]) -> Program {
    let own = std::env::current_exe().unwrap_or_default();
    plain(name, &[&[&*own.to_string_lossy(), "floor"], words].concat(), false)
}

fn copy_of(file: &str) -> Program {
    plain("copy", &["sh", "-c", &format!("cp {file} n && mv n {file}")], false)
}

/// All loads, as [`make_all`] made them.
pub(crate) fn all(dir: &Path, sizes: &Sizes) -> Vec<Load> {
    let mut loads = vec![load(dir, "start", 15, plain("true", &["true"], false), &[])];
    loads[0].refused = true;
    let each = || Program { name: "floor", own: false, words: Words::OnEachFile, stdin: false };
    for (name, rounds) in [("A", 21), ("B", 15)] {
        loads.push(load(dir, name, rounds, each(), &["base", "unified"]));
    }
    for files in [sizes.many / 2, sizes.many] {
        let mut load = load(dir, &format!("C {files} files"), 7, each(), &["base", "unified"]);
        load.size = Some(("C", files));
        loads.push(load);
    }
    for (at, large) in [sizes.large / 2, sizes.large].into_iter().enumerate() {
        for (kind, size) in
            [("exact", "D exact"), ("trim-end", "D trim-end"), ("unicode", "D unicode"), ("none", "D none")]
        {
            if at == 0 && kind != "exact" {
                continue;
            }
            let wanted: &[&str] = if at == 1 && kind == "exact" { &["unified"] } else { &[] };
            let mut load = load(dir, &format!("D {large} MB {kind}"), 5, copy_of("big.txt"), wanted);
            load.base = Some(dir.join(format!("D-base-{large}")));
            load.refused = kind == "none";
            load.size = (kind == "exact").then_some((size, large));
            loads.push(load);
        }
    }
    for lines in [sizes.equal / 2, sizes.equal] {
        for (kind, size) in [("same", "E same"), ("none", "E none")] {
            let mut load = load(dir, &format!("E {lines} lines {kind}"), 5, copy_of("same.txt"), &["base"]);
            load.refused = kind == "none";
            load.size = Some((size, lines));
            loads.push(load);
        }
    }
    for (kind, size) in [("exact", "F exact"), ("trim-end", "F trim-end")] {
        for hunks in [sizes.hunks / 2, sizes.hunks] {
            let wanted: &[&str] = if kind == "exact" { &["base", "unified"] } else { &["base"] };
            let mut load = load(dir, &format!("F {hunks} hunks {kind}"), 5, copy_of("many.rs"), wanted);
            if kind == "exact" {
                let diff = load.dir.join("patch.diff");
                load.programs.push(own_floor("diffy", &["diffy", "many.rs", &diff.to_string_lossy()]));
            }
            load.size = Some((size, hunks));
            loads.push(load);
        }
    }
    for (what, size) in [("parse", "G whole"), ("fed", "G pieces"), ("asked", "G asked")] {
        for megabytes in [sizes.patch / 2, sizes.patch] {
            let mut load = load(dir, &format!("G {megabytes} MB"), 5, plain("", &[], false), &[]);
            let text = load.dir.join("patch.txt");
            let text = text.to_string_lossy();
            let own = Program { own: true, ..own_floor("parser", &[what, &text]) };
            load.programs = vec![own, own_floor("read + newlines", &["lines", &text])];
            (load.floor, load.size) = ("read + newlines", Some((size, megabytes)));
            load.name += match what {
                "parse" => " whole",
                "fed" => " in 16-byte pieces",
                _ => " asked after each",
            };
            loads.push(load);
        }
    }
    for files in [sizes.files / 2, sizes.files] {
        let floor = own_floor("write + rename", &["new", &files.to_string()]);
        let mut load = load(dir, &format!("H {files} new files"), 5, floor, &["unified"]);
        load.size = Some(("H", files));
        loads.push(load);
    }
    loads
}

/// A load with the usual programs. `with`: `base` when it has a tree of its own, `unified` for tools that take a diff.
fn load(dir: &Path, name: &str, rounds: usize, floor: Program, with: &[&str]) -> Load {
    let dir = dir.join(name.replace(' ', "-"));
    let mut programs = envelopes();
    if with.contains(&"unified") {
        programs.extend(unified(&dir));
    }
    let floor_name = floor.name;
    programs.push(floor);
    let base = with.contains(&"base").then(|| dir.join("base"));
    Load { name: name.to_owned(), size: None, rounds, floor: floor_name, programs, dir, base, refused: false }
}

/// Makes all loads on the disk, once.
pub(crate) fn make_all(dir: &Path, quick: bool) -> ExitCode {
    let sizes = if quick { Sizes::QUICK } else { Sizes::FULL };
    let stamp = dir.join("made-3");
    if stamp.exists() {
        return ExitCode::SUCCESS;
    }
    let _was_not_there = fs::remove_dir_all(dir);
    let made = make(dir, &sizes).and_then(|()| fs::write(stamp, ""));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn make(dir: &Path, sizes: &Sizes) -> std::io::Result<()> {
    Writer::new(dir, "start")?.finish()?;
    let many = [sizes.many / 2, sizes.many].map(|files| (format!("C {files} files"), files, 1_000, 5));
    let few = [("A".to_owned(), 1, 200, 1), ("B".to_owned(), 10, 1_000, 3)];
    for (name, files, lines, hunks) in few.into_iter().chain(many) {
        let mut writer = Writer::new(dir, &name)?;
        for file in 0..files {
            let text = load::code(file as u64 + 1, lines);
            let all: Vec<&str> = text.lines().collect();
            let changes = (0..hunks).map(|k| Change::one_line((2 * k + 1) * lines / (2 * hunks))).collect::<Vec<_>>();
            writer.update(&format!("src/m{}/file{file}.rs", file % 10), &all, &changes, str::to_owned, true)?;
        }
        writer.finish()?;
    }
    for large in [sizes.large / 2, sizes.large] {
        make_large(dir, large)?;
    }
    for lines in [sizes.equal / 2, sizes.equal] {
        let mut all = vec!["        },"; lines];
        all[lines - 1] = "the end";
        let change = || [Change { added: vec!["the new end".into()], context: 999, ..Change::one_line(lines - 1) }];
        let mut same = Writer::new(dir, &format!("E {lines} lines same"))?;
        same.update("same.txt", &all, &change(), str::to_owned, true)?;
        same.finish()?;
        let mut none = Writer::new(dir, &format!("E {lines} lines none"))?;
        none.update("same.txt", &all, &change(), |line| line.replace("the end", "not the end"), true)?;
        none.finish()?;
    }
    for hunks in [sizes.hunks / 2, sizes.hunks] {
        make_hunks(dir, hunks)?;
    }
    for megabytes in [sizes.patch / 2, sizes.patch] {
        make_patch(dir, megabytes)?;
    }
    make_new(dir, sizes.files / 2)?;
    make_new(dir, sizes.files)
}

fn make_large(dir: &Path, megabytes: usize) -> std::io::Result<()> {
    let code = load::code(5, megabytes * 1_000_000 / 38);
    let mut all: Vec<String> = code.lines().map(str::to_owned).collect();
    let at = all.len() - all.len() / 100;
    for i in 0..7 {
        all[at + i] = format!("    // exact place, line {i}");
        all[at + 100 + i] = format!("    // trimmed place, line {i}{}", if i == 1 || i == 5 { "   " } else { "" });
        all[at + 200 + i] = format!("    // \u{201c}folded\u{201d} place \u{2014} line {i}");
    }
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    let base = dir.join(format!("D-base-{megabytes}"));
    fs::create_dir_all(&base)?;
    fs::write(base.join("big.txt"), all.join("\n") + "\n")?;
    let fold = |line: &str| line.replace(['\u{201c}', '\u{201d}'], "\"").replace('\u{2014}', "-");
    type Kind<'a> = (&'a str, usize, &'a dyn Fn(&str) -> String);
    let kinds: [Kind<'_>; 4] = [
        ("exact", at, &|line| line.into()),
        ("trim-end", at + 100, &|line| line.trim_end().into()),
        ("unicode", at + 200, &fold),
        ("none", at, &|line| line.replace("line 6", "line 66")),
    ];
    for (kind, at, view) in kinds {
        let mut writer = Writer::new(dir, &format!("D {megabytes} MB {kind}"))?;
        writer.update("big.txt", &all, &[Change::one_line(at + 3)], view, false)?;
        writer.finish()?;
    }
    Ok(())
}

fn make_hunks(dir: &Path, hunks: usize) -> std::io::Result<()> {
    let code = load::code(6, hunks * 20);
    for kind in ["exact", "trim-end"] {
        let space = if kind == "exact" { "" } else { "   " };
        let place = |(i, line): (usize, &str)| match i % 20 {
            8 => format!("    // place {i}{space}"),
            _ => line.to_owned(),
        };
        let all: Vec<String> = code.lines().enumerate().map(place).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let changes: Vec<Change> = (0..hunks).map(|k| Change::one_line(20 * k + 10)).collect();
        let mut writer = Writer::new(dir, &format!("F {hunks} hunks {kind}"))?;
        writer.update("many.rs", &all, &changes, |line| line.trim_end().into(), true)?;
        writer.finish()?;
    }
    Ok(())
}

fn make_patch(dir: &Path, megabytes: usize) -> std::io::Result<()> {
    let mut writer = Writer::new(dir, &format!("G {megabytes} MB"))?;
    let mut op = 0;
    while writer.envelope.len() < megabytes * 1_000_000 {
        let code = load::code(op, 120);
        if op.is_multiple_of(2) {
            writer.add(&format!("gen/a{op}.rs"), &code);
        } else {
            writer.envelope += &format!("*** Update File: gen/u{op}.rs\n");
            for (i, line) in code.lines().enumerate() {
                let header = if i % 12 == 0 { "@@\n" } else { "" };
                writer.envelope += &format!("{header}{}{line}\n", [' ', '-', '+', ' '][i % 12 / 3]);
            }
        }
        op += 1;
    }
    writer.finish()
}

fn make_new(dir: &Path, files: usize) -> std::io::Result<()> {
    let mut writer = Writer::new(dir, &format!("H {files} new files"))?;
    for file in 0..files {
        writer.add(&format!("new/d{}/f{file}.rs", file % 100), &load::code(file as u64, 10));
    }
    writer.finish()
}

/// Writes one load: its files, the patch in both forms, what must come out.
struct Writer {
    dir: PathBuf,
    envelope: String,
    diff: String,
    want: String,
}

impl Writer {
    fn new(dir: &Path, name: &str) -> std::io::Result<Self> {
        let dir = dir.join(name.replace(' ', "-"));
        fs::create_dir_all(&dir)?;
        Ok(Writer { dir, envelope: "*** Begin Patch\n".into(), diff: String::new(), want: String::new() })
    }

    fn update(
        &mut self,
        name: &str,
        lines: &[&str],
        changes: &[Change],
        view: impl Fn(&str) -> String,
        write: bool,
    ) -> std::io::Result<()> {
        if write {
            let path = self.dir.join("base").join(name);
            fs::create_dir_all(path.parent().unwrap_or(&self.dir))?;
            fs::write(path, lines.join("\n") + "\n")?;
        }
        self.envelope += &format!("*** Update File: {name}\n{}", load::hunks(lines, changes, false, &view));
        let diff = load::hunks(lines, changes, true, &view);
        self.diff += &format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n{diff}");
        // Tools that put the patch's context in place of the file's are right in their own way.
        let mut spelled: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        for change in changes {
            let last = (change.at + change.removed + change.context).min(lines.len());
            (change.at.saturating_sub(change.context)..last).for_each(|i| spelled[i] = view(lines[i]));
        }
        let spelled: Vec<&str> = spelled.iter().map(String::as_str).collect();
        let (kept, other) = (hash_of(lines, changes), hash_of(&spelled, changes));
        self.want += &format!("{name} {kept} {other}\n");
        Ok(())
    }

    fn add(&mut self, name: &str, content: &str) {
        self.envelope += &format!("*** Add File: {name}\n");
        content.lines().for_each(|line| self.envelope += &format!("+{line}\n"));
        let lines = content.lines().count();
        self.diff += &format!(
            "diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{lines} @@\n"
        );
        content.lines().for_each(|line| self.diff += &format!("+{line}\n"));
        self.want += &format!("{name} {}\n", hash(content.as_bytes()));
    }

    fn finish(self) -> std::io::Result<()> {
        fs::write(self.dir.join("patch.txt"), self.envelope + "*** End Patch\n")?;
        fs::write(self.dir.join("patch.diff"), self.diff)?;
        fs::write(self.dir.join("want"), self.want)
    }
}

fn hash_of(lines: &[&str], changes: &[Change]) -> String {
    hash(load::changed(lines, changes).as_bytes())
}

fn hash(bytes: &[u8]) -> String {
    let mut state = Xxh3::new();
    state.update(bytes);
    format!("{:032x}", state.digest128())
}

/// The hash of a file, read piece by piece: what is started inherits the peak memory of this process.
fn hash_of_file(path: &Path) -> std::io::Result<String> {
    let (mut state, mut buffer, mut file) = (Xxh3::new(), vec![0; 1 << 16], File::open(path)?);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:032x}", state.digest128())),
            len => state.update(&buffer[..len]),
        }
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
