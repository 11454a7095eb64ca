//! The transaction: all steps of a plan, or none.
//!
//! [`prepare`] takes the lock, brings back what a dead process left ([`recover`]), compares the disk with what the plan was
//! made from, writes the journal when there is more than one thing to do, and stages every new content in a temporary
//! file beside its target. [`Prepared::commit`] then only renames. What is published is exchanged with what
//! stands there, never renamed over it, and a look is taken at what came out: a writer who slipped in is noticed,
//! and nothing of theirs is lost.
//!
//! # Guarantees
//! - An error of [`prepare`] leaves the tree as it was.
//! - An error of [`Prepared::commit`] undoes every change in reverse order and removes the directories it made.
//! - Neither direction replaces anything: what someone else has changed or made meanwhile stays, and the error says so.
//! - [`CommitError::state`] is the truth about the disk.
//! - A process that is killed leaves a journal, or nothing but temporary files: the next [`prepare`], or [`recover`],
//!   brings the tree to entirely before or entirely after. With [`Durability::Power`] the same holds for a loss of power.
//! - Modes are kept; owner, extended attributes and access lists as far as the system allows, and a note says where not.
//!
//! # The last look
//! A plan is compared with the disk twice: in [`prepare`] byte by byte, and in [`Prepared::commit`] by identity, size and
//! times right before the first change. What someone writes after that is still noticed, for nothing is replaced unseen: what
//! came out of an exchange or a rename is looked at (its content too, if it changed so recently that its times prove nothing).
//! Until it is put back, for an instant, such a write is out of its place: no system offers an exchange that compares.
//! What stays open is a change between the last look and an in-place write of that very file, and one made through a
//! handle that was opened before: it goes to the old content, which is thrown away.
//!
//! # Limitations
//! - A reader may see one file new and another one old for an instant: no file system offers more.
//! - A program that has a file open for writing while it is exchanged writes into the old one.
//! - The lock keeps out only those who ask for it.
//! - On a file system that cannot exchange two names, a file that is replaced is missing for an instant.

mod attributes;
mod check;
mod dirs;
mod error;
mod journal;
mod layout;
mod litter;
mod lock;
mod mover;
mod place;
mod publish;
mod record;
mod recover;
mod rollback;
mod schedule;
mod stage;
mod survey;
mod sync;
mod temp;
#[cfg(test)]
mod tests;
mod transaction;

use std::time::Duration;

pub use error::{Change, CommitError, CommitErrorKind, DiskState, Holder, Leftover, LeftoverKind};
pub(crate) use place::{Kept, Place};
pub use recover::{Direction, RecoverOptions, Recovered, RecoveryReport, recover};
pub(crate) use recover::{refuse_unfinished, remove_empty, resume};

use crate::path::RelPath;
use crate::plan::Step;
use crate::policy::HardLinks;
use crate::workspace::Workspace;
use error::Failure;
use lock::Lock;
use transaction::{Abilities, Transaction};

/// How to commit.
#[derive(Clone, Debug)]
pub struct CommitOptions {
    wait: Duration,
    hard_links: HardLinks,
    durability: Durability,
    abilities: Abilities,
}

/// What a commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process at any moment. Waits for no disk.
    Process,
    /// A loss of power too. Costs a sync for every file and every directory, and three for the journal.
    Power,
}

impl Default for CommitOptions {
    fn default() -> Self {
        CommitOptions {
            wait: Duration::from_secs(10),
            hard_links: HardLinks::InPlace,
            durability: Durability::Process,
            abilities: Abilities { exchange: true, rename_new: true, link: true, attributes: true },
        }
    }
}

impl CommitOptions {
    /// Sets how long to wait for another process that is at work in the tree. Default: 10 seconds.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets what happens to files with several names. Default: [`HardLinks::InPlace`].
    #[must_use]
    pub fn hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// Sets what the commit survives. Default: [`Durability::Process`].
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}

