//! An answer while it arrives.

use std::fmt;
use std::pin::Pin;

use futures_util::stream::{self, Stream, StreamExt as _};

use super::error::{ErrorKind, ModelError};
use super::reply::{Event, Reply};

type Item = Result<Event, ModelError>;

/// The events of one model call. Dropping it cancels the call.
///
/// # Guarantees
///
/// Nothing follows an error or [`Event::Done`]; a stream never ends without one of them.
#[must_use = "a model call makes progress only while its stream is read"]
pub struct ReplyStream {
    events: Pin<Box<dyn Stream<Item = Item> + Send>>,
    ended: bool,
}

impl ReplyStream {
    pub(crate) fn new(events: impl Stream<Item = Item> + Send + 'static) -> Self {
        Self { events: Box::pin(events), ended: false }
    }

    /// A stream of events known beforehand, for models made of data.
    #[must_use = "a model call makes progress only while its stream is read"]
    pub fn from_events(events: impl IntoIterator<Item = Event, IntoIter: Send + 'static>) -> Self {
        Self::new(stream::iter(events.into_iter().map(Ok)))
    }

    /// A call that failed before it began.
    pub fn failed(error: ModelError) -> Self {
        Self::new(stream::iter([Err(error)]))
    }

    /// The next event, or `None` after the last. Cancel safe: a dropped `next` loses nothing.
    ///
    /// # Errors
    ///
    /// The call failed for good; see [`ModelError::class`].
    pub async fn next(&mut self) -> Option<Result<Event, ModelError>> {
        if self.ended {
            return None;
        }
        let item =
            self.events.next().await.unwrap_or_else(|| {
                Err(ModelError::new(ErrorKind::BadStream, "the answer ended before it was complete"))
            });
        self.ended = matches!(item, Err(_) | Ok(Event::Done(_)));
        Some(item)
    }

    /// Waits for the whole answer and drops the events on the way to it.
    ///
    /// # Errors
    ///
    /// The call failed for good.
    pub async fn reply(mut self) -> Result<Reply, ModelError> {
        while let Some(event) = self.next().await {
            if let Event::Done(reply) = event? {
                return Ok(*reply);
            }
        }
        Err(ModelError::new(ErrorKind::BadStream, "the answer was taken before"))
    }
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream").field("ended", &self.ended).finish_non_exhaustive()
    }
}
