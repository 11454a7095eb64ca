//! The door to the disk.

mod source;

pub use source::{FileData, Loaded, Source, SourceError, Stamp, State};
