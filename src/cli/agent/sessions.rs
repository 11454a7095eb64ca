//! `sessions`, `show`, `diff` and `undo`: looking at what sessions did, without a model.

use std::time::Duration;

use serde_json::json;

use super::session::which;
use super::setup::Place;
use super::{DONE, Stop, print, render};
use crate::cli::output;
use crate::harness::session::{Journal as _, SessionRow, SessionState, StoredEvent, holder, timestamp};

/// How many events are read at once.
const PAGE: usize = 500;

/// How often a session that is followed is looked at.
const EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Sessions {
    #[command(flatten)]
    place: Place,

    /// How many, the newest first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Print one JSON object for each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Show {
    #[command(flatten)]
    place: Place,

    /// The session: its id, or its beginning or end [default: the newest]
    #[arg(value_name = "ID")]
    session: Option<String>,

    /// Only events after this number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,

    /// Go on until the session comes to rest
    #[arg(long)]
    follow: bool,

    /// Print every event as one line of JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Changes {
    #[command(flatten)]
    place: Place,

    /// The session: its id, or its beginning or end [default: the newest]
    #[arg(value_name = "ID")]
    session: Option<String>,
}

/// `restitch agent sessions`.
pub(super) fn sessions(args: &Sessions) -> Result<u8, Stop> {
    let rows = args.place.journal()?.sessions(args.limit).map_err(Stop::failed)?;
    let mut text = String::new();
    for row in &rows {
        if args.json {
            let line = json!({
                "id": row.id, "agent": row.agent, "root": row.root, "model": row.model, "title": row.title,
                "state": row.state, "created_at": timestamp(row.created_at), "updated_at": timestamp(row.updated_at),
                "spent": row.spent, "last_event": row.last_event, "process": holder(row).map(|owner| owner.pid),
            });
            text.push_str(&format!("{line}\n"));
        } else {
            let when = timestamp(row.updated_at);
            let when = when.split('.').next().unwrap_or_default().replace('T', " ");
            let title = if row.title.is_empty() { "-" } else { &row.title };
            text.push_str(&format!("{}  {:7}  {when}  {}\n", row.id, state(row), render::one_line(title)));
        }
    }
    if rows.is_empty() && !args.json {
        output::err("there are no sessions yet\n");
    }
    print(&text)
}

/// Where a session stands, as far as the record and the processes of this system tell.
fn state(row: &SessionRow) -> &'static str {
    match row.state {
        // Its process died; `resume` goes on.
        SessionState::Running if holder(row).is_none() => "halted",
        state => state.as_str(),
    }
}

/// `restitch agent show`.
pub(super) fn show(args: &Show) -> Result<u8, Stop> {
    let journal = args.place.journal()?;
    let id = which(&journal, args.session.as_deref())?;
    let mut after = args.after;
    loop {
        // Asked before the events are read, so that none is missed when it comes to rest in between.
        let rests = journal.find(&id).map_err(Stop::failed)?.state != SessionState::Running;
        loop {
            let events = journal.events(&id, after, PAGE).map_err(Stop::failed)?;
            let Some(last) = events.last() else { break };
            after = last.seq;
            print(&shown(&events, args.json))?;
        }
        if rests || !args.follow {
            break;
        }
        std::thread::sleep(EVERY);
    }
    let waits = journal.waits(&id).map_err(Stop::failed)?;
    if !args.json && !waits.is_empty() {
        output::err(&render::how_to_answer(&args.place.flags(), &id, &waits));
    }
    Ok(DONE)
}

fn shown(events: &[StoredEvent], json: bool) -> String {
    if json { events.iter().map(|event| event.to_json() + "\n").collect() } else { render::transcript(events) }
}

/// `restitch agent diff`.
pub(super) fn diff(args: &Changes) -> Result<u8, Stop> {
    let journal = args.place.journal()?;
    let id = which(&journal, args.session.as_deref())?;
    let diff = crate::harness::diff(&journal, &id).map_err(Stop::failed)?;
    output::out(&diff).map_err(Stop::failed)?;
    Ok(DONE)
}

/// `restitch agent undo`.
pub(super) fn undo(args: &Changes) -> Result<u8, Stop> {
    let mut journal = args.place.journal()?;
    let id = which(&journal, args.session.as_deref())?;
    let paths = crate::harness::undo(&mut journal, &id).map_err(Stop::failed)?;
    if paths.is_empty() {
        return print("nothing to put back\n");
    }
    print(&paths.iter().map(|path| format!("put back {path}\n")).collect::<String>())
}
