//! restitch

#[cfg(feature = "harness")]
pub mod harness;
pub mod limits;
pub mod matching;
pub mod patch;
pub mod path;
pub mod plan;
pub mod policy;
pub mod text;
pub mod workspace;
