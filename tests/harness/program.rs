use std::fs;
use std::path::Path;
use std::process::Command;

use restitch::harness::manifest::{Api, Manifest, ROOT, locate};
use restitch::harness::model::ScriptedModel;

/// What `restitch agent` said: exit code, standard output, standard error.
fn agent(dir: &Path, words: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_restitch")).arg("agent").args(words).current_dir(dir).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_new_agent_is_good_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (code, out, _) = agent(root, &["new"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("A agent/agent.toml\nA agent/instructions.md\nA agent/skills/review.md\n"), "{out}");
    assert_eq!(agent(root, &["check"]), (0, "no findings\n".into(), String::new()));
    let built = agent(root, &["build"]);
    assert_eq!(built, (0, "no findings; built .restitch/artifacts/manifest.json\n".into(), String::new()));
    assert_eq!(fs::read_to_string(root.join(".restitch/.gitignore")).unwrap(), "*\n");
    let written = fs::read_to_string(root.join(".restitch/artifacts/manifest.json")).unwrap();
    assert_eq!(agent(root, &["info", "--json"]), (0, written, String::new()));
    let (_, info, _) = agent(root, &["info"]);
    assert!(info.contains("\nmodel    bootstrap (built-in echo)\n"), "{info}");

    let before = fs::read_to_string(root.join("agent/agent.toml")).unwrap();
    fs::write(root.join("agent/agent.toml"), before.replace("steps = 200", "steps = 100")).unwrap();
    let (code, out, error) = agent(root, &["new"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(error.contains("an agent in agent/ already") && error.contains("--name"), "{error}");
    assert!(fs::read_to_string(root.join("agent/agent.toml")).unwrap().contains("steps = 100"), "not overwritten");
}

#[test]
fn agents_beside_each_other_are_told_apart_by_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    for (name, model) in [("one", "ollama/small"), ("two", "quo\"te/x")] {
        assert_eq!(agent(root, &["new", "--name", name, "--model", model]).0, 0);
    }
    let (code, _, error) = agent(root, &["check"]);
    assert_eq!(code, 2);
    assert!(error.contains("one, two"), "{error}");
    assert_eq!(agent(root, &["build", "--agent", "one"]).0, 0);
    assert!(root.join(".restitch/agents/one/artifacts/manifest.json").exists());
    let (code, out, _) = agent(root, &["check", "--agent", "two"]);
    assert_eq!(code, 1);
    assert!(out.starts_with("agents/two/agent.toml:7:6: error: the model id `quo\"te/x` names no known"), "{out}");
    assert_eq!(agent(root, &["check", "--agent", "three"]).0, 2);
    assert_eq!(agent(root, &["new", "--name", "../x"]).0, 2);
    assert_eq!(agent(root, &["new", "nowhere"]).0, 2);
}

#[test]
fn a_broken_agent_fails_with_all_findings() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    agent(root, &["new"]);
    fs::write(root.join("agent/agent.toml"), "modle = 1\ndescription = 2\n").unwrap();
    let (code, out, error) = agent(root, &["build"]);
    assert_eq!((code, error.as_str()), (1, ""));
    assert!(out.contains("agent/agent.toml:1:1: error: there is no field `modle` [compile/unknown-field]"), "{out}");
    assert!(out.contains("agent/agent.toml:2:15: error: `description` is an integer [compile/wrong-type]"), "{out}");
    assert!(out.ends_with("2 errors, 1 warning; not built: see .restitch/artifacts/diagnostics.json\n"), "{out}");
    assert!(root.join(".restitch/artifacts/diagnostics.json").exists());
    assert!(!root.join(".restitch/artifacts/manifest.json").exists());
    let (code, out, error) = agent(root, &["info"]);
    assert_eq!(code, 2);
    assert!(out.contains("compile/wrong-type"), "{out}");
    assert_eq!(error, "error: the agent does not compile: 2 errors, 1 warning\n");
    let (code, out, _) = agent(root, &["check", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 1);
    assert_eq!((&json["ok"], json["diagnostics"].as_array().unwrap().len()), (&false.into(), 3));
}

#[test]
fn the_schema_is_printed() {
    let (code, out, _) = agent(Path::new("."), &["schema"]);
    let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, printed), (0, Manifest::schema()));
}

#[test]
fn the_example_compiles_without_a_word() {
    let located = locate(Path::new("examples/agents/coder"), None).unwrap();
    let compilation = located.compile().unwrap();
    assert_eq!(compilation.diagnostics, []);
    let model = &compilation.manifest.unwrap().nodes[ROOT].config.model;
    assert_eq!((model.api, model.script.as_ref().unwrap().path.as_str()), (Api::Mock, "script.toml"));
    let script = fs::read(located.path().join("script.toml")).unwrap();
    ScriptedModel::parse(&script).unwrap();
}
