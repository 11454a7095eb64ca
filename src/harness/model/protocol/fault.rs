//! What servers say when something goes wrong, sorted into our kinds. The three protocols share most words.

use serde_json::Value;

use super::super::error::{ErrorKind, ModelError};

/// Words longer than this are cut: some servers answer with whole web pages.
const WORDS: usize = 400;

/// The error in a JSON body or event: `{"error": {"message", "type", "code"}}`, `{"error": "words"}`, or the
/// inner object itself.
pub(in super::super) fn payload_error(value: &Value, status: Option<u16>) -> ModelError {
    let inner = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let message = match inner {
        Value::String(message) => message.as_str(),
        other => ["message", "detail", "error"].iter().find_map(|key| other.get(*key)?.as_str()).unwrap_or_default(),
    };
    let codes: Vec<&str> = ["code", "type", "status"].iter().filter_map(|key| inner.get(*key)?.as_str()).collect();
    let numeric = inner.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let status = status.or(numeric.filter(|code| (400..600).contains(code)));
    let kind = classify(status, &codes, message);
    let said = match (message.is_empty(), codes.first()) {
        (false, _) => words(message, WORDS),
        (true, Some(code)) => (*code).to_owned(),
        (true, None) => "no reason given".to_owned(),
    };
    let error = ModelError::new(kind, format!("{}: {said}", summary(kind)));
    match status {
        Some(status) => error.with_status(status),
        None => error,
    }
}

/// The kind of a failure, by what is most telling: the error's code, then its words, then the HTTP status.
pub(in super::super) fn classify(status: Option<u16>, codes: &[&str], message: &str) -> ErrorKind {
    let lower = message.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    let is = |names: &[&str]| codes.iter().any(|code| names.contains(code));
    if is(&["context_length_exceeded", "exceed_context_size_error", "request_too_large", "string_above_max_length"])
        || status == Some(413)
        || says(TOO_LONG)
    {
        return ErrorKind::ContextTooLong;
    }
    if is(&["insufficient_quota", "billing_error", "billing_hard_limit_reached"])
        || status == Some(402)
        || says(&["credit balance is too low", "exceeded your current quota"])
    {
        return ErrorKind::Quota;
    }
    if is(&["authentication_error", "permission_error", "invalid_api_key", "permission_denied"]) {
        return ErrorKind::Unauthorized;
    }
    if is(&["rate_limit_error", "rate_limit_exceeded", "tokens", "requests"]) {
        return ErrorKind::RateLimited;
    }
    if is(&["not_found_error", "model_not_found"]) {
        return ErrorKind::NotFound;
    }
    if is(&["overloaded_error", "server_error", "api_error", "timeout_error", "internal_server_error"]) {
        return ErrorKind::Server;
    }
    by_status(status, is(&["invalid_request_error", "invalid_prompt", "BadRequestError"]))
}

const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "maximum context length",
    "exceeds the context window",
    "exceed context limit",
    "exceeds the available context size",
    "input is too long",
    "input length and `max_tokens` exceed",
];

fn by_status(status: Option<u16>, refused: bool) -> ErrorKind {
    match status {
        Some(401 | 403) => ErrorKind::Unauthorized,
        Some(404) => ErrorKind::NotFound,
        Some(429) => ErrorKind::RateLimited,
        Some(408 | 409 | 425 | 500..) => ErrorKind::Server,
        Some(_) => ErrorKind::BadRequest,
        None if refused => ErrorKind::BadRequest,
        None => ErrorKind::Server,
    }
}

fn summary(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::RateLimited => "the server asks for fewer requests",
        ErrorKind::ContextTooLong => "the history is too long for the model",
        ErrorKind::Unauthorized => "the server refused the key",
        ErrorKind::Quota => "the account is out of credit",
        ErrorKind::NotFound => "no such model or address",
        ErrorKind::BadRequest => "the server refused the request",
        _ => "the server failed",
    }
}

/// Text of a server as one line of at most `limit` bytes, control characters out.
pub(in super::super) fn words(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        let room = limit.saturating_sub(line.len());
        if word.len() > room {
            let end = (0..=room).rev().find(|at| word.is_char_boundary(*at)).unwrap_or(0);
            line.push_str(&word[..end]);
            line.push('…');
            return line;
        }
        line.push_str(word);
    }
    line
}
