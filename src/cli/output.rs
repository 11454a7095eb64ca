//! Writing for the programs: one locked write, and a reader that went away is no error.

use std::io::{self, BufWriter, Write as _};

use super::{DONE, USAGE};

/// Writes to standard output. A broken pipe is quiet: the reader has seen enough.
pub(super) fn out(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    quiet_when_closed(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// Lets `write` write to standard output through a buffer. A broken pipe is quiet.
pub(super) fn written(write: impl FnOnce(&mut BufWriter<io::StdoutLock<'_>>) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    quiet_when_closed(write(&mut out).and_then(|()| out.flush()))
}

/// Runs a program whose errors are wrong uses of it: its exit code.
pub(super) fn answer(go: impl FnOnce() -> Result<u8, String>) -> u8 {
    go().unwrap_or_else(|text| {
        err(&format!("error: {text}\n"));
        USAGE
    })
}

/// The result of writing, but that the reader went away is no error.
fn quiet_when_closed(result: io::Result<()>) -> io::Result<()> {
    match result {
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
