//! The same trees and questions for ripgrep itself, when it is on the `PATH`.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests run programs")]

use std::process::{Command, Stdio};

use restitch::{Mode, Search, SearchOptions, Syntax, Workspace};

use crate::support::{Random, TestDir};

/// What is asked, in the words of both.
#[derive(Clone, Debug, Default)]
struct Question {
    pattern: &'static str,
    path: &'static str,
    mode: Mode,
    ignore_case: bool,
    word: bool,
    literal: bool,
    multiline: bool,
    before: usize,
    after: usize,
    glob: Option<&'static str>,
    file_type: Option<&'static str>,
    no_ignore: bool,
}

const PATTERNS: &[&str] = &[
    "foo",
    "Foo",
    "fo+",
    "^foo",
    "foo$",
    "^$",
    "$",
    "^",
    "bar|baz",
    "b.r",
    r"\bba",
    r"\w+ \w+$",
    r"[^a-z\s]",
    "é",
    "(?i)É",
    r"\d{2}",
    "x*",
    "foo.*bar",
    "a{",
    "z",
    r"\s$",
    "ba[rz]",
    ".",
    r"^\s+foo",
    "o",
    r"[\x{4e00}-\x{9fff}]",
    "",
    " ",
];

const MULTILINE: &[&str] = &[
    r"foo\n",
    r"\nbar",
    r"foo\nbar",
    r"bar\s+foo",
    r"^\n",
    r"(?s)foo.*?bar",
    r"\n\n",
    r"z\n|\nz",
    "foo",
    r"o\r?\nb",
    r"foo$\nbar",
];

const NAMES: &[&str] =
    &["a", "b.rs", "c.txt", "D", ".hid", "e.log", "a.b", "a-b", "f.py", "zz", "tmp", "sub", "é.md", "x y"];

const WORDS: &[&str] =
    &["foo", "bar", "baz", "Foo", "FOO", "12", "é", "É", "x", "z", "foo_bar", "中文", "foobar", ".", "a{", "\t"];

const RULES: &[&str] = &[
    "*.log", "tmp", "/tmp", "sub/", "!e.log", "*.rs", "!b.rs", "# x", "", "D", "/a", "**/zz", "a/b.rs", "!*/",
    "!*.txt", "\\#x", "x y", "[a-c]*",
];

/// Rules that leave out all of a directory: named outright, that is searched here and not there.
const SWEEPING: &[&str] = &["*", "a/**", "sub/*", "!*.rs", "!a", "*/"];

#[test]
fn ripgrep_finds_the_same_rows() {
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        return;
    }
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let sweeping = seed % 4 == 0;
        let dir = tree(&mut random, sweeping);
        for _ in 0..12 {
            let mut question = question(&mut random);
            // A binary file named outright is a row there and a notice here.
            let binary = std::fs::read(dir.path().join(question.path)).is_ok_and(|bytes| bytes.first() == Some(&0));
            if sweeping || binary {
                question.path = "";
            }
            let (ours, theirs) = (ours(&dir, &question), ripgrep(&dir, &question));
            if let Some(difference) = difference(&ours, &theirs) {
                panic!("seed {seed}: {question:?}\n{difference}\nin {}", dir.path().display());
            }
        }
    }
}

/// The first rows that differ.
fn difference(ours: &[u8], theirs: &[u8]) -> Option<String> {
    let mut pairs = ours.split(|byte| *byte == b'\n').zip(theirs.split(|byte| *byte == b'\n'));
    let first = pairs.position(|(ours, theirs)| ours != theirs);
    let first = first.or((ours.len() != theirs.len()).then_some(usize::MAX))?;
    let text = |bytes: &[u8]| {
        let lines: Vec<String> =
            bytes.split(|byte| *byte == b'\n').map(|line| format!("{:?}", String::from_utf8_lossy(line))).collect();
        let from = first.min(lines.len()).saturating_sub(3);
        lines.into_iter().skip(from).take(8).collect::<Vec<_>>().join("\n  ")
    };
    Some(format!("ours:\n  {}\nripgrep:\n  {}", text(ours), text(theirs)))
}

fn tree(random: &mut Random, sweeping: bool) -> TestDir {
    let dir = TestDir::new(&[(".git/config", "foo\n"), ("sub/.git/foo", "foo\n")]);
    for _ in 0..random.below(30) {
        let depth = random.below(3);
        let parts: Vec<&str> = (0..depth).map(|_| random.pick(&["a", "sub", "tmp", ".hid", "d"])).collect();
        let path = parts.iter().copied().chain([random.pick(NAMES)]).collect::<Vec<_>>().join("/");
        if !dir.path().join(&path).exists()
            && parts.iter().scan(dir.path().to_owned(), step).all(|path| !path.is_file())
        {
            dir.write(&path, &content(random));
            if random.below(40) == 0 {
                // Too large to be read as a whole.
                let lines = content(random);
                dir.write(&path, &lines.repeat(1_100_000 / (lines.len() + 1)));
            }
        }
    }
    for name in
        [".gitignore", ".ignore", ".rgignore", ".git/info/exclude", "a/.gitignore", "sub/.ignore", "sub/.gitignore"]
    {
        if random.below(3) == 0 && !dir.path().join("a").is_file() && !dir.path().join("sub").is_file() {
            let lines: Vec<&str> = (0..=random.below(3)).map(|_| rule(random, sweeping)).collect();
            dir.write(name, lines.join("\n").as_bytes());
        }
    }
    dir
}

