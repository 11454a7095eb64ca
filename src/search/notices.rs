//! What an answer says besides its rows, within a share of its bytes.

use super::answer::{Asked, Notice, NoticeCode, Total};
use super::collect::{Collector, Named};
use super::form::AnswerForm;
use super::found::Tally;
use super::options::SearchOptions;
use crate::limits::Cause;

/// The share of an answer's bytes that is kept for notices.
pub(super) fn share(max_bytes: usize) -> usize {
    (max_bytes / 4).min(2 << 10)
}

/// The notices of an answer, the weightiest first.
pub(super) fn of(
    kept: &Collector,
    options: &SearchOptions,
    cause: Option<Cause>,
    asked: &Asked<'_>,
    total: Total,
) -> Vec<Notice> {
    let mut notices = Notices { list: Vec::new(), form: options.form, room: share(options.bytes()) };
    ended(&mut notices, kept, options, cause, asked, total);
    let cut = kept.rows.iter().filter(|row| row.line.cut != (false, false)).count();
    if cut > 0 {
        let lines = counted(cut as u64, "long line is", "long lines are");
        notices.add(NoticeCode::Cut, format!("{lines} cut to a window round the first match"));
    }
    let noticed = &kept.noticed;
    for (code, named, one, many) in [
        (NoticeCode::Binary, &noticed.binary, "binary file matches and is", "binary files match and are"),
        (
            NoticeCode::Denied,
            &noticed.denied,
            "file on the deny list matches and is",
            "files on the deny list match and are",
        ),
    ] {
        notices.named(code, named, |named| format!("{} not shown: {}", counted(named.count, one, many), names(named)));
    }
    notices.named(NoticeCode::Unreadable, &noticed.unreadable, |named| {
        format!("{} not be read: {}", counted(named.count, "path could", "paths could"), names(named))
    });
    notices.named(NoticeCode::TooLarge, &noticed.too_large, |named| {
        let files = counted(named.count, "file is", "files are");
        format!("{files} too large for a multi-line search and left out: {}", names(named))
    });
    notices.named(NoticeCode::InPieces, &noticed.in_pieces, |named| {
        format!("lines over 8 MiB were searched in pieces, where a match over 64 KiB can be missed: {}", names(named))
    });
    left_out(&mut notices, kept, options, asked.names);
    notices.list
}

struct Notices {
    list: Vec<Notice>,
    form: AnswerForm,
    /// Bytes that are left for further ones.
    room: usize,
}

impl Notices {
    /// Adds a notice, shortened if need be, if there is room.
    fn add(&mut self, code: NoticeCode, mut message: String) {
        let form = self.form;
        // As text an empty line stands before the first one.
        let room = self.room.saturating_sub(form.notice(code.name()) + 1);
        if form.text(message.as_bytes()) > room {
            let most = room.saturating_sub("…".len());
            let mut end = most.min(message.len());
            while !message.is_char_boundary(end) || form.text(&message.as_bytes()[..end]) > most {
                end -= 1;
            }
            if end < 24 {
                return;
            }
            message.truncate(end);
            message.push('…');
        }
        self.room = room + 1 - form.text(message.as_bytes());
        self.list.push(Notice { code, message });
    }

    fn named(&mut self, code: NoticeCode, named: &Named, message: impl FnOnce(&Named) -> String) {
        if named.count > 0 {
            self.add(code, message(named));
        }
    }
}

