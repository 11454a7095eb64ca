//! The server on standard input and output, for the client that started it.

use std::sync::Arc;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;

use super::MAX_MESSAGE;
use super::call::Bounds;
use super::error::ServeError;
use super::options::ServeOptions;
use super::server::Server;

/// Serves the client at the other end of standard input and output until it closes them.
///
/// Nothing else may write to standard output meanwhile. A line that is no JSON is passed over, and so is one of more than
/// 16 MiB; JSON that is no message of the protocol is answered with an error.
///
/// # Errors
/// [`ServeError`] when the client does not begin a session, or the system fails.
pub fn serve_stdio(options: &ServeOptions) -> Result<(), ServeError> {
    let server = Server::new(Arc::new(options.clone()), Bounds::new(options.timeout));
    runtime()?.block_on(async {
        let (input, output) = stdio_pipes();
        let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_MESSAGE);
        let running = match server.serve(transport).await {
            Ok(running) => running,
            // A client that goes away before it has said anything has changed its mind.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::Handshake(Box::new(error))),
        };
        running.waiting().await.map_err(|error| ServeError::io("the server broke")(error.into()))?;
        Ok(())
    })
}

/// Threads for the protocol; the work itself is done on threads of their own.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(ServeError::io("the server could not be started"))
}
