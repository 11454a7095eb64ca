//! The view as text and as JSON.
//!
//! # Text
//! A line is its number in six columns or more, a tab and the text, with `…` at the end when something is cut. Notices
//! stand after an empty line, one a line; the last one is `hash: …`.
//!
//! # JSON
//! One object: `{"version":1, "path", "hash", "size", "total_lines", "encoding", "bom", "endings", "final_newline",
//! "binary", "lines":[{"line","text","cut"}], "next_line", "notices":[{"code","message"}]}`. `cut` is the number of
//! characters cut; bytes that are no UTF-8 become U+FFFD. `encoding` is `utf-8`, `utf-16le`, `utf-16be`, `utf-32le`,
//! `utf-32be` or `unknown`; `endings` is `none`, `lf`, `crlf`, `cr` or `mixed`.

use std::io::{self, Write};

use super::view::{Endings, FileView};

/// The version of the JSON form.
const VERSION: u32 = 1;

#[derive(serde::Serialize)]
struct Wire<'a> {
    version: u32,
    path: &'a str,
    hash: String,
    size: u64,
    total_lines: u64,
    encoding: &'a str,
    bom: bool,
    endings: &'static str,
    final_newline: bool,
    binary: bool,
    lines: Vec<WireLine<'a>>,
    next_line: Option<u64>,
    notices: Vec<WireNotice>,
}

#[derive(serde::Serialize)]
struct WireLine<'a> {
    line: u64,
    text: std::borrow::Cow<'a, str>,
    cut: u64,
}

#[derive(serde::Serialize)]
struct WireNotice {
    code: &'static str,
    message: String,
}

impl FileView {
    /// Writes the view as text.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        for line in &self.lines {
            write!(out, "{:>6}\t", line.number)?;
            out.write_all(&line.text)?;
            out.write_all(if line.cut > 0 { "…\n".as_bytes() } else { b"\n" })?;
        }
        if !self.lines.is_empty() {
            out.write_all(b"\n")?;
        }
        for notice in self.notices() {
            writeln!(out, "{}", notice.message)?;
        }
        writeln!(out, "hash: {}", self.digest)
    }

    /// Writes the view as one JSON object and a line end.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_json(&self, out: &mut impl Write) -> io::Result<()> {
        let wire = Wire {
            version: VERSION,
            path: &self.path,
            hash: self.digest.to_string(),
            size: self.size,
            total_lines: self.total,
            encoding: self.encoding,
            bom: self.bom,
            endings: self.endings.name(),
            final_newline: self.final_newline,
            binary: self.binary,
            lines: self
                .lines
                .iter()
                .map(|line| WireLine { line: line.number, text: String::from_utf8_lossy(&line.text), cut: line.cut })
                .collect(),
            next_line: self.next,
            notices: self.notices(),
        };
        serde_json::to_writer(&mut *out, &wire).map_err(io::Error::from)?;
        out.write_all(b"\n")
    }

    /// What the reader should know besides the lines.
    fn notices(&self) -> Vec<WireNotice> {
        let mut notices = Vec::new();
        let mut add = |code, message: String| notices.push(WireNotice { code, message });
        if self.binary && self.lines.is_empty() && self.size > 0 {
            let kind = self.wide.map_or("binary", |encoding| encoding.name());
            add("binary", format!("{kind} file of {} bytes, not shown", self.size));
        } else if self.size == 0 {
            add("empty", "the file is empty".into());
        } else if self.lines.is_empty() && self.first > self.total {
            add("no_more", format!("no more lines: line {} is past the last of {}", self.first, self.total));
        } else if let Some(next) = self.next {
            let first = self.first;
            let last = next - 1;
            add("truncated", format!("lines {first} to {last} of {} are shown; go on from line {next}", self.total));
        }
        let cut = self.lines.iter().filter(|line| line.cut > 0).count();
        if cut > 0 {
            let chars: u64 = self.lines.iter().map(|line| line.cut).sum();
            add("cut", format!("{cut} of the lines are cut, {chars} characters in all"));
        }
        match self.wide {
            Some(encoding) if !self.lines.is_empty() => {
                add("encoding", format!("the file is {encoding}; the lines are shown as UTF-8"));
            }
            None if self.encoding == "unknown" && !self.lines.is_empty() => {
                add("encoding", "the file is not UTF-8; its bytes are shown as they are".into());
            }
            None if self.bom => add("bom", "the file begins with a UTF-8 byte order mark".into()),
            _ => {}
        }
        match self.endings {
            Endings::Lf | Endings::None => {}
            Endings::CrLf => add("endings", "lines end in CRLF".into()),
            Endings::Cr => add("endings", "lines end in a lone CR".into()),
            Endings::Mixed => add("endings", "some lines end in LF, some in CRLF".into()),
        }
        if self.has_nul && !self.lines.is_empty() {
            add("nul", "the file has NUL bytes".into());
        }
        if self.size > 0 && !self.final_newline && !self.binary {
            add("final_newline", "the last line has no line end".into());
        }
        notices
    }
}
