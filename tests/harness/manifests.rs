use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use restitch::Workspace;
use restitch::harness::manifest::{
    BUILTINS, FEATURES, FileError, LoadError, LocateError, Located, Manifest, ManifestError, ROOT, Severity, compile,
    load, locate,
};
use serde_json::{Value, json};

use crate::trees::{Tree, disk, path};

fn whole() -> Tree {
    Tree::parse(&fs::read_to_string("tests/fixtures/manifests/whole.txt").unwrap())
}

fn manifest() -> Manifest {
    whole().compile().manifest.unwrap()
}

fn value() -> Value {
    serde_json::from_str(&manifest().to_json()).unwrap()
}

#[test]
fn the_manifest_of_a_whole_tree_is_the_stored_one() {
    let stored = Path::new("tests/fixtures/manifests/whole.json");
    let now = manifest().to_json();
    if std::env::var_os("RESTITCH_BLESS").is_some() {
        fs::write(stored, &now).unwrap();
    }
    assert_eq!(now, fs::read_to_string(stored).unwrap());
}

#[test]
fn equal_trees_give_equal_bytes() {
    let first = whole().compile().artifacts();
    assert_eq!(
        first.iter().map(|artifact| artifact.name).collect::<Vec<_>>(),
        ["diagnostics.json", "metadata.json", "manifest.json"]
    );
    for _ in 0..3 {
        let dir = tempfile::tempdir().unwrap();
        whole().write(dir.path());
        assert_eq!(compile(&disk(dir.path()), whole().options()).artifacts(), first);
    }
    for artifact in &first {
        assert!(artifact.text.ends_with("}\n"), "{}", artifact.name);
        assert!(!artifact.text.contains('\r'), "{}", artifact.name);
    }
}

#[test]
fn a_manifest_is_read_back_as_it_was() {
    let text = manifest().to_json();
    let (read, unknown) = Manifest::from_json(text.as_bytes()).unwrap();
    assert_eq!((&read, unknown), (&manifest(), vec![]));
    assert_eq!(read.to_json(), text);
    // Another order of keys and other white space are the same manifest.
    let compact = serde_json::to_string(&read).unwrap();
    assert_eq!(Manifest::from_json(compact.as_bytes()).unwrap().0.to_json(), text);
}

#[test]
fn the_schema_is_a_schema_and_fits() {
    let schema = Manifest::schema();
    assert_eq!(schema["$id"], "urn:restitch:agent-manifest:1");
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&value()));
    for wrong in [json!({}), json!({ "kind": "x", "version": 1, "nodes": {} }), json!([])] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn what_is_not_known_is_refused_or_told() {
    let with = |features: Value| {
        let mut value = value();
        value["features"] = features;
        Manifest::from_json(value.to_string().as_bytes())
    };
    let refused = with(json!([{ "name": "telepathy", "required": true }])).unwrap_err();
    assert_eq!(refused, ManifestError::Feature("telepathy".into()));
    assert_eq!(
        refused.to_string(),
        "it requires the feature `telepathy`, which this version does not know; a newer version of the program is needed"
    );
    assert_eq!(with(json!([{ "name": "telepathy", "required": false }])).unwrap().1, ["telepathy"]);
    assert_eq!(with(json!([{ "name": "telepathy" }])).unwrap_err(), ManifestError::Feature("telepathy".into()));
    let known: Vec<Value> = FEATURES.iter().map(|name| json!({ "name": name, "required": true })).collect();
    assert_eq!(with(json!(known)).unwrap().1, Vec::<String>::new());
}

#[test]
fn a_field_of_a_later_version_is_passed_over() {
    let mut later = value();
    later["colour"] = json!("red");
    later["nodes"][ROOT]["config"]["model"]["mood"] = json!({ "good": true });
    assert_eq!(Manifest::from_json(later.to_string().as_bytes()).unwrap().0, manifest());
}

#[test]
fn a_manifest_of_an_earlier_build_may_lack_what_has_a_default() {
    let small = json!({ "kind": "restitch-agent-manifest", "version": 1, "nodes": { ROOT: {} } });
    let (read, _) = Manifest::from_json(small.to_string().as_bytes()).unwrap();
    assert_eq!(read.nodes[ROOT], Default::default());
    assert!(read.edges.is_empty());
}

