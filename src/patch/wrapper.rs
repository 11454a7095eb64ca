//! What may stand round a patch: Markdown fences and shell heredocs, one inside the other.
//!
//! A fence may stay open to the end of the text; a heredoc must be closed by its word, since its absence is the mark
//! of a text that was cut off.

use super::NoteKind;
use crate::text::Trimmed as _;

/// How many wrappers may stand one inside the other.
const DEEPEST: usize = 3;

/// One opened wrapper.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wrapper {
    /// A fence of so many of this byte.
    Fence { mark: u8, len: usize },
    /// A heredoc that this word closes.
    Heredoc(Vec<u8>),
}

impl Wrapper {
    fn open(line: &[u8]) -> Option<Wrapper> {
        fence(line).or_else(|| heredoc(line).map(|word| Wrapper::Heredoc(word.to_vec())))
    }

    fn closed_by(&self, line: &[u8]) -> bool {
        let line = line.trimmed();
        match self {
            Wrapper::Fence { mark, len } => line.len() >= *len && line.iter().all(|byte| byte == mark),
            Wrapper::Heredoc(word) => line == word,
        }
    }
}

/// An opening fence with at most one word of information.
fn fence(line: &[u8]) -> Option<Wrapper> {
    let mark = *line.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let len = line.iter().take_while(|byte| **byte == mark).count();
    let info = line[len..].trimmed();
    (len >= 3 && !info.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'`'))
        .then_some(Wrapper::Fence { mark, len })
}

/// The word of a line that opens a heredoc: `<<WORD`, alone or after a command, the word quoted or not.
fn heredoc(line: &[u8]) -> Option<&[u8]> {
    let mut rest = line.trimmed_end();
    for command in [&b"apply_patch"[..], b"applypatch", b"cat"] {
        if let Some(after) = rest.strip_prefix(command) {
            rest = after.trimmed_start();
            break;
        }
    }
    let rest = rest.strip_prefix(b"<<")?.trimmed_start();
    let word = match rest.first()? {
        quote @ (b'\'' | b'"') => rest[1..].strip_suffix(&[*quote])?,
        _ => rest,
    };
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | 0x80..);
    (!word.is_empty() && word[0] != b'-' && word.iter().all(fits)).then_some(word)
}

/// The wrappers opened so far, outermost first.
#[derive(Debug, Default)]
pub(super) struct Wrappers(Vec<Wrapper>);

impl Wrappers {
    /// Opens one more, if the line does that.
    pub(super) fn open(&mut self, line: &[u8]) -> Option<NoteKind> {
        let wrapper = if self.0.len() < DEEPEST { Wrapper::open(line)? } else { return None };
        let note = match wrapper {
            Wrapper::Fence { .. } => NoteKind::Fence,
            Wrapper::Heredoc(_) => NoteKind::Heredoc,
        };
        self.0.push(wrapper);
        Some(note)
    }

    /// How many are open before anything is closed.
    pub(super) fn depth(&self) -> usize {
        self.0.len()
    }

    /// How many of the outermost `depth` are left once `line` has closed one; `None` if it closes none. Fences inside
    /// of the closed one may have stayed open.
    pub(super) fn close(&self, depth: usize, line: &[u8]) -> Option<usize> {
        for (at, wrapper) in self.0[..depth].iter().enumerate().rev() {
            if wrapper.closed_by(line) {
                return Some(at);
            }
            if let Wrapper::Heredoc(_) = wrapper {
                return None;
            }
        }
        None
    }

    /// The word of the innermost heredoc among the outermost `depth`: one that is still to be closed.
    pub(super) fn heredoc(&self, depth: usize) -> Option<&[u8]> {
        self.0[..depth].iter().rev().find_map(|wrapper| match wrapper {
            Wrapper::Heredoc(word) => Some(&word[..]),
            Wrapper::Fence { .. } => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heredoc_line_gives_its_word() {
        let cases: &[(&str, Option<&str>)] = &[
            ("<<EOF", Some("EOF")),
            ("<<'EOF'  ", Some("EOF")),
            ("<<\"END_1.x\"", Some("END_1.x")),
            ("apply_patch <<PATCH", Some("PATCH")),
            ("applypatch\t<<'P'", Some("P")),
            ("cat << 'EOF'", Some("EOF")),
            ("cat <<EOF > file", None),
            ("<<'EOF", None),
            ("<<EOF'", None),
            ("<<-EOF", None),
            ("<<", None),
            ("<<''", None),
            ("tee <<EOF", None),
            (" <<EOF", None),
            ("applypatches <<EOF", None),
        ];
        for (line, want) in cases {
            assert_eq!(heredoc(line.as_bytes()).map(|w| str::from_utf8(w).unwrap()), *want, "{line:?}");
        }
    }

    #[test]
    fn a_fence_has_three_marks_and_at_most_one_word() {
        for (line, want) in [
            ("```", true),
            ("````", true),
            ("```diff ", true),
            ("~~~patch", true),
            ("``", false),
            ("```a b", false),
            ("```x```", false),
        ] {
            assert_eq!(fence(line.as_bytes()).is_some(), want, "{line:?}");
        }
    }

    #[test]
    fn wrappers_close_from_the_inside_and_fences_may_stay_open() {
        let mut wrappers = Wrappers::default();
        for line in ["```", "<<EOF", "````sh"] {
            assert!(wrappers.open(line.as_bytes()).is_some());
        }
        assert!(wrappers.open(b"```").is_none(), "a fourth");
        assert_eq!(wrappers.close(3, b"````"), Some(2));
        assert_eq!(wrappers.close(3, b"```"), None, "too short, and the heredoc is in between");
        assert_eq!(wrappers.close(3, b"EOF"), Some(1));
        assert_eq!(wrappers.close(1, b"```"), Some(0));
        assert_eq!(wrappers.close(0, b"```"), None);
    }
}
