use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;
use proptest::string::string_regex;

use super::*;
use crate::patch::{Note, NoteKind, OpKind, ParseOptions, Patch};

#[test]
fn every_example_is_of_its_language_and_parses() {
    for format in Format::ALL {
        let example = PatchTool::new(format).example();
        assert_eq!(Format::detect(example.as_bytes()), Some(format), "{example}");
        let options = ParseOptions::default().format(format);
        let patch = Patch::parse_with(example.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(patch.ops[0].path, b"src/greet.py");
        // A diff without numbers is what a model is told to write, and worth a note.
        let asked = |note: &Note| format == Format::Unified && note.kind == NoteKind::NoNumbers;
        assert!(patch.notes.iter().all(asked), "{:?}", patch.notes);
    }
}

#[test]
fn every_definition_is_what_its_audience_expects() {
    for format in Format::ALL {
        let tool = PatchTool::new(format);
        for (audience, schema) in
            [(Audience::OpenAi, "parameters"), (Audience::Anthropic, "input_schema"), (Audience::Mcp, "inputSchema")]
        {
            let value: Value = serde_json::from_str(&tool.definition(audience)).unwrap();
            assert_eq!(value["name"], tool.name());
            assert!(value["description"].as_str().unwrap().starts_with(tool.description()));
            let custom = value["type"] == "custom";
            assert_eq!(custom, audience == Audience::OpenAi && tool.grammar().is_some());
            if custom {
                assert_eq!(value["format"]["definition"], tool.grammar().unwrap());
            } else {
                assert_eq!(value[schema]["type"], "object");
            }
            assert!(value.to_string().contains("greet.py"), "the example is told");
        }
        assert!(tool.definition(Audience::Plain).contains(tool.usage()));
    }
}

/// What stands in a grammar.
#[derive(Clone, Debug)]
enum Item {
    Literal(String),
    Name(String),
    Group(Vec<Vec<Item>>),
    Repeat(Box<Item>, char),
}

/// Rules as alternatives of sequences, and terminals as regular expressions.
#[derive(Default)]
struct Grammar {
    rules: BTreeMap<String, Vec<Vec<Item>>>,
    terminals: BTreeMap<String, String>,
}

impl Grammar {
    fn read(text: &str) -> Self {
        let mut out = Grammar::default();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (name, body) = line.split_once(": ").unwrap();
            match body.strip_prefix('/').and_then(|body| body.strip_suffix('/')) {
                Some(regex) => drop(out.terminals.insert(name.to_owned(), regex.replace("\\/", "/"))),
                None => {
                    let mut chars = body.chars().peekable();
                    out.rules.insert(name.to_owned(), alternatives(&mut chars));
                }
            }
        }
        out
    }

    fn rule(&self, name: &str) -> BoxedStrategy<String> {
        if let Some(regex) = self.terminals.get(name) {
            return string_regex(regex).unwrap().boxed();
        }
        self.any(&self.rules[name])
    }

    fn any(&self, alternatives: &[Vec<Item>]) -> BoxedStrategy<String> {
        let sequences: Vec<_> = alternatives.iter().map(|items| self.all(items)).collect();
        proptest::strategy::Union::new(sequences).boxed()
    }

    fn all(&self, items: &[Item]) -> BoxedStrategy<String> {
        let parts: Vec<_> = items.iter().map(|item| self.item(item)).collect();
        parts.prop_map(|parts| parts.concat()).boxed()
    }

    fn item(&self, item: &Item) -> BoxedStrategy<String> {
        match item {
            Item::Literal(text) => Just(text.clone()).boxed(),
            Item::Name(name) => self.rule(name),
            Item::Group(alternatives) => self.any(alternatives),
            Item::Repeat(item, sign) => {
                let range = match sign {
                    '?' => 0..=1,
                    '*' => 0..=3,
                    _ => 1..=3,
                };
                prop::collection::vec(self.item(item), range).prop_map(|parts| parts.concat()).boxed()
            }
        }
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn alternatives(chars: &mut Chars<'_>) -> Vec<Vec<Item>> {
    let mut out = vec![Vec::new()];
    loop {
        let item = match chars.peek() {
            None | Some(')') => return out,
            Some(' ') => {
                chars.next();
                continue;
            }
            Some('|') => {
                chars.next();
                out.push(Vec::new());
                continue;
            }
            Some('(') => {
                chars.next();
                let group = Item::Group(alternatives(chars));
                assert_eq!(chars.next(), Some(')'));
                group
            }
            Some('"') => {
                chars.next();
                Item::Literal(chars.by_ref().take_while(|c| *c != '"').collect())
            }
            Some(_) => {
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                    name.push(c);
                }
                assert!(!name.is_empty(), "{chars:?}");
                Item::Name(name)
            }
        };
        let item = match chars.next_if(|c| "?*+".contains(*c)) {
            Some(sign) => Item::Repeat(Box::new(item), sign),
            None => item,
        };
        out.last_mut().unwrap().push(item);
    }
}

fn rule(format: Format, name: &str) -> BoxedStrategy<String> {
    Grammar::read(PatchTool::new(format).grammar().unwrap()).rule(name)
}

fn accepted(format: Format) -> BoxedStrategy<String> {
    rule(format, "start")
}

fn parses(format: Format, text: &str) -> Result<(), TestCaseError> {
    let options = ParseOptions::default().format(format);
    match Patch::parse_with(text.as_bytes(), &options) {
        Ok(_) => Ok(()),
        // The one thing that no such grammar can say.
        Err(error) if error.code() == "opened-twice" => Ok(()),
        Err(error) => Err(TestCaseError::fail(format!("{error}\n{text:?}"))),
    }
}

/// Names a file by one name in both lines, which no such grammar can ask for, and no two files alike.
fn same_names(text: &str) -> String {
    let mut old = None;
    let mut out = String::new();
    for line in text.lines() {
        let name = line.strip_prefix("--- a/");
        match (line.strip_prefix("+++ b/"), old) {
            (Some(_), Some(old)) => out.push_str(&format!("+++ b/{old}\n")),
            _ => out.push_str(&format!("{}\n", own_names(line))),
        }
        old = name;
    }
    out
}

/// A line of a rename with names that no other file has: a plain diff below one that names the same file is part of it.
fn own_names(line: &str) -> String {
    line.replace("rename from ", "rename from before-").replace("rename to ", "rename to after-")
}

/// What a JSON schema allows, as far as the schemas here say anything.
fn allowed(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(any) = schema["anyOf"].as_array() {
        return proptest::strategy::Union::new(any.iter().map(allowed)).boxed();
    }
    match schema["type"].as_str().unwrap() {
        "string" => {
            let any = if schema["minLength"] == 1 { "[a-c \n]{1,4}" } else { "[a-c \n]{0,4}" };
            string_regex(schema["pattern"].as_str().unwrap_or(any).trim_matches(['^', '$']))
                .unwrap()
                .prop_map(Value::from)
                .boxed()
        }
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => (schema["minimum"].as_u64().unwrap()..9).prop_map(Value::from).boxed(),
        "array" => prop::collection::vec(allowed(&schema["items"]), 1..4).prop_map(Value::from).boxed(),
        "object" => {
            let required = |name: &String| schema["required"].as_array().unwrap().contains(&Value::from(name.as_str()));
            let entries = schema["properties"].as_object().unwrap().iter().map(|(name, schema)| {
                let value = allowed(schema);
                let there = if required(name) { Just(true).boxed() } else { any::<bool>().boxed() };
                (Just(name.clone()), there, value)
            });
            let entries: Vec<_> = entries.collect();
            entries
                .prop_map(|all| {
                    all.into_iter().filter(|(_, there, _)| *there).map(|(name, _, value)| (name, value)).collect()
                })
                .prop_map(Value::Object)
                .boxed()
        }
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_the_envelope_grammar_accepts_parses(text in accepted(Format::Envelope)) {
        parses(Format::Envelope, &text)?;
    }

    #[test]
    fn what_the_schema_of_edits_allows_parses(edits in allowed(&edits_schema())) {
        let text = edits.to_string();
        match Patch::parse_with(text.as_bytes(), &ParseOptions::default().format(Format::Edits)) {
            Ok(patch) => prop_assert!(!patch.ops.is_empty()),
            // What no such schema can say: that two texts differ.
            Err(error) => prop_assert_eq!(error.code(), "no-change", "{}\n{}", error, text),
        }
    }

    #[test]
    fn what_the_unified_grammar_accepts_parses_as_what_it_says(files in prop::collection::vec(rule(Format::Unified, "file"), 1..4)) {
        let files: Vec<String> = files.iter().map(|file| same_names(file)).collect();
        let patch = Patch::parse_with(files.concat().as_bytes(), &ParseOptions::default().format(Format::Unified));
        let patch = patch.map_err(|error| TestCaseError::fail(format!("{error}\n{files:?}")))?;
        prop_assert_eq!(patch.ops.len(), files.len(), "{:?}", patch.ops);
        for (op, file) in patch.ops.iter().zip(&files) {
            let mut lines = file.lines();
            let rows = lines.by_ref().skip(2).filter(|line| !line.starts_with("@@ ")).count();
            let got: Option<usize> = match &op.kind {
                OpKind::Update { move_to: None, hunks } => Some(hunks.iter().map(|hunk| hunk.rows().count()).sum()),
                OpKind::Delete { hunks } => Some(hunks.iter().map(|hunk| hunk.rows().count()).sum()),
                OpKind::Add { content } => Some(content.iter().filter(|byte| **byte == b'\n').count()),
                _ => None,
            };
            prop_assert!(got.is_none_or(|got| got == rows), "{:?}\n{:?}", op, file);
        }
    }

    #[test]
    fn what_the_blocks_grammar_accepts_parses(text in accepted(Format::Blocks)) {
        parses(Format::Blocks, &text)?;
    }
}
