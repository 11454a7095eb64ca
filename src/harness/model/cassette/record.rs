//! Writing a cassette while another model answers.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;

use super::super::error::ModelError;
use super::super::reply::Event;
use super::super::request::Request;
use super::super::stream::ReplyStream;
use super::super::{Model, ModelInfo};
use super::file::Writer;
use super::key::{Key, last_words};
use super::{Outcome, Take};

/// A model that passes everything to another and keeps its answers.
///
/// A call that is cancelled is not kept. If the cassette cannot be written, the call fails: a recording with a
/// hole would be found out much later.
#[derive(Debug)]
pub struct RecordingModel {
    inner: Arc<dyn Model>,
    writer: Arc<Mutex<Writer>>,
}

impl RecordingModel {
    /// Adds to the cassette at `path`, which is made if need be.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or is something other than a cassette.
    pub fn new(inner: Arc<dyn Model>, path: &Path) -> Result<Self, ModelError> {
        Ok(Self { inner, writer: Arc::new(Mutex::new(Writer::open(path)?)) })
    }
}

impl Model for RecordingModel {
    fn info(&self) -> &ModelInfo {
        self.inner.info()
    }

    fn stream(&self, request: &Request<'_>) -> ReplyStream {
        let tape = Tape {
            events: self.inner.stream(request),
            writer: Arc::clone(&self.writer),
            step: request.step,
            key: Key::of(request),
            last: last_words(request.messages),
        };
        ReplyStream::new(stream::unfold(tape, |mut tape| async move {
            let event = tape.events.next().await?;
            Some((tape.keep(event), tape))
        }))
    }
}

/// A call being recorded.
struct Tape {
    events: ReplyStream,
    writer: Arc<Mutex<Writer>>,
    step: u64,
    key: Key,
    last: String,
}

impl Tape {
    fn keep(&mut self, event: Result<Event, ModelError>) -> Result<Event, ModelError> {
        let outcome = match &event {
            Ok(Event::Done(reply)) => Outcome::Reply((**reply).clone()),
            Ok(_) => return event,
            Err(error) => Outcome::Error(error.clone()),
        };
        let take = Take { step: self.step, key: self.key.clone(), last: std::mem::take(&mut self.last), outcome };
        // A writer that panicked in another call has at worst left half a line, which is refused when read.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner).add(&take)?;
        event
    }
}