/// Something about a commit that the caller may want to know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommitNote {
    /// The file system of the root knows no locks: nobody was kept out.
    NotLocked,
    /// The file was written in place: it has several names or is a mount.
    WrittenInPlace(RelPath),
    /// The new file belongs to whoever ran the commit.
    OwnerNotKept(RelPath),
    /// The extended attribute of that name was not carried over.
    AttributeNotKept(RelPath, String),
    /// A temporary file, of no use any more, could not be removed.
    TemporaryLeft(RelPath),
    /// An interrupted commit of a dead process was finished or undone before this one began.
    Recovered(Recovered),
    /// The patch is done, but what undoes it could not be kept: why.
    UndoNotKept(String),
    /// All is done, but the system refused to say that it would survive a loss of power: its words.
    NotSynced(String),
}

/// What a commit did besides the steps themselves, all of which are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// What was special, in the order it was met.
    pub notes: Vec<CommitNote>,
    /// Directories that were made, outer ones first.
    pub directories: Vec<RelPath>,
}

/// Steps that are ready to be committed: the lock is held and everything new is written.
///
/// Dropping it removes what was staged and frees the lock.
#[must_use = "what is prepared and not committed is thrown away"]
pub struct Prepared<'w> {
    transaction: Transaction<'w>,
}

/// Locks the tree, compares it with the expectations of `steps` and stages their contents.
///
/// Every path must have at most one step. Costs about nine system calls for an edited file, four for a new one.
///
/// # Errors
/// [`CommitError`], always with the tree as it was: [`DiskState::Untouched`], or [`DiskState::Incomplete`] with nothing
/// but temporary files in it.
pub fn prepare<'w>(
    workspace: &'w Workspace,
    steps: &'w [Step],
    options: &CommitOptions,
) -> Result<Prepared<'w>, CommitError> {
    let lock =
        Lock::take(workspace, options.wait).map_err(|kind| CommitError::new(kind, None, DiskState::Untouched))?;
    let recovered = recover::before_commit(workspace, &lock)?;
    let mut transaction = Transaction::new(workspace, steps, options, lock);
    transaction.notes.extend(recovered.into_iter().map(CommitNote::Recovered));
    match make_ready(&mut transaction) {
        Ok(()) => Ok(Prepared { transaction }),
        Err(failure) => Err(untouched(&mut transaction, failure)),
    }
}

fn make_ready(transaction: &mut Transaction<'_>) -> Result<(), Failure> {
    transaction.check()?;
    transaction.lay_out()?;
    transaction.schedule = schedule::schedule(transaction.steps, &transaction.layout, transaction.names)
        .map_err(|why| Failure { kind: CommitErrorKind::BadPlan(why), path: None })?;
    if transaction.needs_journal() {
        transaction.write_journal()?;
    }
    transaction.stage()
}

fn untouched(transaction: &mut Transaction<'_>, failure: Failure) -> CommitError {
    let left = transaction.discard_staged();
    failure.into_error(if left.is_empty() { DiskState::Untouched } else { DiskState::Incomplete(left) })
}

impl Prepared<'_> {
    /// Publishes everything that was prepared.
    ///
    /// Costs three system calls for an edited file, one for a new one.
    ///
    /// # Errors
    /// [`CommitError`]; its state says what is true on the disk.
    pub fn commit(self) -> Result<Outcome, CommitError> {
        let mut transaction = self.transaction;
        // Directories may have been swapped for links since they were opened.
        transaction.dirs.forget();
        if let Err(failure) = transaction.check_again() {
            return Err(untouched(&mut transaction, failure));
        }
        if let Err(failure) = transaction.publish().and_then(|()| transaction.seal()) {
            let begun = !transaction.done.is_empty();
            let left = transaction.roll_back();
            return Err(failure.into_error(match (left.is_empty(), begun) {
                (false, _) => DiskState::Incomplete(left),
                (true, true) => DiskState::RolledBack,
                (true, false) => DiskState::Untouched,
            }));
        }
        transaction.finished = true;
        transaction.clean_up();
        Ok(Outcome { notes: std::mem::take(&mut transaction.notes), directories: transaction.made_dirs() })
    }
}

impl std::fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("actions", &self.transaction.schedule.actions).finish_non_exhaustive()
    }
}
