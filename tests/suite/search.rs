//! Search, read and glob as a library: one line a rule.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests make their own trees")]

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::Duration;

use restitch::{
    Answer, AnswerForm, CancelToken, Digest, Glob, GlobOptions, Mode, NoticeCode, RefusedReason, Search, SearchError,
    SearchOptions, Sort, Syntax, Workspace,
};

use crate::support::{Random, TestDir, restitch};

/// The answer as text.
fn text(answer: &Answer) -> String {
    let mut out = Vec::new();
    answer.write_text(&mut out).unwrap();
    String::from_utf8_lossy(&out).into_owned()
}

fn search(dir: &TestDir, options: SearchOptions, pattern: &str, path: &str) -> Result<Answer, SearchError> {
    let workspace = Workspace::open(dir.path()).unwrap();
    Search::new(pattern, options)?.run(&workspace, path)
}

/// The rows as text, without notices.
fn rows(dir: &TestDir, options: SearchOptions, pattern: &str, path: &str) -> String {
    text(&search(dir, options, pattern, path).unwrap().without_notices())
}

fn content() -> SearchOptions {
    SearchOptions::new().mode(Mode::Content)
}

fn codes(answer: &Answer) -> Vec<&'static str> {
    answer.notices().iter().map(|notice| notice.code().name()).collect()
}

#[test]
fn which_files_are_searched() {
    let o = SearchOptions::new;
    let dir = TestDir::new(&[
        (".gitignore", "*.log\nbuild/\n/top\ndist/*\n"),
        (".ignore", "!keep.log\n"),
        (".git/config", "x"),
        (".git/info/exclude", "excluded\n"),
        (".github/ci.yml", "x"),
        ("a/.GIT/x", "x"),
        ("a/.gitignore", "local\n!a.log\n"),
        ("a/a.log", "x"),
        ("a/b.rs", "x"),
        ("a/local", "x"),
        ("a/top", "x"),
        ("b.log", "x"),
        ("build/out.js", "x"),
        ("dist/bundle.js", "x"),
        ("excluded", "x"),
        ("keep.log", "x"),
        ("sub/.git/x", "x"),
        ("sub/.rgignore", "*.py\n"),
        ("sub/c.log", "x"),
        ("sub/d.py", "x"),
        ("sub/e.ts", "x"),
        ("top", "x"),
    ]);
    let all = ".github/ci.yml a/a.log a/b.rs a/top keep.log sub/e.ts";
    let every = ".github/ci.yml a/a.log a/b.rs a/local a/top b.log build/out.js dist/bundle.js excluded keep.log \
                 sub/c.log sub/d.py sub/e.ts top";
    for (options, path, want) in [
        (o(), "", all),
        (o(), ".", all),
        (o(), "./", all),
        (o().ignore_rules(false), "", every),
        // A path named outright is searched even if rules leave it out; rules that do not hide all of it still hold.
        (o(), "build", "build/out.js"),
        (o(), "dist", "dist/bundle.js"),
        (o(), "b.log", "b.log"),
        (o(), "sub", "sub/e.ts"),
        (o(), "sub/d.py", "sub/d.py"),
        (o(), "a/", "a/a.log a/b.rs a/top"),
        // A glob takes away and never brings back.
        (o().glob("*.log"), "", "a/a.log keep.log"),
        (o().glob("b.log"), "", ""),
        (o().glob("build/**"), "", ""),
        (o().glob("**/.git/**").glob(".git"), "", ""),
        (o().glob("!a"), "", ".github/ci.yml keep.log sub/e.ts"),
        (o().glob("a/*"), "", "a/a.log a/b.rs a/top"),
        (o().glob("./a/*.rs"), "", "a/b.rs"),
        (o().glob("*.{rs,ts}"), "", "a/b.rs sub/e.ts"),
        (o().glob("*.rs").glob("!b.*"), "", ""),
        (o().glob("!b.*").glob("*.rs"), "", "a/b.rs"),
        (o().file_type("rust"), "", "a/b.rs"),
        (o().file_type("rust").file_type("ts"), "", "a/b.rs sub/e.ts"),
        (o().file_type("rust").glob("sub/**"), "", ""),
        (o().glob("*.rs"), "top", "top"),
    ] {
        let shown = format!("{options:?} {path:?}");
        assert_eq!(rows(&dir, options, "x", path).split_whitespace().collect::<Vec<_>>().join(" "), want, "{shown}");
    }
}

#[test]
fn rules_from_above_the_root_do_not_hold() {
    let dir = TestDir::new(&[(".gitignore", "*\n"), (".ignore", "*\n"), ("root/a.txt", "x"), (".git/config", "")]);
    let workspace = Workspace::open(dir.path().join("root")).unwrap();
    let answer = Search::new("x", SearchOptions::new()).unwrap().run(&workspace, "").unwrap();
    assert_eq!(text(&answer), "a.txt\n");
}

