//! `--stream`: the patch is planned while it arrives, and each event is a line of JSON.

use std::io::Read;

use super::{DONE, output};
use crate::{ApplyError, ApplyOptions, LiveApply, LiveFiles, Workspace};

/// How much is read at a time; what has come is looked at whenever a read returns.
const READ: usize = 64 * 1024;

/// Applies the patch, prints the events and the report, and gives the exit code.
pub(super) fn run(
    workspace: &Workspace,
    options: &ApplyOptions,
    reader: Box<dyn Read + '_>,
    code: impl Fn(&ApplyError) -> u8,
) -> u8 {
    let (report, code) = match go(workspace, options, reader) {
        Ok(report) => (report, DONE),
        Err(error) => (error.json(), code(&error)),
    };
    let last = format!("{{\"event\":\"done\",\"report\":{}}}\n", report.trim_end());
    // What cannot be written is told by the exit code alone.
    let _unheard = output::out(last.as_bytes());
    code
}

fn go(workspace: &Workspace, options: &ApplyOptions, mut reader: Box<dyn Read + '_>) -> Result<String, ApplyError> {
    for note in options.resume(workspace)? {
        if let Some(warning) = crate::report::warning(&note) {
            output::err(&format!("warning: {warning}\n"));
        }
    }
    let files = LiveFiles::new();
    let mut live = LiveApply::new(workspace, &files, options);
    let mut buffer = vec![0; READ];
    let mut lines = String::new();
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => live.feed(&buffer[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(ApplyError::Read(error)),
        }
        tell(&mut live, &mut lines)?;
    }
    live.end();
    tell(&mut live, &mut lines)?;
    Ok(live.finish()?.json())
}

/// Prints what has become certain, in one write.
fn tell(live: &mut LiveApply<'_>, lines: &mut String) -> Result<(), ApplyError> {
    lines.clear();
    let told = loop {
        match live.next_event() {
            Ok(Some(event)) => event.write_json(lines),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.into()),
        }
    };
    // A reader who is gone has seen enough; the patch goes on all the same.
    let _unheard = output::out(lines.as_bytes());
    told
}
