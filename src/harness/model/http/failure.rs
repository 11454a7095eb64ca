//! Failed calls as errors that say what to do.

use std::error::Error as StdError;

use jiff::Timestamp;
use reqwest::Response;

use super::super::error::{ErrorKind, ModelError};
use super::super::protocol::{classify, payload_error, words};
use super::connect::is_loopback;
use super::retry_after::retry_after;
use super::{Endpoint, Server};

/// The most that is read of an answer that is an error.
const BODY: usize = 64 << 10;

/// No connection, or one that broke.
pub(super) fn transport(server: &Server, error: &reqwest::Error) -> ModelError {
    let endpoint = &server.endpoint;
    let cause = root_cause(error);
    if !error.is_connect() {
        let message = format!("{}: the connection broke: {cause}", endpoint.provider);
        return ModelError::new(ErrorKind::Network, redact(endpoint, &message));
    }
    let message = if is_loopback(&endpoint.base_url) {
        format!("no model server at {} ({cause}): start it, or set base_url in agent.toml", origin(endpoint))
    } else {
        format!("cannot reach {} at {} ({cause})", endpoint.provider, origin(endpoint))
    };
    ModelError::new(ErrorKind::NoServer, redact(endpoint, &message))
}

/// An answer whose status is not success.
pub(super) async fn status(server: &Server, mut response: Response) -> ModelError {
    let status = response.status().as_u16();
    let wait = retry_after(response.headers(), Timestamp::now());
    let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
    let body = body(&mut response).await;
    let error = match serde_json::from_slice(&body) {
        Ok(value) => payload_error(&value, Some(status)),
        Err(_) => {
            let said = words(&String::from_utf8_lossy(&body), 200);
            let kind = classify(Some(status), &[], &said);
            let said = if said.is_empty() { "no reason given".to_owned() } else { said };
            ModelError::new(kind, format!("the server answered with status {status}: {said}")).with_status(status)
        }
    };
    let moved = location.filter(|_| (300..400).contains(&status));
    let error = match moved {
        Some(to) => ModelError::new(error.kind(), format!("the server moved to {}: set base_url", words(&to, 200))),
        None => error,
    };
    explain(server, error.with_status(status).with_retry_after(wait))
}

/// A success that is no stream of events: an error in disguise, or the wrong address.
pub(super) async fn not_a_stream(server: &Server, mut response: Response, content_type: &str) -> ModelError {
    let body = body(&mut response).await;
    match serde_json::from_slice::<serde_json::Value>(&body) {
        Ok(value) if value.get("error").is_some_and(|error| !error.is_null()) => {
            explain(server, payload_error(&value, None))
        }
        _ => {
            let message = format!(
                "{} does not stream: it answered with {content_type}; check base_url and protocol",
                server.url.as_str()
            );
            ModelError::new(ErrorKind::NotFound, redact(&server.endpoint, &message))
        }
    }
}

/// Adds who said it and what to do about it, and takes the key out.
pub(super) fn explain(server: &Server, error: ModelError) -> ModelError {
    let endpoint = &server.endpoint;
    let advice = match error.kind() {
        ErrorKind::Unauthorized => match (&endpoint.key, &endpoint.key_variable) {
            (Some(_), Some(variable)) => format!("; check the key in {variable}"),
            (None, _) => "; no key was sent: set key_env in agent.toml".to_owned(),
            (Some(_), None) => String::new(),
        },
        ErrorKind::NotFound => format!("; asked for `{}` at {}", server.model, server.url.as_str()),
        _ => String::new(),
    };
    let message = format!("{}: {error}{advice}", endpoint.provider);
    error.with_message(redact(endpoint, &message))
}

async fn body(response: &mut Response) -> Vec<u8> {
    let mut body = Vec::new();
    // A body that breaks off still says something.
    while let Ok(Some(chunk)) = response.chunk().await {
        body.extend_from_slice(&chunk);
        if body.len() >= BODY {
            body.truncate(BODY);
            break;
        }
    }
    body
}

fn redact(endpoint: &Endpoint, text: &str) -> String {
    let secrets = endpoint.key.iter().chain(endpoint.headers.iter().map(|(_, value)| value));
    secrets.fold(text.to_owned(), |text, secret| secret.redact(&text))
}

/// Scheme, host and port: an address may hold a password.
fn origin(endpoint: &Endpoint) -> String {
    let url = &endpoint.base_url;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

/// The innermost cause of an error: the outer ones only say that a request failed.
pub(super) fn root_cause(error: &dyn StdError) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
