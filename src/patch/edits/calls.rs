//! Calls of a model that operations came in, each of which wants an answer.

use std::ops::Range;

/// A call and the operations that came in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The identifier of the call, to be sent back with the answer.
    pub id: String,
    /// The numbers of its operations in the patch, from 0.
    pub ops: Range<usize>,
}
