//! The agent harness: a directory of files is an agent.

pub mod manifest;
