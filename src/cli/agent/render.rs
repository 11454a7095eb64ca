//! Events and waits in words for people. Pure: data in, text out.

use serde_json::Value;

use crate::harness::session::{StoredEvent, WaitKind, WaitRow};

/// How much of an input or output is shown on a line.
const SHOWN: usize = 100;

/// One line of progress for an event; `None` when it is not worth one. Text that was streamed is not shown again.
pub(super) fn progress(event: &StoredEvent, streamed: bool) -> Option<String> {
    let text = |name: &str| event.body.get(name).and_then(Value::as_str).unwrap_or_default();
    Some(match event.kind() {
        "model_replied" if !streamed && !text("text").is_empty() && has_calls(event) => text("text").trim().to_owned(),
        "tool_started" => format!("  → {} {}", text("name"), one_line(text("input"))),
        "tool_finished" if event.body.get("ok") == Some(&Value::Bool(false)) => {
            format!("  ✗ {}: {}", text("name"), one_line(text("output")))
        }
        "tool_finished" => match changed(event) {
            Some(files) => format!("  ✓ changed {files}"),
            None => return None,
        },
        "model_failed" => format!("  ✗ the model: {}", text("error")),
        "loop_noticed" => format!("  ! {} fails again and again", text("name")),
        "compacted" => format!("  … the history was {} to make room", text("how")),
        "steered" => format!("  « {}", one_line(text("text"))),
        "seeded" => format!("  + {}", seeded(event)),
        "note" => format!("  {}", text("text")),
        _ => return None,
    })
}

fn has_calls(event: &StoredEvent) -> bool {
    event.body.get("calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty())
}

fn changed(event: &StoredEvent) -> Option<String> {
    let files = event.body.get("changed")?.as_array()?;
    let files: Vec<&str> = files.iter().filter_map(Value::as_str).collect();
    (!files.is_empty()).then(|| files.join(", "))
}

/// The files that a workspace started with, and those that were there already.
fn seeded(event: &StoredEvent) -> String {
    let names = |field: &str| {
        let names = event.body.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        names.collect::<Vec<_>>().join(", ")
    };
    match names("kept") {
        kept if kept.is_empty() => one_line(&format!("made {}", names("made"))),
        kept => one_line(&format!("made {}; left as they were: {kept}", names("made"))),
    }
}

/// The beginning of a text on one line.
pub(super) fn one_line(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match flat.trim().char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &flat.trim()[..at]),
        None => flat.trim().to_owned(),
    }
}

/// What a wait asks, for a person.
pub(super) fn question(wait: &WaitRow) -> String {
    let prompt: Value = serde_json::from_str(&wait.prompt).unwrap_or_default();
    let text = |name: &str| prompt.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut shown = match wait.kind {
        WaitKind::Approval => format!("May `{}` run?\n{}", text("tool"), input(&prompt)),
        WaitKind::Unknown => format!("{}\n{}", text("question"), input(&prompt)),
        _ => format!("{}\n", text("question")),
    };
    let options = prompt.get("options").and_then(Value::as_array);
    if wait.kind == WaitKind::Question {
        for (number, option) in options.into_iter().flatten().enumerate() {
            shown.push_str(&format!("  {}. {}\n", number + 1, option.as_str().unwrap_or_default()));
        }
    }
    shown
}

/// What can be answered.
pub(super) fn choices(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Approval => "yes, always, no [reason]",
        WaitKind::Limit => "yes, no",
        WaitKind::Unknown => "again, happened, skip",
        WaitKind::Question => "your answer",
    }
}

/// The input of a call, a field on each line, whole: it is what a person judges by.
fn input(prompt: &Value) -> String {
    let mut shown = String::new();
    for (name, value) in prompt.get("input").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let clean: String = value.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect();
        shown.push_str(&format!("  {name}: {}\n", clean.trim_end().replace('\n', "\n    ")));
    }
    shown
}

/// What the person can do about the waits of a session whose process has ended. `flags` lead to its place.
pub(super) fn how_to_answer(flags: &str, session: &str, waits: &[WaitRow]) -> String {
    let mut text = String::new();
    for wait in waits {
        let (typed, or) = match wait.kind {
            WaitKind::Approval => ("yes", "   (or `always`, or `no` with a reason)"),
            WaitKind::Limit => ("yes", "   (or `no`)"),
            WaitKind::Unknown => ("ANSWER", "   (`again`: it did not run, run it; `happened`: it ran; `skip`)"),
            WaitKind::Question => ("'your answer'", ""),
        };
        let (asked, id) = (question(wait), wait.id);
        text.push_str(&format!("{asked}restitch agent answer{flags} {session} --wait {id} {typed}{or}\n"));
    }
    text
}

/// A whole session for people.
pub(super) fn transcript(events: &[StoredEvent]) -> String {
    let mut text = String::new();
    for event in events {
        let said = |name: &str| event.body.get(name).and_then(Value::as_str).unwrap_or_default();
        match event.kind() {
            "turn_started" => text.push_str(&format!("\n> {}\n\n", said("text").trim())),
            "model_replied" if !said("text").trim().is_empty() => {
                text.push_str(&format!("{}\n", said("text").trim()));
            }
            "asked" => text.push_str(&format!("  ? {}\n", one_line(&event.body["prompt"].to_string()))),
            "answered" => text.push_str(&format!("  « {}\n", one_line(&event.body["answer"].to_string()))),
            "tool_unknown" => text.push_str(&format!("  ? {}: nobody knows whether it ran\n", said("name"))),
            "undone" => text.push_str("  all changes were put back\n"),
            "turn_ended" if !said("reason").is_empty() => {
                text.push_str(&format!("  ended, {}: {}\n", said("state"), said("reason")));
            }
            _ => {
                if let Some(line) = progress(event, true) {
                    text.push_str(&line);
                    text.push('\n');
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn wait(kind: WaitKind, prompt: Value) -> WaitRow {
        WaitRow { id: 3, turn: 1, kind, key: String::new(), prompt: prompt.to_string(), answer: None }
    }

    #[test]
    fn a_person_sees_all_of_a_call_and_no_terminal_tricks() {
        let prompt = json!({"tool": "bash", "input": {"command": "ls\u{1b}[2K\nrm -r x"}});
        assert_eq!(question(&wait(WaitKind::Approval, prompt)), "May `bash` run?\n  command: ls[2K\n    rm -r x\n");
    }

    #[test]
    fn options_are_numbered_and_the_command_that_answers_is_told() {
        let prompt = json!({"question": "Which?", "options": ["left", "right"]});
        let text = how_to_answer(" --db x.db", "s1", &[wait(WaitKind::Question, prompt)]);
        assert_eq!(text, "Which?\n  1. left\n  2. right\nrestitch agent answer --db x.db s1 --wait 3 'your answer'\n");
    }

    #[test]
    fn a_line_is_one_line_and_short() {
        assert_eq!(one_line(" a\nb\u{7} "), "a b");
        assert!(one_line(&"é".repeat(500)).chars().count() <= SHOWN + 1);
    }
}
