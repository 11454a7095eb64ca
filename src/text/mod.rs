//! The text model: bytes, lines, endings, splice. Nothing is ever re-encoded or normalised.

mod bom;
mod ending;
mod index;
mod space;
mod splice;
mod visible;

pub(crate) use bom::UTF8_BOM;
pub use bom::WideEncoding;
pub(crate) use ending::LineEnding;
pub(crate) use index::LineIndex;
pub(crate) use space::Trimmed;
pub use splice::{Piece, Spliced};
pub(crate) use visible::visible;
