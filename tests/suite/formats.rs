use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use restitch::{
    After, ApplyError, Before, Format, MemSource, Note, ParseOptions, Parser, Patch, Plan, PlanOptions, Report, Stamp,
};

use crate::support::TestDir;

/// Content and whether it can be executed, by path.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

/// One case of a `.cases` file; see `tests/fixtures/README.md`.
#[derive(Default)]
struct Case {
    name: String,
    files: Files,
    patch: Vec<u8>,
    strip: Option<usize>,
    want: Files,
    same: bool,
    /// The code of the error, and texts it must hold.
    refused: Option<(String, Vec<String>)>,
    /// What is noted of the text, each kind once.
    notes: Option<Vec<String>>,
    /// What other tools make of it.
    judges: BTreeMap<String, String>,
}

/// Reads the cases of a file. A line that begins with `%% ` is a directive; what follows is its content.
fn cases(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut out: Vec<Case> = Vec::new();
    let mut parts = text.split("%% ");
    assert_eq!(parts.next(), Some(""), "{} begins with a directive", path.display());
    for part in parts {
        let (head, body) = part.split_once('\n').unwrap();
        let mut words = head.split(' ');
        let directive = words.next().unwrap();
        if directive == "case" {
            out.push(Case { name: words.next().unwrap().to_owned(), ..Case::default() });
            continue;
        }
        let case = out.last_mut().unwrap();
        match directive {
            "file" | "want" => {
                let mut path = words.next().unwrap().to_owned();
                let mut flags: Vec<&str> = words.collect();
                // A path with spaces stands in quotes.
                if path.starts_with('"') {
                    let (quoted, rest) = head.split_once('"').unwrap().1.split_once('"').unwrap();
                    (path, flags) = (quoted.to_owned(), rest.split_whitespace().collect());
                }
                let entry = (content(body, &flags), flags.contains(&"exec"));
                if directive == "file" { &mut case.files } else { &mut case.want }.insert(path, entry);
            }
            "patch" => {
                let flags: Vec<&str> = words.collect();
                case.patch = content(body, &flags);
                let strip = flags.iter().position(|flag| *flag == "--strip");
                case.strip = strip.map(|at| flags[at + 1].parse().unwrap());
            }
            "same" => case.same = true,
            "refused" => {
                let code = words.next().unwrap().to_owned();
                case.refused = Some((code, body.lines().map(str::to_owned).collect()));
            }
            "notes" => case.notes = Some(words.map(str::to_owned).collect()),
            "judges" => {
                case.judges =
                    words.map(|word| word.split_once('=').unwrap()).map(|(k, v)| (k.into(), v.into())).collect();
            }
            other => panic!("{}: what is `{other}`?", path.display()),
        }
    }
    out
}

fn content(body: &str, flags: &[&str]) -> Vec<u8> {
    let mut text = body.to_owned();
    if flags.contains(&"nonl") {
        text.pop();
    }
    if flags.contains(&"crlf") {
        text = text.replace('\n', "\r\n");
    }
    if flags.contains(&"bom") {
        text.insert(0, '\u{feff}');
    }
    text.into_bytes()
}

fn tree(files: &Files) -> MemSource {
    files.iter().fold(MemSource::new(), |tree, (path, (bytes, exec))| {
        let mode = |stamp: &mut Stamp| stamp.mode = if *exec { 0o100_755 } else { 0o100_644 };
        tree.file_with(path, bytes.clone(), mode)
    })
}

/// The files after a plan.
fn planned(files: &Files, plan: &Plan) -> Files {
    let mut out = files.clone();
    for step in plan.steps() {
        let path = step.path.to_string();
        match &step.after {
            After::Absent => drop(out.remove(&path)),
            After::Link { .. } => panic!("no front end makes links"),
            After::Moved { from } => drop(out.insert(path, files[from.as_str()].clone())),
            After::Content { content, like, mode } => {
                let of_like = like.as_ref().and_then(|like| files.get(like.as_str())).is_some_and(|(_, exec)| *exec);
                let exec = mode.map_or(of_like, |mode| mode.bits() & 0o100 != 0);
                out.insert(path, (content.to_vec(), exec));
            }
        }
        assert!(!matches!((&step.before, &step.after), (Before::Absent, After::Absent)));
    }
    out
}

