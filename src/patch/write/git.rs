//! A patch as a git diff.

use super::WriteError;
use crate::patch::error::quote;
use crate::patch::{FileOp, Hunk, OpKind, Patch, Sign};

impl Patch {
    /// Writes the patch as a git diff, so that [`Patch::parse_with`] reads the same operations. Line numbers of the text and
    /// notes are those of the new one.
    ///
    /// # Errors
    /// A hunk without a line number, an edit by quoted text, or a whole file over one that may be there: what git needs to
    /// know of them stands in the files. The diff of a plan has it; see [`Report::diff`](crate::Report::diff).
    pub fn to_git(&self) -> Result<Vec<u8>, WriteError> {
        if self.ops.is_empty() {
            return Err(WriteError::Empty);
        }
        let mut out = Vec::new();
        self.ops.iter().try_for_each(|op| operation(&mut out, op))?;
        Ok(out)
    }
}

fn operation(out: &mut Vec<u8>, op: &FileOp) -> Result<(), WriteError> {
    let needs_file = || WriteError::NeedsFile { path: quote(&op.path) };
    if op.expected.is_some() {
        return Err(WriteError::Unsaid { path: quote(&op.path), what: "the expected content" });
    }
    let path = &op.path[..];
    match &op.kind {
        OpKind::Add { content } => {
            head(out, path, path);
            push(out, &[b"new file mode ", git_mode(op.executable == Some(true)), b"\n"]);
            if !content.is_empty() {
                names(out, None, Some(path));
                hunks(out, &[added(content)]);
            }
        }
        OpKind::Delete { hunks: rows } => {
            head(out, path, path);
            push(out, &[b"deleted file mode ", git_mode(false), b"\n"]);
            write_hunks(out, Some(path), None, rows, needs_file)?;
        }
        OpKind::Update { move_to, hunks: rows } => {
            let to = move_to.as_deref().unwrap_or(path);
            head(out, path, to);
            mode(out, op.executable);
            if move_to.is_some() {
                push(out, &[b"rename from ", &quoted(path), b"\nrename to ", &quoted(to), b"\n"]);
            } else if rows.is_empty() && op.executable.is_none() {
                return Err(WriteError::Nothing { path: quote(path) });
            }
            write_hunks(out, Some(path), Some(to), rows, needs_file)?;
        }
        OpKind::Copy { to, hunks: rows } => {
            head(out, path, to);
            mode(out, op.executable);
            push(out, &[b"copy from ", &quoted(path), b"\ncopy to ", &quoted(to), b"\n"]);
            write_hunks(out, Some(path), Some(to), rows, needs_file)?;
        }
        OpKind::Edit { .. } | OpKind::Append { .. } | OpKind::Write { .. } => return Err(needs_file()),
    }
    Ok(())
}

fn write_hunks(
    out: &mut Vec<u8>,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    rows: &[Hunk],
    needs_file: impl Fn() -> WriteError,
) -> Result<(), WriteError> {
    if rows.is_empty() {
        return Ok(());
    }
    let sayable = |hunk: &Hunk| hunk.unified && hunk.old_line.is_some() && hunk.anchors.is_empty() && !hunk.end_of_file;
    if !rows.iter().all(sayable) {
        return Err(needs_file());
    }
    if rows.iter().any(Hunk::is_empty) {
        return Err(WriteError::Nothing { path: quote(old.or(new).unwrap_or_default()) });
    }
    names(out, old, new);
    hunks(out, rows);
    Ok(())
}

/// The one hunk of a new file.
fn added(content: &[u8]) -> Hunk {
    let mut hunk = Hunk::new(1);
    hunk.old_line = Some(0);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        hunk.push(Sign::Add, line.strip_suffix(b"\n").unwrap_or(line));
    }
    if !content.ends_with(b"\n") {
        hunk.mark_no_newline();
    }
    hunk
}

fn hunks(out: &mut Vec<u8>, rows: &[Hunk]) {
    let mut shift: i64 = 0;
    for hunk in rows {
        let (old_count, new_count) = (u64::from(hunk.old_len()), u64::from(hunk.len() - hunk.removed()));
        let old_line = hunk.old_line.unwrap_or(1);
        // An empty side names the line above.
        let new_line = old_line.saturating_add_signed(shift).saturating_add(u64::from(old_count == 0));
        let new_line = new_line.saturating_sub(u64::from(new_count == 0));
        let range = |line: u64, count: u64| if count == 1 { line.to_string() } else { format!("{line},{count}") };
        let (old, new) = (range(old_line, old_count), range(new_line, new_count));
        push(out, &[b"@@ -", old.as_bytes(), b" +", new.as_bytes(), b" @@"]);
        if let Some(hint) = &hunk.hint {
            push(out, &[b" ", hint]);
        }
        out.push(b'\n');
        for row in hunk.rows() {
            push(out, &[&[row.sign.byte()], row.text, b"\n"]);
            if row.no_newline {
                out.extend_from_slice(b"\\ No newline at end of file\n");
            }
        }
        shift += i64::from(hunk.added()) - i64::from(hunk.removed());
    }
}

fn mode(out: &mut Vec<u8>, executable: Option<bool>) {
    if let Some(executable) = executable {
        push(out, &[b"old mode ", git_mode(!executable), b"\nnew mode ", git_mode(executable), b"\n"]);
    }
}

fn git_mode(executable: bool) -> &'static [u8] {
    if executable { b"100755" } else { b"100644" }
}

/// The first line of a file's diff.
pub(crate) fn head(out: &mut Vec<u8>, old: &[u8], new: &[u8]) {
    let side = |side: &[u8], path: &[u8]| quoted(&[side, path].concat());
    push(out, &[b"diff --git ", &side(b"a/", old), b" ", &side(b"b/", new), b"\n"]);
}

/// The two lines with the names; `None` is `/dev/null`.
pub(crate) fn names(out: &mut Vec<u8>, old: Option<&[u8]>, new: Option<&[u8]>) {
    let name = |side: &[u8], path: Option<&[u8]>| match path {
        None => b"/dev/null".to_vec(),
        Some(path) => {
            let mut name = quoted(&[side, path].concat());
            // git ends a name that has a space with a tab, so that readers do not take the rest for a date.
            if name.contains(&b' ') {
                name.push(b'\t');
            }
            name
        }
    };
    push(out, &[b"--- ", &name(b"a/", old), b"\n+++ ", &name(b"b/", new), b"\n"]);
}

/// A path as git writes it: in quotes, with escapes, when it has a quote, a backslash or a control character.
pub(crate) fn quoted(path: &[u8]) -> Vec<u8> {
    if !path.iter().any(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\' | 0x7f)) {
        return path.to_vec();
    }
    let mut out = vec![b'"'];
    for &byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            b'\r' => out.extend(b"\\r"),
            0..0x20 | 0x7f => out.extend(format!("\\{byte:03o}").bytes()),
            byte => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

fn push(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}
