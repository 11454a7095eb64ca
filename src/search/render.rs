//! The answer as text and as JSON.
//!
//! # Text
//! A row is `path:line:text` (a match), `path-line-text` (context), `path` or `path:count`. Groups of lines that do
//! not touch are parted by `--` when there is context. A line that was cut has `…` where something is missing. Notices
//! stand after an empty line, one a line. Bytes that are no UTF-8 are written as they are.
//!
//! # JSON
//! One object: `{"version":1, "mode", "rows", "shown", "total":{"value","exact"}, "truncated", "next_offset",
//! "notices":[{"code","message"}]}`. A row is `{"path","line","text","kind":"match"|"context","cut"}`, in `files` mode
//! `{"path"}`, in `count` mode `{"path","count"}`. Bytes that are no UTF-8 become U+FFFD; `text` holds no marks.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::answer::{Answer, SearchRow};
use super::budget::MARK;
use super::found::RowKind;

/// The version of the JSON form.
const VERSION: u32 = 1;

impl Answer {
    /// Writes the answer as text, at most as many bytes as were asked for.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let mut before: Option<&SearchRow> = None;
        for row in &self.rows {
            if self.context && before.is_some_and(|before| !touch(before, row)) {
                out.write_all(b"--\n")?;
            }
            write_row(row, out)?;
            before = Some(row);
        }
        if !self.rows.is_empty() && !self.notices.is_empty() {
            out.write_all(b"\n")?;
        }
        self.notices.iter().try_for_each(|notice| writeln!(out, "{}", notice.message()))
    }

    /// Writes the answer as one JSON object and a line end.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, &Wire(self)).map_err(io::Error::from)?;
        out.write_all(b"\n")
    }
}

/// Whether one row is the line right before the other.
fn touch(before: &SearchRow, row: &SearchRow) -> bool {
    before.0.path == row.0.path && before.line().map(|line| line + 1) == row.line()
}

fn write_row(row: &SearchRow, out: &mut impl Write) -> io::Result<()> {
    let line = &row.0.line;
    out.write_all(&row.0.path)?;
    match line.kind {
        RowKind::File => {}
        RowKind::Count => write!(out, ":{}", line.number)?,
        RowKind::Match | RowKind::Context => {
            let sign = if line.kind == RowKind::Match { ':' } else { '-' };
            write!(out, "{sign}{}{sign}", line.number)?;
            out.write_all(if line.cut.0 { MARK.as_bytes() } else { b"" })?;
            out.write_all(&line.text)?;
            out.write_all(if line.cut.1 { MARK.as_bytes() } else { b"" })?;
        }
    }
    out.write_all(b"\n")
}

/// The JSON form of an answer.
struct Wire<'a>(&'a Answer);

/// The JSON form of a row.
struct WireRow<'a>(&'a SearchRow);

#[derive(serde::Serialize)]
struct WireTotal {
    value: u64,
    exact: bool,
}

#[derive(serde::Serialize)]
struct WireNotice<'a> {
    code: &'static str,
    message: &'a str,
}

impl Serialize for Wire<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let answer = self.0;
        let notices: Vec<WireNotice<'_>> = answer
            .notices
            .iter()
            .map(|notice| WireNotice { code: notice.code().name(), message: notice.message() })
            .collect();
        let mut object = serializer.serialize_struct("Answer", 8)?;
        object.serialize_field("version", &VERSION)?;
        object.serialize_field("mode", answer.mode.name())?;
        object.serialize_field("rows", &Rows(&answer.rows))?;
        object.serialize_field("shown", &answer.shown)?;
        object.serialize_field("total", &WireTotal { value: answer.total.value, exact: answer.total.exact })?;
        object.serialize_field("truncated", &answer.truncated)?;
        object.serialize_field("next_offset", &answer.next_offset)?;
        object.serialize_field("notices", &notices)?;
        object.end()
    }
}

/// Rows one after the other, so that they are not copied.
struct Rows<'a>(&'a [SearchRow]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(WireRow))
    }
}

impl Serialize for WireRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SearchRow(kept) = self.0;
        let path = text(&kept.path);
        let line = &kept.line;
        let mut object = serializer.serialize_struct("Row", 5)?;
        object.serialize_field("path", &path)?;
        match line.kind {
            RowKind::File => {}
            RowKind::Count => object.serialize_field("count", &line.number)?,
            RowKind::Match | RowKind::Context => {
                object.serialize_field("line", &line.number)?;
                object.serialize_field("text", &text(&line.text))?;
                let kind = if line.kind == RowKind::Match { "match" } else { "context" };
                object.serialize_field("kind", kind)?;
                object.serialize_field("cut", &(line.cut != (false, false)))?;
            }
        }
        object.end()
    }
}

/// Bytes as the text that JSON needs.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