/// A change of a good manifest and the start of what is said of it.
type Damage = (fn(&mut Value), &'static str);

const DAMAGED: &[Damage] = &[
    (|m| *m = json!([]), "its `kind` is missing"),
    (|m| m["kind"] = json!("other"), "its `kind` is \"other\""),
    (|m| m["version"] = json!(2), "it has version 2, and this program reads version 1"),
    (|m| m["version"] = json!("1"), "it has version \"1\""),
    (|m| drop(m.as_object_mut().unwrap().remove("version")), "it has version missing"),
    (|m| drop(m.as_object_mut().unwrap().remove("nodes")), "`/`: \"nodes\" is a required property"),
    (|m| m["nodes"][ROOT]["tools"] = json!(1), "`/nodes/__root__/tools`: 1 is not of type \"array\""),
    (|m| m["nodes"][ROOT]["config"]["limits"]["depth"] = json!(-1), "`/nodes/__root__/config/limits/depth`: -1"),
    (|m| m["nodes"] = json!({}), "there is no root node `__root__`"),
    (|m| m["edges"] = json!([]), "the node `reviewer` cannot be reached from the root"),
    (|m| m["edges"][0]["child"] = json!("nobody"), "an edge names the node `nobody`"),
    (|m| m["edges"][0]["parent"] = json!("nobody"), "an edge names the node `nobody`"),
    (|m| m["edges"][1]["child"] = json!(ROOT), "`reviewer` has the root as its subagent, which is a cycle"),
    (|m| m["edges"][0]["parent"] = json!("reviewer/linter"), "`reviewer` is the subagent of `__root__` by its id"),
    (
        |m| {
            let edge = m["edges"][0].clone();
            m["edges"].as_array_mut().unwrap().push(edge);
        },
        "`reviewer` is a subagent of both",
    ),
    (
        |m| {
            let tools = m["nodes"][ROOT]["tools"].as_array_mut().unwrap();
            tools.push(tools[0].clone());
        },
        "node `__root__`: two tools have the name",
    ),
    (
        |m| m["nodes"][ROOT]["tools"][0] = json!({ "kind": "builtin", "name": "fly" }),
        "node `__root__`: there is no built-in tool `fly`",
    ),
    (
        |m| m["nodes"][ROOT]["skills"][0]["file"]["path"] = json!("../../etc/passwd"),
        "node `__root__`: `../../etc/passwd` is no path inside the agent's directory",
    ),
    (
        |m| m["nodes"]["reviewer"]["channels"] = m["nodes"][ROOT]["channels"].clone(),
        "node `reviewer`: only the root has channels and schedules",
    ),
];

#[test]
fn a_damaged_manifest_is_refused_with_the_reason() {
    for (damage, want) in DAMAGED {
        let mut value = value();
        damage(&mut value);
        let error = Manifest::from_json(value.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(want), "got:  {error}\nwant: {want}");
    }
    let texts = [
        ("", "line 1, column 0: EOF while parsing a value"),
        ("{\"kind\": 1", "line 1, column 10: EOF while parsing an object"),
        ("{\"kind\": 1,\n \"kind\": 2}", "line 2, column 11: the key `kind` is there twice"),
        ("{} {}", "line 1, column 4: trailing characters"),
    ];
    for (text, want) in texts {
        let error = Manifest::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with(want), "got:  {error}\nwant: {want}");
    }
}

/// All that is in a directory of artifacts.
fn artifacts(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir.join(".restitch/artifacts")).unwrap();
    entries
        .map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn a_failed_build_leaves_the_last_good_one_and_its_findings() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path(), path(".restitch"));
    whole().write(root);
    let workspace = Workspace::open(root).unwrap();
    let build = || {
        let compilation = compile(&disk(root), whole().options());
        compilation.write(&workspace, &state).unwrap();
        compilation
    };
    build();
    let good = artifacts(root);
    assert_eq!(good.keys().collect::<Vec<_>>(), ["diagnostics.json", "manifest.json", "metadata.json"]);
    build();
    assert_eq!(artifacts(root), good, "the same tree built again");

    fs::write(root.join("agent.toml"), "modle = 1\n").unwrap();
    assert!(build().count(Severity::Error) > 0);
    let failed = artifacts(root);
    assert_eq!(failed["manifest.json"], good["manifest.json"]);
    assert_eq!(failed["metadata.json"], good["metadata.json"]);
    assert!(failed["diagnostics.json"].contains("\"code\": \"compile/unknown-field\""));

    fs::write(root.join("agent.toml"), "model = \"bootstrap\"\n").unwrap();
    build();
    let mended = artifacts(root);
    assert_ne!(mended["manifest.json"], good["manifest.json"]);
    let metadata: Value = serde_json::from_str(&mended["metadata.json"]).unwrap();
    let hash = restitch::Digest::of(mended["manifest.json"].as_bytes()).to_string();
    assert_eq!(metadata["outputs"][0]["hash"], hash);
}

