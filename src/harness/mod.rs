//! The agent harness: a directory of files becomes a durable agent.
//!
//! A client of the crate's public API; nothing outside this module knows it exists. Async code lives only here.

mod agent;
mod answer;
pub mod approval;
mod changes;
pub mod compaction;
pub mod credentials;
pub mod limits;
pub mod manifest;
pub mod model;
pub mod prompt;
pub mod repeats;
mod run;
pub mod sandbox;
pub mod session;
pub mod skills;
#[cfg(test)]
mod testkit;
pub mod tools;
mod turn;
mod watch;

pub use agent::{Agent, TurnOptions};
pub use answer::{Answer, AnswerError};
pub use changes::{ChangesError, changes, diff, undo};
pub use turn::{Ended, RunError, Session};
pub use watch::{Live, Unwatched, Watch};

// The guide's example is compiled and run with the documentation's tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/harness.md")]
struct Guide;
