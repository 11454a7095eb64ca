//! The text model: bytes, lines, endings, splice. Nothing is ever re-encoded or normalised.

mod bom;
mod ending;
mod index;
mod splice;
mod visible;

pub use bom::WideEncoding;
pub(crate) use bom::UTF8_BOM;
pub use ending::LineEnding;
pub use index::LineIndex;
pub use splice::{Piece, Spliced};
pub use visible::visible;