fn rule(random: &mut Random, sweeping: bool) -> &'static str {
    if sweeping && random.below(3) == 0 { random.pick(SWEEPING) } else { random.pick(RULES) }
}

fn step(path: &mut std::path::PathBuf, part: &&str) -> Option<std::path::PathBuf> {
    path.push(part);
    Some(path.clone())
}

fn content(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    let end = random.pick(&["\n", "\n", "\n", "\r\n"]);
    for _ in 0..random.below(12) {
        for _ in 0..random.below(4) {
            text.push_str(random.pick(WORDS));
            text.push_str(random.pick(&[" ", " ", "", ","]));
        }
        text.push_str(if random.below(15) == 0 { "\n" } else { end });
    }
    if random.below(4) == 0 {
        text.push_str("foo");
    }
    match random.below(12) {
        0 => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        1 => [b"\xFF\xFE".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
        2 => [b"\xFE\xFF".to_vec(), text.encode_utf16().flat_map(u16::to_be_bytes).collect()].concat(),
        3 => [b"\0", text.as_bytes()].concat(),
        4 => [text.as_bytes(), b"\xff foo \xc3\n"].concat(),
        _ => text.into_bytes(),
    }
}

fn question(random: &mut Random) -> Question {
    let multiline = random.below(4) == 0;
    let glob =
        (random.below(5) == 0).then(|| random.pick(&["*.rs", "!*.rs", "sub/**", "!sub", "a/*", "*.{rs,txt}", "!a/"]));
    Question {
        pattern: if multiline { random.pick(MULTILINE) } else { random.pick(PATTERNS) },
        path: random.pick(&["", "", "", "a", "sub", "sub/a"]),
        mode: random.pick(&[Mode::Content, Mode::Content, Mode::Content, Mode::Files, Mode::Count]),
        ignore_case: random.below(4) == 0,
        word: random.below(6) == 0,
        literal: !multiline && random.below(6) == 0,
        multiline,
        before: random.pick(&[0, 0, 0, 1, 3]),
        after: random.pick(&[0, 0, 0, 1, 2]),
        glob,
        // There a glob that fits outranks the type, here both must fit.
        file_type: (glob.is_none() && random.below(6) == 0).then(|| random.pick(&["rust", "py", "txt"])),
        // There a glob brings back what rules leave out, here it does not.
        no_ignore: glob.is_some() || random.below(6) == 0,
    }
}

/// The rows without carriage returns, or a word when it is an error.
fn ours(dir: &TestDir, question: &Question) -> Vec<u8> {
    let mut options = SearchOptions::new()
        .mode(question.mode)
        .syntax(if question.literal { Syntax::Literal } else { Syntax::Regex })
        .ignore_case(question.ignore_case)
        .word(question.word)
        .multiline(question.multiline)
        .before(question.before)
        .after(question.after)
        .ignore_rules(!question.no_ignore)
        .limit(usize::MAX)
        .max_row_bytes(usize::MAX)
        .max_bytes(1 << 30);
    if let Some(glob) = question.glob {
        options = options.glob(glob);
    }
    if let Some(name) = question.file_type {
        options = options.file_type(name);
    }
    let workspace = Workspace::open(dir.path()).unwrap();
    let Ok(search) = Search::new(question.pattern, options) else { return b"bad pattern".to_vec() };
    let Ok(answer) = search.run(&workspace, question.path) else { return Vec::new() };
    let mut text = Vec::new();
    answer.without_notices().write_text(&mut text).unwrap();
    text
}

fn ripgrep(dir: &TestDir, question: &Question) -> Vec<u8> {
    let mut rg = Command::new("rg");
    rg.args(["--no-config", "--no-require-git", "--no-ignore-global", "--hidden"]);
    rg.args(["--sort", "path", "--no-heading", "--color", "never", "--with-filename", "--crlf", "--no-messages"]);
    match question.mode {
        Mode::Content => rg.arg("-n"),
        Mode::Files => rg.arg("-l"),
        Mode::Count => rg.arg("-c"),
    };
    for (flag, on) in [
        ("-i", question.ignore_case),
        ("-w", question.word),
        ("-F", question.literal),
        ("-U", question.multiline),
        ("--no-ignore", question.no_ignore),
    ] {
        if on {
            rg.arg(flag);
        }
    }
    if question.mode == Mode::Content {
        rg.args(["-B", &question.before.to_string(), "-A", &question.after.to_string()]);
    }
    rg.args(question.glob.iter().flat_map(|glob| ["-g", glob])).args(["-g", "!.git"]);
    rg.args(question.file_type.iter().flat_map(|name| ["-t", name]));
    rg.args(["-e", question.pattern]);
    if !question.path.is_empty() {
        rg.arg(question.path);
    }
    let output = rg.current_dir(dir.path()).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("regex parse error") || said.contains("is not allowed in a regex") {
        return b"bad pattern".to_vec();
    }
    let mut text = Vec::new();
    for line in output.stdout.split_inclusive(|byte| *byte == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        text.extend_from_slice(bare.strip_suffix(b"\r").unwrap_or(bare));
        text.push(b'\n');
    }
    text
}
