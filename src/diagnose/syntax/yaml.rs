//! YAML, by the events of its parser.

use saphyr_parser::Parser;

use super::Fault;
use crate::diagnose::options::Limit;

/// How many events pass between two looks at the clock.
const EVENTS: usize = 1024;

pub(super) fn faults(text: &str, limit: &Limit) -> Result<Vec<Fault>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser::new_from_str(text);
    let mut found = Vec::new();
    for count in 0.. {
        if count % EVENTS == 0 {
            limit.check()?;
        }
        match parser.next_event() {
            None => break,
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                let line = error.marker().line().saturating_sub(1);
                found.push(Fault {
                    lines: line..line + 1,
                    column: error.marker().col(),
                    message: error.info().to_owned(),
                });
                break;
            }
        }
    }
    Ok(found)
}
