//! Where a path really leads: links are followed one by one and never above the root.
//!
//! The walk is written once, over [`Steps`]; the disk and the tree in memory are two things it can walk on.

use super::source::SourceError;

/// How many links one path may go through, as in the Linux kernel.
const MOST_LINKS: usize = 40;

/// What one name in the current directory stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    Absent,
    Dir,
    File,
    Link(Vec<u8>),
    Special(&'static str),
}

/// A tree that can be walked by single names.
pub(crate) trait Steps {
    /// What `name` stands for in the current directory; a link is not followed.
    fn look(&mut self, name: &[u8]) -> Result<Look, SourceError>;

    /// Goes into the directory `name`, which must be no link.
    fn enter(&mut self, name: &[u8]) -> Result<(), SourceError>;

    /// Goes to the root, then into each of `names`.
    fn restart(&mut self, names: &[Vec<u8>]) -> Result<(), SourceError>;

    /// The part of an absolute path below the root.
    fn below_root<'p>(&self, absolute: &'p [u8]) -> Option<&'p [u8]>;
}

/// What to do with links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    /// Follow those in directories, stop at one in the last place.
    StopAtLast,
    /// Follow all.
    Follow,
    /// Refuse all.
    Deny,
}

/// The end of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Walked {
    /// The names from the root, none of them a link except a last one that was not followed. Empty: the root itself.
    pub names: Vec<Vec<u8>>,
    /// What is there.
    pub end: Look,
}

/// Walks `path` from the root. Afterwards the current directory of `steps` is the one that holds the last name, unless
/// the end is a directory or absent.
///
/// # Complexity
/// One look and one step per component, those of followed links included; at most [`MOST_LINKS`] links.
pub(crate) fn walk<S: Steps>(steps: &mut S, path: &[u8], links: Links) -> Result<Walked, SourceError> {
    let mut todo: Vec<Vec<u8>> = Vec::new();
    push_parts(&mut todo, path);
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut followed = 0;
    while let Some(part) = todo.pop() {
        if part == b".." {
            names.pop().ok_or(SourceError::Outside)?;
            steps.restart(&names)?;
            continue;
        }
        if part.eq_ignore_ascii_case(b".git") {
            return Err(SourceError::Git);
        }
        match steps.look(&part)? {
            Look::Dir => {
                steps.enter(&part)?;
                names.push(part);
            }
            Look::Link(_) if links == Links::Deny => return Err(SourceError::LinkDenied),
            Look::Link(target) if links == Links::StopAtLast && todo.is_empty() => {
                names.push(part);
                return Ok(Walked { names, end: Look::Link(target) });
            }
            Look::Link(target) => {
                followed += 1;
                if followed > MOST_LINKS {
                    return Err(SourceError::LinkLoop);
                }
                follow(steps, &target, &mut todo, &mut names)?;
            }
            Look::Absent => return absent(names, part, todo),
            end if todo.is_empty() => {
                names.push(part);
                return Ok(Walked { names, end });
            }
            _ => {
                names.push(part);
                return Err(SourceError::NotADirectory(shown(&names)));
            }
        }
    }
    Ok(Walked { names, end: Look::Dir })
}

fn follow<S: Steps>(
    steps: &mut S,
    target: &[u8],
    todo: &mut Vec<Vec<u8>>,
    names: &mut Vec<Vec<u8>>,
) -> Result<(), SourceError> {
    let mut rest = target;
    if target.first() == Some(&b'/') {
        rest = steps.below_root(target).ok_or(SourceError::Outside)?;
        names.clear();
        steps.restart(names)?;
    }
    push_parts(todo, rest);
    Ok(())
}

/// Nothing is at `part`, so nothing is below it either; what follows must still be no way out.
fn absent(mut names: Vec<Vec<u8>>, part: Vec<u8>, mut todo: Vec<Vec<u8>>) -> Result<Walked, SourceError> {
    names.push(part);
    while let Some(part) = todo.pop() {
        if part == b".." {
            names.pop().ok_or(SourceError::Outside)?;
        } else if part.eq_ignore_ascii_case(b".git") {
            return Err(SourceError::Git);
        } else {
            names.push(part);
        }
    }
    Ok(Walked { names, end: Look::Absent })
}

/// Puts the parts of `path` on the stack, the first on top.
fn push_parts(todo: &mut Vec<Vec<u8>>, path: &[u8]) {
    let parts = path.split(|&byte| byte == b'/').rev();
    todo.extend(parts.filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec));
}

/// Names as text, for messages.
pub(crate) fn shown(names: &[Vec<u8>]) -> String {
    String::from_utf8_lossy(&names.join(&b'/')).into_owned()
}

/// The part of `absolute` below the directory `root`, both compared part by part.
pub(crate) fn strip_prefix<'p>(root: &[u8], absolute: &'p [u8]) -> Option<&'p [u8]> {
    let mut rest = absolute.strip_prefix(b"/")?;
    for want in root.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        rest = skip_empty(rest);
        rest = rest.strip_prefix(want)?;
        if !(rest.is_empty() || rest[0] == b'/') {
            return None;
        }
    }
    Some(skip_empty(rest))
}

/// Drops slashes and `.` parts at the front.
fn skip_empty(mut path: &[u8]) -> &[u8] {
    loop {
        match path {
            [b'/', rest @ ..] | [b'.', b'/', rest @ ..] => path = rest,
            _ => return path,
        }
    }
}