#[test]
fn what_a_row_is() {
    let dir = TestDir::new(&[("a.rs", "one\ntwo foo\nthree\nfoo foo\nfive\nsix\nseven foo"), ("b", "foo\n")]);
    for (options, pattern, want) in [
        (SearchOptions::new(), "foo", "a.rs\nb\n"),
        (SearchOptions::new().mode(Mode::Count), "foo", "a.rs:3\nb:1\n"),
        (content(), "foo", "a.rs:2:two foo\na.rs:4:foo foo\na.rs:7:seven foo\nb:1:foo\n"),
        (
            content().context(1),
            "two|foo foo",
            "a.rs-1-one\na.rs:2:two foo\na.rs-3-three\na.rs:4:foo foo\na.rs-5-five\n",
        ),
        (content().before(1), "three|seven", "a.rs-2-two foo\na.rs:3:three\n--\na.rs-6-six\na.rs:7:seven foo\n"),
        (
            content().after(2),
            "^one|six",
            "a.rs:1:one\na.rs-2-two foo\na.rs-3-three\n--\na.rs:6:six\na.rs-7-seven foo\n",
        ),
        (content().context(1), "seven|^foo$", "a.rs-6-six\na.rs:7:seven foo\n--\nb:1:foo\n"),
        // The context of rows that are not shown is not shown either.
        (content().context(1).limit(1), "foo", "a.rs-1-one\na.rs:2:two foo\na.rs-3-three\n"),
        (content().context(1).limit(1).offset(1), "foo", "a.rs-3-three\na.rs:4:foo foo\na.rs-5-five\n"),
        (content().context(2).limit(1).offset(2), "foo", "a.rs-5-five\na.rs-6-six\na.rs:7:seven foo\n"),
        (content().limit(2).offset(1), "foo", "a.rs:4:foo foo\na.rs:7:seven foo\n"),
        (SearchOptions::new().limit(1).offset(1), "foo", "b\n"),
        (content().multiline(true), r"three\nfoo", "a.rs:3:three\na.rs:4:foo foo\n"),
        (SearchOptions::new().mode(Mode::Count).multiline(true), r"foo\nf|foo\nt", "a.rs:2\n"),
    ] {
        let shown = format!("{options:?} {pattern}");
        assert_eq!(rows(&dir, options, pattern, ""), want, "{shown}");
    }
}

#[test]
fn how_patterns_match() {
    let dir = TestDir::new(&[
        ("crlf", "done\r\nab\rc\r\nx done\r\n"),
        ("text", "Foo foo_bar\nfoo\na.c abc\nf(x\nÉCLAIR\n\t\n--ctx\n"),
    ]);
    dir.write("bom", b"\xEF\xBB\xBFimport a\nimport b\n");
    let wide = |text: &str, big: bool| -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    };
    dir.write("wide-be", &wide("\u{feff}wide é\r\nline\r\n", true));
    dir.write("wide-le", &wide("\u{feff}wide é\nline\n", false));
    dir.write("latin", b"caf\xE9\n");
    for (options, pattern, want) in [
        (content(), "done$", "crlf:1:done\ncrlf:3:x done\n"),
        (content(), r"c\r", "crlf:2:ab\rc\n"),
        (SearchOptions::new().mode(Mode::Count), r"\w+\w+\r", "crlf:3\nwide-be:1\n"),
        (SearchOptions::new(), r"x\w*.\w+e\r$", "crlf\n"),
        (content(), "^import", "bom:1:import a\nbom:2:import b\n"),
        (content().syntax(Syntax::Literal), "import a", "bom:1:import a\n"),
        (content(), "é$", "wide-be:1:wide é\nwide-le:1:wide é\n"),
        (content(), "caf", "latin:1:caf\u{fffd}\n"),
        (content(), r"^caf(?-u:\xE9)$", "latin:1:caf\u{fffd}\n"),
        (content(), "foo", "text:1:Foo foo_bar\ntext:2:foo\n"),
        (content().word(true), "foo", "text:2:foo\n"),
        (content().ignore_case(true).word(true), "FOO", "text:1:Foo foo_bar\ntext:2:foo\n"),
        (content().ignore_case(true), "éclair", "text:5:ÉCLAIR\n"),
        (content(), "a.c", "text:3:a.c abc\n"),
        (content().syntax(Syntax::Literal), ".c a", "text:3:a.c abc\n"),
        (content().syntax(Syntax::Literal), "f(", "text:4:f(x\n"),
        (content().syntax(Syntax::Regex), "ctx", "text:7:--ctx\n"),
        (content(), "--ctx|--npred", "text:7:--ctx\n"),
        (content(), r"^\s+$", "text:6:\t\n"),
        (content().multiline(true), r"done\r?\nab", "crlf:1:done\ncrlf:2:ab\rc\n"),
        (content().multiline(true), "done$", "crlf:1:done\ncrlf:3:x done\n"),
    ] {
        let shown = format!("{options:?} {pattern}");
        assert_eq!(rows(&dir, options, pattern, ""), want, "{shown}");
    }
    let several = Search::any_of(["ÉC", "f("], content().syntax(Syntax::Literal)).unwrap();
    let answer = several.run(&Workspace::open(dir.path()).unwrap(), "").unwrap();
    assert_eq!(text(&answer), "text:4:f(x\ntext:5:ÉCLAIR\n");
}

