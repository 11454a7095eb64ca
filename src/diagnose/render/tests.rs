//! One diagnosis in each of its forms.

use crate::diagnose::{Diagnosis, Diagnostic, Severity, Skipped};
use crate::path::RelPath;

fn diagnosis() -> Diagnosis {
    let path = |path: &str| RelPath::new(path.as_bytes()).ok();
    let finding =
        |check: &str, code: &str, at: (Option<RelPath>, Option<u32>, Option<u32>), message: &str| Diagnostic {
            check: check.to_owned(),
            code: code.to_owned(),
            severity: if check == "whitespace" { Severity::Warning } else { Severity::Error },
            path: at.0,
            line: at.1,
            column: at.2,
            message: message.to_owned(),
        };
    Diagnosis {
        findings: vec![
            finding("syntax", "syntax-error", (path("src/a.rs"), Some(3), Some(13)), "unexpected `.` [Rust]"),
            finding("whitespace", "trailing-whitespace", (path("src/a.rs"), Some(4), None), "trailing white space"),
            finding("gofmt", "", (path("b.go"), Some(1), Some(1)), "expected 'package'"),
            finding("tsc", "TS18003", (None, None, None), "no inputs were found"),
        ],
        left_out: 2,
        skipped: vec![Skipped { check: "cargo".to_owned(), because: "the program `cargo` was not found".to_owned() }],
    }
}

#[test]
fn short_for_models() {
    let want = "src/a.rs:3:13: error: unexpected `.` [Rust] (syntax syntax-error)\n\
                src/a.rs:4: warning: trailing white space (whitespace trailing-whitespace)\n\
                b.go:1:1: error: expected 'package' (gofmt)\n\
                the project: error: no inputs were found (tsc TS18003)\n\
                and 2 more findings that are not shown\n\
                skipped cargo, because the program `cargo` was not found\n";
    assert_eq!(diagnosis().text(), want);
    assert_eq!(Diagnosis::default().text(), "");
}

#[test]
fn json_for_programs() {
    let mut diagnosis = diagnosis();
    diagnosis.findings.drain(1..3);
    let want = r#"{"findings":[{"check":"syntax","code":"syntax-error","severity":"error","path":"src/a.rs","line":3,"column":13,"message":"unexpected `.` [Rust]"},{"check":"tsc","code":"TS18003","severity":"error","message":"no inputs were found"}],"left_out":2,"skipped":[{"check":"cargo","because":"the program `cargo` was not found"}]}"#;
    assert_eq!(diagnosis.json(), want);
}

#[cfg(feature = "cli")]
#[test]
fn with_excerpts_for_people() {
    let source = "fn a() {\n    let b = 1;\n    let c = .;\n    b \n}\n";
    let text = diagnosis().text_with_sources(|path| (path.as_str() == "src/a.rs").then(|| source.into()), false);
    let want = "\
error[syntax/syntax-error]: unexpected `.` [Rust]
 --> src/a.rs:3:13
  |
1 | fn a() {
2 |     let b = 1;
3 |     let c = .;
  |             ^
4 |     b\x20
5 | }
  |

warning[whitespace/trailing-whitespace]: trailing white space
 --> src/a.rs:4:5
  |
2 |     let b = 1;
3 |     let c = .;
4 |     b\x20
  |     ^
5 | }
  |

error[gofmt]: expected 'package'
--> b.go:1:1

error[tsc/TS18003]: no inputs were found

and 2 more findings that are not shown
skipped cargo, because the program `cargo` was not found
";
    assert_eq!(text, want);
    assert!(diagnosis().text_with_sources(|_| None, true).contains('\x1b'));
}

#[cfg(feature = "cli")]
proptest::proptest! {
    /// No source and no place makes it panic.
    #[test]
    fn any_source_can_be_shown(source in proptest::collection::vec(proptest::sample::select(b"a\n\r\t\xc3\xa9 ".as_slice()), 0..30), line in 0_u32..9, column in 0_u32..9) {
        let mut diagnosis = diagnosis();
        diagnosis.findings.truncate(1);
        diagnosis.findings[0].line = Some(line);
        diagnosis.findings[0].column = Some(column);
        let text = diagnosis.text_with_sources(|_| Some(source.clone()), false);
        assert!(text.contains("src/a.rs"));
    }
}