fn code(error: &ApplyError) -> String {
    if let ApplyError::Parse(error) = error {
        return error.code().to_owned();
    }
    let report: serde_json::Value = serde_json::from_str(&error.json()).unwrap();
    report["failures"][0]["code"].as_str().unwrap_or("none").to_owned()
}

fn check(case: &Case, format: Format) -> Result<(), String> {
    let options = ParseOptions::default().format(Format::Auto).strip(case.strip);
    let detected = Format::detect(&case.patch);
    if detected != Some(format) && case.refused.is_none() {
        return Err(format!("it is taken for {detected:?}"));
    }
    let options = if case.refused.is_some() { options.format(format) } else { options };
    let parsed = Patch::parse_with(&case.patch, &options);
    streamed(case, &options, &parsed)?;
    let done = parsed.map_err(ApplyError::from).and_then(|patch| {
        let notes = patch.notes.clone();
        Ok((Plan::new(patch, &tree(&case.files), &PlanOptions::default())?, notes))
    });
    match (done, &case.refused) {
        (Ok((plan, notes)), None) => {
            let got = planned(&case.files, &plan);
            let want = if case.same { &case.files } else { &case.want };
            if got != *want {
                return Err(format!("want {}\ngot {}", shown(want), shown(&got)));
            }
            noted(plan, notes, case.notes.as_deref())
        }
        (Err(error), Some((want, texts))) => {
            let (code, told) = (code(&error), error.explain());
            let missing = texts.iter().find(|text| !told.contains(text.as_str()));
            match (code == *want, missing) {
                (true, None) => Ok(()),
                (true, Some(text)) => Err(format!("the error does not hold {text:?}: {told}")),
                (false, _) => Err(format!("the code is {code}, want {want}: {told}")),
            }
        }
        (Ok(_), Some((want, _))) => Err(format!("it is done, want {want}")),
        (Err(error), None) => Err(error.explain()),
    }
}

/// The notes are those that the case tells, if it tells any.
fn noted(plan: Plan, notes: Vec<Note>, want: Option<&[String]>) -> Result<(), String> {
    let report: serde_json::Value = serde_json::from_str(&Report::planned(plan, notes).json()).unwrap();
    let notes = report["notes"].as_array().unwrap().iter();
    let got: BTreeSet<&str> = notes.map(|note| note["note"].as_str().unwrap()).collect();
    match want {
        Some(want) if got != want.iter().map(String::as_str).collect() => {
            Err(format!("want the notes {want:?}, got {got:?}"))
        }
        _ => Ok(()),
    }
}

/// The pieces that a text comes in change nothing.
fn streamed(case: &Case, options: &ParseOptions, whole: &Result<Patch, restitch::ParseError>) -> Result<(), String> {
    for size in [1, 7, 64] {
        let mut parser = Parser::new(options);
        for piece in case.patch.chunks(size) {
            parser.feed(piece);
            while let Ok(Some(_)) = parser.next_event() {}
        }
        if parser.finish() != *whole {
            return Err(format!("pieces of {size} bytes give something else"));
        }
    }
    Ok(())
}

fn shown(files: &Files) -> String {
    let one = |(path, (bytes, exec)): (&String, &(Vec<u8>, bool))| {
        format!(
            "\n--- {path}{}\n{}",
            if *exec { " (exec)" } else { "" },
            bytes.escape_ascii().to_string().replace("\\n", "\\n\n")
        )
    };
    files.iter().map(one).collect()
}

fn run(path: &str, format: Format, least: usize) {
    let cases = cases(Path::new(path));
    assert!(cases.len() >= least, "{path} has only {} cases", cases.len());
    let failed: Vec<String> =
        cases.iter().filter_map(|case| check(case, format).err().map(|why| format!("{}: {why}", case.name))).collect();
    assert!(failed.is_empty(), "{} of {} in {path}:\n{}", failed.len(), cases.len(), failed.join("\n\n"));
}

