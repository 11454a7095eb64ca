//! Names in a unified diff: quotes, dates behind them, and directories to take off.

use bstr::ByteSlice as _;

use super::Kind;
use crate::patch::error::quote;

/// A name behind `---` or `+++`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// `/dev/null`: there is no such file on this side.
    Nothing,
    File {
        path: Vec<u8>,
        /// The date behind it is the beginning of time, by which diff says that there is no such file on this side.
        absent: bool,
    },
}

impl Name {
    /// Reads what stands behind `--- ` or `+++ `.
    pub(super) fn read(text: &[u8]) -> Result<Name, Kind> {
        let (path, date) = match text.first() {
            Some(b'"') => unquote(text).ok_or(Kind::BadQuotes)?,
            _ => match text.find_byte(b'\t') {
                Some(tab) => (text[..tab].to_vec(), &text[tab..]),
                None => {
                    let end = date_at(text).unwrap_or(text.len());
                    (text[..end].trim_end().to_vec(), &text[end..])
                }
            },
        };
        if path == b"/dev/null" {
            return Ok(Name::Nothing);
        }
        if path.is_empty() {
            return Err(Kind::NoName);
        }
        Ok(Name::File { path, absent: is_epoch(date.trim()) })
    }

    pub(super) fn path(&self) -> Option<&[u8]> {
        match self {
            Name::Nothing => None,
            Name::File { path, .. } => Some(path),
        }
    }

    /// Whether it says that there is no file on this side.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Name::Nothing | Name::File { absent: true, .. })
    }
}

/// Where ` YYYY-MM-DD HH:MM` begins, which some programs put behind a name without a tab.
fn date_at(text: &[u8]) -> Option<usize> {
    const SHAPE: &[u8] = b" 0000-00-00 00:00";
    let fits = |at: &usize| {
        text.get(*at..at + SHAPE.len()).is_some_and(|part| {
            part.iter()
                .zip(SHAPE)
                .all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
        })
    };
    memchr::memchr_iter(b' ', text).take(64).find(fits)
}

/// Whether a date as diff writes it is the beginning of 1970 in its own time zone.
fn is_epoch(date: &[u8]) -> bool {
    let Ok(date) = str::from_utf8(date) else { return false };
    let mut parts = date.split_ascii_whitespace();
    let (Some(day), Some(time), zone) = (parts.next(), parts.next(), parts.next()) else { return false };
    let days = match day {
        "1970-01-01" => 0,
        "1969-12-31" => -1,
        _ => return false,
    };
    let mut fields = time.split([':', '.']).map(|field| field.parse::<i64>().ok());
    let (Some(Some(hours)), Some(Some(minutes)), Some(Some(seconds))) = (fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    let zone = zone.unwrap_or("+0000");
    let (Some(sign), Ok(offset)) = (zone.get(..1), zone.get(1..).unwrap_or_default().parse::<i64>()) else {
        return false;
    };
    let offset = (offset / 100 * 60 + offset % 100) * if sign == "-" { -1 } else { 1 };
    days * 24 * 60 + hours * 60 + minutes == offset && seconds == 0
}

/// A name in double quotes as git writes it, and what follows the closing one.
pub(super) fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut out = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((out, rest)),
            b'\\' => {
                let (&escape, after) = rest.split_first()?;
                rest = after;
                out.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let digits = rest.get(..2).filter(|digits| digits.iter().all(|d| (b'0'..=b'7').contains(d)))?;
                        rest = &rest[2..];
                        (escape - b'0') * 64 + (digits[0] - b'0') * 8 + (digits[1] - b'0')
                    }
                    _ => return None,
                });
            }
            _ => out.push(byte),
        }
    }
}

/// The two names of a `diff --git` line. Names with spaces and without quotes are told apart by being one name twice.
pub(super) fn git_pair(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if text.starts_with(b"\"") {
        let (old, rest) = unquote(text)?;
        let rest = rest.strip_prefix(b" ")?;
        let new = if rest.starts_with(b"\"") { unquote(rest)?.0 } else { rest.to_vec() };
        return Some((old, new));
    }
    if let Some(at) = text.find(b" \"") {
        return Some((text[..at].to_vec(), unquote(&text[at + 1..])?.0));
    }
    let mut spaces = memchr::memchr_iter(b' ', text).take(64);
    let first = spaces.next()?;
    let split = |at: usize| (text[..at].to_vec(), text[at + 1..].to_vec());
    let mut all = std::iter::once(first).chain(spaces).map(split);
    all.clone().find(|(old, new)| common(old, new).is_some()).or_else(|| all.next().filter(|_| all.next().is_none()))
}

/// How many directories must be taken off two names to make them equal; `None` if no number does. Linear in the names.
fn common(old: &[u8], new: &[u8]) -> Option<usize> {
    if old == new {
        return (!old.is_empty()).then_some(0);
    }
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut pairs = rests(old).zip(rests(new)).enumerate();
    pairs.find(|(_, (a, b))| a.len() == b.len() && a.len() <= same && !a.is_empty()).map(|(at, _)| at + 1)
}

/// A name without one directory, without two, and so on.
fn rests(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(strip(name, 1), |rest| strip(rest, 1))
}

/// A name without its first `count` directories; `None` when nothing would be left.
pub(super) fn strip(name: &[u8], count: usize) -> Option<&[u8]> {
    let mut rest = name;
    for _ in 0..count {
        let slash = rest.find_byte(b'/')?;
        rest = &rest[slash..];
        rest = &rest[rest.iter().take_while(|byte| **byte == b'/').count()..];
    }
    (!rest.is_empty()).then_some(rest)
}

