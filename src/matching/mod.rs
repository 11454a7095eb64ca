//! Where a hunk goes: the search for its lines, and the rules that choose one place or refuse.
//!
//! # Complexity
//! A search is linear in the file and the hunk at every tier, whatever the text. All hunks of a file share one index of
//! its lines.

mod find;
mod fold;
mod kmp;
#[cfg(test)]
mod naive;
mod pattern;
mod seek;
mod tokens;

pub use seek::{Found, seek_sequence};

#[cfg(test)]
mod tests;
