//! From rows back to data. What cannot be understood is named, never guessed.

use rusqlite::{Connection, Row, params};

use super::super::event::StoredEvent;
use super::super::journal::{JournalError, Snapshot};
use super::super::record::{
    ChangeRow, InboxRow, MessageRow, OpKind, OpRow, OpState, SessionRow, SessionState, Spent, TurnRow, TurnState,
    WaitKind, WaitRow,
};
use super::Stop;
use crate::Digest;
use crate::harness::manifest::Effects;
use crate::harness::tools::FileChange;

const SESSION: &str = "SELECT id, agent, root, model, manifest, title, state, created_at, updated_at, input_tokens, \
                       cached_tokens, output_tokens, calls, last_event, owner, lease_until FROM sessions";

/// The value of a name, or an error that shows the name.
fn named<T>(row: &Row<'_>, column: &str, what: &'static str, parse: fn(&str) -> Option<T>) -> Result<T, Stop> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| Stop::unreadable(what, format!("`{text}` is unknown")))
}

fn count(row: &Row<'_>, column: &str) -> Result<u64, Stop> {
    Ok(row.get::<_, i64>(column)?.unsigned_abs())
}

fn digest(row: &Row<'_>, column: &str) -> Result<Option<Digest>, Stop> {
    Ok(row.get::<_, Option<[u8; 16]>>(column)?.map(Digest::from_bytes))
}

fn spent(row: &Row<'_>) -> Result<Spent, Stop> {
    Ok(Spent {
        input: count(row, "input_tokens")?,
        cached: count(row, "cached_tokens")?,
        output: count(row, "output_tokens")?,
    })
}

fn session(row: &Row<'_>) -> Result<SessionRow, Stop> {
    Ok(SessionRow {
        id: row.get("id")?,
        agent: row.get("agent")?,
        root: row.get("root")?,
        model: row.get("model")?,
        manifest: row.get("manifest")?,
        title: row.get("title")?,
        state: named(row, "state", "session", SessionState::parse)?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        spent: spent(row)?,
        calls: row.get("calls")?,
        last_event: count(row, "last_event")?,
        owner: row.get("owner")?,
        lease_until: row.get("lease_until")?,
    })
}

