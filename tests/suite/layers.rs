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
    ("look", &["read", "search"]),
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

/// The same within the harness, whose modules name each other by `super::` and `crate::harness::`.
const HARNESS: &[(&str, &[&str])] = &[
    ("credentials", &[]),
    ("manifest", &[]),
    ("sandbox", &["manifest"]),
    ("skills", &["manifest"]),
    ("tools", &["manifest", "skills"]),
    ("approval", &["manifest", "tools"]),
    ("prompt", &["manifest"]),
    ("model", &["credentials", "manifest", "tools"]),
    ("compaction", &["model"]),
    ("repeats", &["model"]),
    ("session", &["manifest", "model", "tools"]),
    ("answer", &["session"]),
    ("limits", &["manifest", "session"]),
    ("watch", &["session"]),
    ("agent", &["approval", "manifest", "model", "sandbox", "skills", "tools"]),
    (
        "turn",
        &[
            "agent",
            "answer",
            "approval",
            "compaction",
            "limits",
            "manifest",
            "model",
            "repeats",
            "sandbox",
            "session",
            "tools",
            "watch",
        ],
    ),
    ("run", &["agent", "answer", "model", "session", "tools", "turn", "watch"]),
    ("changes", &["session", "tools", "turn"]),
];

#[test]
fn every_import_within_the_harness_points_down() {
    let (mut wrong, mut seen) = (Vec::new(), BTreeMap::<String, Vec<String>>::new());
    for (_, file, text) in sources().into_iter().filter(|(module, ..)| module == "harness") {
        let place = inner_place(&file);
        let Some(module) = place.first().filter(|_| place.iter().all(|part| part != "tests" && part != "testkit"))
        else {
            continue;
        };
        let Some((_, allowed)) = HARNESS.iter().find(|(name, _)| name == module) else {
            wrong.push(format!("{}: module `{module}` has no row in the table", file.display()));
            continue;
        };
        // Tests may use everything; in a file they stand at its end.
        for (number, line) in text.lines().enumerate().take_while(|(_, line)| !line.starts_with("mod tests {")) {
            for target in inner_imports(line, place.len()) {
                if target != *module && !allowed.contains(&target.as_str()) {
                    wrong.push(format!("{}:{}: `{module}` imports `{target}`", file.display(), number + 1));
                }
                seen.entry(module.clone()).or_default().push(target);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (row, (module, allowed)) in HARNESS.iter().enumerate() {
        for target in *allowed {
            let below = HARNESS.iter().position(|(name, _)| name == target);
            assert!(below.is_some_and(|below| below < row), "{module} may import {target}, which is not above it");
            assert!(seen[*module].iter().any(|it| it == target), "{module} does not import {target} any more");
        }
    }
}

#[test]
fn imports_within_the_harness_are_understood() {
    let place = |file: &str| inner_place(Path::new(file));
    assert_eq!(place("src/harness/turn/tools.rs"), ["turn", "tools"]);
    assert_eq!(place("src/harness/model/http/mod.rs"), ["model", "http"]);
    assert!(place("src/harness/mod.rs").is_empty());
    for (depth, line, want) in [
        (1, "use super::session::{WaitKind, WaitRow};", vec!["session"]),
        (2, "    super::super::tools::Outcome::error(text), super::other::x()", vec!["tools"]),
        (2, "use super::tools::Kept;", vec![]),
        (3, "use crate::harness::credentials::Secret;", vec!["credentials"]),
        (1, "pub(super) fn x() {} // super::no", vec!["no"]),
        (1, "/// See super::session::State.", vec![]),
        (1, "use super::{a, b};", vec!["{"]),
        (1, "fn x() -> super::Answer {}", vec!["Answer"]),
    ] {
        assert_eq!(inner_imports(line, depth), want, "{line}");
    }
}

/// The module of a file of the harness, from the harness down.
fn inner_place(file: &Path) -> Vec<String> {
    let inner = file.strip_prefix("src/harness").unwrap().with_extension("");
    let names = inner.components().map(|part| part.as_os_str().to_str().unwrap().to_owned());
    names.filter(|name| name != "mod").collect()
}

/// What a line names of the harness itself, from a module that is so deep in it: a module, or a name that the harness
/// hands on, or a list of names, neither of which any row allows.
fn inner_imports(line: &str, depth: usize) -> Vec<String> {
    let code = line.trim_start();
    if code.starts_with("//") {
        return Vec::new();
    }
    let up = "super::".repeat(depth);
    let rest = code.replace("crate::harness::", "\0").replace(&up, "\0");
    rest.split('\0')
        .skip(1)
        .map(|rest| match rest.strip_prefix('{') {
            Some(_) => "{".to_owned(),
            None => rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect(),
        })
        .collect()
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

#[test]
fn the_default_features_bring_nothing_of_the_harness() {
    let text = std::fs::read_to_string("Cargo.toml").unwrap();
    let manifest: toml::Table = toml::from_str(&text).unwrap();
    let parts = |name: &str| -> Vec<String> {
        let parts = manifest["features"][name].as_array().unwrap().iter();
        parts.map(|part| part.as_str().unwrap().to_owned()).collect()
    };
    let mut default = parts("default");
    let mut at = 0;
    while at < default.len() {
        if manifest["features"].get(&default[at]).is_some() {
            default.extend(parts(&default[at].clone()));
        }
        at += 1;
    }
    let harness = parts("harness");
    assert!(harness.len() > 5 && default.contains(&"dep:clap".to_owned()));
    for part in &harness {
        let name = part.strip_prefix("dep:").unwrap();
        assert!(!default.contains(part), "{name} comes with the default features");
        let optional = manifest["dependencies"][name].get("optional").and_then(toml::Value::as_bool);
        assert_eq!(optional, Some(true), "{name} comes without being asked for");
    }
    // What they bring along in turn: the whole tree as it is locked, from what is not optional.
    let lock: toml::Table = toml::from_str(&std::fs::read_to_string("Cargo.lock").unwrap()).unwrap();
    let packages = lock["package"].as_array().unwrap();
    let needs = |name: &str| -> Vec<String> {
        let of = packages.iter().filter(|package| package["name"].as_str() == Some(name));
        let of = of.filter_map(|package| package.get("dependencies")?.as_array()).flatten();
        of.map(|need| need.as_str().unwrap().split(' ').next().unwrap().to_owned()).collect()
    };
    let dependencies = manifest["dependencies"].as_table().unwrap().iter();
    let asked = default.iter().filter_map(|part| part.strip_prefix("dep:").map(str::to_owned));
    let plain = dependencies.filter(|(_, given)| given.get("optional").is_none()).map(|(name, _)| name.clone());
    let mut tree: Vec<String> = plain.chain(asked).collect();
    let mut at = 0;
    while at < tree.len() {
        let more = needs(&tree[at]).into_iter().filter(|name| !tree.contains(name)).collect::<Vec<_>>();
        tree.extend(more);
        at += 1;
    }
    assert!(tree.len() > 20, "{tree:?}");
    for name in ["tokio", "hyper", "reqwest", "rustls", "rusqlite", "libsqlite3-sys", "jsonschema"] {
        assert!(packages.iter().any(|package| package["name"].as_str() == Some(name)), "{name} is not locked");
        assert!(!tree.iter().any(|it| it == name), "{name} comes with the default features");
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
