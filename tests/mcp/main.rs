//! `restitch mcp` as the SDK's own client meets it.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests build trees on the disk and run programs")]

/// The example that drives every tool.
#[allow(dead_code, reason = "the test starts the server itself")]
#[path = "../../examples/mcp_client.rs"]
mod example;
/// Over HTTP: who is let in, several clients.
mod http;
/// Requests that are none, and what becomes of the session.
mod malformed;
/// Which trees a client may reach.
mod roots;
/// Progress, cancellation and two clients in one tree.
mod running;
/// Servers, clients and trees for the tests.
mod support;
/// Every tool, over standard input and output.
mod tools;

#[tokio::test]
async fn the_example_uses_every_tool() {
    let dir = support::Dir::new(&[("greet.py", "def greet(name):\n    return \"Hello \" + name\n")]);
    example::drive(support::program(dir.path(), &[]), dir.path()).await.unwrap();
}
