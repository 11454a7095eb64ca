//! Parsing: a whole text, a reader, and pieces as a model writes them.

mod load;

use divan::Bencher;
use divan::counter::BytesCount;
use restitch::{ParseOptions, Parser, Patch};

#[global_allocator]
static MEMORY: divan::AllocProfiler = divan::AllocProfiler::system();

/// A patch of about so many kilobytes, Adds and Updates in turn.
fn patch(kilobytes: usize) -> String {
    let mut text = String::from("*** Begin Patch\n");
    let mut op = 0;
    while text.len() < kilobytes << 10 {
        let lines = load::code(op, 120);
        if op.is_multiple_of(2) {
            text += &format!("*** Add File: add/{op}.rs\n");
            lines.lines().for_each(|line| text += &format!("+{line}\n"));
        } else {
            text += &format!("*** Update File: update/{op}.rs\n");
            for (i, line) in lines.lines().enumerate() {
                text +=
                    &format!("{}{}{line}\n", if i % 12 == 0 { "@@\n" } else { "" }, [' ', '-', '+', ' '][i % 12 / 3]);
            }
        }
        op += 1;
    }
    text + "*** End Patch\n"
}

#[divan::bench(args = [64, 1024, 8192])]
fn whole(bencher: Bencher<'_, '_>, kilobytes: usize) {
    let text = patch(kilobytes);
    bencher.counter(BytesCount::of_str(&text)).bench(|| Patch::parse(text.as_bytes()).expect("a patch"));
}

#[divan::bench(args = [64, 1024, 8192])]
fn reader(bencher: Bencher<'_, '_>, kilobytes: usize) {
    let text = patch(kilobytes);
    let options = ParseOptions::default();
    bencher.counter(BytesCount::of_str(&text)).bench(|| Patch::read(text.as_bytes(), &options).expect("a patch"));
}

#[divan::bench(args = [64, 1024, 8192])]
fn pieces_of_16_bytes(bencher: Bencher<'_, '_>, kilobytes: usize) {
    let text = patch(kilobytes);
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut parser = Parser::default();
        for piece in text.as_bytes().chunks(16) {
            parser.feed(piece);
            while parser.next_event().expect("a patch").is_some() {}
        }
        parser.finish().expect("a patch")
    });
}

fn main() {
    divan::main();
}