#[test]
fn three_answers_are_told_apart() {
    let dir = TestDir::new(&[("src/utils/a.rs", "x\n"), ("b", "x\n")]);
    symlink("self", dir.path().join("self")).unwrap();
    let answer = search(&dir, SearchOptions::new(), "absent", "src").unwrap();
    assert_eq!(text(&answer), "no matches for `absent` in `src` (1 file searched)\n");
    let answer = search(&dir, SearchOptions::new().offset(2), "x", "").unwrap();
    assert_eq!(text(&answer), "no more results: the offset 2 is past the last of 2 rows\n");
    assert!(!answer.truncated() && answer.next_offset().is_none());
    for (path, want) in [
        ("src/utlis", "`src/utlis` does not exist; is `src/utils` meant?"),
        ("scr/utils/a.rs", "`scr/utils/a.rs` does not exist; is `src/utils/a.rs` meant?"),
        ("nowhere", "`nowhere` does not exist"),
        ("b/c", "`b/c` cannot be searched: `b` on the way is not a directory"),
        ("../b", "`../b` cannot be searched: the path has a `..` part, which may lead outside the root"),
        ("/etc", "`/etc` cannot be searched: the path is absolute and lies outside the root"),
        ("self", "`self` cannot be searched: its symbolic links form a loop"),
        ("src/.git", "`src/.git` lies inside `.git`, which is never searched"),
    ] {
        assert_eq!(search(&dir, SearchOptions::new(), "x", path).unwrap_err().to_string(), want);
    }
    let absolute = dir.path().join("src").canonicalize().unwrap();
    assert_eq!(rows(&dir, SearchOptions::new(), "x", absolute.to_str().unwrap()), "src/utils/a.rs\n");
}

#[test]
fn wrong_questions_are_refused_with_their_place() {
    let error = |pattern: &str, options| Search::new(pattern, options).unwrap_err().to_string();
    for (pattern, options, want) in [
        ("foo(", SearchOptions::new(), "`foo(` is no regular expression: unclosed group at character 4"),
        ("a\\nb", SearchOptions::new(), "has a line end in it"),
        ("x", SearchOptions::new().glob("{a"), "`{a` is no glob"),
        ("x", SearchOptions::new().deny("a[b-a]"), "`a[b-a]` is no glob"),
        ("x", SearchOptions::new().file_type("rusty"), "there is no file type `rusty`; is `rust` meant?"),
    ] {
        let said = error(pattern, options);
        assert!(said.contains(want), "{said}");
    }
}

#[test]
fn totals_are_exact_or_say_that_they_are_not() {
    let dir = TestDir::new(&[]);
    for file in 0..200 {
        dir.write(&format!("d{}/f{file:03}", file % 3), b"hit\nmiss\nhit\n");
    }
    let answer = search(&dir, content().limit(400), "hit", "").unwrap();
    assert_eq!(
        (answer.total().value, answer.total().exact, answer.truncated(), answer.shown()),
        (400, true, false, 400)
    );
    assert!(codes(&answer).is_empty());
    let answer = search(&dir, content().limit(399), "hit", "").unwrap();
    assert_eq!((answer.total().value, answer.total().exact, answer.truncated()), (400, true, true));
    assert_eq!(answer.next_offset(), Some(399));
    let answer = search(&dir, content().limit(10), "hit", "").unwrap();
    assert!(answer.total().value > 10 && !answer.total().exact && answer.truncated());
    let answer = search(&dir, content().limit(10).stats(true), "hit", "").unwrap();
    assert_eq!((answer.total().value, answer.total().exact, answer.shown()), (400, true, 10));
    // Pages put together are the whole.
    let whole = rows(&dir, content().limit(1000), "hit", "");
    let (mut pages, mut offset) = (String::new(), Some(0));
    while let Some(from) = offset {
        let answer = search(&dir, content().limit(33).offset(usize::try_from(from).unwrap()), "hit", "").unwrap();
        offset = answer.next_offset();
        pages.push_str(&text(&answer.without_notices()));
    }
    assert_eq!(pages, whole);
}

