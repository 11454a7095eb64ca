//! What each write of a batch does to the tables. All of it runs inside one transaction.

use rusqlite::{OptionalExtension as _, Transaction, params};

use super::super::event::{Event, StoredEvent};
use super::super::host;
use super::super::journal::{Batch, Committed, JournalError, Write};
use super::super::record::{InboxItem, NewSession, OpKind, OpRow, OpState, SessionState, Spent, TurnRow};
use super::{SqliteJournal, Stop};
use crate::Digest;
use crate::harness::tools::FileChange;

/// Makes a session and its first event.
pub(super) fn create(tx: &Transaction<'_>, new: &NewSession) -> Result<(), Stop> {
    let at = host::now();
    tx.execute(
        "INSERT INTO sessions(id, agent, root, model, manifest, prompt, tools, title, state, created_at, updated_at)
         VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10)",
        params![
            new.id,
            new.agent,
            new.root,
            new.model,
            new.manifest,
            new.prompt.as_bytes(),
            new.tools.as_bytes(),
            new.title,
            SessionState::Idle.as_str(),
            at
        ],
    )?;
    let started = Event::SessionStarted { agent: new.agent.clone(), model: new.model.clone(), root: new.root.clone() };
    Writer::new(tx, tx.last_insert_rowid(), 0, at).event(started)
}

/// Records a batch.
pub(super) fn batch(tx: &Transaction<'_>, session: i64, batch: &Batch) -> Result<Committed, Stop> {
    let mut writer = Writer::new(tx, session, batch.turn, host::now());
    for write in &batch.writes {
        writer.write(write)?;
    }
    Ok(writer.out)
}

/// Puts something in for a session.
pub(super) fn post(tx: &Transaction<'_>, session: &str, item: &InboxItem) -> Result<(), Stop> {
    let num = SqliteJournal::number(tx, session)?;
    tx.execute("INSERT INTO inbox(session, item, at) VALUES(?1, ?2, ?3)", params![num, json(item)?, host::now()])?;
    Ok(())
}

/// Gives a wait its answer, unless it has one.
pub(super) fn answer(tx: &Transaction<'_>, session: &str, wait: u64, answer: &str) -> Result<(), Stop> {
    let num = SqliteJournal::number(tx, session)?;
    let found: Option<Option<String>> = tx
        .query_row("SELECT answer FROM waits WHERE session = ?1 AND id = ?2", params![num, signed(wait)], |row| {
            row.get(0)
        })
        .optional()?;
    let session = session.to_owned();
    match found {
        None => return Err(JournalError::NoWait { session, wait }.into()),
        Some(Some(answer)) => return Err(JournalError::Answered { session, wait, answer }.into()),
        Some(None) => {}
    }
    tx.execute(
        "UPDATE waits SET answer = ?3, answered_at = ?4 WHERE session = ?1 AND id = ?2",
        params![num, signed(wait), answer, host::now()],
    )?;
    Ok(())
}

/// A count as SQLite keeps it; ours never come near the end of the range.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn json(value: &impl serde::Serialize) -> Result<String, Stop> {
    serde_json::to_string(value).map_err(|error| Stop::unreadable("value", error.to_string()))
}

/// Writes the entries of one batch and remembers the numbers they were given.
struct Writer<'a> {
    tx: &'a Transaction<'a>,
    session: i64,
    turn: u32,
    at: i64,
    out: Committed,
}

impl<'a> Writer<'a> {
    fn new(tx: &'a Transaction<'a>, session: i64, turn: u32, at: i64) -> Self {
        Writer { tx, session, turn, at, out: Committed::default() }
    }