#[test]
fn every_rule_of_the_envelope_by_its_name() {
    run("tests/fixtures/formats/envelope.cases", Format::Envelope, 65);
}

#[test]
fn unified_diffs_in_every_shape() {
    run("tests/fixtures/formats/generated/unified.cases", Format::Unified, 200);
}

#[test]
fn unified_diffs_one_by_one() {
    run("tests/fixtures/formats/unified.cases", Format::Unified, 50);
}

#[test]
fn blocks_in_every_shape() {
    run("tests/fixtures/formats/generated/blocks.cases", Format::Blocks, 200);
}

#[test]
fn blocks_one_by_one() {
    run("tests/fixtures/formats/blocks.cases", Format::Blocks, 25);
}

#[test]
fn edits_in_every_shape() {
    run("tests/fixtures/formats/generated/edits.cases", Format::Edits, 200);
}

#[test]
fn edits_one_by_one() {
    run("tests/fixtures/formats/edits.cases", Format::Edits, 40);
}

/// A command is a call of `apply_patch` if that is all it does, and never by a guess.
#[cfg(feature = "shell")]
#[test]
fn calls_in_every_shape() {
    use restitch::{Detected, Invocation};
    let text = std::fs::read_to_string("tests/fixtures/formats/generated/invocations.jsonl").unwrap();
    let mut count = 0;
    for line in text.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let words: Vec<&str> = case["words"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let got = match Detected::of_words(&words) {
            Detected::Call(Invocation { patch, directory, .. }) => {
                assert_eq!(case["patch"], patch, "{}", case["name"]);
                assert_eq!(case["directory"], serde_json::json!(directory), "{}", case["name"]);
                "call"
            }
            Detected::BarePatch => "bare",
            _ => "other",
        };
        assert_eq!(case["want"], got, "{}", case["name"]);
        count += 1;
    }
    assert!(count >= 200, "there are only {count}");
}

/// What `git apply` and GNU `patch` make of the unified diffs is what the cases say, so that a difference is deliberate.
#[test]
fn other_tools_judge_the_unified_diffs() {
    let judged: Vec<Case> = ["generated/unified", "unified"]
        .iter()
        .flat_map(|name| cases(Path::new(&format!("tests/fixtures/formats/{name}.cases"))))
        .filter(|case| !case.judges.is_empty())
        .collect();
    for tool in ["git", "patch"] {
        if !Command::new(tool).arg("--version").output().is_ok_and(|out| out.status.success()) {
            eprintln!("skipped: there is no {tool} here");
            continue;
        }
        let wrong: Vec<String> = judged.iter().filter_map(|case| misjudged(case, tool)).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

fn misjudged(case: &Case, tool: &str) -> Option<String> {
    let want = case.judges.get(tool)?;
    let dir = TestDir::new(&[]);
    let root = dir.path().join("tree");
    std::fs::create_dir(&root).unwrap();
    for (path, (bytes, _)) in &case.files {
        dir.write(&format!("tree/{path}"), bytes);
    }
    dir.write("patch", &case.patch);
    let strip = case.judges.get("strip").map_or("1", String::as_str);
    let mut command = Command::new(tool);
    match tool {
        "git" => command.args(["apply", &format!("-p{strip}"), "../patch"]),
        _ => command.args([&format!("-p{strip}"), "-s", "-f", "--no-backup-if-mismatch", "-i", "../patch"]),
    };
    let out = command.current_dir(&root).output().unwrap();
    let contents = |files: &Files| -> BTreeMap<String, Vec<u8>> {
        files.iter().map(|(path, (bytes, _))| (path.clone(), bytes.clone())).collect()
    };
    let after: Files = crate::support::tree(&root)
        .into_iter()
        .filter_map(|(path, entry)| match entry {
            crate::support::Entry::File { bytes, .. } => Some((path, (bytes, false))),
            _ => None,
        })
        .collect();
    let got = match (out.status.success(), contents(&after) == contents(&case.want)) {
        (false, _) => "refuses",
        (true, true) => "same",
        (true, false) => "differs",
    };
    (got != want).then(|| format!("{}: {tool} {got}, the case says {want}", case.name))
}
