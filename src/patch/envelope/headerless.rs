//! A diff without headers: the body of one Add or Update, as structured operations hold it.

use super::{Envelope, State};
use crate::patch::draft::{Action, Draft};
use crate::patch::lines::{Line, Lines};
use crate::patch::{FileOp, ParseError, ParseOptions};

/// Reads headerless diffs.
pub(in crate::patch) struct Headerless;

impl Headerless {
    /// The operation that a diff describes. Lines of it are counted from 1; the operation is on line `line` of the patch.
    ///
    /// # Errors
    /// The diff is none.
    pub(in crate::patch) fn read(
        line: u64,
        path: &[u8],
        action: Action,
        diff: &[u8],
        options: &ParseOptions,
    ) -> Result<Vec<FileOp>, ParseError> {
        let mut draft = Draft::default();
        let mut machine = Envelope::new(options.repeated_add);
        machine.headerless = true;
        machine.state = if action == Action::Add { State::Add } else { State::Update };
        draft.open(line, path, action);
        let mut lines = Lines::default();
        lines.feed(diff, &mut |line| machine.line(&mut draft, line))?;
        let last = lines.finish(&mut |line| machine.line(&mut draft, line))?;
        let end = Line::new(last.number, last.span.start, &last.excerpt);
        machine.close(&mut draft, end)?;
        Ok(draft.into_patch().ops)
    }
}