/// Why there are no rows, or no more.
fn ended(
    notices: &mut Notices,
    kept: &Collector,
    options: &SearchOptions,
    cause: Option<Cause>,
    asked: &Asked<'_>,
    total: Total,
) {
    let files = counted(kept.tally.files, "file", "files");
    match cause {
        Some(Cause::Deadline) => notices.add(
            NoticeCode::Timeout,
            format!("the time ran out after {files}; name a smaller path, a glob or a file type, or allow more time"),
        ),
        Some(Cause::Cancelled) => notices.add(NoticeCode::Cancelled, format!("cancelled after {files}")),
        None => {}
    }
    if kept.total == 0 {
        if cause.is_none() && nothing_at_all(kept) {
            notices.add(NoticeCode::NoMatch, nothing(kept, asked, &files));
        }
    } else if kept.shown == 0 && options.limit > 0 {
        let message =
            format!("no more results: the offset {} is past the last of {} rows", options.offset, number(total));
        notices.add(NoticeCode::NoMore, message);
    } else if kept.total > options.offset as u64 + kept.shown {
        let (first, last) = (options.offset as u64 + 1, options.offset as u64 + kept.shown);
        let more = if cause.is_none() { format!("; for more, go on with offset {last}") } else { String::new() };
        notices.add(
            NoticeCode::Truncated,
            format!("truncated: rows {first} to {last} of {} are shown{more}", number(total)),
        );
    }
}

/// Whether there is no hit, not even one that is not shown.
fn nothing_at_all(kept: &Collector) -> bool {
    kept.total + kept.noticed.binary.count + kept.noticed.denied.count == 0
}

/// That nothing was found, of what and where.
fn nothing(kept: &Collector, asked: &Asked<'_>, files: &str) -> String {
    let patterns: Vec<String> = asked.patterns.iter().map(|pattern| quoted(pattern)).collect();
    let patterns = patterns.join(", ");
    let path = quoted(if asked.path.is_empty() { "." } else { asked.path });
    if asked.names {
        let others = counted(kept.tally.unfit, "file", "files");
        return format!("no file fits {patterns} in {path} ({others} looked at)");
    }
    format!("no matches for {patterns} in {path} ({files} searched)")
}

/// What was left out, when nothing was found or it was asked for.
fn left_out(notices: &mut Notices, kept: &Collector, options: &SearchOptions, names: bool) {
    let tally = &kept.tally;
    if nothing_at_all(kept) || options.stats {
        if tally.ignored_files + tally.ignored_dirs > 0 {
            notices.add(NoticeCode::Ignored, ignored(tally));
        }
        if tally.files == 0 && tally.unfit > 0 && !names {
            let files = counted(tally.unfit, "file", "files");
            notices.add(NoticeCode::NoFiles, format!("of {files} none fits the globs and file types"));
        }
        if tally.links > 0 {
            let links = counted(tally.links, "symbolic link was", "symbolic links were");
            notices.add(NoticeCode::Links, format!("{links} not followed"));
        }
        if tally.special > 0 {
            let special = counted(tally.special, "pipe, socket or device was", "pipes, sockets or devices were");
            notices.add(NoticeCode::Special, format!("{special} left out"));
        }
    }
    if options.stats {
        let message = format!(
            "searched {} and {} bytes; not searched: {} by ignore rules, {} that fit no glob or type; {} binary",
            counted(tally.files, "file", "files"),
            tally.bytes,
            counted(tally.ignored_files + tally.ignored_dirs, "entry", "entries"),
            counted(tally.unfit, "file", "files"),
            tally.binary,
        );
        notices.add(NoticeCode::Stats, message);
    }
}

fn ignored(tally: &Tally) -> String {
    let files = (tally.ignored_files > 0).then(|| counted(tally.ignored_files, "file", "files"));
    let dirs = (tally.ignored_dirs > 0).then(|| counted(tally.ignored_dirs, "directory", "directories"));
    let what: Vec<String> = files.into_iter().chain(dirs).collect();
    let by: Vec<String> = tally.ignored_by.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
    format!(
        "ignored by {1}: {0}; --no-ignore or naming the path outright takes them in",
        what.join(" and "),
        by.join(", ")
    )
}

fn names(named: &Named) -> String {
    let listed = named.first.join(", ");
    match named.count - named.first.len() as u64 {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn number(total: Total) -> String {
    if total.exact { total.value.to_string() } else { format!("at least {}", total.value) }
}

/// A text in backticks, not too long, on one line.
fn quoted(text: &str) -> String {
    let mut quoted: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).take(80).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    format!("`{quoted}`")
}
