//! The text model: bytes, lines, endings, splice. Nothing is ever re-encoded or normalised.

mod splice;

pub use splice::{Piece, Spliced};
