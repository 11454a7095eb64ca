//! Checking a patch against the files while the model still writes it.
//!
//! Only what is certain is told: a text that is no patch whatever follows, a hunk that fits nowhere, an operation that the
//! plan refuses. What comes later cannot mend it, since operations and hunks are judged in order.
//!
//! [`LiveApply`] borrows what it works on, so it lives on a thread of its own for as long as the call is written. Each
//! piece is handed over and its verdict waited for: the answer does not depend on which thread is quicker.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::arguments::Field;
use super::{Call, change};
use crate::{ApplyError, ApplyOptions, LiveApply, LiveEvent, LiveFiles, PlanError, PlanOptions};

/// Reads along while a call is written.
pub trait Preview: Send {
    /// Takes the next piece of the call's arguments. Why the call will fail, once that is certain.
    fn feed(&mut self, piece: &str) -> Option<String>;
}

/// Reads along with a call of `apply_patch`.
///
/// # Complexity
/// Linear in the patch and the files it names, however it is cut into pieces.
pub(super) struct PatchPreview {
    field: Field,
    /// Gone once there is nothing more to say. The thread ends with it.
    reader: Option<Reader>,
}

/// The two ends that lead to the thread.
struct Reader {
    pieces: SyncSender<String>,
    verdicts: Receiver<Option<String>>,
}

impl PatchPreview {
    pub(super) fn new(call: Call) -> Self {
        let (pieces, to_read) = sync_channel(1);
        let (say, verdicts) = sync_channel(1);
        let work = move || read_along(&call, &to_read, &say);
        // Without a thread nobody reads along; the call itself is not touched by that.
        let thread = std::thread::Builder::new().name("patch preview".into()).spawn(work);
        PatchPreview { field: Field::new("patch"), reader: thread.is_ok().then_some(Reader { pieces, verdicts }) }
    }
}

impl Preview for PatchPreview {
    fn feed(&mut self, piece: &str) -> Option<String> {
        let reader = self.reader.as_ref()?;
        let mut text = String::new();
        self.field.feed(piece, &mut text);
        if text.is_empty() {
            return None;
        }
        let verdict = reader.pieces.send(text).ok().and_then(|()| reader.verdicts.recv().ok());
        let found = verdict.as_ref().cloned().flatten();
        if found.is_some() || verdict.is_none() {
            self.reader = None;
        }
        found
    }
}

/// The thread: a verdict for each piece, until one is a failure or nobody asks any more.
fn read_along(call: &Call, pieces: &Receiver<String>, say: &SyncSender<Option<String>>) {
    let files = LiveFiles::new();
    let plan = PlanOptions::default().policy(change::policy()).expectations(change::expectations(&call.seen));
    let options = ApplyOptions::default().plan(plan);
    let mut live = LiveApply::new(call.env.workspace(), &files, &options);
    for piece in pieces {
        live.feed(piece.as_bytes());
        let verdict = misfit(&mut live);
        let over = verdict.is_some();
        if say.send(verdict).is_err() || over {
            return;
        }
    }
}

/// Looks at what has become complete, and says what does not fit in the words that the tool itself would use.
fn misfit(live: &mut LiveApply<'_>) -> Option<String> {
    loop {
        match live.next_event() {
            Ok(None) => return None,
            Ok(Some(LiveEvent::Misfit { failure, .. })) => {
                return Some(ApplyError::Plan(PlanError { failures: vec![*failure] }).explain());
            }
            Ok(Some(_)) => {}
            Err(error) => return Some(ApplyError::Parse(error).explain()),
        }
    }
}
