//! One fixture file for each language: what a patch breaks is reported at its line, what was broken before is not.

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use restitch::{ChangedFile, Checks, Diagnose, DiagnoseOptions, FileImage, RelPath, Workspace};

/// A case: its name, the lines that are reported, the two contents.
type Case<'t> = (&'t str, Vec<u32>, &'t str, &'t str);

fn cases(text: &str) -> Vec<Case<'_>> {
    let case = |part| {
        let (title, rest): (&str, &str) = str::split_once(part, '\n').expect("a title");
        let (name, lines) = title.rsplit_once(": ").expect("the lines");
        let (before, after) = rest.split_once("--- after\n").expect("an after part");
        let before = before.strip_prefix("--- before\n").expect("a before part");
        let lines = lines.split(' ').filter(|word| *word != "silent").map(|word| word.parse().expect("a line"));
        (name, lines.collect(), before, after)
    };
    text.split("=== ").skip(1).map(case).collect()
}

fn reported(name: &str, before: Option<&str>, after: &str) -> Vec<(u32, String)> {
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = Workspace::open(dir.path()).expect("a workspace");
    let options = DiagnoseOptions::default().checks(Checks::parse("syntax"));
    let path = RelPath::new(name.as_bytes()).expect("a path");
    let change = ChangedFile::new(path, before.map(FileImage::new), Some(FileImage::new(after)));
    let diagnosis = Diagnose::new(&workspace, options).check(&[change]);
    assert!(diagnosis.skipped.is_empty(), "{:?}", diagnosis.skipped);
    diagnosis.findings.into_iter().map(|found| (found.line.expect("a line"), found.message)).collect()
}

#[test]
fn only_what_the_patch_broke_is_reported() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/diagnose/syntax");
    let mut wrong = Vec::new();
    let mut languages = 0;
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        let text = std::fs::read_to_string(entry.path()).expect("a fixture");
        languages += 1;
        for must in ["breaks", "leaves an old error alone", "repairs", "moves lines with an old error"] {
            assert!(cases(&text).iter().any(|case| case.0 == must), "{name} has no case `{must}`");
        }
        for (case, want, before, after) in cases(&text) {
            let found = reported(&name, Some(before), after);
            let lines: Vec<u32> = found.iter().map(|(line, _)| *line).collect();
            if lines != want {
                wrong.push(format!("{name}, {case}: wanted {want:?}, found {found:#?}"));
            }
        }
    }
    assert_eq!(languages, 17);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_renamed_file_keeps_its_errors_and_a_new_language_brings_its_own() {
    let broken = "function f(n) {\n  return n * ;\n}\n";
    let whole = "function f(n) {\n  return n;\n}\n";
    let typed = "function f(n: number) {\n  return n;\n}\n";
    let cases: &[(&str, &str, &str, &str, &[u32])] = &[
        ("a.js", broken, "b.js", broken, &[]),
        ("a.js", broken, "b.ts", broken, &[]),
        ("a.js", whole, "b.ts", broken, &[2]),
        ("a.ts", typed, "b.js", typed, &[1]),
        ("a.txt", broken, "a.js", broken, &[2]),
    ];
    let dir = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(dir.path()).unwrap();
    for (old_name, before, new_name, after, want) in cases {
        let path = |name: &str| RelPath::new(name.as_bytes()).unwrap();
        let change = ChangedFile::new(path(new_name), Some(FileImage::new(*before)), Some(FileImage::new(*after)));
        let change = change.renamed(path(old_name));
        let options = DiagnoseOptions::default().checks(Checks::parse("syntax"));
        let found = Diagnose::new(&workspace, options).check(&[change]).findings;
        let lines: Vec<u32> = found.iter().filter_map(|found| found.line).collect();
        assert_eq!(lines, *want, "{old_name} {new_name}");
    }
}

/// An error in the old file is an error: a fixture that only seems broken proves nothing.
#[test]
fn each_old_error_of_the_fixtures_is_one() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/diagnose/syntax");
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        let text = std::fs::read_to_string(entry.path()).expect("a fixture");
        for (case, _, before, _) in cases(&text) {
            let is_broken = !reported(&name, None, before).is_empty();
            let says_so = case.contains(" old error") || case.starts_with("repairs") || case.starts_with("was cut");
            assert!(is_broken == says_so || case.contains("comments that were there"), "{name}, {case}: {is_broken}");
        }
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 8, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    /// Whatever lines move and wherever blank ones come in, an old error stays an old error.
    #[test]
    fn blank_lines_anywhere_blame_nobody(places in proptest::collection::vec(0_usize..40, 1..6)) {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/diagnose/syntax");
        for entry in std::fs::read_dir(folder).expect("the fixtures") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("a name");
            let text = std::fs::read_to_string(entry.path()).expect("a fixture");
            for (case, _, before, _) in cases(&text) {
                let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
                for place in &places {
                    lines.insert(place % (lines.len() + 1), "\n");
                }
                let found = reported(&name, Some(before), &lines.concat());
                assert!(found.is_empty(), "{name}, {case}: {found:?} in\n{}", lines.concat());
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]
    /// No text makes a parser panic or hang, and no file is worse than itself.
    #[test]
    fn any_text_can_be_checked(before in "([{}()<>:;,'\"=#/*\\\\ \\[\\]a1-]|\n|\t|é|  |if|do){0,60}", after in "([{}()<>:;,'\"=#/*\\\\ \\[\\]a1-]|\n|\t|é|  |if|do){0,60}") {
        for ending in ["bash", "c", "cpp", "css", "go", "html", "java", "js", "json", "jsonc", "py", "rb", "rs", "toml", "ts", "tsx", "yaml"] {
            let name = format!("a.{ending}");
            drop(reported(&name, Some(&before), &after));
            assert!(reported(&name, Some(&before), &before).is_empty());
        }
    }
}