/// All rows of a query, each read by `read`.
fn all<T>(
    db: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    read: fn(&Row<'_>) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    let mut query = db.prepare_cached(sql)?;
    let mut rows = query.query(params)?;
    let mut out = Vec::new();
    while let Some(row) = rows.next()? {
        out.push(read(row)?);
    }
    Ok(out)
}

pub(super) fn sessions(db: &Connection, most: usize) -> Result<Vec<SessionRow>, Stop> {
    all(db, &format!("{SESSION} ORDER BY num DESC LIMIT ?1"), [i64::try_from(most).unwrap_or(i64::MAX)], session)
}

pub(super) fn find(db: &Connection, id: &str) -> Result<SessionRow, Stop> {
    let sql = format!(
        "{SESSION} WHERE id = ?1 OR substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1
         ORDER BY id = ?1 DESC, num DESC LIMIT 5"
    );
    let mut found = if id.is_empty() { Vec::new() } else { all(db, &sql, [id], session)? };
    match found.as_slice() {
        [] => Err(JournalError::NoSession { id: id.to_owned() }.into()),
        [first, second, ..] if first.id != id && second.id != id => {
            let found = found.into_iter().map(|session| session.id).collect();
            Err(JournalError::Several { id: id.to_owned(), found }.into())
        }
        _ => Ok(found.swap_remove(0)),
    }
}

pub(super) fn snapshot(db: &Connection, num: i64) -> Result<Snapshot, Stop> {
    let row = all(db, &format!("{SESSION} WHERE num = ?1"), [num], session)?.pop();
    let row = row.ok_or_else(|| Stop::unreadable("session", "its row is gone"))?;
    let turn = open_turn(db, num)?;
    let last_turn = db.query_row("SELECT coalesce(max(turn), 0) FROM turns WHERE session = ?1", [num], |r| r.get(0))?;
    let ops = match &turn {
        Some(turn) => ops(db, num, turn.turn, turn.step)?,
        None => Vec::new(),
    };
    Ok(Snapshot {
        session: row,
        prompt: text(db, num, "SELECT prompt FROM sessions WHERE num = ?1")?,
        tools: text(db, num, "SELECT tools FROM sessions WHERE num = ?1")?,
        messages: messages(db, num)?,
        turn,
        last_turn,
        ops,
        waits: waits(db, num)?,
        seen: all(db, "SELECT path, digest FROM seen WHERE session = ?1 ORDER BY path", [num], |row| {
            Ok((row.get("path")?, digest(row, "digest")?))
        })?,
        values: all(db, "SELECT name, value FROM vals WHERE session = ?1 ORDER BY name", [num], |row| {
            Ok((row.get("name")?, row.get("value")?))
        })?,
    })
}

fn text(db: &Connection, num: i64, sql: &str) -> Result<String, Stop> {
    let bytes: Vec<u8> = db.query_row(sql, [num], |row| row.get(0))?;
    String::from_utf8(bytes).map_err(|_| Stop::unreadable("prompt", "it is not UTF-8"))
}

fn open_turn(db: &Connection, num: i64) -> Result<Option<TurnRow>, Stop> {
    let sql = "SELECT * FROM turns WHERE session = ?1 AND state = 'open' ORDER BY turn DESC LIMIT 1";
    Ok(all(db, sql, [num], |row| {
        Ok(TurnRow {
            turn: row.get("turn")?,
            state: named(row, "state", "turn", TurnState::parse)?,
            step: row.get("step")?,
            options: row.get("options")?,
            spent: spent(row)?,
            started_at: row.get("started_at")?,
            outcome: row.get("outcome")?,
        })
    })?
    .pop())
}

fn messages(db: &Connection, num: i64) -> Result<Vec<MessageRow>, Stop> {
    let sql = "SELECT seq, place, turn, body FROM messages WHERE session = ?1 AND replaced_by IS NULL ORDER BY place";
    all(db, sql, [num], |row| {
        Ok(MessageRow {
            seq: count(row, "seq")?,
            place: count(row, "place")?,
            turn: row.get("turn")?,
            body: row.get("body")?,
        })
    })
}

fn ops(db: &Connection, num: i64, turn: u32, step: u32) -> Result<Vec<OpRow>, Stop> {
    let sql = "SELECT * FROM operations WHERE session = ?1 AND turn = ?2 AND step = ?3 ORDER BY kind, idx";
    all(db, sql, params![num, turn, step], |row| {
        Ok(OpRow {
            key: row.get("key")?,
            turn: row.get("turn")?,
            step: row.get("step")?,
            index: row.get("idx")?,
            kind: named(row, "kind", "operation", OpKind::parse)?,
            name: row.get("name")?,
            call_id: row.get("call_id")?,
            effects: named(row, "effects", "operation", Effects::parse)?,
            input: row.get("input")?,
            state: named(row, "state", "operation", OpState::parse)?,
            attempt: row.get("attempt")?,
            checkpoint: row.get("checkpoint")?,
            result: row.get("result")?,
        })
    })
}

pub(super) fn events(db: &Connection, num: i64, after: u64, most: usize) -> Result<Vec<StoredEvent>, Stop> {
    let sql = "SELECT seq, turn, at, body FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let (after, most) = (i64::try_from(after).unwrap_or(i64::MAX), i64::try_from(most).unwrap_or(i64::MAX));
    all(db, sql, params![num, after, most], |row| {
        let body: String = row.get("body")?;
        let body = serde_json::from_str(&body).map_err(|error| Stop::unreadable("event", error.to_string()))?;
        Ok(StoredEvent { seq: count(row, "seq")?, turn: row.get("turn")?, at: row.get("at")?, body })
    })
}

pub(super) fn waits(db: &Connection, num: i64) -> Result<Vec<WaitRow>, Stop> {
    let sql = "SELECT id, turn, kind, key, prompt, answer FROM waits WHERE session = ?1 AND open = 1 ORDER BY id";
    all(db, sql, [num], |row| {
        Ok(WaitRow {
            id: count(row, "id")?,
            turn: row.get("turn")?,
            kind: named(row, "kind", "wait", WaitKind::parse)?,
            key: row.get("key")?,
            prompt: row.get("prompt")?,
            answer: row.get("answer")?,
        })
    })
}

pub(super) fn inbox(db: &Connection, num: i64) -> Result<Vec<InboxRow>, Stop> {
    all(db, "SELECT id, item FROM inbox WHERE session = ?1 AND taken = 0 ORDER BY id", [num], |row| {
        let item: String = row.get("item")?;
        let item = serde_json::from_str(&item).map_err(|error| Stop::unreadable("inbox entry", error.to_string()))?;
        Ok(InboxRow { id: count(row, "id")?, item })
    })
}

pub(super) fn changes(db: &Connection, num: i64) -> Result<Vec<ChangeRow>, Stop> {
    let sql = "SELECT seq, key, path, before, after, mode FROM changes WHERE session = ?1 ORDER BY seq";
    all(db, sql, [num], |row| {
        let change = FileChange {
            path: row.get("path")?,
            before: digest(row, "before")?,
            after: digest(row, "after")?,
            mode: row.get("mode")?,
        };
        Ok(ChangeRow { seq: count(row, "seq")?, key: row.get("key")?, change })
    })
}
