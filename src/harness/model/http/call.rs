//! One call: send, read, and begin again where that may help.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::time::{Instant, sleep, timeout};

use super::super::assemble::Assembler;
use super::super::error::{ErrorKind, ModelError};
use super::super::protocol::{Decoder, Progress};
use super::super::reply::Event;
use super::super::request::Request;
use super::super::sse::SseParser;
use super::{Server, failure};

/// The largest event. The Responses API ends with one that repeats the whole answer.
const EVENT: usize = 16 << 20;
/// The most bytes of one answer on the wire, framing and keep-alives included.
const WIRE: usize = 256 << 20;

/// The state of a call; `next` moves it on.
pub(super) struct Call {
    server: Arc<Server>,
    body: Vec<u8>,
    step: u64,
    seed: u64,
    /// The number of the try under way, from 1.
    attempt: u32,
    started: Option<Instant>,
    state: State,
}

enum State {
    Send,
    Wait(Duration),
    Read(Box<Reading>),
    Ended,
}

/// An answer on its way.
struct Reading {
    response: Response,
    parser: SseParser,
    decoder: Box<dyn Decoder>,
    answer: Assembler,
    received: usize,
    at_end: bool,
}

impl Call {
    pub(super) fn new(server: Arc<Server>, body: Vec<u8>, request: &Request<'_>) -> Self {
        let seed = rapidhash::v3::rapidhash_v3(request.session.as_bytes()) ^ request.step;
        Self { server, body, step: request.step, seed, attempt: 1, started: None, state: State::Send }
    }

    /// The next event, or `None` after the last.
    pub(super) async fn next(&mut self) -> Option<Result<Event, ModelError>> {
        self.started.get_or_insert_with(Instant::now);
        loop {
            let moved = match &mut self.state {
                State::Ended => return None,
                State::Wait(wait) => {
                    sleep(*wait).await;
                    Ok(State::Send)
                }
                State::Send => self.send().await.map(|reading| State::Read(Box::new(reading))),
                State::Read(reading) => {
                    if let Some(event) = reading.answer.pop() {
                        if matches!(event, Event::Done(_)) {
                            self.state = State::Ended;
                        }
                        return Some(Ok(event));
                    }
                    match self.read().await {
                        Ok(()) => continue,
                        Err(error) => Err(error),
                    }
                }
            };
            match moved {
                Ok(state) => self.state = state,
                Err(error) => return Some(self.failed(error)),
            }
        }
    }

    /// Decides what follows a failure.
    fn failed(&mut self, error: ModelError) -> Result<Event, ModelError> {
        let wait = self.server.options.retry.wait(self.attempt, &error, self.seed);
        match wait.filter(|wait| *wait < self.left()) {
            Some(wait) => {
                self.attempt += 1;
                self.state = State::Wait(wait);
                Ok(Event::Retry { attempt: self.attempt, wait, error })
            }
            None => {
                self.state = State::Ended;
                Err(error)
            }
        }
    }

    async fn send(&self) -> Result<Reading, ModelError> {
        let server = &*self.server;
        let request = server.client.post(server.url.clone()).headers(server.headers.clone()).body(self.body.clone());
        let wait = server.options.first_byte.min(self.left());
        let opened = async {
            let response = request.send().await.map_err(|error| failure::transport(server, &error))?;
            check(server, response).await
        };
        let response = timeout(wait, opened).await.map_err(|_| self.stalled(wait, "to begin"))??;
        Ok(Reading {
            response,
            parser: SseParser::new(EVENT),
            decoder: server.endpoint.protocol.decoder(),
            answer: Assembler::new(server.options.limits, self.step),
            received: 0,
            at_end: false,
        })
    }

    /// Takes in whatever comes next: an event that is there already, or the next bytes.
    async fn read(&mut self) -> Result<(), ModelError> {
        let options = &self.server.options;
        let left = self.left();
        let State::Read(reading) = &mut self.state else { return Ok(()) };
        let wait = if reading.received == 0 { options.first_byte } else { options.stall }.min(left);
        if let Some(event) = reading.parser.pop() {
            let progress = reading.decoder.event(&event, &mut reading.answer);
            return match progress.map_err(|error| failure::explain(&self.server, error))? {
                Progress::More => Ok(()),
                Progress::Complete => reading.answer.finish(),
            };
        }
        if reading.at_end {
            reading.decoder.end(&mut reading.answer)?;
            return reading.answer.finish();
        }
        match timeout(wait, reading.response.chunk()).await {
            Ok(Ok(Some(bytes))) => reading.take(&bytes),
            Ok(Ok(None)) => {
                reading.at_end = true;
                reading.parser.finish().map_err(|_| too_large(EVENT))
            }
            Ok(Err(error)) => Err(failure::transport(&self.server, &error)),
            Err(_) => Err(self.stalled(wait, "to go on")),
        }
    }

    /// What is left of the time for the whole call.
    fn left(&self) -> Duration {
        let gone = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        self.server.options.deadline.saturating_sub(gone)
    }

    fn stalled(&self, waited: Duration, what: &str) -> ModelError {
        let provider = &self.server.endpoint.provider;
        let message = if self.left().is_zero() {
            let deadline = self.server.options.deadline.as_secs_f64();
            format!("{provider}: no complete answer within {deadline} s, the call was given up")
        } else {
            format!("{provider}: waited {} s for the answer {what}", waited.as_secs_f64())
        };
        ModelError::new(ErrorKind::Stalled, message)
    }
}

impl Reading {
    fn take(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.received += bytes.len();
        if self.received > WIRE {
            return Err(too_large(WIRE));
        }
        self.parser.feed(bytes).map_err(|_| too_large(EVENT))
    }
}

fn too_large(bound: usize) -> ModelError {
    let message = format!("the server sent more than {} MiB and was cut off", bound >> 20);
    ModelError::new(ErrorKind::ReplyTooLarge, message)
}

async fn check(server: &Server, response: Response) -> Result<Response, ModelError> {
    if !response.status().is_success() {
        return Err(failure::status(server, response).await);
    }
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let content_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    // Some servers stream under no or another name; these two they mean.
    if ["application/json", "text/html"].contains(&content_type.as_str()) {
        return Err(failure::not_a_stream(server, response, &content_type).await);
    }
    Ok(response)
}
