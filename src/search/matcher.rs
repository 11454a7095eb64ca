//! What finds matches: ripgrep's regular expressions, or for one literal a substring search, which needs no compiling.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::RegexMatcher;
use memchr::memmem::Finder;

/// Finds matches in bytes.
#[derive(Clone, Debug)]
pub(super) enum Finds {
    /// A literal without a line end in it.
    Literal(Box<Finder<'static>>),
    /// Anything else.
    Regex(Box<RegexMatcher>),
}

impl Matcher for Finds {
    type Captures = NoCaptures;
    type Error = NoError;

    #[inline]
    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        match self {
            Finds::Literal(finder) => {
                let found = finder.find(&haystack[at..]).map(|start| at + start);
                Ok(found.map(|start| Match::new(start, start + finder.needle().len())))
            }
            Finds::Regex(regex) => regex.find_at(haystack, at),
        }
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    #[inline]
    fn is_match_at(&self, haystack: &[u8], at: usize) -> Result<bool, NoError> {
        match self {
            Finds::Literal(finder) => Ok(finder.find(&haystack[at..]).is_some()),
            Finds::Regex(regex) => regex.is_match_at(haystack, at),
        }
    }

    #[inline]
    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        match self {
            Finds::Literal(_) => Ok(self.find_at(haystack, at)?.map(|found| found.end())),
            Finds::Regex(regex) => regex.shortest_match_at(haystack, at),
        }
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        match self {
            Finds::Literal(_) => None,
            Finds::Regex(regex) => regex.non_matching_bytes(),
        }
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        match self {
            Finds::Literal(_) => Some(LineTerminator::crlf()),
            Finds::Regex(regex) => regex.line_terminator(),
        }
    }

    #[inline]
    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match self {
            Finds::Literal(finder) => Ok(finder.find(haystack).map(LineMatchKind::Confirmed)),
            Finds::Regex(regex) => regex.find_candidate_line(haystack),
        }
    }
}
