//! The layout of the database and how older ones become the newest.
//!
//! A released layout is never edited: a change is a further entry of [`STEPS`]. `user_version` counts the steps taken,
//! `application_id` marks the file as ours.

use rusqlite::{Connection, Transaction};

/// "rstj": what the header of our files holds.
pub(super) const APPLICATION: i32 = 0x7273_746a;

/// The steps from an empty file to the newest layout.
pub(super) const STEPS: &[&str] = &[include_str!("v1.sql")];

/// The newest layout.
pub(super) fn newest() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

/// The layout of an open file, and whether the file is ours.
pub(super) fn version(db: &Connection) -> rusqlite::Result<(i32, u32)> {
    let application = db.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok((application, version))
}

/// Takes the steps after `from`.
pub(super) fn migrate(tx: &Transaction<'_>, from: u32) -> rusqlite::Result<()> {
    for step in STEPS.iter().skip(from as usize) {
        tx.execute_batch(step)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION)?;
    tx.pragma_update(None, "user_version", newest())
}
