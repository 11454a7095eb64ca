//! Writing for the programs: one locked write, and a reader that went away is no error.

use std::io::{self, Write as _};

use super::{DONE, USAGE};

/// Writes to standard output. A broken pipe is quiet: the reader has seen enough.
pub(super) fn out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Writes to standard error; nothing can be done when that fails.
pub(super) fn err(text: &str) {
    let mut stderr = io::stderr().lock();
    let _unheard = stderr.write_all(text.as_bytes());
}

/// Prints what clap has to say; help and version are no errors.
pub(super) fn usage(error: &clap::Error) -> u8 {
    let text = error.render().to_string();
    if error.use_stderr() {
        err(&text);
        return USAGE;
    }
    match out(text.as_bytes()) {
        Ok(()) => DONE,
        Err(_) => USAGE,
    }
}
