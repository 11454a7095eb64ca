//! The agent harness: a directory of files becomes a durable agent.
//!
//! A client of the crate's public API; nothing outside this module knows it exists. Async code lives only here.

pub mod credentials;
pub mod manifest;
pub mod model;
pub mod prompt;
pub mod skills;

// The guide's example is compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/harness.md")]
struct Guide;
