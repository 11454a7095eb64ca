//! What is shown while a session runs: a few lines for people, or events as JSON lines.

use std::io::{IsTerminal as _, Write as _};

use super::{Stop, render};
use crate::cli::output;
use crate::harness::session::StoredEvent;
use crate::harness::{Live, Watch};

/// Every event as one line of JSON on standard output.
pub(super) struct JsonLines;

impl Watch for JsonLines {
    fn recorded(&mut self, event: &StoredEvent) {
        // The reader may have gone away; the session goes on.
        drop(output::out(format!("{}\n", event.to_json()).as_bytes()));
    }
}

/// Progress on standard error, so that the answer alone is on standard output.
pub(super) struct Progress {
    /// Whether text is streamed as it comes.
    stream: bool,
    /// Whether a line has been begun and not ended.
    within: bool,
}

impl Progress {
    /// Text is streamed only when a person is likely to watch.
    pub(super) fn new() -> Self {
        Progress { stream: std::io::stderr().is_terminal(), within: false }
    }

    fn line(&mut self, text: &str) {
        let end = if std::mem::take(&mut self.within) { "\n" } else { "" };
        output::err(&format!("{end}{text}\n"));
    }
}

/// Prints the answer of a turn, unless the person has watched it come.
pub(super) fn print_answer(answer: &str) -> Result<(), Stop> {
    if std::io::stderr().is_terminal() && std::io::stdout().is_terminal() {
        return Ok(());
    }
    super::print(&format!("{}\n", answer.trim_end())).map(|_| ())
}

impl Watch for Progress {
    fn recorded(&mut self, event: &StoredEvent) {
        if event.kind() == "model_failed" {
            // Said at the end, with what can be done about it.
        } else if let Some(line) = render::progress(event, self.stream) {
            self.line(&line);
        } else if event.kind() == "model_replied" && std::mem::take(&mut self.within) {
            output::err("\n");
        }
    }

    fn live(&mut self, live: Live) {
        if !self.stream {
            return;
        }
        match live {
            Live::Text(text) if !text.is_empty() => {
                let mut stderr = std::io::stderr().lock();
                // Nothing can be done when that fails.
                drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush()));
                self.within = !text.ends_with('\n');
            }
            Live::Retry { attempt, wait, error } => {
                self.line(&format!("  … {error}; try {attempt} in {:.1} s", wait.as_secs_f32()));
            }
            Live::Misfit { name, why } => self.line(&format!("  … this call of {name} will fail: {why}")),
            _ => {}
        }
    }
}