/// For each language: blocks that are right, and blocks that are wrong in ways that spread.
const BLOCKS: &[(&str, &[&str], &[&str])] = &[
    (
        "a.rs",
        &[
            "fn a(n: u32) -> u32 {\n    n + 1\n}\n",
            "struct S {\n    x: [u8; 4],\n}\n",
            "// text\n",
            "const T: &str = \"a{b\";\n",
        ],
        &[
            "fn x() {\n    if y {\n        z();\n}\n",
            "fn x( {\n}\n",
            "}\n",
            "let s = \"open;\n",
            "fn x() { a..; b ]; }\n",
        ],
    ),
    (
        "a.ts",
        &[
            "function a(n: number) {\n  return n + 1;\n}\n",
            "interface S {\n  x: string[];\n}\n",
            "// text\n",
            "const t = `a${1}b`;\n",
        ],
        &[
            "function x() {\n  if (y) {\n    z();\n}\n",
            "function x( {\n}\n",
            "}\n",
            "const s = `open;\n",
            "const = ;\n",
        ],
    ),
    (
        "a.py",
        &["def a(n):\n    return n + 1\n", "class S:\n    x = [1, 2]\n", "# text\n", "t = f\"a{1}b\"\n"],
        &["def x(:\n    pass\n", "x = (1,\n", ")\n", "s = \"\"\"open\n", "if x\n    y()\n"],
    ),
    (
        "a.go",
        &[
            "func a(n int) int {\n\treturn n + 1\n}\n",
            "type S struct {\n\tx []int\n}\n",
            "// text\n",
            "const t = \"a{b\"\n",
        ],
        &["func x() {\n\tif y {\n\t\tz()\n}\n", "func x( {\n}\n", "}\n", "var s = `open\n", "func x() { := ; }\n"],
    ),
    (
        "a.c",
        &["int a(int n) {\n    return n + 1;\n}\n", "struct s {\n    int x[4];\n};\n", "/* text */\n", "#define T 1\n"],
        &[
            "int x(void) {\n    if (y) {\n        z();\n}\n",
            "int x( {\n}\n",
            "}\n",
            "char *s = \"open;\n",
            "int x(void) { ) }\n",
        ],
    ),
    (
        "a.rb",
        &["def a(n)\n  n + 1\nend\n", "class S\n  X = [1, 2]\nend\n", "# text\n", "T = \"a#{1}b\"\n"],
        &["def x\n  if y\n    z\nend\n", "def x(\nend\n", "end\n", "s = \"open\n", "x = [1, 2\n"],
    ),
    (
        "a.sh",
        &["a() {\n  echo \"$1\"\n}\n", "for x in 1 2; do\n  echo $x\ndone\n", "# text\n", "t=$(cat f)\n"],
        &["if y; then\n  z\n", "x() {\n  y\n", "done\n", "s=\"open\n", "a) b;;\n"],
    ),
    (
        "a.toml",
        &["[[a]]\nn = 1\n", "[[b]]\nx = [1,\n2]\n", "# text\n", "[[c.d]]\nt = 'x'\n"],
        &["[x\n", "x = \n", "x = [1,\n", "s = \"open\n", "= 1\n"],
    ),
    (
        "a.css",
        &[
            ".a {\n  color: red;\n}\n",
            "@media print {\n  .s { x: y; }\n}\n",
            "/* text */\n",
            ".s > a:hover {\n  t: x;\n}\n",
        ],
        &[".x {\n  y: z;\n", "}\n", ".x { y z; }\n", ".x { y:: z z:: }\n", ".x { s: \"open; }\n"],
    ),
];

proptest::proptest! {
    // The same cases on every run: what an error-tolerant parser makes of broken text is no theorem.
    #![proptest_config(ProptestConfig { cases: 32, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    /// Right blocks come, go and move round a wrong one: the patch is not blamed for it.
    #[test]
    fn right_blocks_round_an_old_error_blame_nobody(
        before in (proptest::collection::vec(0_usize..4, 0..4), proptest::collection::vec(0_usize..4, 0..4)),
        after in (proptest::collection::vec(0_usize..4, 0..4), proptest::collection::vec(0_usize..4, 0..4)),
        wrong in 0_usize..5,
    ) {
        for (name, right, wrongs) in BLOCKS {
            let pick = |list: &[usize]| list.iter().map(|&at| right[at]).collect::<String>();
            let build = |(above, below): &(Vec<usize>, Vec<usize>)| pick(above) + wrongs[wrong] + &pick(below);
            let (before, after) = (build(&before), build(&after));
            let found = reported(name, Some(&before), &after);
            assert!(found.is_empty(), "{name}: {found:?}\n<<<\n{before}>>>\n{after}");
        }
    }
}