#[test]
fn long_lines_are_cut_round_the_match_and_leave_room_for_others() {
    let dir = TestDir::new(&[("z.rs", "needle at the end\n")]);
    for name in ["a.map", "b.map", "c.map"] {
        dir.write(name, format!("{}needle{}\n", "ä".repeat(15_000), "m".repeat(30_000)).as_bytes());
    }
    let answer = search(&dir, content().max_row_bytes(40), "needle", "").unwrap();
    assert_eq!(answer.rows()[0].text(), format!("{}needle{}", "ä".repeat(5), "m".repeat(24)).as_bytes());
    assert_eq!(answer.rows()[0].cut(), (true, true));
    assert_eq!(codes(&answer), ["cut"]);
    for bytes in [600, 2048, 5000, 20_000] {
        let answer = search(&dir, content().max_bytes(bytes), "needle", "").unwrap();
        let text = text(&answer);
        assert!(text.len() <= bytes && text.len() > bytes / 2, "{bytes} {}", text.len());
        assert_eq!(answer.shown(), 4, "{bytes}");
        assert!(text.contains("z.rs:1:needle at the end\n"));
        assert!(answer.rows().iter().all(|row| String::from_utf8_lossy(row.text()).contains("needle")));
    }
}

#[test]
fn the_text_never_exceeds_its_budget() {
    let mut random = Random::new(7);
    let dir = TestDir::new(&[]);
    for file in 0..60 {
        let line =
            |random: &mut Random| format!("{}hit{}\n", "a".repeat(random.below(300)), "é".repeat(random.below(900)));
        let lines: String = (0..random.below(8)).map(|_| line(&mut random)).collect();
        dir.write(&format!("{}/f{file}", "d".repeat(1 + random.below(40))), lines.as_bytes());
        dir.write(&format!("bin{file}"), b"hit\0");
    }
    for bytes in [256, 300, 511, 1000, 3000, 10_000, 64 << 10] {
        for options in [content(), content().context(2), SearchOptions::new(), SearchOptions::new().mode(Mode::Count)] {
            let answer = search(&dir, options.max_bytes(bytes).limit(200), "hit", "").unwrap();
            let size = text(&answer).len();
            assert!(size <= bytes, "{size} > {bytes}");
            assert!(!answer.rows().is_empty());
            assert_eq!(answer.truncated(), answer.next_offset().is_some());
        }
    }
}

#[test]
fn what_is_left_out_is_told_when_it_matters() {
    let dir = TestDir::new(&[
        (".gitignore", "*.log\nout/\n"),
        ("a.log", "only here\n"),
        ("out/b", "only here\n"),
        ("c.txt", "text\n"),
        (".env", "KEY=secret\n"),
        ("sep.ts", "kind: a\0b\n"),
    ]);
    symlink("c.txt", dir.path().join("link")).unwrap();
    let told = |options: SearchOptions, pattern: &str| {
        let answer = search(&dir, options, pattern, "").unwrap();
        (codes(&answer).join(" "), text(&answer))
    };
    let (codes, said) = told(SearchOptions::new(), "only here");
    assert_eq!(codes, "no_match ignored links");
    assert!(said.contains("ignored by .gitignore: 1 file and 1 directory"), "{said}");
    let (codes, said) = told(SearchOptions::new(), "kind:");
    assert_eq!(codes, "binary", "{said}");
    assert!(said.contains("sep.ts"), "{said}");
    assert_eq!(told(SearchOptions::new(), "text"), (String::new(), "c.txt\n".into()));
    let (codes, said) = told(content().deny("*.env"), "secret");
    assert_eq!(codes, "denied");
    assert!(said.contains(".env") && !said.contains("KEY"), "{said}");
    let (codes, _) = told(content().deny_secrets(), "KEY=[a-z]+");
    assert!(codes.contains("denied"), "{codes}");
    let (codes, _) = told(SearchOptions::new().glob("*.py"), "text");
    assert!(codes.contains("no_files"), "{codes}");
    let (codes, said) = told(SearchOptions::new().stats(true), "text");
    assert!(codes.contains("stats") && codes.contains("ignored"), "{codes}: {said}");
}

#[test]
fn special_files_are_named_and_never_opened() {
    let dir = TestDir::new(&[("a.txt", "word\n")]);
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    assert_eq!(rows(&dir, SearchOptions::new(), "word", ""), "a.txt\n");
    for (path, what) in [("pipe", "a named pipe"), ("socket", "a socket")] {
        let said = search(&dir, SearchOptions::new(), "word", path).unwrap_err().to_string();
        assert_eq!(said, format!("`{path}` is {what}, which cannot be searched"));
    }
    let answer = search(&dir, SearchOptions::new(), "absent", "").unwrap();
    assert_eq!(codes(&answer), ["no_match", "special"]);
    // Devices, through a root that has some.
    let workspace = Workspace::open("/dev").unwrap();
    let search = Search::new("word", SearchOptions::new()).unwrap();
    let Err(SearchError::Refused(refused)) = search.run(&workspace, "zero") else { panic!("a device is refused") };
    assert_eq!(*refused.reason(), RefusedReason::NotThat("a device"));
}