#[test]
fn a_loaded_manifest_is_checked_against_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let (root, state) = (dir.path(), path(".restitch"));
    let workspace = Workspace::open(root).unwrap();
    let loaded = || load(&workspace, &state, &disk(root)).map(|(manifest, _)| manifest);
    whole().write(root);
    let missing = loaded().unwrap_err().to_string();
    assert!(missing.starts_with(".restitch/artifacts/manifest.json cannot be read"), "{missing}");
    assert!(missing.ends_with("build the agent with `restitch agent build`"), "{missing}");

    compile(&disk(root), whole().options()).write(&workspace, &state).unwrap();
    assert_eq!(loaded().unwrap(), manifest());

    fs::write(root.join("agent.toml"), "model = \"bootstrap\"\n").unwrap();
    fs::write(root.join("skills/review.md"), "# Other\n").unwrap();
    fs::remove_file(root.join("skills/release/references/list.md")).unwrap();
    let LoadError::Files { path, files } = loaded().unwrap_err() else { panic!("files have changed") };
    assert_eq!(path, ".restitch/artifacts/manifest.json");
    assert_eq!(
        files.iter().map(FileError::path).collect::<Vec<_>>(),
        ["agent.toml", "skills/release/references/list.md", "skills/review.md"]
    );
    assert!(matches!(files[2], FileError::Changed(_)));

    fs::write(root.join(".restitch/artifacts/manifest.json"), "{}").unwrap();
    let error = loaded().unwrap_err().to_string();
    assert!(error.starts_with(".restitch/artifacts/manifest.json: its `kind` is missing"), "{error}");
}

#[test]
fn every_file_of_a_tree_that_runs_is_hashed() {
    let (tree, compilation) = (whole(), whole().compile());
    let inputs: Vec<&str> = compilation.inputs.iter().map(|file| file.path.as_str()).collect();
    let ignored = ["node_modules/x/index.js", "tools/query.test.toml"];
    let mut want: Vec<&str> = tree.files.iter().map(|file| file.path.as_str()).collect();
    want.retain(|path| !ignored.contains(path));
    want.sort_unstable();
    assert_eq!(inputs, want);
}

#[test]
fn builtins_are_sorted_and_disabled_ones_are_gone() {
    assert!(BUILTINS.is_sorted());
    let names: Vec<String> = manifest().nodes[ROOT].tools.iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["apply_patch", "bash", "db-query", "grep", "read_file"]);
}

/// What is found from `start`: project, directory, name.
fn found(root: &Path, start: &str, name: Option<&str>) -> Result<(String, String, String), String> {
    let short = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
    match locate(&root.join(start), name) {
        Ok(Located { project, dir, name, .. }) => {
            Ok((short(&project), dir.map(|dir| dir.to_string()).unwrap_or_default(), name.unwrap_or_default()))
        }
        Err(LocateError::None(_)) => Err("none".into()),
        Err(LocateError::Several { names, .. }) => Err(format!("several: {}", names.join(" "))),
        Err(LocateError::NoSuch { names, .. }) => Err(format!("no such: {}", names.join(" "))),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn an_agent_is_found_from_anywhere_inside_its_project() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    for file in [
        "beside/agent/agent.toml",
        "beside/agent/subagents/s/agent.toml",
        "beside/src/deep/main.rs",
        "texts/agent/instructions.md",
        "flat/agent.toml",
        "flat/subagents/s/agent.toml",
        "flat/src/x",
        "several/agents/a/agent.toml",
        "several/agents/b/instructions/x.md",
        "several/agents/none/x",
        "several/src/x",
        "one/agents/a/agent.toml",
        "bare/instructions.md",
    ] {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let ok = |project: &str, dir: &str, name: &str| Ok((project.to_owned(), dir.to_owned(), name.to_owned()));
    let cases = [
        ("beside", None, ok("beside", "agent", "")),
        ("beside/src/deep", None, ok("beside", "agent", "")),
        ("beside/agent", None, ok("beside", "agent", "")),
        ("beside/agent/subagents/s", None, ok("beside", "agent", "")),
        ("texts", None, ok("texts", "agent", "")),
        ("texts/agent", None, ok("texts", "agent", "")),
        ("flat", None, ok("flat", "", "")),
        ("flat/src", None, ok("flat", "", "")),
        ("flat/subagents/s", None, ok("flat", "", "")),
        ("several/src", Some("b"), ok("several", "agents/b", "b")),
        ("several/agents/a", None, ok("several", "agents/a", "a")),
        ("several", None, Err("several: a b".to_owned())),
        ("several/src", Some("c"), Err("no such: a b".to_owned())),
        ("one", None, ok("one", "agents/a", "a")),
        ("bare", None, Err("none".to_owned())),
        ("beside", Some("a"), Err("none".to_owned())),
    ];
    for (start, name, want) in cases {
        assert_eq!(found(&root, start, name), want, "{start} {name:?}");
    }
    assert_eq!(locate(&root.join("one"), None).unwrap().state.as_str(), ".restitch/agents/a");
    assert_eq!(locate(&root.join("flat"), None).unwrap().state.as_str(), ".restitch");
    assert!(locate(&root.join("nowhere"), None).unwrap_err().to_string().contains("nowhere"));
}