    fn write(&mut self, write: &Write) -> Result<(), Stop> {
        match write {
            Write::Session(state) => self.set("UPDATE sessions SET state = ?2 WHERE num = ?1", state.as_str()),
            Write::Title(title) => self.set("UPDATE sessions SET title = ?2 WHERE num = ?1", title),
            Write::TurnOpened(turn) => self.open_turn(turn),
            Write::TurnStep(step) => self.run(
                "UPDATE turns SET step = ?3 WHERE session = ?1 AND turn = ?2",
                params![self.session, self.turn, step],
            ),
            Write::TurnClosed(state, outcome) => self.run(
                "UPDATE turns SET state = ?3, outcome = ?4, ended_at = ?5 WHERE session = ?1 AND turn = ?2",
                params![self.session, self.turn, state.as_str(), outcome, self.at],
            ),
            Write::Spent(spent) => self.spend(*spent),
            Write::Message(body) => self.message(None, body),
            Write::Replace { from, to, body } => self.replace(*from, *to, body),
            Write::Intended(op) => self.intend(op),
            Write::Op { key, state, checkpoint, result } => {
                self.change_op(key, *state, checkpoint.as_deref(), result.as_deref())
            }
            Write::Delivered { step } => self.run(
                "UPDATE operations SET result = NULL, checkpoint = NULL WHERE session = ?1 AND turn = ?2 AND step = ?3",
                params![self.session, self.turn, step],
            ),
            Write::Wait { kind, key, prompt } => self.wait(kind.as_str(), key, prompt),
            Write::WaitClosed(id) => {
                self.run("UPDATE waits SET open = 0 WHERE session = ?1 AND id = ?2", params![self.session, signed(*id)])
            }
            Write::Seen(path, digest) => self.run(
                "INSERT INTO seen(session, path, digest) VALUES(?1, ?2, ?3)
                 ON CONFLICT(session, path) DO UPDATE SET digest = excluded.digest",
                params![self.session, path, digest.map(Digest::to_bytes)],
            ),
            Write::Changed(key, change) => self.changed(key, change),
            Write::Blob(digest, bytes) => self.run(
                "INSERT INTO blobs(digest, bytes) VALUES(?1, ?2) ON CONFLICT(digest) DO NOTHING",
                params![digest.to_bytes(), bytes],
            ),
            Write::Value(name, value) => self.run(
                "INSERT INTO vals(session, name, value) VALUES(?1, ?2, ?3)
                 ON CONFLICT(session, name) DO UPDATE SET value = excluded.value",
                params![self.session, name, value],
            ),
            Write::Taken(id) => self
                .run("UPDATE inbox SET taken = 1 WHERE session = ?1 AND id = ?2", params![self.session, signed(*id)]),
            Write::Event(event) => self.event(event.clone()),
        }
    }

    fn run(&self, sql: &str, params: impl rusqlite::Params) -> Result<(), Stop> {
        self.tx.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }

    fn set(&self, sql: &str, value: &str) -> Result<(), Stop> {
        self.run(sql, params![self.session, value])
    }

    /// The next number of one of the session's series; `sql` counts it up.
    fn next(&self, sql: &str) -> Result<i64, Stop> {
        Ok(self.tx.prepare_cached(sql)?.query_row([self.session], |row| row.get(0))?)
    }

    fn open_turn(&mut self, turn: &TurnRow) -> Result<(), Stop> {
        self.turn = turn.turn;
        self.run(
            "INSERT INTO turns(session, turn, state, step, options, started_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
            params![self.session, turn.turn, turn.state.as_str(), turn.step, turn.options, turn.started_at],
        )
    }

    fn spend(&self, spent: Spent) -> Result<(), Stop> {
        let (input, cached, output) = (signed(spent.input), signed(spent.cached), signed(spent.output));
        self.run(
            "UPDATE turns SET input_tokens = input_tokens + ?3, cached_tokens = cached_tokens + ?4,
             output_tokens = output_tokens + ?5 WHERE session = ?1 AND turn = ?2",
            params![self.session, self.turn, input, cached, output],
        )?;
        self.run(
            "UPDATE sessions SET input_tokens = input_tokens + ?2, cached_tokens = cached_tokens + ?3,
             output_tokens = output_tokens + ?4 WHERE num = ?1",
            params![self.session, input, cached, output],
        )
    }

    /// Adds a message at `place`, or at the end.
    fn message(&mut self, place: Option<i64>, body: &str) -> Result<(), Stop> {
        let seq =
            self.next("UPDATE sessions SET last_message = last_message + 1 WHERE num = ?1 RETURNING last_message")?;
        self.run(
            "INSERT INTO messages(session, seq, place, turn, body) VALUES(?1, ?2, ?3, ?4, ?5)",
            params![self.session, seq, place.unwrap_or(seq), self.turn, body],
        )?;
        self.out.messages.push(seq.unsigned_abs());
        Ok(())
    }

