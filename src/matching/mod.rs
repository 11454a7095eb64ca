//! Where a hunk goes: the search for its lines, and the rules that choose one place or refuse.
//!
//! # Complexity
//! A search is linear in the file and the hunk at every tier, whatever the text. All hunks of a file share one index of
//! its lines.

mod anchor;
mod block;
mod candidates;
mod find;
mod fold;
mod kmp;
#[cfg(test)]
mod naive;
mod nearest;
mod numbered;
mod pattern;
mod place;
mod scan;
mod seek;
mod suffix;
mod tie;
mod tokens;
mod wavelet;
mod words;

pub(crate) use candidates::Candidates;
pub(crate) use fold::{depth, indentation, is_blank};
pub(crate) use nearest::{first_with, likeness, most_alike, nearest};
pub(crate) use pattern::Pattern;
pub(crate) use place::{Miss, Placer, Query, Spot};
pub use seek::{Found, seek_sequence};

#[cfg(test)]
pub(crate) mod tests;
