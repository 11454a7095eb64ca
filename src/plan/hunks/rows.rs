//! A hunk's rows as they apply to one file.

use crate::patch::{Hunk, Row, Sign};
use crate::text::{LineIndex, UTF8_BOM};

/// The rows of a hunk for a certain file: without a byte order mark that the file has too, cut at each CR where a CR ends
/// the file's lines, and in a real unified diff without the CR of a CRLF.
pub(super) fn rows_for<'h>(hunk: &'h Hunk, text: &LineIndex<'_>) -> Vec<Row<'h>> {
    let mut rows = Vec::with_capacity(hunk.len() as usize);
    for row in hunk.rows() {
        let bare = row.text.strip_prefix(UTF8_BOM).filter(|_| text.bom_len() > 0);
        let row = Row { text: bare.unwrap_or(row.text), ..row };
        let ends_in_cr = hunk.unified && row.text.ends_with(b"\r");
        let row = Row { text: &row.text[..row.text.len() - usize::from(ends_in_cr)], ..row };
        if text.is_cr_only() {
            rows.extend(row.text.split(|&byte| byte == b'\r').map(|piece| Row { text: piece, ..row }));
        } else {
            rows.push(row);
        }
    }
    rows
}

/// The old lines of the rows: context and removed.
pub(super) fn old_lines<'h>(rows: &[Row<'h>]) -> Vec<&'h [u8]> {
    rows.iter().filter(|row| row.sign != Sign::Add).map(|row| row.text).collect()
}

/// The new lines of the rows: context and added.
pub(super) fn new_lines<'h>(rows: &[Row<'h>]) -> Vec<&'h [u8]> {
    rows.iter().filter(|row| row.sign != Sign::Remove).map(|row| row.text).collect()
}

/// Drops the last old line, which is empty. As context above added lines it stays as an added line; removed, the empty
/// line that replaces it goes too.
pub(super) fn drop_last_old(rows: &mut Vec<Row<'_>>) {
    let Some(last_old) = rows.iter().rposition(|row| row.sign != Sign::Add) else { return };
    let last_new = rows.iter().rposition(|row| row.sign != Sign::Remove);
    match (rows[last_old].sign, last_new) {
        (Sign::Context, Some(new)) if new != last_old => {
            rows[last_old] = Row { sign: Sign::Add, text: b"", no_newline: false };
        }
        (Sign::Remove, Some(new)) if rows[new].text.is_empty() => {
            rows.remove(new.max(last_old));
            rows.remove(new.min(last_old));
        }
        _ => {
            rows.remove(last_old);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(rows: &str) -> Hunk {
        let mut hunk = Hunk::default();
        for row in rows.split_terminator('|') {
            let sign = match row.as_bytes()[0] {
                b'+' => Sign::Add,
                b'-' => Sign::Remove,
                _ => Sign::Context,
            };
            hunk.push(sign, &row.as_bytes()[1..]);
        }
        hunk
    }

    fn shown(rows: &[Row<'_>]) -> String {
        let sign = |sign| match sign {
            Sign::Add => '+',
            Sign::Remove => '-',
            Sign::Context => ' ',
        };
        rows.iter().map(|row| format!("{}{}|", sign(row.sign), String::from_utf8_lossy(row.text))).collect()
    }

    #[test]
    fn the_stray_empty_line_goes_with_its_counterpart() {
        let table = [
            (" a|-b|+c| |", " a|-b|+c|"),
            (" a| |+c|", " a|+|+c|"),
            ("-a|-|+c|", "-a|+c|"),
            ("-a|-|+c|+|", "-a|+c|"),
            ("-a|+|-|", "-a|"),
            ("-a|-|", "-a|"),
            (" a|-|", " a|"),
            ("-a|-| |", "-a|-|"),
        ];
        for (rows, want) in table {
            let hunk = hunk(rows);
            let mut rows = rows_for(&hunk, &LineIndex::new(b""));
            drop_last_old(&mut rows);
            assert_eq!(shown(&rows), want);
        }
    }

    #[test]
    fn rows_follow_the_file_they_are_for() {
        let rows = hunk("-\u{feff}a\rb|+\u{feff}c|");
        let table: &[(&[u8], &str)] = &[
            (b"x\n", "-\u{feff}a\rb|+\u{feff}c|"),
            (b"\xef\xbb\xbfx\n", "-a\rb|+c|"),
            (b"x\ry\r", "-\u{feff}a|-b|+\u{feff}c|"),
        ];
        for (file, want) in table {
            assert_eq!(shown(&rows_for(&rows, &LineIndex::new(file))), *want);
        }
    }
}
