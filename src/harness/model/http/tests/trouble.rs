//! What goes wrong: what is tried again, what is not, and what the error says.

use std::time::Duration;

use serde_json::json;

use super::super::super::error::{ErrorClass, ErrorKind};
use super::super::super::request::Request;
use super::super::super::types::Message;
use super::server::plain;
use super::*;

const CHAT: Protocol = Protocol::OpenaiChat;
const HI: &str = r#"{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}"#;
const PART: &str = r#"{"choices":[{"delta":{"content":"half an ans"}}]}"#;

/// The client's connection is closed by a task of this thread, so the thread must not wait itself.
async fn hung_up(server: Server) {
    tokio::task::spawn_blocking(move || server.wait_left()).await.unwrap();
}

fn hi() -> Vec<Act> {
    stream_of(&[HI, "[DONE]"])
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    let busy = plain(
        "429 Too Many Requests",
        "content-type: application/json\r\nretry-after-ms: 3\r\n",
        r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
    );
    for protocol in ALL {
        let server = Server::start(vec![busy.clone(), acts(protocol)]);
        let events = call(&model(&server, protocol, options())).await;
        let again = retries(&events);
        assert_eq!((again.len(), again[0].0, again[0].1), (1, 2, Duration::from_millis(3)));
        assert_eq!(again[0].2.kind(), ErrorKind::RateLimited);
        assert_eq!(again[0].2.status(), Some(429));
        assert_eq!(again[0].2.to_string(), "test: the server asks for fewer requests: slow down");
        check(protocol, &reply(&events));
        let seen = server.seen();
        assert_eq!(seen.len(), 2);
        assert_eq!(seen[0].body, seen[1].body, "the same bytes are sent again");
    }
}

#[tokio::test]
async fn three_tries_and_no_more() {
    let broken = plain("503 Service Unavailable", "", "<h1>down</h1>\n  for   a while");
    let server = Server::start(vec![broken.clone(), broken.clone(), broken, hi()]);
    let events = call(&model(&server, CHAT, options())).await;
    assert_eq!(retries(&events).iter().map(|retry| retry.0).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(error(&events).kind(), ErrorKind::Server);
    assert_eq!(error(&events).to_string(), "test: the server answered with status 503: <h1>down</h1> for a while");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_left_to_the_caller() {
    let busy = plain("429 Too Many Requests", "retry-after: 3600\r\n", "");
    let server = Server::start(vec![busy]);
    let events = call(&model(&server, CHAT, options())).await;
    assert_eq!(events.len(), 1);
    assert_eq!(error(&events).retry_after(), Some(Duration::from_secs(3600)));
}

#[tokio::test]
async fn an_error_in_mid_stream_voids_what_came_before() {
    for (protocol, part, fault) in [
        (CHAT, PART.to_owned(), json!({ "error": { "message": "overloaded", "code": 503 } })),
        (
            Protocol::AnthropicMessages,
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "half" } })
                .to_string(),
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "overloaded" } }),
        ),
        (
            Protocol::OpenaiResponses,
            json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "half" }).to_string(),
            json!({ "type": "response.failed", "response": { "error": { "code": "server_error", "message": "overloaded" } } }),
        ),
        (
            Protocol::OpenaiResponses,
            json!({ "type": "response.output_text.delta", "output_index": 0, "delta": "half" }).to_string(),
            json!({ "type": "error", "code": "server_error", "message": "overloaded" }),
        ),
    ] {
        let server = Server::start(vec![stream_of(&[&part, &fault.to_string()]), acts(protocol)]);
        let events = call(&model(&server, protocol, options())).await;
        let again = retries(&events);
        assert_eq!((again.len(), again[0].2.kind()), (1, ErrorKind::Server), "{protocol:?}");
        assert_eq!(again[0].2.to_string(), "test: the server failed: overloaded");
        assert!(matches!(&events[0], Ok(Event::Text(text)) if text.starts_with("half")), "{:?}", events[0]);
        check(protocol, &reply(&events));
    }
}