#[test]
fn links_are_followed_only_when_asked_and_inside_the_root() {
    let dir = TestDir::new(&[
        ("root/a/x.txt", "word\n"),
        ("root/hidden/y.txt", "word\n"),
        ("root/hidden/deep/z.txt", "word\n"),
        ("root/.gitignore", "hidden\n"),
        ("outside/secret", "word\n"),
    ]);
    let root = dir.path().join("root");
    let links = [
        ("..", "a/up"),
        ("a", "again"),
        ("a/x.txt", "file"),
        ("hidden", "first"),
        ("hidden/deep", "second"),
        ("../hidden", "hidden/loop"),
        ("../outside", "out"),
        ("nowhere", "dangling"),
        ("self", "self"),
        ("hidden/y.txt", "zz"),
    ];
    for (target, link) in links {
        symlink(target, root.join(link)).unwrap();
    }
    let workspace = Workspace::open(&root).unwrap();
    let rows = |options: SearchOptions, path: &str| {
        text(&Search::new("word", options).unwrap().run(&workspace, path).unwrap().without_notices())
    };
    let o = SearchOptions::new;
    assert_eq!(rows(o(), ""), "a/x.txt\n");
    // Each file once: by its own name if the walk comes to it, else through the first link that leads there.
    let followed = "a/x.txt\nfirst/deep/z.txt\nfirst/y.txt\n";
    assert_eq!(rows(o().follow(true), ""), followed);
    assert_eq!(rows(o().follow(true).threads(4), ""), followed);
    assert_eq!(rows(o().follow(true).ignore_rules(false), ""), "a/x.txt\nhidden/deep/z.txt\nhidden/y.txt\n");
    // A link named outright is followed, as any path is.
    assert_eq!(rows(o(), "again"), "again/x.txt\n");
    assert_eq!(rows(o(), "file"), "file\n");
    assert_eq!(rows(o(), "first/deep"), "first/deep/z.txt\n");
    for path in ["out", "out/secret", "self", "dangling"] {
        assert!(Search::new("word", o()).unwrap().run(&workspace, path).is_err(), "{path}");
    }
}

#[test]
fn a_directory_that_denies_access_does_not_fail_the_rest() {
    let dir = TestDir::new(&[("a.txt", "word\n"), ("locked/b.txt", "word\n"), ("c.txt", "word\n")]);
    let deny =
        |mode| std::fs::set_permissions(dir.path().join("locked"), std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    deny(0o000);
    let readable = std::fs::read_dir(dir.path().join("locked")).is_ok();
    let said = if readable {
        // Nothing is denied to this user: ask as another one, where that is possible.
        as_nobody(&dir)
    } else {
        Some(restitch(dir.path(), &["search", "word"], "").exits(0).out)
    };
    deny(0o755);
    if let Some(said) = said {
        assert!(said.starts_with("a.txt\nc.txt\n\n1 path could not be read: locked ("), "{said}");
    }
}

/// What the program says to a user without rights; `None` where there is no program to become one.
fn as_nobody(dir: &TestDir) -> Option<String> {
    let program = dir.path().join("program");
    std::fs::copy(env!("CARGO_BIN_EXE_restitch"), &program).unwrap();
    let said = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "./program", "search", "-g", "*.txt", "word"])
        .current_dir(dir.path())
        .output();
    match said {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        said => Some(String::from_utf8(said.unwrap().stdout).unwrap()),
    }
}

#[test]
fn a_run_that_is_ended_early_returns_what_it_has() {
    let dir = TestDir::new(&[("a", "word\n"), ("b/c", "word\n")]);
    let answer = search(&dir, SearchOptions::new().timeout(Duration::ZERO), "word", "").unwrap();
    assert_eq!((answer.rows().len(), answer.truncated(), answer.total().exact), (0, true, false));
    assert_eq!(answer.notices()[0].code(), NoticeCode::Timeout);
    let cancel = CancelToken::new();
    cancel.cancel();
    let answer = search(&dir, SearchOptions::new().cancel(cancel), "word", "").unwrap();
    assert_eq!(codes(&answer), ["cancelled"]);
    assert!(answer.truncated() && answer.next_offset().is_none());
}

/// A tree of several hundred files with all that can happen in one.
fn busy_tree() -> TestDir {
    let mut random = Random::new(3);
    let dir = TestDir::new(&[(".gitignore", "*.log\nskip/\n")]);
    for file in 0..300 {
        let depth = random.below(4);
        let parts: Vec<String> =
            (0..depth).map(|_| format!("{}{}", random.pick(&["d", "skip", "z"]), random.below(4))).collect();
        let name = format!("f{file}{}", random.pick(&[".rs", ".log", ".txt", ""]));
        let path = parts.iter().map(String::as_str).chain([name.as_str()]).collect::<Vec<_>>().join("/");
        let lines: String = (0..random.below(20))
            .map(|i| format!("{} line {i} {}\n", random.pick(&["hit", "miss"]), "x".repeat(random.below(200))))
            .collect();
        let bytes = if random.below(20) == 0 { format!("hit\0{lines}").into_bytes() } else { lines.into_bytes() };
        dir.write(&path, &bytes);
    }
    dir.write("d1/huge", format!("{}hit\n", "y".repeat(1_100_000)).as_bytes());
    dir
}

