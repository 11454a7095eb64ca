//! The least that any program must do for a load: the floors, each in one small process. And peers that are libraries.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use restitch::{ParseOptions, Parser, Patch};

/// Runs the floor named by the first word.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let rest = &words[1..];
    let done = match words[0].as_str() {
        "nothing" => Ok(()),
        "each" => each(rest),
        "new" => new(rest[0].parse().unwrap_or(0)),
        "lines" => lines(&rest[0]),
        "parse" => parse(&rest[0]),
        "fed" => pieces(&rest[0], false),
        "asked" => pieces(&rest[0], true),
        "diffy" => diffy(&rest[0], &rest[1]),
        other => panic!("no floor is called {other}"),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Reads each file, writes it beside, renames.
fn each(files: &[String]) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 20];
    for name in files {
        let beside = format!("{name}.tmp~");
        let (mut from, mut to) = (File::open(name)?, File::create_new(&beside)?);
        loop {
            match from.read(&mut buffer)? {
                0 => break,
                len => to.write_all(&buffer[..len])?,
            }
        }
        fs::rename(&beside, name)?;
    }
    Ok(())
}

/// Writes so many small files, each beside its name first.
fn new(files: usize) -> std::io::Result<()> {
    (0..100).try_for_each(|dir| fs::create_dir_all(format!("new/d{dir}")))?;
    let content = "        a line of a new file, one of ten;\n".repeat(10);
    for file in 0..files {
        let name = format!("new/d{}/f{file}.rs", file % 100);
        let beside = format!("{name}.tmp~");
        fs::write(&beside, &content)?;
        fs::rename(&beside, &name)?;
    }
    Ok(())
}

/// Reads a file into memory and counts its newlines.
fn lines(file: &str) -> std::io::Result<()> {
    let bytes = fs::read(file)?;
    println!("{}", memchr::memchr_iter(b'\n', &bytes).count());
    Ok(())
}

/// Parses a patch text, read from its file.
fn parse(file: &str) -> std::io::Result<()> {
    let patch = Patch::read(File::open(PathBuf::from(file))?, &ParseOptions::default());
    println!("{}", patch.map_err(std::io::Error::other)?.ops.len());
    Ok(())
}

/// The same in pieces of 16 bytes, as a model writes it; `ask`: for what is complete, after each piece.
fn pieces(file: &str, ask: bool) -> std::io::Result<()> {
    let (mut parser, mut from, mut buffer) = (Parser::default(), File::open(file)?, vec![0; 1 << 16]);
    loop {
        let len = from.read(&mut buffer)?;
        if len == 0 {
            break;
        }
        for piece in buffer[..len].chunks(16) {
            parser.feed(piece);
            while ask && parser.next_event().map_err(std::io::Error::other)?.is_some() {}
        }
    }
    println!("{}", parser.finish().map_err(std::io::Error::other)?.ops.len());
    Ok(())
}

/// Applies a unified diff of one file with the crate diffy, which goes by the line numbers.
fn diffy(file: &str, diff: &str) -> std::io::Result<()> {
    let (base, diff) = (fs::read(file)?, fs::read(diff)?);
    // The line of `git` above the names is none that it knows.
    let names = diff.windows(4).position(|bytes| bytes == b"--- ").unwrap_or(0);
    let patch = diffy::Patch::from_bytes(&diff[names..]).map_err(std::io::Error::other)?;
    let beside = format!("{file}.tmp~");
    fs::write(&beside, diffy::apply_bytes(&base, &patch).map_err(std::io::Error::other)?)?;
    fs::rename(&beside, file)
}
