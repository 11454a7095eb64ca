//! Each format as its program prints it, and what is made of it: `path:line:column severity code message`.

use super::*;
use crate::process::End;

fn read(format: Format, stdout: &str, stderr: &str) -> Result<Vec<String>, String> {
    let output = Output { end: End::Exited(1), stdout: stdout.into(), stderr: stderr.into(), cut: false };
    let number = |number: Option<u32>| number.map_or("-".to_owned(), |number| number.to_string());
    let show = |raw: Raw| {
        let path = raw.path.unwrap_or("-".to_owned());
        let place = format!("{path}:{}:{}", number(raw.line), number(raw.column));
        format!("{place} {} {} {}", raw.severity.name(), raw.code, raw.message)
    };
    Ok(parse(format, &output)?.into_iter().map(show).collect())
}

#[test]
fn tsc_plain_and_pretty() {
    let printed = "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n\
                   src/b (x).ts(10,1): error TS2345: Argument of type 'A' is not assignable.\n\
                   \x20 Types of property 'x' are incompatible.\n\
                   \x20   Type 'string' is not assignable to type 'number'.\n\
                   error TS18003: No inputs were found in config file.\n\
                   \n\
                   \x20 not a part of it\n\
                   src/c.ts:7:9 - error TS1005: ';' expected.\n\
                   Found 4 errors.\n";
    let want = [
        "src/a.ts:3:5 error TS2322 Type 'string' is not assignable to type 'number'.",
        "src/b (x).ts:10:1 error TS2345 Argument of type 'A' is not assignable. Types of property 'x' are incompatible. \
         Type 'string' is not assignable to type 'number'.",
        "-:-:- error TS18003 No inputs were found in config file.",
        "src/c.ts:7:9 error TS1005 ';' expected.",
    ];
    assert_eq!(read(Format::Tsc, printed, "").unwrap(), want);
}

#[test]
fn gcc_and_its_many_relatives() {
    let cases = [
        ("a.c:3:5: error: expected ';' before '}' token", "a.c:3:5 error  expected ';' before '}' token"),
        (
            "a.c:3:5: warning: unused variable 'x' [-Wunused-variable]",
            "a.c:3:5 warning -Wunused-variable unused variable 'x'",
        ),
        ("a.c:1:10: fatal error: no.h: No such file or directory", "a.c:1:10 error  no.h: No such file or directory"),
        ("a.c:3:5: note: declared here", ""),
        ("a.go:4:2: expected operand, found '}'", "a.go:4:2 error  expected operand, found '}'"),
        ("vet: ./a.go:5:7: undefined: x", "./a.go:5:7 error  undefined: x"),
        ("# example.com/m", ""),
        (
            "m.py:12: error: Incompatible return value  [return-value]",
            "m.py:12:- error return-value Incompatible return value",
        ),
        ("C:\\a.c:3:5: error: x", "C:\\a.c:3:5 error  x"),
        ("In file included from a.c:2:", ""),
        ("a.c: In function 'main':", ""),
        ("    3 |   x = 1", ""),
        ("a.go:3:5: map[string]int", "a.go:3:5 error  map[string]int"),
        ("time 12:30:45", ""),
        ("a:1:2:", ""),
    ];
    for (line, want) in cases {
        assert_eq!(read(Format::Gcc, "", line).unwrap().join(";"), want, "{line}");
    }
}