    fn replace(&mut self, from: u64, to: u64, body: &str) -> Result<(), Stop> {
        self.run(
            "UPDATE messages SET replaced_by = (SELECT last_message + 1 FROM sessions WHERE num = ?1)
             WHERE session = ?1 AND replaced_by IS NULL AND place BETWEEN ?2 AND ?3",
            params![self.session, signed(from), signed(to)],
        )?;
        self.message(Some(signed(to)), body)
    }

    fn intend(&self, op: &OpRow) -> Result<(), Stop> {
        if op.kind != OpKind::Tool {
            self.run(
                "UPDATE sessions SET calls = max(calls, ?2) WHERE num = ?1",
                params![self.session, op.index.saturating_add(1)],
            )?;
        }
        self.run(
            "INSERT INTO operations(session, key, turn, step, idx, kind, name, call_id, effects, input, state, attempt,
               result, intended_at, changed_at)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?14)
             ON CONFLICT(session, key) DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at",
            params![
                self.session,
                op.key,
                op.turn,
                op.step,
                op.index,
                op.kind.as_str(),
                op.name,
                op.call_id,
                op.effects.as_str(),
                op.input,
                op.state.as_str(),
                op.attempt,
                op.result,
                self.at
            ],
        )
    }

    fn change_op(&self, key: &str, state: OpState, checkpoint: Option<&str>, result: Option<&str>) -> Result<(), Stop> {
        let attempts = u32::from(state == OpState::Started);
        let changed = self
            .tx
            .prepare_cached(
                "UPDATE operations SET state = ?3, attempt = attempt + ?4, checkpoint = coalesce(?5, checkpoint),
                 result = ?6, changed_at = ?7 WHERE session = ?1 AND key = ?2",
            )?
            .execute(params![self.session, key, state.as_str(), attempts, checkpoint, result, self.at])?;
        if changed == 1 { Ok(()) } else { Err(Stop::unreadable("operation", format!("{key} was never intended"))) }
    }

    fn wait(&mut self, kind: &str, key: &str, prompt: &str) -> Result<(), Stop> {
        let id = self.next("UPDATE sessions SET last_wait = last_wait + 1 WHERE num = ?1 RETURNING last_wait")?;
        self.run(
            "INSERT INTO waits(session, id, turn, kind, key, prompt, asked_at) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![self.session, id, self.turn, kind, key, prompt, self.at],
        )?;
        self.out.waits.push(id.unsigned_abs());
        Ok(())
    }

    fn changed(&self, key: &str, change: &FileChange) -> Result<(), Stop> {
        let seq =
            self.next("UPDATE sessions SET last_change = last_change + 1 WHERE num = ?1 RETURNING last_change")?;
        self.run(
            "INSERT INTO changes(session, seq, key, path, before, after, mode) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                self.session,
                seq,
                key,
                change.path,
                change.before.map(Digest::to_bytes),
                change.after.map(Digest::to_bytes),
                change.mode
            ],
        )
    }

    /// Records an event. The number of the wait just made goes into an event that asks.
    fn event(&mut self, mut event: Event) -> Result<(), Stop> {
        if let (Event::Asked { wait, .. }, Some(&id)) = (&mut event, self.out.waits.last()) {
            *wait = id;
        }
        let seq = self.next("UPDATE sessions SET last_event = last_event + 1 WHERE num = ?1 RETURNING last_event")?;
        let body = serde_json::to_value(&event).map_err(|error| Stop::unreadable("event", error.to_string()))?;
        self.run(
            "INSERT INTO events(session, seq, turn, at, body) VALUES(?1, ?2, ?3, ?4, ?5)",
            params![self.session, seq, self.turn, self.at, body.to_string()],
        )?;
        self.out.events.push(StoredEvent { seq: seq.unsigned_abs(), turn: self.turn, at: self.at, body });
        Ok(())
    }
}
