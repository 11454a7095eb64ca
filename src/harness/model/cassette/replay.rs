//! Telling a cassette's answers again.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::super::error::ModelError;
use super::super::request::Request;
use super::super::scripted::events_of;
use super::super::stream::ReplyStream;
use super::super::{Model, ModelInfo};
use super::file::{read, trouble};
use super::key::{Key, last_words};
use super::{Outcome, Take};

/// A model that answers from a cassette and asks nobody.
///
/// Equal requests get their recorded answers in the order of the recording, each answer once.
#[derive(Debug)]
pub struct ReplayModel {
    info: ModelInfo,
    path: PathBuf,
    /// What has not been told yet.
    takes: Mutex<Vec<Take>>,
}

impl ReplayModel {
    /// Reads the cassette at `path`.
    ///
    /// # Errors
    ///
    /// The file is not there, or is something other than a cassette.
    pub fn new(info: ModelInfo, path: &Path) -> Result<Self, ModelError> {
        Ok(Self { info, path: path.to_owned(), takes: Mutex::new(read(path)?) })
    }

    fn missing(&self, key: &Key, request: &Request<'_>, left: &[Take]) -> ModelError {
        let asked = last_words(request.messages);
        // The take of the same step is the likeliest one to have been meant.
        let near = left.iter().find(|take| take.step == request.step).or_else(|| left.first());
        let Some(near) = near else {
            return trouble(&self.path, format_args!("has no more answers; asked: {asked:?}"));
        };
        let difference = key.difference(&near.key);
        let what = format_args!(
            "has no answer to this request; compared with call {}: {difference} (asked: {asked:?}, recorded: {:?})",
            near.step, near.last
        );
        trouble(&self.path, what)
    }
}

impl Model for ReplayModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: &Request<'_>) -> ReplyStream {
        let key = Key::of(request);
        let mut takes = self.takes.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(place) = takes.iter().position(|take| take.key == key) else {
            return ReplyStream::failed(self.missing(&key, request, &takes));
        };
        match takes.remove(place).outcome {
            Outcome::Reply(reply) => ReplyStream::from_events(events_of(reply)),
            Outcome::Error(error) => ReplyStream::failed(error),
        }
    }
}
