//! What servers say, sorted.

use serde_json::json;

use super::super::super::error::ErrorKind;
use super::super::{payload_error, words};

#[test]
fn errors_are_sorted_by_code_then_words_then_status() {
    for (status, payload, kind) in [
        (
            Some(400),
            json!({ "error": { "message": "This model's maximum context length is 8 tokens" } }),
            ErrorKind::ContextTooLong,
        ),
        (
            Some(400),
            json!({ "error": { "type": "exceed_context_size_error", "message": "x" } }),
            ErrorKind::ContextTooLong,
        ),
        (None, json!({ "error": { "type": "overloaded_error", "message": "Overloaded" } }), ErrorKind::Server),
        (Some(529), json!({ "error": { "type": "overloaded_error", "message": "Overloaded" } }), ErrorKind::Server),
        (Some(400), json!({ "error": { "message": "Your credit balance is too low" } }), ErrorKind::Quota),
        (Some(403), json!({ "error": { "type": "permission_error", "message": "no" } }), ErrorKind::Unauthorized),
        (Some(429), json!({ "error": { "code": "rate_limit_exceeded", "message": "no" } }), ErrorKind::RateLimited),
        (None, json!({ "error": { "code": 429, "message": "no" } }), ErrorKind::RateLimited),
        (None, json!({ "error": { "type": "invalid_request_error", "message": "no" } }), ErrorKind::BadRequest),
        (Some(422), json!({ "detail": "no" }), ErrorKind::BadRequest),
        (Some(500), json!("text"), ErrorKind::Server),
        (None, json!({}), ErrorKind::Server),
    ] {
        assert_eq!(payload_error(&payload, status).kind(), kind, "{status:?} {payload}");
    }
}

#[test]
fn long_and_wild_words_become_one_short_line() {
    assert_eq!(words(" a\n\tb\u{1b}[31m  c ", 100), "a b [31m c");
    assert_eq!(words("éééé", 5), "éé…");
    assert_eq!(words("", 5), "");
    assert!(words(&"word ".repeat(10_000), 400).len() < 410);
}
