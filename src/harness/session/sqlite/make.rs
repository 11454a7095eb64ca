//! A new database: made beside its place without any sync, synced once, then put there whole.
//!
//! SQLite would sync at every turn of the way: for the first header, for the layout, for the change to its log. Whoever
//! looks sees no file or a whole one, and so does whoever comes after a power cut.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::fs::{Mode, OFlags};

use super::Durability;
use super::schema;

/// Makes the database if nothing is at `path`. When that does not work nothing was made: opening the file then says why.
pub(super) fn make(path: &Path, durability: Durability) {
    if rustix::fs::lstat(path).is_ok() {
        return;
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-new-{}", uuid::Uuid::now_v7()));
    let new = PathBuf::from(name);
    super::private_file(&new);
    // Another process may have been quicker; then its file is the one.
    let _placed = fill(&new).and_then(|()| place(&new, path, durability));
    // After a failure there may be a log, too.
    for suffix in ["", "-wal", "-shm"] {
        let mut name = new.as_os_str().to_owned();
        name.push(suffix);
        let _gone = rustix::fs::unlink(&name);
    }
}

/// Writes an empty database of the newest layout that keeps a log.
fn fill(new: &Path) -> Option<()> {
    let mut db = Connection::open(new).ok()?;
    db.pragma_update(None, "synchronous", "off").ok()?;
    db.pragma_update_and_check(None, "journal_mode", "memory", |_| Ok(())).ok()?;
    let tx = db.transaction().ok()?;
    schema::migrate(&tx, 0).ok()?;
    tx.commit().ok()?;
    db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).ok()?;
    db.close().ok()
}

/// Gives the file its name, unless something has it.
fn place(new: &Path, path: &Path, durability: Durability) -> Option<()> {
    if durability == Durability::Power {
        let file = rustix::fs::open(new, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        rustix::fs::fsync(file).ok()?;
    }
    // The name is synced when SQLite makes the log beside it, before the first commit that has to last.
    rustix::fs::link(new, path).ok()
}