#[test]
fn the_same_bytes_on_every_run_and_any_number_of_threads() {
    let dir = busy_tree();
    let questions = [
        (content(), "hit"),
        (content().limit(7).offset(30).context(1), "hit"),
        (content().limit(100_000).max_bytes(5_000), "line 1"),
        (SearchOptions::new().limit(20), "hit"),
        (SearchOptions::new().mode(Mode::Count).limit(100_000), "miss"),
        (content(), "nowhere at all"),
        (content().limit(1000).offset(1000).stats(true), "line"),
        (SearchOptions::new().follow(true).limit(500), "hit"),
    ];
    let workspace = Workspace::open(dir.path()).unwrap();
    for (options, pattern) in questions {
        let mut first: Option<Vec<u8>> = None;
        for run in 0..100 {
            let search = Search::new(pattern, options.clone().threads(run % 8 + 1)).unwrap();
            let mut out = Vec::new();
            let answer = search.run(&workspace, "").unwrap();
            answer.write_text(&mut out).unwrap();
            answer.write_json(&mut out).unwrap();
            let first = first.get_or_insert_with(|| out.clone());
            assert!(out == *first, "run {run} of {options:?} differs");
        }
    }
}

#[test]
fn one_search_serves_many_threads_at_once() {
    let dir = busy_tree();
    let workspace = Workspace::open(dir.path()).unwrap();
    let search = Search::new("hit", content().limit(500)).unwrap();
    let want = text(&search.run(&workspace, "").unwrap());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(text(&search.run(&workspace, "").unwrap()), want));
        }
    });
}

#[test]
fn everything_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Search>();
    shared::<SearchOptions>();
    shared::<Answer>();
    shared::<SearchError>();
    shared::<Glob>();
    shared::<GlobOptions>();
    shared::<restitch::ReadOptions>();
    shared::<restitch::FileView>();
}

#[test]
fn globs_find_paths_by_name_and_by_time() {
    let dir = TestDir::new(&[
        (".gitignore", "*.log\n"),
        ("a/b.rs", ""),
        ("a/c.txt", ""),
        ("a/d/b.rs", ""),
        ("b.rs", ""),
        ("x.log", ""),
        (".git/y.rs", ""),
    ]);
    for (age, path) in ["a/d/b.rs", "b.rs", "a/b.rs"].into_iter().enumerate() {
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age as u64);
        std::fs::File::options().append(true).open(dir.path().join(path)).unwrap().set_modified(time).unwrap();
    }
    let workspace = Workspace::open(dir.path()).unwrap();
    let glob = |glob: &str, options: GlobOptions, path: &str| {
        text(&Glob::new([glob], options).unwrap().run(&workspace, path).unwrap().without_notices())
    };
    let o = GlobOptions::new;
    for (pattern, options, path, want) in [
        ("*.rs", o(), "", "a/b.rs a/d/b.rs b.rs"),
        ("*.rs", o().sort(Sort::Time), "", "a/d/b.rs b.rs a/b.rs"),
        ("*.rs", o().sort(Sort::Time).limit(1).offset(1), "", "b.rs"),
        ("*.rs", o().limit(1).offset(1), "", "a/d/b.rs"),
        ("a/*.rs", o(), "", "a/b.rs"),
        ("/b.rs", o(), "", "b.rs"),
        ("*/b.rs", o(), "a", "a/d/b.rs"),
        ("**/*.txt", o(), "", "a/c.txt"),
        ("*.log", o(), "", ""),
        ("*.log", o().ignore_rules(false), "", "x.log"),
        ("!*.rs", o(), "", ".gitignore a/c.txt"),
        ("b.rs", o(), "a/b.rs", "a/b.rs"),
    ] {
        let got = glob(pattern, options.clone(), path);
        assert_eq!(got.split_whitespace().collect::<Vec<_>>().join(" "), want, "{pattern} {path} {options:?}");
    }
    let answer = Glob::new(["*.rs"], o().sort(Sort::Time).limit(2)).unwrap().run(&workspace, "").unwrap();
    assert_eq!((answer.total().value, answer.next_offset()), (3, Some(2)));
    let none = Glob::new(["*.py"], o()).unwrap().run(&workspace, "a").unwrap();
    assert_eq!(text(&none), "no file fits `*.py` in `a` (3 files looked at)\n");
    assert!(Glob::new(["[z-a]"], o()).is_err());
}