#[test]
fn rustc_alone_and_within_cargo() {
    let message = |level: &str, code: &str, primary: bool| {
        format!(
            r#"{{"message":"mismatched types","code":{code},"level":"{level}","spans":[
                {{"file_name":"src/other.rs","line_start":1,"column_start":1,"is_primary":false,"label":"here"}},
                {{"file_name":"src/lib.rs","line_start":4,"column_start":9,"is_primary":{primary},"label":"expected `i32`"}}],
               "children":[],"rendered":"…"}}"#
        )
        .replace('\n', "")
    };
    let cargo = |message: &str| format!(r#"{{"reason":"compiler-message","package_id":"p","message":{message}}}"#);
    let printed = [
        r#"{"reason":"compiler-artifact","package_id":"p"}"#.to_owned(),
        cargo(&message("error", r#"{"code":"E0308"}"#, true)),
        cargo(&message("warning", "null", true)),
        cargo(&message("error", "null", false)),
        cargo(&message("note", "null", true)),
        r#"{"reason":"build-finished","success":false}"#.to_owned(),
        "    Checking p v0.1.0".to_owned(),
    ];
    let error = "src/lib.rs:4:9 error E0308 mismatched types: expected `i32`";
    let warning = "src/lib.rs:4:9 warning  mismatched types: expected `i32`";
    assert_eq!(read(Format::RustcJson, &printed.join("\n"), "").unwrap(), [error, warning]);
    assert_eq!(read(Format::RustcJson, "", &message("error", r#"{"code":"E0308"}"#, true)).unwrap(), [error]);
}

#[test]
fn lists_of_ruff_and_eslint() {
    let ruff = r#"[{"code":"F401","filename":"/w/a.py","location":{"row":1,"column":8},"end_location":{"row":1,"column":10},
                    "message":"`os` imported but unused","fix":null},
                   {"code":null,"filename":"b.py","location":{"row":2,"column":1},"message":"SyntaxError: Expected ')'"}]"#;
    let want = ["/w/a.py:1:8 warning F401 `os` imported but unused", "b.py:2:1 error  SyntaxError: Expected ')'"];
    assert_eq!(read(Format::RuffJson, ruff, "warning: `x` is deprecated\n").unwrap(), want);
    let eslint = r#"[{"filePath":"/w/a.js","messages":[
                       {"ruleId":"no-undef","severity":2,"message":"'x' is not defined.","line":3,"column":7},
                       {"ruleId":"semi","severity":1,"message":"Missing semicolon.","line":4,"column":2},
                       {"ruleId":null,"fatal":true,"severity":2,"message":"Parsing error: Unexpected token","line":1,"column":1}]},
                     {"filePath":"/w/clean.js","messages":[]}]"#;
    let want = [
        "/w/a.js:3:7 error no-undef 'x' is not defined.",
        "/w/a.js:4:2 warning semi Missing semicolon.",
        "/w/a.js:1:1 error  Parsing error: Unexpected token",
    ];
    assert_eq!(read(Format::EslintJson, eslint, "").unwrap(), want);
}

#[test]
fn sarif_with_its_addresses() {
    let place = |uri: &str| {
        format!(
            r#""locations":[{{"physicalLocation":{{"artifactLocation":{{"uri":"{uri}"}},"region":{{"startLine":5,"startColumn":2}}}}}}]"#
        )
    };
    let printed = format!(
        r#"{{"version":"2.1.0","runs":[{{"tool":{{}},"results":[
            {{"ruleId":"R1","level":"error","message":{{"text":"bad"}},{}}},
            {{"ruleId":"R2","message":{{"text":"odd"}},{}}},
            {{"ruleId":"R3","level":"note","message":{{"text":"fyi"}}}},
            {{"ruleId":"R4","level":"error","message":{{"text":"known"}},"suppressions":[{{"kind":"inSource"}}]}},
            {{"ruleId":"R5","level":"error","message":{{"text":"all"}}}}]}},{{"tool":{{}}}}]}}"#,
        place("src/a%20b.c"),
        place("file:///w/%C3%A4.c")
    );
    let want = ["src/a b.c:5:2 error R1 bad", "/w/ä.c:5:2 warning R2 odd", "-:-:- error R5 all"];
    assert_eq!(read(Format::Sarif, &printed, "").unwrap(), want);
}

#[test]
fn a_document_of_another_kind_is_said_to_be_one() {
    for (format, printed) in [
        (Format::RuffJson, "error: no such option"),
        (Format::RuffJson, "{}"),
        (Format::EslintJson, "null"),
        (Format::Sarif, "[]"),
        (Format::Sarif, ""),
    ] {
        let error = read(format, printed, "").unwrap_err();
        assert!(error.starts_with("what it printed"), "{error}");
    }
}

proptest::proptest! {
    /// Nothing a program prints can make a parser panic.
    #[test]
    fn any_text_is_read(text in "([a:(),\\[\\]\\- 19\"{}\n%é]|error|TS1|: |vet: |message|runs){0,40}") {
        for format in [Format::RustcJson, Format::Tsc, Format::Gcc, Format::RuffJson, Format::EslintJson, Format::Sarif] {
            _ = read(format, &text, "");
        }
    }
}
