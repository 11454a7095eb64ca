//! Is the model going round in circles? Pure: a history and a call.

use super::model::{AssistantPart, Message, ToolCall};

/// How many equal failing calls are told to the model.
pub const TOLD: u32 = 3;

/// How many end the turn.
pub const ENDS: u32 = 6;

/// How many of the newest messages are looked at.
const WINDOW: usize = 60;

/// How often this very call (name and arguments) failed before in the turn, as far as the newest messages tell.
///
/// Other calls in between do not break a row: reading the file again before the same wrong edit is the same circle.
/// The same call working once does.
#[must_use]
pub fn failures_before(history: &[Message], name: &str, arguments: &str) -> u32 {
    let mut failures = 0;
    let mut open: Vec<(&str, bool)> = Vec::new();
    for message in history.iter().rev().take(WINDOW) {
        match message {
            Message::User { .. } => break,
            Message::Tool(result) => open.push((&result.call_id, result.is_error)),
            Message::Assistant { content } => {
                for call in content.iter().rev().filter_map(AssistantPart::call) {
                    match outcome(&open, call) {
                        Some(true) if call.name == name && call.arguments == arguments => failures += 1,
                        Some(false) if call.name == name && call.arguments == arguments => return failures,
                        _ => {}
                    }
                }
                open.clear();
            }
            _ => {}
        }
    }
    failures
}

/// Whether a call failed, when it has a result.
fn outcome(results: &[(&str, bool)], call: &ToolCall) -> Option<bool> {
    results.iter().find(|(id, _)| *id == call.id).map(|(_, failed)| *failed)
}

/// What the model is told with the result of the call's `times`th failure, if anything.
#[must_use]
pub fn remark(times: u32) -> Option<String> {
    (times >= TOLD).then(|| {
        format!(
            "\n[this very call has now failed {times} times; making it again will not help. Look at why it fails, then do something else, or ask]"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::model::ToolResult;
    use super::*;

    fn step(id: &str, name: &str, arguments: &str, failed: bool) -> [Message; 2] {
        let call = ToolCall::new(id, name, arguments);
        let result = if failed { ToolResult::error(id, "no") } else { ToolResult::new(id, "yes") };
        [Message::Assistant { content: vec![AssistantPart::ToolCall(call)] }, Message::Tool(result)]
    }

    #[test]
    fn failures_are_counted_until_it_worked_or_the_person_spoke() {
        let history = |steps: &[[Message; 2]]| steps.concat();
        let fail = || step("1", "edit", "{}", true);
        let table = [
            (history(&[fail(), fail()]), 2),
            (history(&[fail(), step("2", "read", "{}", false), fail()]), 2),
            (history(&[fail(), step("2", "edit", "{}", false), fail()]), 1),
            (history(&[fail(), step("2", "edit", "{\"a\":1}", true), fail()]), 2),
            ([fail().to_vec(), vec![Message::user("again")], fail().to_vec()].concat(), 1),
            (vec![], 0),
        ];
        for (n, (history, want)) in table.into_iter().enumerate() {
            assert_eq!(failures_before(&history, "edit", "{}"), want, "row {n}");
        }
    }

    #[test]
    fn the_third_failure_is_told() {
        assert_eq!(remark(2), None);
        assert!(remark(3).unwrap().contains("3 times"));
    }
}
