//! The agent harness: a directory of files becomes a durable agent.
//!
//! A client of the crate's public API; nothing outside this module knows it exists. Async code lives only here.

pub mod manifest;
pub mod model;
pub mod session;
