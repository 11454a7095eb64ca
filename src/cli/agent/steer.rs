//! `say` and `stop`: a word to a session that another process runs.

use super::session::{block_on, message, stopped, which};
use super::setup::Place;
use super::{Stop, print};
use crate::harness::session::{InboxItem, Journal as _, SessionRow, SessionState, SqliteJournal, holder};
use crate::harness::{Ended, Session};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Say {
    #[command(flatten)]
    place: Place,

    /// The session: its id, or its beginning or end; `-` is the newest
    #[arg(value_name = "ID")]
    session: String,

    /// What it is told; `-` or nothing reads it from standard input
    #[arg(value_name = "MESSAGE")]
    message: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct StopArgs {
    #[command(flatten)]
    place: Place,

    /// The session: its id, or its beginning or end [default: the newest]
    #[arg(value_name = "ID")]
    session: Option<String>,
}

/// `restitch agent say`.
pub(super) fn say(args: &Say) -> Result<u8, Stop> {
    let mut journal = args.place.journal()?;
    let id = which(&journal, Some(&args.session))?;
    let id = id.as_str();
    let row = journal.find(id).map_err(Stop::failed)?;
    let flags = &args.place.flags();
    if row.state == SessionState::Idle {
        return Err(Stop::failed(format!(
            "session {id} has no open turn; `restitch agent run{flags} --session {id} \"…\"` begins one"
        )));
    }
    let text = message(args.message.as_deref())?;
    journal.post(id, &InboxItem::Message { text }).map_err(Stop::failed)?;
    // Looked at again: the turn may have ended in this very moment.
    print(&heard(flags, &journal.find(id).map_err(Stop::failed)?))
}

/// When the message will be read.
fn heard(flags: &str, row: &SessionRow) -> String {
    let id = &row.id;
    match row.state {
        SessionState::Idle => {
            format!(
                "the turn has just ended; the message is kept and joins the next one: restitch agent run{flags} --session {id}\n"
            )
        }
        SessionState::Waiting => {
            format!(
                "the session waits for an answer (restitch agent show{flags} {id}); it reads the message after that\n"
            )
        }
        SessionState::Running if holder(row).is_some() => "it is read at the next step\n".to_owned(),
        SessionState::Running => {
            format!(
                "no process runs the session; it reads the message when it goes on: restitch agent resume{flags} {id}\n"
            )
        }
    }
}

/// `restitch agent stop`.
pub(super) fn stop(args: &StopArgs) -> Result<u8, Stop> {
    let mut journal = args.place.journal()?;
    let id = which(&journal, args.session.as_deref())?;
    let row = journal.find(&id).map_err(Stop::failed)?;
    if row.state == SessionState::Idle {
        return print("no turn is open\n");
    }
    if let Some(owner) = holder(&row) {
        journal.post(&id, &InboxItem::Cancel).map_err(Stop::failed)?;
        return print(&format!("process {} was asked to stop the turn\n", owner.pid));
    }
    end_here(args, journal, &id)
}

/// Ends the turn in this process, since no other runs it.
fn end_here(args: &StopArgs, journal: SqliteJournal, id: &str) -> Result<u8, Stop> {
    let (_, agent) = args.place.agent()?;
    let mut session = Session::resume(agent, Box::new(journal), id).map_err(stopped)?;
    session.cancel_token().cancel();
    match block_on(&mut session, async |session| session.go_on().await)? {
        Ended::Cancelled => print("the turn was stopped\n"),
        _ => print("the turn has ended already\n"),
    }
}
