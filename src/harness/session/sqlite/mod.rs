//! The journal in one SQLite file, in WAL mode: for one machine, several processes, and people with `sqlite3`.
//!
//! # Guarantees
//! Every call that writes is one transaction. After a kill at any moment the file holds what was committed, whole. With
//! [`Durability::Power`] that is true of a power cut too. A file of another program, of a newer version or with damage
//! is named and left as it is.

mod lease;
mod make;
mod read;
mod schema;
mod write;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, TransactionBehavior};

use super::event::StoredEvent;
use super::journal::{Batch, Committed, Journal, JournalError, Lease, Owner, Snapshot};
use super::record::{ChangeRow, InboxItem, InboxRow, NewSession, SessionRow, WaitRow};
use crate::Digest;

/// How long a write waits for another process's write.
const WAIT: Duration = Duration::from_secs(10);

/// What a committed transaction outlives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process.
    Process,
    /// A power cut too: each transaction is synced, which costs some milliseconds.
    #[default]
    Power,
}

impl Durability {
    /// SQLite's word for it.
    fn synchronous(self) -> &'static str {
        match self {
            Durability::Process => "normal",
            Durability::Power => "full",
        }
    }
}

/// The moments of a transaction at which a test can stop the world.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before the transaction begins.
    Before,
    /// When part of it is written.
    Within,
    /// After it is committed.
    After,
}

#[cfg(test)]
pub(crate) type Hook = Box<dyn FnMut(Moment) -> Result<(), String> + Send>;

/// Sessions in one SQLite file.
pub struct SqliteJournal {
    db: Connection,
    path: String,
    durability: Durability,
    #[cfg(test)]
    pub(crate) hook: Option<Hook>,
}

impl std::fmt::Debug for SqliteJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteJournal").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SqliteJournal {
    /// Opens the file, makes it when there is none, and brings an older layout up to date.
    ///
    /// # Errors
    /// [`JournalError::NotOurs`], [`JournalError::Newer`], [`JournalError::Damaged`], [`JournalError::Storage`]: the
    /// file is as it was.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, JournalError> {
        let name = path.display().to_string();
        let fail = |error| failure(&name, error);
        make::make(path, durability);
        private_file(path);
        let mut db = Connection::open(path).map_err(fail)?;
        db.busy_timeout(WAIT).map_err(fail)?;
        let (application, version) = schema::version(&db).map_err(fail)?;
        if (application, version) != (0, 0) && application != schema::APPLICATION {
            return Err(JournalError::NotOurs { path: name });
        }
        if version > schema::newest() {
            return Err(JournalError::Newer { path: name, found: version, known: schema::newest() });
        }
        if version == 0 && !is_empty(&db).map_err(fail)? {
            return Err(JournalError::NotOurs { path: name });
        }
        db.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(())).map_err(fail)?;
        db.pragma_update(None, "synchronous", durability.synchronous()).map_err(fail)?;
        db.pragma_update(None, "foreign_keys", true).map_err(fail)?;
        db.set_prepared_statement_cache_capacity(64);
        if version < schema::newest() {
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
            // Another process may have done it in the meantime.
            let (_, version) = schema::version(&tx).map_err(fail)?;
            schema::migrate(&tx, version).map_err(fail)?;
            tx.commit().map_err(fail)?;
        }
        Ok(SqliteJournal {
            db,
            path: name,
            durability,
            #[cfg(test)]
            hook: None,
        })
    }

    /// Counts the instructions that SQLite runs from now on.
    #[cfg(test)]
    pub(crate) fn count_instructions(&mut self) -> std::sync::Arc<std::sync::atomic::AtomicU64> {
        let count = std::sync::Arc::<std::sync::atomic::AtomicU64>::default();
        let counted = std::sync::Arc::clone(&count);
        let each = move || {
            counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            false
        };
        self.db.progress_handler(1, Some(each)).unwrap();
        count
    }

    /// Says what went wrong in words of this journal.
    fn fail(&self, error: rusqlite::Error) -> JournalError {
        failure(&self.path, error)
    }

    /// Tells a test where the transaction stands.
    #[cfg(test)]
    fn at(hook: &mut Option<Hook>, moment: Moment) -> Result<(), Stop> {
        match hook {
            Some(hook) => hook(moment).map_err(Stop::Hook),
            None => Ok(()),
        }
    }

    /// Runs `work` as one transaction that other writers see whole or not at all.
    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, Stop>,
    ) -> Result<T, JournalError> {
        let done = self.try_transaction(work);
        done.map_err(|stop| match stop {
            Stop::Sqlite(error) => self.fail(error),
            Stop::Journal(error) => *error,
            #[cfg(test)]
            Stop::Hook(message) => JournalError::Storage { path: self.path.clone(), message },
        })
    }

    fn try_transaction<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        #[cfg(test)]
        Self::at(&mut self.hook, Moment::Before)?;
        let tx = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&tx)?;
        #[cfg(test)]
        Self::at(&mut self.hook, Moment::Within)?;
        tx.commit()?;
        #[cfg(test)]
        Self::at(&mut self.hook, Moment::After)?;
        Ok(value)
    }

    /// The database's own number of a session.
    fn number(db: &Connection, session: &str) -> Result<i64, Stop> {
        db.prepare_cached("SELECT num FROM sessions WHERE id = ?1")?
            .query_row([session], |row| row.get(0))
            .optional()?
            .ok_or_else(|| JournalError::NoSession { id: session.to_owned() }.into())
    }

    /// Runs `work` with the number of a session.
    fn reading<T>(
        &self,
        session: &str,
        work: impl FnOnce(&Connection, i64) -> Result<T, Stop>,
    ) -> Result<T, JournalError> {
        // One transaction, so that all of it is of one moment.
        let read = || {
            let tx = self.db.unchecked_transaction()?;
            let value = work(&tx, Self::number(&tx, session)?)?;
            tx.commit()?;
            Ok(value)
        };
        read().map_err(|stop| self.stopped(stop))
    }

    fn stopped(&self, stop: Stop) -> JournalError {
        match stop {
            Stop::Sqlite(error) => self.fail(error),
            Stop::Journal(error) => match *error {
                JournalError::Unreadable { what, message, .. } => {
                    JournalError::Unreadable { path: self.path.clone(), what, message }
                }
                error => error,
            },
            #[cfg(test)]
            Stop::Hook(message) => JournalError::Storage { path: self.path.clone(), message },
        }
    }
}

