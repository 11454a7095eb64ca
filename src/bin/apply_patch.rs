//! `apply_patch`: applies a patch from its argument or standard input, all of it or nothing.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "a program reads its arguments")]
    let words = std::env::args_os().collect();
    restitch::cli::apply_patch(words)
}
