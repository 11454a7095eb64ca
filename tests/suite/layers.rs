use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Who may import whom; a module may always import itself.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("path", &[]),
    ("limits", &[]),
    ("policy", &[]),
    ("process", &["limits"]),
    ("text", &["limits"]),
    ("patch", &["text", "path", "limits"]),
    ("matching", &["text", "limits", "policy"]),
    ("workspace", &["path", "limits", "policy"]),
    ("frame", &["workspace", "path"]),
    ("plan", &["text", "patch", "matching", "workspace", "path", "limits", "policy"]),
    ("commit", &["frame", "plan", "workspace", "path", "limits", "policy", "text"]),
    ("diagnose", &["plan", "workspace", "process", "text", "path", "limits"]),
    ("report", &["diagnose", "commit", "plan", "patch", "matching", "workspace", "text", "path", "limits", "policy"]),
    ("undo", &["frame", "commit", "plan", "workspace", "text", "path"]),
    ("apply", &["undo", "diagnose", "patch", "plan", "commit", "report", "workspace", "limits", "policy", "path"]),
    ("schema", &["patch"]),
    ("read", &["workspace", "text", "path", "limits"]),
    ("search", &["workspace", "path", "limits", "text"]),
];

/// Modules that stand on the public API and may use all of it.
const ABOVE: &[&str] = &["harness", "mcp", "cli", "bin", "lib"];

#[test]
fn every_import_points_down() {
    let mut wrong = Vec::new();
    for (module, file, text) in sources() {
        if ABOVE.contains(&module.as_str()) {
            continue;
        }
        let allowed = MAY_IMPORT.iter().find(|(name, _)| *name == module);
        let Some((_, allowed)) = allowed else {
            wrong.push(format!("{}: module `{module}` has no row in the table", file.display()));
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for target in imports(line) {
                if target != module && !allowed.contains(&target.as_str()) {
                    wrong.push(format!("{}:{}: `{module}` imports `{target}`", file.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_names_only_modules_below() {
    for (row, (module, allowed)) in MAY_IMPORT.iter().enumerate() {
        for target in *allowed {
            let below = MAY_IMPORT.iter().position(|(name, _)| name == target);
            assert!(
                below.is_some_and(|below| below < row),
                "{module} may import {target}, which is not above it in the table"
            );
        }
    }
}

#[test]
fn the_harness_and_the_server_know_the_crate_by_its_public_names_only() {
    let mut wrong = Vec::new();
    for (module, file, text) in sources().into_iter().filter(|(module, ..)| module == "harness" || module == "mcp") {
        for (number, line) in text.lines().enumerate() {
            for target in imports(line) {
                if target != module && line.contains(&format!("crate::{target}::")) {
                    wrong.push(format!("{}:{}: reaches into `{target}`", file.display(), number + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_file_is_forgotten() {
    let names: BTreeMap<PathBuf, String> = sources().into_iter().map(|(_, file, text)| (file, text)).collect();
    for file in names.keys().filter(|file| !file.starts_with("src/bin")) {
        let stem = file.file_stem().unwrap().to_str().unwrap();
        let owner = match stem {
            "lib" | "main" => continue,
            "mod" => file.parent().unwrap(),
            _ => file.as_path(),
        };
        let name = owner.file_stem().unwrap().to_str().unwrap();
        let dir = owner.parent().unwrap();
        let homes = [dir.join("mod.rs"), dir.join("lib.rs"), dir.with_extension("rs")];
        let text: String = homes.iter().filter_map(|home| names.get(home)).map(String::as_str).collect();
        let declared = text.lines().any(|line| line.trim_end().ends_with(&format!("mod {name};")));
        assert!(declared, "{} is not compiled: no `mod {name};` in {}", file.display(), dir.display());
    }
}

/// Module, file and text of every source file.
fn sources() -> Vec<(String, PathBuf, String)> {
    let mut out = Vec::new();
    walk(Path::new("src"), &mut out);
    assert!(out.len() > 20, "the sources were not found");
    out
}

fn walk(dir: &Path, out: &mut Vec<(String, PathBuf, String)>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, out);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            let first = path.strip_prefix("src").unwrap().components().next().unwrap();
            let module = first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
            out.push((module, path.clone(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The modules named by `crate::` paths on a line of code.
fn imports(line: &str) -> Vec<String> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return Vec::new();
    }
    let rest = code.split("crate::").skip(1);
    rest.map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect())
        .filter(|name: &String| !name.is_empty())
        .collect()
}