/// A name without so many directories as asked for.
pub(super) fn stripped(name: &[u8], count: usize) -> Result<Vec<u8>, Kind> {
    strip(name, count).map(<[u8]>::to_vec).ok_or_else(|| Kind::TooShort { name: quote(name), strip: count })
}

/// The one path that an old and a new name stand for.
pub(super) fn one_path(old: &[u8], new: &[u8], count: Option<usize>) -> Result<Vec<u8>, Kind> {
    let differ = || Kind::NamesDiffer { old: quote(old), new: quote(new) };
    let (old_path, new_path) = match count {
        Some(count) => (stripped(old, count)?, stripped(new, count)?),
        None => match common(old, new) {
            Some(count) => return stripped(new, count),
            None => (one_side(old).to_vec(), one_side(new).to_vec()),
        },
    };
    let backup = |old: &[u8]| {
        [&b".orig"[..], b"~", b".bak", b".old"].iter().any(|end| old.strip_suffix(*end) == Some(&new_path))
    };
    if old_path == new_path || backup(&old_path) { Ok(new_path) } else { Err(differ()) }
}

/// The path that a name stands for when there is no other to compare it with: the prefixes of git are taken off.
pub(super) fn one_side(name: &[u8]) -> &[u8] {
    let bare = name.strip_prefix(b"a/").or_else(|| name.strip_prefix(b"b/")).unwrap_or(name);
    if bare.is_empty() { name } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        match Name::read(text.as_bytes()) {
            Ok(Name::Nothing) => "nothing".to_owned(),
            Ok(Name::File { path, absent }) => {
                format!("{}{}", path.escape_ascii(), if absent { " absent" } else { "" })
            }
            Err(kind) => kind.code().to_owned(),
        }
    }

    #[test]
    fn a_name_is_read_without_its_date() {
        let table = [
            ("a/x.c", "a/x.c"),
            ("a/x y.c\t", "a/x y.c"),
            ("x.c\t2024-03-01 10:00:00.000000000 +0100", "x.c"),
            ("x.c 2024-03-01 10:00:00", "x.c"),
            ("x 2024.c", "x 2024.c"),
            ("x.c\t(revision 12)", "x.c"),
            ("x.c  ", "x.c"),
            ("/dev/null", "nothing"),
            ("/dev/null\t1970-01-01", "nothing"),
            ("x\t1970-01-01 00:00:00.000000000 +0000", "x absent"),
            ("x\t1969-12-31 19:00:00.000000000 -0500", "x absent"),
            ("x\t1970-01-01 05:30:00.000000000 +0530", "x absent"),
            ("x\t1970-01-01 05:30:00.000000000 +0000", "x"),
            ("\"a/\\303\\251\\t\\\"\\\\.txt\"\t", "a/\\xc3\\xa9\\t\\\"\\\\.txt"),
            ("\"a/x", "bad-quotes"),
            ("\"a/\\x\"", "bad-quotes"),
            ("\"a/\\409\"", "bad-quotes"),
            ("", "no-path"),
            ("\t", "no-path"),
        ];
        for (text, want) in table {
            assert_eq!(read(text), want, "{text:?}");
        }
    }

    #[test]
    fn the_line_of_git_is_split_where_both_sides_name_one_file() {
        let table = [
            ("a/x b/x", Some(("a/x", "b/x"))),
            ("x x", Some(("x", "x"))),
            ("a/x y b/x y", Some(("a/x y", "b/x y"))),
            ("old/deep/x new/deep/x", Some(("old/deep/x", "new/deep/x"))),
            ("\"a/\\tx\" \"b/\\tx\"", Some(("a/\tx", "b/\tx"))),
            ("\"a/\\tx\" b/y", Some(("a/\tx", "b/y"))),
            ("a/y \"b/\\tx\"", Some(("a/y", "b/\tx"))),
            ("a/x b/y", Some(("a/x", "b/y"))),
            ("a/x y b/z", None),
            ("x", None),
        ];
        for (text, want) in table {
            let got = git_pair(text.as_bytes());
            let got = got.map(|(a, b)| (String::from_utf8(a).unwrap(), String::from_utf8(b).unwrap()));
            assert_eq!(got.as_ref().map(|(a, b)| (a.as_str(), b.as_str())), want, "{text:?}");
        }
    }

    #[test]
    fn directories_are_taken_off_until_the_names_agree() {
        let table: &[(&str, &str, Option<usize>, &str)] = &[
            ("a/x", "b/x", None, "x"),
            ("x", "x", None, "x"),
            ("a/x", "a/x", None, "a/x"),
            ("old/src/x", "new/src/x", None, "src/x"),
            ("p/q/src/x", "r/s/src/x", None, "src/x"),
            ("a//x", "b/x", None, "x"),
            ("x.c.orig", "x.c", None, "x.c"),
            ("a/x.c~", "b/x.c", None, "x.c"),
            ("a/x", "b/y", None, "names-differ"),
            ("a/s/x", "b/s/x", Some(2), "x"),
            ("a/s/x", "b/s/x", Some(0), "names-differ"),
            ("a/x", "b/x", Some(2), "strip"),
            ("/r/x", "/r/x", None, "/r/x"),
        ];
        for (old, new, count, want) in table {
            let got = match one_path(old.as_bytes(), new.as_bytes(), *count) {
                Ok(path) => String::from_utf8(path).unwrap(),
                Err(kind) => kind.code().to_owned(),
            };
            assert_eq!(got, *want, "{old} {new} {count:?}");
        }
    }
}
