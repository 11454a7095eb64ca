//! A model behind HTTP: one server, one protocol, streaming, with retries and bounds.

mod call;
mod connect;
mod failure;
mod retry_after;
#[cfg(test)]
pub(super) mod tests;

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};

use self::call::Call;
use super::assemble::ReplyLimits;
use super::error::{ErrorKind, ModelError};
use super::protocol::{EncodeOptions, Protocol};
use super::request::Request;
use super::retry::RetryPolicy;
use super::stream::ReplyStream;
use super::{Model, ModelInfo};
use crate::harness::credentials::Secret;

/// How many HTTP clients this thread has made.
#[cfg(test)]
pub(super) fn clients_made() -> usize {
    connect::made()
}

/// The version of Anthropic's protocol that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// Bounds of a call over HTTP.
#[derive(Clone, Copy, Debug)]
pub struct HttpOptions {
    retry: RetryPolicy,
    first_byte: Duration,
    stall: Duration,
    deadline: Duration,
    limits: ReplyLimits,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            retry: RetryPolicy::default(),
            first_byte: Duration::from_secs(300),
            stall: Duration::from_secs(120),
            deadline: Duration::from_secs(30 * 60),
            limits: ReplyLimits::default(),
        }
    }
}

impl HttpOptions {
    /// Sets when a failed call is made again. See [`RetryPolicy`] for its defaults.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Sets how long to wait for an answer to begin. Five minutes by default: a local server reads the whole
    /// history first.
    #[must_use]
    pub fn first_byte(mut self, wait: Duration) -> Self {
        self.first_byte = wait;
        self
    }

    /// Sets how long an answer may pause before it counts as stalled; a keep-alive ends a pause. Two minutes by
    /// default.
    #[must_use]
    pub fn stall(mut self, wait: Duration) -> Self {
        self.stall = wait;
        self
    }

    /// Sets how long a call may take in all, retries included. Thirty minutes by default.
    #[must_use]
    pub fn deadline(mut self, wait: Duration) -> Self {
        self.deadline = wait;
        self
    }

    /// Sets how large an answer may grow, in bytes of text, reasoning and arguments. 4 MiB by default.
    #[must_use]
    pub fn max_reply_bytes(mut self, bytes: usize) -> Self {
        self.limits.bytes = bytes;
        self
    }
}

/// Where a server is and how to speak with it.
#[derive(Clone, Debug)]
pub(super) struct Endpoint {
    /// The name of the provider, for messages.
    pub(super) provider: String,
    pub(super) protocol: Protocol,
    /// Ends before the protocol's own path, usually with `/v1`.
    pub(super) base_url: Url,
    pub(super) key: Option<Secret>,
    /// Where the key was looked for, for messages.
    pub(super) key_variable: Option<String>,
    /// Additional headers.
    pub(super) headers: Vec<(String, Secret)>,
    /// Whether the server is the protocol's own maker.
    pub(super) first_party: bool,
    /// A proxy for servers that are not on this machine, with the hosts it is not for.
    pub(super) proxy: Option<(String, String)>,
}

/// The client of one model.
pub(super) struct HttpModel {
    info: ModelInfo,
    server: Arc<Server>,
}

/// What all calls of one model share.
pub(super) struct Server {
    endpoint: Endpoint,
    url: Url,
    headers: HeaderMap,
    client: Client,
    options: HttpOptions,
    /// The model's name as the server knows it.
    model: String,
}

impl HttpModel {
    /// A client; connects to nothing yet.
    ///
    /// # Errors
    ///
    /// A header or the proxy is malformed, or the system's certificates cannot be loaded.
    pub(super) fn new(
        info: ModelInfo,
        model: &str,
        endpoint: Endpoint,
        options: HttpOptions,
    ) -> Result<Self, ModelError> {
        let server = Server {
            url: call_url(&endpoint.base_url, endpoint.protocol),
            headers: headers(&endpoint)?,
            client: connect::client(&endpoint)?,
            model: model.to_owned(),
            endpoint,
            options,
        };
        Ok(Self { info, server: Arc::new(server) })
    }
}

impl Model for HttpModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn stream(&self, request: &Request<'_>) -> ReplyStream {
        let endpoint = &self.server.endpoint;
        let options = EncodeOptions { first_party: endpoint.first_party };
        let body = endpoint.protocol.encode(&self.server.model, request, &options);
        let call = Call::new(Arc::clone(&self.server), body, request);
        ReplyStream::new(stream::unfold(call, |mut call| async move {
            let event = call.next().await?;
            Some((event, call))
        }))
    }
}

impl std::fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpModel")
            .field("info", &self.info)
            .field("url", &self.server.url.as_str())
            .finish_non_exhaustive()
    }
}

fn call_url(base: &Url, protocol: Protocol) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/{}", base.path().trim_end_matches('/'), protocol.path()));
    url
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(reqwest::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(reqwest::header::ACCEPT, HeaderValue::from_static("text/event-stream"));
    if endpoint.protocol == Protocol::AnthropicMessages {
        headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
    }
    if let Some(key) = &endpoint.key {
        let (name, value) = match endpoint.protocol {
            Protocol::AnthropicMessages => (HeaderName::from_static("x-api-key"), key.expose().to_owned()),
            _ => (reqwest::header::AUTHORIZATION, format!("Bearer {}", key.expose())),
        };
        let value = sensitive(&value).ok_or_else(|| {
            let variable = endpoint.key_variable.as_deref().unwrap_or("the key's variable");
            ModelError::new(ErrorKind::Config, format!("the key in {variable} holds characters no key may have"))
        })?;
        headers.insert(name, value);
    }
    for (name, value) in &endpoint.headers {
        let malformed = || ModelError::new(ErrorKind::Config, format!("the header `{name}` is malformed"));
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| malformed())?;
        headers.insert(header, sensitive(value.expose()).ok_or_else(malformed)?);
    }
    Ok(headers)
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}
