//! Who may write to a session.
//!
//! A lease is a row's owner, an end and a fencing number that grows with each lease. Whoever writes proves in the same
//! transaction that the number is still his, so a process that slept through its lease cannot write after another took
//! over.

use std::time::Duration;

use rusqlite::{Transaction, params};

use super::super::host;
use super::super::journal::{JournalError, Lease, Owner};
use super::{SqliteJournal, Stop};
use crate::harness::session::timestamp;

fn millis(ttl: Duration) -> i64 {
    i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX / 2)
}

/// Takes the lease, unless somebody who may be alive holds it.
pub(super) fn acquire(tx: &Transaction<'_>, session: &str, owner: &Owner, ttl: Duration) -> Result<Lease, Stop> {
    let num = SqliteJournal::number(tx, session)?;
    let now = host::now();
    let (held, until, fence): (Option<String>, Option<i64>, i64) =
        tx.query_row("SELECT owner, lease_until, fence FROM sessions WHERE num = ?1", [num], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    if let (Some(held), Some(until)) = (held, until) {
        let holder = Owner::parse(&held);
        if until > now && !holder.as_ref().is_some_and(host::is_dead) {
            let pid = holder.map_or(held, |holder| holder.pid.to_string());
            return Err(JournalError::Busy { session: session.to_owned(), pid, until: timestamp(until) }.into());
        }
    }
    tx.execute(
        "UPDATE sessions SET owner = ?2, lease_until = ?3, fence = ?4 WHERE num = ?1",
        params![num, owner.to_string(), now.saturating_add(millis(ttl)), fence + 1],
    )?;
    Ok(Lease { session: session.to_owned(), fence: u64::try_from(fence + 1).unwrap_or_default(), ttl })
}

/// Proves that the lease is still the newest, makes it last longer and gives the session's number.
pub(super) fn hold(tx: &Transaction<'_>, lease: &Lease) -> Result<i64, Stop> {
    let now = host::now();
    let fence = i64::try_from(lease.fence).unwrap_or(i64::MAX);
    let held = tx
        .prepare_cached(
            "UPDATE sessions SET updated_at = ?3, lease_until = ?4 WHERE id = ?1 AND fence = ?2 AND owner IS NOT NULL",
        )?
        .execute(params![lease.session, fence, now, now.saturating_add(millis(lease.ttl))])?;
    if held == 1 {
        return SqliteJournal::number(tx, &lease.session);
    }
    SqliteJournal::number(tx, &lease.session)?;
    Err(JournalError::Fenced { session: lease.session.clone() }.into())
}

/// Gives the lease back, if it is still the newest.
pub(super) fn release(tx: &Transaction<'_>, lease: &Lease) -> Result<(), Stop> {
    let fence = i64::try_from(lease.fence).unwrap_or(i64::MAX);
    tx.execute(
        "UPDATE sessions SET owner = NULL, lease_until = NULL WHERE id = ?1 AND fence = ?2",
        params![lease.session, fence],
    )?;
    Ok(())
}
