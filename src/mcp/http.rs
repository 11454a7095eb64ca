//! The server over HTTP, on the loopback interface, for clients that know its token.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::MAX_MESSAGE;
use super::call::Bounds;
use super::error::ServeError;
use super::options::ServeOptions;
use super::server::Server;
use super::stdio::runtime;

/// How many characters a token must have.
const LEAST_TOKEN: usize = 16;

/// How many sessions there may be at once. Clients of the newest protocol need none.
const MOST_SESSIONS: usize = 64;

/// How long a session may be silent.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// How long a client may take to send a message.
const SENDING: Duration = Duration::from_secs(30);

/// How long calls may take to end when the server is told to.
const LAST_CALLS: Duration = Duration::from_secs(20);

/// A server on an address of this machine alone.
///
/// Requests must carry `Authorization: Bearer TOKEN`; without it they learn nothing, not even which tools there are. Those
/// that come from a web page (with an `Origin`) or under another name than the loopback's are refused.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    token: Arc<str>,
}

impl HttpServer {
    /// Takes the address, which must be a loopback one; port 0 takes a free one. Without a token a random one is made.
    ///
    /// # Errors
    /// [`ServeError`] when the address is another or is taken, or the token is short.
    pub fn bind(address: SocketAddr, token: Option<String>) -> Result<Self, ServeError> {
        if !address.ip().is_loopback() {
            return Err(ServeError::NotLoopback(address));
        }
        let token = token.unwrap_or_else(random_token);
        if token.len() < LEAST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ServeError::Token { least: LEAST_TOKEN, length: token.chars().count() });
        }
        let listener = TcpListener::bind(address).map_err(ServeError::io("the address cannot be served"))?;
        let address = listener.local_addr().map_err(ServeError::io("the address cannot be read"))?;
        Ok(HttpServer { listener, address, token: token.into() })
    }

    /// The address for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The token for clients.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Serves until the process is interrupted or asked to end; calls that are running then may end.
    ///
    /// # Errors
    /// [`ServeError`] when the system fails.
    pub fn serve(self, options: &ServeOptions) -> Result<(), ServeError> {
        let runtime = runtime()?;
        let served = runtime.block_on(self.run(options));
        runtime.shutdown_timeout(LAST_CALLS);
        served
    }

    async fn run(self, options: &ServeOptions) -> Result<(), ServeError> {
        let failed = ServeError::io("the server failed");
        let stop = CancellationToken::new();
        self.listener.set_nonblocking(true).map_err(ServeError::io("the address cannot be served"))?;
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::io("the address cannot be served"))?;
        let router = router(options, self.token, stop.clone());
        let ended = async move {
            interrupted().await;
            stop.cancel();
        };
        axum::serve(listener, router).with_graceful_shutdown(ended).await.map_err(failed)
    }
}

/// The service behind its guard.
fn router(options: &ServeOptions, token: Arc<str>, stop: CancellationToken) -> Router {
    let bounds = Bounds::new(options.timeout);
    let options = Arc::new(options.clone());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = SessionConfig::default();
    sessions.session_config.keep_alive = Some(IDLE);
    let sessions = Arc::new(sessions);
    let config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(MAX_MESSAGE)
        .with_cancellation_token(stop)
        .enforce_origin_validation();
    let make = move || Ok(Server::new(options.clone(), bounds.clone()));
    let service = StreamableHttpService::new(make, sessions.clone(), config);
    let guard = Guard { token, sessions };
    Router::new().route_service("/mcp", service).layer(from_fn_with_state(guard, guarded))
}

#[derive(Clone)]
struct Guard {
    token: Arc<str>,
    sessions: Arc<LocalSessionManager>,
}

async fn guarded(State(guard): State<Guard>, request: Request<Body>, next: Next) -> Response {
    if !authorised(request.headers(), &guard.token) {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, challenge, "the token is missing or wrong\n").into_response();
    }
    let begins = request.method() == Method::POST && !request.headers().contains_key("mcp-session-id");
    if begins && guard.sessions.sessions.read().await.len() >= MOST_SESSIONS {
        return (StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions; end one\n").into_response();
    }
    match whole(request).await {
        Ok(request) => next.run(request).await,
        Err(refused) => refused.into_response(),
    }
}

/// Reads the body, so that a client that sends it slowly, or promises more than it may send, holds nothing but its own
/// connection.
async fn whole(request: Request<Body>) -> Result<Request<Body>, (StatusCode, &'static str)> {
    const TOO_LONG: (StatusCode, &str) = (StatusCode::PAYLOAD_TOO_LARGE, "the message is longer than 16 MiB\n");
    let (parts, body) = request.into_parts();
    if body.size_hint().lower() > MAX_MESSAGE as u64 {
        return Err(TOO_LONG);
    }
    match tokio::time::timeout(SENDING, to_bytes(body, MAX_MESSAGE)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(parts, Body::from(bytes))),
        Ok(Err(_)) => Err(TOO_LONG),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the message did not arrive in 30 seconds\n")),
    }
}

/// Whether the request carries the token. Takes as long for a nearly right one as for any other of its length.
fn authorised(headers: &HeaderMap, token: &str) -> bool {
    let sent = headers.get(header::AUTHORIZATION).map(|value| value.as_bytes()).unwrap_or_default();
    let Some((scheme, sent)) = sent.split_at_checked(7) else { return false };
    let differs = sent.iter().zip(token.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
    scheme.eq_ignore_ascii_case(b"bearer ") && sent.len() == token.len() && differs == 0
}

/// A token of 244 random bits.
fn random_token() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// Waits for Ctrl-C, or for the system's wish that the process should end.
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_and_long_tokens_are_taken() {
        let any = SocketAddr::from(([0, 0, 0, 0], 0));
        let local = SocketAddr::from(([127, 0, 0, 1], 0));
        assert!(matches!(HttpServer::bind(any, None), Err(ServeError::NotLoopback(_))));
        for token in ["short", "", "with a blank in it, long", "tokentokentokené"] {
            assert!(matches!(HttpServer::bind(local, Some(token.into())), Err(ServeError::Token { .. })), "{token}");
        }
        let (one, two) = (HttpServer::bind(local, None).unwrap(), HttpServer::bind(local, None).unwrap());
        assert_ne!(one.token(), two.token());
        assert_eq!(one.token().len(), 64);
        assert!(one.url().starts_with("http://127.0.0.1:") && one.url().ends_with("/mcp"));
    }

    #[test]
    fn the_whole_token_must_be_there() {
        let token = "0123456789abcdef";
        let cases = [
            (None, false),
            (Some("Bearer 0123456789abcdef"), true),
            (Some("bearer 0123456789abcdef"), true),
            (Some("Bearer 0123456789abcdeF"), false),
            (Some("Bearer 0123456789abcde"), false),
            (Some("Bearer 0123456789abcdef0"), false),
            (Some("Bearer"), false),
            (Some("Bearer "), false),
            (Some("Basic  0123456789abcdef"), false),
            (Some("0123456789abcdef"), false),
        ];
        for (sent, want) in cases {
            let mut headers = HeaderMap::new();
            if let Some(sent) = sent {
                headers.insert(header::AUTHORIZATION, sent.parse().unwrap());
            }
            assert_eq!(authorised(&headers, token), want, "{sent:?}");
        }
    }
}
