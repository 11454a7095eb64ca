//! The HTTP client. It follows no redirect (a key must not travel to another host) and reads no environment.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, NoProxy, Proxy, Url};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::super::error::{ErrorKind, ModelError};
use super::Endpoint;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(20);

#[cfg(test)]
thread_local! {
    /// How many clients this thread has made.
    static MADE: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
pub(super) fn made() -> usize {
    MADE.get()
}

/// A client for this server.
pub(super) fn client(endpoint: &Endpoint) -> Result<Client, ModelError> {
    #[cfg(test)]
    MADE.set(MADE.get() + 1);
    let config = |what: String| ModelError::new(ErrorKind::Config, what);
    let tls = tls(endpoint.base_url.scheme() == "https")
        .map_err(|error| config(format!("the system's certificates cannot be used: {error}")))?;
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .user_agent(concat!("restitch/", env!("CARGO_PKG_VERSION")))
        .no_proxy();
    if let Some((proxy, except)) = endpoint.proxy.as_ref().filter(|_| !is_loopback(&endpoint.base_url)) {
        // The address may hold a password, so it is not shown.
        let proxy = Proxy::all(proxy).map_err(|_| config("the proxy's address is malformed".to_owned()))?;
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(except)));
    }
    builder.build().map_err(|error| config(format!("no HTTP client: {}", super::failure::root_cause(&error))))
}

/// Loading the system's certificates takes time, and fails where there are none, so plain HTTP does without.
fn tls(needed: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = if needed {
        builder.with_platform_verifier()?.with_no_client_auth()
    } else {
        builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Whether a server is on this machine.
pub(in super::super) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        None => false,
    }
}
