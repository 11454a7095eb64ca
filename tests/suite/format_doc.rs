//! The examples of `docs/format.md`, run one after the other.

use restitch::{ApplyOptions, Workspace};

use crate::support::TestDir;

/// A fenced block: what its first line says it is, and its lines.
struct Block {
    line: usize,
    info: String,
    text: String,
}

/// The blocks that are part of an example.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("````") {
            Some("") if open => open = false,
            Some(info) if !open => {
                open = true;
                blocks.push(Block { line: number + 1, info: info.to_owned(), text: String::new() });
            }
            _ if open => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            _ => {}
        }
    }
    assert!(!open, "the last block is not closed");
    blocks
}

#[test]
fn every_example_does_what_the_page_says() {
    let page = std::fs::read_to_string("docs/format.md").unwrap();
    let mut dir = TestDir::new(&[]);
    let mut said = None;
    let mut refused = false;
    let mut examples = 0;
    for Block { line, info, text } in blocks(&page) {
        let (kind, path) = info.split_once(' ').unwrap_or((&info, ""));
        match kind {
            "before" | "patch" if said.is_some() => {
                // The next example begins.
                said = None;
                refused = false;
                dir = TestDir::new(&[]);
            }
            _ => {}
        }
        match kind {
            "before" => dir.write(path, text.as_bytes()),
            "patch" => {
                examples += 1;
                let workspace = Workspace::open(dir.path()).unwrap();
                let applied = ApplyOptions::default().apply(&workspace, text.as_bytes());
                said = Some(applied.map(|_| ()).map_err(|error| error.explain()));
            }
            "after" => {
                assert!(refused || said == Some(Ok(())), "line {line}: {said:?}");
                assert_eq!(dir.read(path), text, "line {line}: {said:?}");
            }
            "refused" => {
                let refusal = said.clone().unwrap().unwrap_err();
                refused = true;
                for word in text.lines() {
                    assert!(refusal.contains(word), "line {line}: {word:?} is not in\n{refusal}");
                }
            }
            other => panic!("line {line}: what is `{other}`?"),
        }
    }
    assert!(examples >= 12, "{examples}");
}
