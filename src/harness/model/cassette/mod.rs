//! Cassettes: answers of any model kept in a file, to be told again without it.
//!
//! A cassette is JSON lines. The first line is `{"cassette":1}`; each further one is a model call: `step`, the
//! `key` of the request, `last` (the start of the newest message, for people), and `reply` or `error`. A request
//! is known by hashes of its parts, not by its text, so a cassette grows with the answers and not with the square
//! of the history. Keys and headers are not part of a request, so no credential can get in; what the
//! history itself holds can.
//!
//! # Limitations
//!
//! Only an equal request finds its answer. A session whose tools report times or machine-dependent paths asks
//! different questions every time.

mod file;
mod key;
mod record;
mod replay;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::key::Key;
pub use self::record::RecordingModel;
pub use self::replay::ReplayModel;
use super::error::ModelError;
use super::reply::Reply;

/// The version of the format.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Deserialize)]
struct Header {
    cassette: u32,
}

/// One call.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Take {
    step: u64,
    key: Key,
    last: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// How a call ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Reply(Reply),
    Error(ModelError),
}
