//! What a session changed, from its journal; and putting it back, recorded like any other change.

use super::session::{Batch, Event, Journal, JournalError, State, TTL, Write, this_process};
use super::tools::{self, Net, ToolEnv, UndoError};
use super::turn::{RunError, Session};

/// Why changes could not be shown or put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesError {
    /// The journal refused.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The files could not be put back.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// The workspace cannot be used.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The net changes of a session, by path.
///
/// Only what its tools `apply_patch`, `edit` and `write_file` changed is known, not what its commands did.
///
/// # Errors
/// [`JournalError`].
pub fn changes(journal: &dyn Journal, session: &str) -> Result<Vec<Net>, JournalError> {
    let rows = journal.changes(session)?;
    Ok(tools::net(rows.iter().map(|row| &row.change)))
}

/// The net changes of a session as a git-style diff; empty when there are none.
///
/// # Errors
/// [`ChangesError`].
pub fn diff(journal: &dyn Journal, session: &str) -> Result<Vec<u8>, ChangesError> {
    let files = changes(journal, session)?;
    Ok(tools::diff(&files, |digest| journal.blob(digest).ok().flatten())?)
}

/// Puts back all that a session changed, or nothing when someone else has changed one of the files since. The paths.
///
/// # Errors
/// [`ChangesError`]; [`JournalError::Busy`] while a process runs the session.
pub fn undo(journal: &mut dyn Journal, session: &str) -> Result<Vec<String>, ChangesError> {
    let row = journal.find(session)?;
    let lease = journal.acquire(&row.id, &this_process(), TTL)?;
    let done = undo_leased(journal, &row.root, &row.id, &lease);
    journal.release(&lease)?;
    done
}

impl Session {
    /// What the session changed, as a git-style diff.
    ///
    /// # Errors
    /// [`ChangesError`].
    pub fn diff(&self) -> Result<Vec<u8>, ChangesError> {
        diff(&*self.journal, &self.state.id)
    }

    /// Puts back what the session changed, and gives the paths. Only between turns.
    ///
    /// # Errors
    /// [`ChangesError`]; nothing was changed then.
    pub fn undo(&mut self) -> Result<Vec<String>, ChangesError> {
        if self.state.turn.is_some() {
            return Err(RunError::TurnOpen.into());
        }
        let root = self.env.root().display().to_string();
        let paths = undo_leased(&mut *self.journal, &root, &self.state.id, &self.lease)?;
        self.state = State::load(self.journal.load(&self.state.id)?)?;
        Ok(paths)
    }
}

fn undo_leased(
    journal: &mut dyn Journal,
    root: &str,
    session: &str,
    lease: &super::session::Lease,
) -> Result<Vec<String>, ChangesError> {
    let files = changes(journal, session)?;
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let env = ToolEnv::open(std::path::Path::new(root), session)
        .map_err(|error| RunError::Workspace { root: root.to_owned(), error })?;
    let back = tools::undo(&env, &files, |digest| journal.blob(digest).ok().flatten())?;
    let paths: Vec<String> = back.iter().map(|change| change.path.clone()).collect();
    let mut batch = Batch::new(0);
    for change in back {
        batch.push(Write::Seen(change.path.clone(), change.after));
        batch.push(Write::Changed("undo".into(), change));
    }
    batch.event(Event::Undone { paths: paths.clone() });
    journal.commit(lease, &batch)?;
    Ok(paths)
}