#[test]
fn the_programs_pass_their_flags_on() {
    let dir = TestDir::new(&[
        ("a.rs", "fn one() {}\nfn two() {}\n\nlet ONE = f(x);\n"),
        ("b.py", "def one(): pass\n"),
        (".env", "KEY=one\n"),
        ("skip.log", "one\n"),
        (".gitignore", "*.log\n"),
    ]);
    for (args, code, want) in [
        ("search one", 0, ".env\na.rs\nb.py\n"),
        ("search one .", 0, ".env\na.rs\nb.py\n"),
        ("search -e one -e two a.rs --mode content", 0, "a.rs:1:fn one() {}\na.rs:2:fn two() {}\n"),
        ("search --mode count -i one -t rust", 0, "a.rs:2\n"),
        ("search --mode content -F f( a.rs", 0, "a.rs:4:let ONE = f(x);\n"),
        ("search --mode content --regex o.e -g *.py", 0, "b.py:1:def one(): pass\n"),
        ("search --mode content -w tw|two", 0, "a.rs:2:fn two() {}\n"),
        ("search --mode content -A1 -g *.rs two", 0, "a.rs:2:fn two() {}\na.rs-3-\n"),
        ("search --mode content -B1 -g *.rs two", 0, "a.rs-1-fn one() {}\na.rs:2:fn two() {}\n"),
        ("search --mode content -C1 -A0 -g *.rs two", 0, "a.rs-1-fn one() {}\na.rs:2:fn two() {}\n"),
        ("search -U two.*\\n\\nlet", 0, "a.rs\n"),
        ("search --deny-secrets KEY", 1, "1 file on the deny list matches and is not shown: .env\n"),
        ("search --deny .env KEY", 1, "1 file on the deny list matches and is not shown: .env\n"),
        ("search --no-ignore one -g *.log", 0, "skip.log\n"),
        (
            "search --limit 1 --offset 1 one",
            0,
            "a.rs\n\ntruncated: rows 2 to 2 of 3 are shown; for more, go on with offset 2\n",
        ),
        (
            "search --mode content --max-line-bytes 4 one b.py",
            0,
            "b.py:1:… one…\n\n1 long line is cut to a window round the first match\n",
        ),
        ("search absent a.rs -j 2", 1, "no matches for `absent` in `a.rs` (1 file searched)\n"),
        ("glob *.rs", 0, "a.rs\n"),
        (
            "glob *.log",
            1,
            "no file fits `*.log` in `.` (4 files looked at)\nignored by .gitignore: 1 file; --no-ignore or naming the path outright takes them in\n",
        ),
        ("read b.py", 0, "     1\tdef one(): pass\n\nhash: HASH\n"),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let said = restitch(dir.path(), &words, "one\n").exits(code);
        let want = want.replace("HASH", &Digest::of(b"def one(): pass\n").to_string());
        assert_eq!((said.out.as_str(), said.err.as_str()), (want.as_str(), ""), "{args}");
    }
    for args in [
        "search",
        "search foo(",
        "search one two three",
        "search one -e two three",
        "search one nowhere",
        "search -F --regex one",
        "search --max-bytes 9 one",
        "search --limit 0 one",
        "glob --limit 0",
        "search --timeout soon one",
        "search --root nowhere one",
        "read nowhere",
        "read --from 1 --last 2 b.py",
        "glob [z-a]",
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let said = restitch(dir.path(), &words, "").exits(2);
        assert!(said.out.is_empty() && said.err.starts_with("error: "), "{args}: {}", said.err);
    }
}

#[test]
fn json_has_the_documented_keys() {
    let dir = TestDir::new(&[("a", "one\ntwo\n"), ("b", "\"q\"\t\u{1}two\n")]);
    dir.write("c", b"two \xff\n");
    for (args, want) in [
        (
            "search --json --mode content -B1 --limit 2 two",
            r#"{"version":1,"mode":"content","rows":[{"path":"a","line":1,"text":"one","kind":"context","cut":false},{"path":"a","line":2,"text":"two","kind":"match","cut":false},{"path":"b","line":1,"text":"\"q\"\t\u0001two","kind":"match","cut":false}],"shown":2,"total":{"value":3,"exact":true},"truncated":true,"next_offset":2,"notices":[{"code":"truncated","message":"truncated: rows 1 to 2 of 3 are shown; for more, go on with offset 2"}]}"#,
        ),
        (
            "search --json --mode content two c",
            r#"{"version":1,"mode":"content","rows":[{"path":"c","line":1,"text":"two �","kind":"match","cut":false}],"shown":1,"total":{"value":1,"exact":true},"truncated":false,"next_offset":null,"notices":[]}"#,
        ),
        (
            "search --json one",
            r#"{"version":1,"mode":"files","rows":[{"path":"a"}],"shown":1,"total":{"value":1,"exact":true},"truncated":false,"next_offset":null,"notices":[]}"#,
        ),
        (
            "search --json --mode count o",
            r#"{"version":1,"mode":"count","rows":[{"path":"a","count":2},{"path":"b","count":1},{"path":"c","count":1}],"shown":3,"total":{"value":3,"exact":true},"truncated":false,"next_offset":null,"notices":[]}"#,
        ),
        (
            "read --json -n 1 a",
            r#"{"version":1,"path":"a","hash":"HASH","size":8,"total_lines":2,"encoding":"utf-8","bom":false,"endings":"lf","final_newline":true,"binary":false,"lines":[{"line":1,"text":"one","cut":0}],"next_line":2,"notices":[{"code":"truncated","message":"lines 1 to 1 of 2 are shown; go on from line 2"}]}"#,
        ),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let said = restitch(dir.path(), &words, "").exits(0);
        let want = want.replace("HASH", &Digest::of(b"one\ntwo\n").to_string());
        assert_eq!(said.out, format!("{want}\n"), "{args}");
    }
}

