//! `restitch`: safe patches and fast search for coding agents and scripts.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a program reads its arguments")]
    let words = std::env::args_os().collect();
    restitch::cli::restitch(words)
}
