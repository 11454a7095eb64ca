//! The text model: bytes, lines, endings, splice. Nothing is ever re-encoded or normalised.

mod bom;
mod ending;
mod index;
mod splice;
mod visible;

pub use bom::{UTF8_BOM, WideEncoding};
pub use ending::LineEnding;
pub use index::{LineIndex, Lines};
pub use splice::{Piece, Spliced};
pub use visible::visible;
