//! What can go wrong with a model call, and what may be done about it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A failed model call. Holds no secret: keys are cut out of what servers say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    kind: ErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after: Option<Duration>,
}

impl ModelError {
    /// An error of this kind. The message is one clear sentence without a full stop.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), status: None, retry_after: None }
    }

    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    pub(crate) fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What may be done about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.kind.class()
    }

    /// The HTTP status, if a server answered with one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.status
    }

    /// How long the server asks to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

/// What went wrong with a model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Too many requests for now.
    RateLimited,
    /// The server is overloaded, restarting, or failed inside.
    Server,
    /// No server answers at the address.
    NoServer,
    /// The connection broke.
    Network,
    /// The answer stopped arriving.
    Stalled,
    /// The answer broke off or does not follow the protocol.
    BadStream,
    /// The answer holds nothing.
    EmptyReply,
    /// The history is too long for the model.
    ContextTooLong,
    /// The answer grew past its bound and was cut off.
    ReplyTooLarge,
    /// The model, or a filter before it, declined without a word.
    Refused,
    /// No key is set.
    NoKey,
    /// The key is refused.
    Unauthorized,
    /// The account is out of credit.
    Quota,
    /// There is no such model or no such address.
    NotFound,
    /// The server refuses the request as it is.
    BadRequest,
    /// The model's settings are wrong.
    Config,
    /// A scripted model has no answer for this call.
    Script,
    /// A cassette has no answer for this call, or cannot be read or written.
    Cassette,
}

impl ErrorKind {
    /// What may be done about errors of this kind.
    #[must_use]
    pub fn class(self) -> ErrorClass {
        match self {
            Self::RateLimited
            | Self::Server
            | Self::NoServer
            | Self::Network
            | Self::Stalled
            | Self::BadStream
            | Self::EmptyReply => ErrorClass::Retry,
            Self::ContextTooLong | Self::ReplyTooLarge | Self::Refused => ErrorClass::Recoverable,
            Self::NoKey
            | Self::Unauthorized
            | Self::Quota
            | Self::NotFound
            | Self::BadRequest
            | Self::Config
            | Self::Script
            | Self::Cassette => ErrorClass::Terminal,
        }
    }
}

/// What may be done about a failed model call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The same call may work later. The clients here have already tried again by the time this is seen.
    Retry,
    /// Another call may work: with a shorter history, or with a word to the model.
    Recoverable,
    /// A person must change something first.
    Terminal,
}
