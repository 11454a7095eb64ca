//! The harness through its public API.
#![cfg(feature = "harness")]
#![allow(clippy::disallowed_methods, reason = "tests build trees on the disk")]
#![allow(missing_docs, reason = "a test program")]

/// From a directory to a manifest: findings, bytes, artifacts, refusals.
mod authoring;
/// Manifests as bytes and as files: canonical, checked, refused, never damaged.
mod manifests;
/// Trees in one text file each.
mod trees;
