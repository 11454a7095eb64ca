//! The harness through its public API.
#![cfg(feature = "harness")]
#![allow(clippy::disallowed_methods, reason = "tests build trees on the disk")]
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![allow(missing_docs, reason = "a test program")]

/// From a directory to a manifest: findings, bytes, artifacts, refusals.
mod authoring;
/// Damaged files and manifests: told or refused, never a panic.
mod damage;
/// Manifests as bytes and as files: canonical, checked, refused, never damaged.
mod manifests;
/// Running `restitch agent` in a project with a scripted model.
#[cfg(feature = "cli")]
mod play;
/// `restitch agent` as a program, and the example.
#[cfg(feature = "cli")]
mod program;
/// Sessions as a user runs them: exit codes, answers, kills, the demo.
#[cfg(feature = "cli")]
mod sessions;
/// Words to a session that another process runs, and what a workspace starts with.
#[cfg(feature = "cli")]
mod steering;
/// Trees in one text file each.
mod trees;
