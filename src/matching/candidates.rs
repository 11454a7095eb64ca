//! Places that were found, as many as a message can use.

/// How many places are named in a message.
const NAMED: usize = 8;

/// The first places found, ascending and without repeats. Searching stops when there are more than can be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Candidates {
    lines: Vec<usize>,
    more: bool,
}

impl Candidates {
    pub(crate) fn one(line: usize) -> Self {
        Candidates { lines: vec![line], more: false }
    }

    /// Notes a place; places come in ascending order. Says whether there is no use in looking for more.
    pub(crate) fn push(&mut self, line: usize) -> bool {
        if self.lines.last() != Some(&line) {
            self.more = self.lines.len() == NAMED;
            if !self.more {
                self.lines.push(line);
            }
        }
        self.more
    }

    /// The places' first lines, counted from 0.
    #[must_use]
    pub(crate) fn lines(&self) -> &[usize] {
        &self.lines
    }

    /// Whether there are places beyond those named.
    #[must_use]
    pub(crate) fn has_more(&self) -> bool {
        self.more
    }

    /// Whether there is no place.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether there are several places.
    pub(crate) fn are_several(&self) -> bool {
        self.lines.len() > 1 || self.more
    }

    pub(crate) fn first(&self) -> Option<usize> {
        self.lines.first().copied()
    }
}
