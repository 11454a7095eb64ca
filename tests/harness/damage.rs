use proptest::prelude::*;
use restitch::harness::manifest::{CompileOptions, Manifest, MemSource, Severity, compile};

use crate::trees::{Tree, path};

fn whole() -> Tree {
    Tree::parse(&std::fs::read_to_string("tests/fixtures/manifests/whole.txt").unwrap())
}

/// A text with a stretch of it replaced.
fn damaged(text: &str, at: prop::sample::Index, length: usize, with: &[u8]) -> Vec<u8> {
    let start = if text.is_empty() { 0 } else { at.index(text.len()) };
    let end = (start + length).min(text.len());
    [&text.as_bytes()[..start], with, &text.as_bytes()[end..]].concat()
}

fn scrap() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        prop::sample::select(vec![
            "---\n",
            "= ",
            "[",
            "{",
            "\"",
            "\n",
            ": ",
            "- ",
            "&a ",
            "*a",
            "é",
            "99999999999999999999"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_damaged_file_gives_findings_and_never_a_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        length in 0_usize..12,
        with in scrap(),
    ) {
        let tree = whole();
        let which = which.index(tree.files.len());
        let broken = damaged(&tree.files[which].content, at, length, &with);
        let source = tree.memory().file(path(&tree.files[which].path), broken.clone());
        let compilation = compile(&source, CompileOptions::new());
        prop_assert_eq!(compilation.manifest.is_none(), compilation.count(Severity::Error) > 0);
        for diagnostic in &compilation.diagnostics {
            prop_assert!(!diagnostic.message.is_empty() && !diagnostic.help.is_empty());
            prop_assert!(!diagnostic.message.ends_with('.'), "{}", diagnostic);
            if let Some(place) = diagnostic.place {
                let file = compilation.inputs.iter().find(|file| file.path == diagnostic.file);
                let lines = match file {
                    Some(file) if file.path == tree.files[which].path => broken.split(|b| *b == b'\n').count(),
                    _ => usize::MAX,
                };
                prop_assert!(place.line >= 1 && place.column >= 1 && place.line as usize <= lines, "{}", diagnostic);
            }
        }
        if let Some(manifest) = compilation.manifest {
            prop_assert_eq!(Manifest::from_json(manifest.to_json().as_bytes()).unwrap().0, manifest);
        }
    }

    #[test]
    fn a_damaged_manifest_is_refused_or_read_and_never_a_panic(
        at in any::<prop::sample::Index>(),
        length in 0_usize..12,
        with in scrap(),
    ) {
        let text = std::fs::read_to_string("tests/fixtures/manifests/whole.json").unwrap();
        match Manifest::from_json(&damaged(&text, at, length, &with)) {
            Ok((manifest, _)) => prop_assert!(Manifest::from_json(manifest.to_json().as_bytes()).is_ok()),
            Err(error) => prop_assert!(error.to_string().len() < 500, "{}", error),
        }
    }
}

#[test]
fn a_large_tree_is_compiled_whole() {
    let tree = (0..2000).fold(MemSource::new().file(path("instructions.md"), "Help."), |tree, n| {
        tree.file(path(&format!("skills/s{n}.md")), format!("# Skill {n}\n"))
    });
    let manifest = compile(&tree, CompileOptions::new()).manifest.unwrap();
    assert_eq!(manifest.nodes["__root__"].skills.len(), 2000);
}