#[test]
fn a_file_too_large_for_a_multiline_search_is_named() {
    let dir = TestDir::new(&[("a", "x\ny\n")]);
    std::fs::File::create(dir.path().join("large")).unwrap().set_len(65 << 20).unwrap();
    let answer = search(&dir, SearchOptions::new().multiline(true), r"x\ny", "").unwrap();
    assert_eq!(answer.rows().len(), 1);
    assert_eq!(codes(&answer), ["too_large"]);
}

#[test]
fn fifty_thousand_files_fit_in_the_answer() {
    let dir = TestDir::new(&[]);
    for folder in 0..100 {
        let path = dir.path().join(format!("d{folder:03}"));
        std::fs::create_dir(&path).unwrap();
        let first = path.join("f000");
        std::fs::write(&first, "common\n").unwrap();
        // Further names of one file: as many entries, and a tree that is quickly made.
        for file in 1..500 {
            std::fs::hard_link(&first, path.join(format!("f{file:03}"))).unwrap();
        }
    }
    let answer = search(&dir, content(), "common", "").unwrap();
    assert_eq!((answer.shown(), answer.rows()[49].path().to_str().unwrap()), (50, "d000/f049"));
    let answer = search(&dir, SearchOptions::new().offset(49_990), "common", "").unwrap();
    assert_eq!((answer.shown(), answer.total().value, answer.total().exact), (10, 50_000, true));
    let answer = search(&dir, SearchOptions::new().limit(50_000), "common", "").unwrap();
    assert!(text(&answer).len() <= 64 << 10 && answer.truncated());
}

/// Run with `cargo test --release --test suite -- --ignored gigabyte`.
#[test]
#[ignore = "writes a file of 1 GiB"]
fn a_line_of_a_gigabyte_is_searched_in_bounded_memory() {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let dir = TestDir::new(&[]);
    let mut file = std::fs::File::create(dir.path().join("line.txt")).unwrap();
    let block = vec![b'x'; 1 << 20];
    (0..1024).for_each(|_| file.write_all(&block).unwrap());
    file.write_all(b"\nlast needle\n").unwrap();
    file.seek(SeekFrom::Start(700 << 20)).unwrap();
    file.write_all(b"needle").unwrap();
    drop(file);
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0)
    };
    let answer = search(&dir, content(), "needle", "").unwrap();
    assert_eq!(answer.shown(), 2);
    assert_eq!(answer.rows()[0].cut(), (true, true));
    assert!(peak() < 120 << 10, "{} KiB", peak());
}

#[test]
fn the_json_never_exceeds_its_budget() {
    let mut random = Random::new(8);
    let dir = TestDir::new(&[]);
    // Characters that take one, two and six bytes in JSON, and one that is no UTF-8.
    let parts: [&[u8]; 5] = [b"a", b"\"\\", "é".as_bytes(), b"\x01", b"\xff"];
    for file in 0..40 {
        let mut text = Vec::new();
        for _ in 0..random.below(8) {
            let part = parts[random.below(5)];
            text.extend(part.repeat(random.below(300)));
            text.extend(b"hit");
            text.extend(part.repeat(random.below(700)));
            text.push(b'\n');
        }
        dir.write(&format!("{}/\"{file}", "d".repeat(1 + random.below(40))), &text);
        dir.write(&format!("bin\\{file}"), b"hit\0");
    }
    for bytes in [1024, 1500, 3000, 10_000, 64 << 10] {
        for options in [content(), content().context(2), SearchOptions::new(), SearchOptions::new().mode(Mode::Count)] {
            let options = options.max_bytes(bytes).form(AnswerForm::Json).limit(200);
            let answer = search(&dir, options, "hit", "").unwrap();
            let mut json = Vec::new();
            answer.write_json(&mut json).unwrap();
            assert!(json.len() <= bytes, "{} > {bytes}", json.len());
            assert!(!answer.rows().is_empty());
            assert_eq!(answer.truncated(), answer.next_offset().is_some());
            let lines = answer.mode() == Mode::Content;
            assert!(!lines || json.len() > bytes / 2, "{} of {bytes} used", json.len());
        }
    }
}