#[tokio::test]
async fn a_malformed_event_is_told_and_the_call_made_again() {
    for protocol in ALL {
        let server = Server::start(vec![stream_of(&["{\"half\": "]), acts(protocol)]);
        let events = call(&model(&server, protocol, options())).await;
        let error = &retries(&events)[0].2;
        assert_eq!(error.kind(), ErrorKind::BadStream);
        assert!(error.to_string().contains("not JSON") && error.to_string().ends_with("{\"half\":"), "{error}");
        check(protocol, &reply(&events));
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_never_taken_for_whole() {
    for protocol in ALL {
        let whole = acts(protocol);
        // Neither the last event nor what stands for the end without it may have come.
        let cut_at = whole.len() - if protocol == CHAT { 3 } else { 2 };
        let server = Server::start(vec![whole[..cut_at].to_vec(), whole]);
        let events = call(&model(&server, protocol, options())).await;
        assert_eq!(retries(&events)[0].2.kind(), ErrorKind::BadStream, "{protocol:?}");
        check(protocol, &reply(&events));
    }
    let announced = Act::Send(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\ndata: ".to_vec());
    let server = Server::start(vec![vec![announced], hi()]);
    let events = call(&model(&server, CHAT, options())).await;
    assert_eq!(retries(&events)[0].2.kind(), ErrorKind::Network);
    assert_eq!(reply(&events).text(), "hi");
}

#[tokio::test]
async fn a_stalled_answer_is_given_up() {
    let stalled = || vec![head(), Act::Send(format!("data: {PART}\n\n").into_bytes()), Act::Silence];
    let server = Server::start(vec![stalled(), vec![Act::Silence], hi()]);
    let wait = Duration::from_millis(40);
    let events = call(&model(&server, CHAT, options().stall(wait).first_byte(wait))).await;
    let kinds: Vec<_> = retries(&events).into_iter().map(|retry| (retry.2.kind(), retry.2.to_string())).collect();
    let told = |what: &str| (ErrorKind::Stalled, format!("test: waited 0.04 s for the answer {what}"));
    assert_eq!(kinds, [told("to go on"), told("to begin")]);
    assert_eq!(reply(&events).text(), "hi");
}

#[tokio::test]
async fn keep_alives_do_not_hold_a_call_open_for_ever() {
    let server = Server::start(vec![vec![head(), Act::Forever(b": still here\n\n".to_vec())]]);
    let events = call(&model(&server, CHAT, options().deadline(Duration::from_millis(60)))).await;
    assert_eq!(error(&events).to_string(), "test: no complete answer within 0.06 s, the call was given up");
    assert_eq!((error(&events).kind(), retries(&events).len()), (ErrorKind::Stalled, 0));
    hung_up(server).await;
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let endless = vec![head(), Act::Forever(format!("data: {PART}\n\n").into_bytes())];
    let server = Server::start(vec![endless]);
    let events = call(&model(&server, CHAT, options().max_reply_bytes(10_000))).await;
    assert_eq!(error(&events).kind(), ErrorKind::ReplyTooLarge);
    assert_eq!(error(&events).class(), ErrorClass::Recoverable);
    let told: usize =
        events.iter().flatten().map(|event| if let Event::Text(text) = event { text.len() } else { 0 }).sum();
    assert!(told <= 10_000, "{told}");
    hung_up(server).await;
}

#[tokio::test]
async fn an_endless_line_is_cut_off() {
    let server = Server::start(vec![vec![head(), Act::Send(b"data: ".to_vec()), Act::Forever(vec![b'a'; 1 << 20])]]);
    let events = call(&model(&server, CHAT, options())).await;
    assert_eq!(error(&events).to_string(), "the server sent more than 16 MiB and was cut off");
    hung_up(server).await;
}

#[tokio::test]
async fn an_empty_answer_is_no_answer() {
    let nothing = || stream_of(&[r#"{"choices":[{"delta":{"content":" \n"},"finish_reason":"stop"}]}"#, "[DONE]"]);
    let server = Server::start(vec![nothing(), nothing(), nothing()]);
    let events = call(&model(&server, CHAT, options())).await;
    assert_eq!(error(&events).kind(), ErrorKind::EmptyReply);
    assert_eq!(error(&events).to_string(), "the model answered with neither text nor a tool call");
    assert_eq!(retries(&events).len(), 2);
}

#[tokio::test]
async fn a_refused_key_is_told_without_the_key() {
    let body =
        json!({ "error": { "message": format!("Incorrect API key provided: {KEY}."), "code": "invalid_api_key" } });
    let refused = plain("401 Unauthorized", "content-type: application/json\r\n", &body.to_string());
    let server = Server::start(vec![refused.clone(), refused]);
    let events = call(&model(&server, CHAT, options())).await;
    assert_eq!(
        error(&events).to_string(),
        "test: the server refused the key: Incorrect API key provided: [redacted].; check the key in TEST_KEY"
    );
    assert_eq!((error(&events).class(), events.len()), (ErrorClass::Terminal, 1));

    let keyless = Endpoint { key: None, key_variable: None, ..endpoint(&server.origin, CHAT) };
    let keyless = HttpModel::new(ModelInfo::new("test/m"), "m", keyless, options()).unwrap();
    let told = error(&call(&keyless).await).to_string();
    assert!(told.ends_with("; no key was sent: set key_env in agent.toml"), "{told}");
    assert_eq!(server.seen()[1].header("authorization"), None);
    assert!(!format!("{keyless:?} {:?}", endpoint(&server.origin, CHAT)).contains(KEY));
}

#[tokio::test]
async fn what_no_repetition_cures_is_not_repeated() {
    for (status, body, kind) in [
        ("400 Bad Request", r#"{"error":{"message":"no such field"}}"#, ErrorKind::BadRequest),
        ("400 Bad Request", r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, ErrorKind::ContextTooLong),
        (
            "400 Bad Request",
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}"#,
            ErrorKind::ContextTooLong,
        ),
        ("413 Payload Too Large", "", ErrorKind::ContextTooLong),
        ("429 Too Many Requests", r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#, ErrorKind::Quota),
        ("404 Not Found", r#"{"error":"model 'm' not found"}"#, ErrorKind::NotFound),
        ("307 Temporary Redirect", "", ErrorKind::BadRequest),
    ] {
        let headers = "content-type: application/json\r\nlocation: http://127.0.0.1:1/stolen\r\n";
        let server = Server::start(vec![plain(status, headers, body)]);
        let events = call(&model(&server, CHAT, options())).await;
        assert_eq!((error(&events).kind(), events.len()), (kind, 1), "{status} {body}");
        assert_eq!(error(&events).status(), status[..3].parse().ok());
    }
}

#[tokio::test]
async fn a_wrong_address_is_told() {
    for (content_type, body) in [("text/html", "<html>"), ("application/json", "{\"ok\":true}")] {
        let server = Server::start(vec![plain("200 OK", &format!("content-type: {content_type}\r\n"), body)]);
        let told = error(&call(&model(&server, CHAT, options())).await);
        let url = format!("{}/v1/chat/completions", server.origin);
        let expected = format!("{url} does not stream: it answered with {content_type}; check base_url and protocol");
        assert_eq!((told.kind(), told.to_string()), (ErrorKind::NotFound, expected));
    }
}

#[tokio::test]
async fn no_server_is_one_clear_sentence() {
    // A port that was free a moment ago.
    let origin = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let nobody = HttpModel::new(ModelInfo::new("test/m"), "m", endpoint(&origin, CHAT), options()).unwrap();
    let events = call(&nobody).await;
    assert_eq!((error(&events).kind(), retries(&events).len()), (ErrorKind::NoServer, 2));
    let told = error(&events).to_string();
    assert!(told.starts_with(&format!("no model server at {origin}/v1 (")), "{told}");
    assert!(told.ends_with("): start it, or set base_url in agent.toml"), "{told}");
}

#[tokio::test]
async fn tls_needs_no_set_up_by_the_caller() {
    let server = Server::start(vec![hi()]);
    let secure = endpoint(&server.origin.replace("http:", "https:"), CHAT);
    // Where the system has no certificates at all, there is no client; else the server is found not to speak TLS.
    let told =
        match HttpModel::new(ModelInfo::new("test/m"), "m", secure, options().retry(RetryPolicy::default().tries(1))) {
            Ok(model) => error(&call(&model).await),
            Err(error) => error,
        };
    assert!(matches!(told.kind(), ErrorKind::NoServer | ErrorKind::Config), "{told}");
}

#[tokio::test]
async fn a_dropped_stream_hangs_up() {
    let server = Server::start(vec![vec![head(), Act::Send(format!("data: {PART}\n\n").into_bytes()), Act::Silence]]);
    let model = model(&server, CHAT, options());
    let messages = [Message::user("look")];
    let mut stream = model.stream(&Request::new("", &messages));
    assert_eq!(stream.next().await, Some(Ok(Event::Text("half an ans".to_owned()))));
    drop(stream);
    hung_up(server).await;
}