/// Why a transaction was given up.
enum Stop {
    Sqlite(rusqlite::Error),
    Journal(Box<JournalError>),
    #[cfg(test)]
    Hook(String),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Sqlite(error)
    }
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        Stop::Journal(Box::new(error))
    }
}

impl Stop {
    /// A record that this version cannot read.
    fn unreadable(what: &'static str, message: impl Into<String>) -> Stop {
        JournalError::Unreadable { path: String::new(), what, message: message.into() }.into()
    }
}

/// Makes the file, if there is none, for its owner alone: it holds all that was said and read. SQLite gives its
/// further files the same mode. Where that fails SQLite says why.
fn private_file(path: &Path) {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    drop(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR));
}

/// Whether the file has no table yet.
fn is_empty(db: &Connection) -> rusqlite::Result<bool> {
    db.query_row("SELECT count(*) FROM sqlite_schema", [], |row| Ok(row.get::<_, i64>(0)? == 0))
}

/// What SQLite says in words of the journal.
fn failure(path: &str, error: rusqlite::Error) -> JournalError {
    let path = path.to_owned();
    let message = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => JournalError::NotOurs { path },
        Some(ErrorCode::DatabaseCorrupt) => JournalError::Damaged { path, message },
        Some(ErrorCode::DiskFull) => JournalError::Full { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            JournalError::Locked { path, seconds: WAIT.as_secs() }
        }
        _ => JournalError::Storage { path, message },
    }
}

impl Journal for SqliteJournal {
    fn create(&mut self, new: &NewSession, owner: &Owner, ttl: Duration) -> Result<Lease, JournalError> {
        // A session in which nothing was said need not outlive a power cut. What is said first is synced, and this with
        // it, for they are in one log.
        let sync = |db: &Connection, how| db.pragma_update(None, "synchronous", how);
        sync(&self.db, "off").map_err(|error| self.fail(error))?;
        let made = self.transaction(|tx| {
            write::create(tx, new)?;
            lease::acquire(tx, &new.id, owner, ttl)
        });
        sync(&self.db, self.durability.synchronous()).map_err(|error| self.fail(error))?;
        made
    }

    fn acquire(&mut self, session: &str, owner: &Owner, ttl: Duration) -> Result<Lease, JournalError> {
        self.transaction(|tx| lease::acquire(tx, session, owner, ttl))
    }

    fn renew(&mut self, lease: &Lease) -> Result<(), JournalError> {
        self.transaction(|tx| lease::hold(tx, lease).map(|_| ()))
    }

    fn release(&mut self, lease: &Lease) -> Result<(), JournalError> {
        self.transaction(|tx| lease::release(tx, lease))
    }

    fn commit(&mut self, lease: &Lease, batch: &Batch) -> Result<Committed, JournalError> {
        self.transaction(|tx| {
            let session = lease::hold(tx, lease)?;
            write::batch(tx, session, batch)
        })
    }

    fn post(&mut self, session: &str, item: &InboxItem) -> Result<(), JournalError> {
        self.transaction(|tx| write::post(tx, session, item))
    }

    fn answer(&mut self, session: &str, wait: u64, answer: &str) -> Result<(), JournalError> {
        self.transaction(|tx| write::answer(tx, session, wait, answer))
    }

    fn sessions(&self, most: usize) -> Result<Vec<SessionRow>, JournalError> {
        read::sessions(&self.db, most).map_err(|stop| self.stopped(stop))
    }

    fn find(&self, id: &str) -> Result<SessionRow, JournalError> {
        read::find(&self.db, id).map_err(|stop| self.stopped(stop))
    }

    fn load(&self, session: &str) -> Result<Snapshot, JournalError> {
        self.reading(session, read::snapshot)
    }

    fn events(&self, session: &str, after: u64, most: usize) -> Result<Vec<StoredEvent>, JournalError> {
        self.reading(session, |db, session| read::events(db, session, after, most))
    }

    fn waits(&self, session: &str) -> Result<Vec<WaitRow>, JournalError> {
        self.reading(session, read::waits)
    }

    fn inbox(&self, session: &str) -> Result<Vec<InboxRow>, JournalError> {
        self.reading(session, read::inbox)
    }

    fn changes(&self, session: &str) -> Result<Vec<ChangeRow>, JournalError> {
        self.reading(session, read::changes)
    }

    fn blob(&self, digest: Digest) -> Result<Option<Vec<u8>>, JournalError> {
        self.db
            .prepare_cached("SELECT bytes FROM blobs WHERE digest = ?1")
            .and_then(|mut find| find.query_row([digest.to_bytes()], |row| row.get(0)).optional())
            .map_err(|error| self.fail(error))
    }
}
