//! Why a server could not be started, or ended.

use std::net::SocketAddr;

/// Why a server could not be started, or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address is not on the loopback interface.
    #[error("{0} is not an address of this machine alone; serve on 127.0.0.1 or [::1]")]
    NotLoopback(SocketAddr),
    /// The token is easy to guess or cannot be sent in a header.
    #[error("the token must have at least {least} characters, visible and ASCII; it has {length}")]
    Token {
        /// How many characters it must have.
        least: usize,
        /// How many it has.
        length: usize,
    },
    /// The client did not begin as the protocol demands.
    #[error("the client did not begin a session")]
    Handshake(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The system failed.
    #[error("{what}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl ServeError {
    /// For `map_err`: names what was being done.
    pub(super) fn io(what: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| ServeError::Io { what, source }
    }
}
