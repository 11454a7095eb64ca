//! What becomes of a history that grows too long. Pure: which messages stay, which are shortened, what is summarised.
//!
//! First older tool results are shortened, their originals kept in files. If that is not enough, everything but the
//! newest messages is replaced by one summary, an earlier summary included. A call and its results are never parted.

use super::model::{AssistantPart, Message};

/// Tool results up to this many bytes are not shortened.
const SHORT: usize = 1500;

/// How much of a shortened result stays, in characters.
const STAYS: usize = 400;

/// What the model is asked when a history is summarised.
pub const SUMMARISE: &str = "Write a summary of this whole conversation, for yourself: it will replace the conversation, \
and you will go on from it alone. Keep: what the person asked for and every later wish, word for word where it matters; what \
is done and what is left, in order; decisions and why; files, names, commands and error texts that are still needed; what was \
tried and did not work. Leave out greetings and file contents that can be read again. Answer with the summary only, without \
calling tools.";

/// What stands before a summary in the history.
pub const SUMMARY: &str = "Summary of the conversation so far (the conversation itself is no longer shown):\n\n";

/// About how many tokens a message takes: a quarter of its bytes and some for its frame.
#[must_use]
pub fn tokens(message: &Message) -> u64 {
    let bytes = match message {
        Message::User { text } | Message::Notice { text } => text.len(),
        Message::Assistant { content } => content.iter().map(part_bytes).sum(),
        Message::Tool(result) => result.output.len() + result.call_id.len(),
        // A kind that a later version added: it is small or it is counted when it comes.
        #[allow(unreachable_patterns, reason = "the type may grow")]
        _ => 0,
    };
    bytes as u64 / 4 + 8
}

fn part_bytes(part: &AssistantPart) -> usize {
    match part {
        AssistantPart::Text(text) => text.text.len(),
        AssistantPart::Reasoning(reasoning) => {
            let opaque = reasoning.opaque.as_ref().map_or(0, |opaque| opaque.value.to_string().len());
            reasoning.text.len() + opaque
        }
        AssistantPart::ToolCall(call) => call.name.len() + call.arguments.len() + call.id.len(),
        #[allow(unreachable_patterns, reason = "the type may grow")]
        _ => 0,
    }
}

/// How many of the oldest messages may be touched when the newest `keep` tokens stay as they are.
///
/// At least the newest message stays. The border never parts a call from its results: where it would, the whole step
/// stays.
#[must_use]
pub fn border(messages: &[Message], keep: u64) -> usize {
    let mut kept = 0;
    let mut at = messages.len().saturating_sub(1);
    kept += messages.last().map_or(0, tokens);
    while at > 0 && kept < keep {
        at -= 1;
        kept += tokens(&messages[at]);
    }
    while at > 0 && matches!(messages[at], Message::Tool(_)) {
        at -= 1;
    }
    at
}

/// A tool result to be shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortened {
    /// Its index in the history.
    pub index: usize,
    /// The original.
    pub original: String,
}

/// The tool results among the first `border` messages that are long enough to be shortened.
#[must_use]
pub fn long_results(messages: &[Message], border: usize) -> Vec<Shortened> {
    let old = messages.iter().enumerate().take(border);
    old.filter_map(|(index, message)| match message {
        Message::Tool(result) if result.output.len() > SHORT => {
            Some(Shortened { index, original: result.output.clone() })
        }
        _ => None,
    })
    .collect()
}

/// A shortened result: its beginning, and where the rest is.
#[must_use]
pub fn shorten(original: &str, kept_in: &str) -> String {
    let end = original.char_indices().nth(STAYS).map_or(original.len(), |(at, _)| at);
    format!(
        "{}\n[… {} more bytes, left out to save room; the whole output is in `{kept_in}`]",
        &original[..end],
        original.len() - end
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::model::{ToolCall, ToolResult};
    use super::*;

    fn step(calls: usize, bytes: usize) -> Vec<Message> {
        let call = |n: usize| AssistantPart::ToolCall(ToolCall::new(format!("c{n}"), "read", "{}"));
        let mut out = vec![Message::Assistant { content: (0..calls).map(call).collect() }];
        out.extend((0..calls).map(|n| Message::Tool(ToolResult::new(format!("c{n}"), "x".repeat(bytes)))));
        out
    }

    #[test]
    fn the_newest_message_always_stays() {
        assert_eq!(border(&[], 0), 0);
        assert_eq!(border(&[Message::user("a")], 0), 0);
        assert_eq!(border(&[Message::user("a"), Message::user("b")], 0), 1);
        assert_eq!(border(&[Message::user("a"), Message::user("b")], 1000), 0);
    }

    #[test]
    fn a_shortened_result_says_what_is_missing_and_where_it_is() {
        let short = shorten(&"é".repeat(1000), ".restitch/outputs/s/x.txt");
        assert!(short.starts_with(&"é".repeat(400)), "{short}");
        assert!(short.contains("1200 more bytes") && short.contains("x.txt"), "{short}");
        assert!(short.len() < SHORT, "a shortened result is not shortened again");
    }

    #[test]
    fn only_long_results_before_the_border_are_shortened() {
        let mut history = vec![Message::user("x".repeat(9000))];
        history.extend(step(2, 9000));
        history.extend(step(1, 10));
        history.extend(step(1, 9000));
        let found: Vec<usize> = long_results(&history, 6).into_iter().map(|it| it.index).collect();
        assert_eq!(found, [2, 3]);
    }

    proptest! {
        #[test]
        fn calls_and_results_stay_together(
            steps in proptest::collection::vec((0usize..4, 0usize..4000), 1..20),
            keep in 0u64..8000,
        ) {
            let mut history = vec![Message::user("begin")];
            for (calls, bytes) in steps {
                history.extend(if calls == 0 { vec![Message::user("x".repeat(bytes))] } else { step(calls, bytes) });
            }
            let at = border(&history, keep);
            prop_assert!(at < history.len());
            prop_assert!(!matches!(history[at], Message::Tool(_)));
            let parted = at > 0 && history[at - 1].calls().next().is_some();
            prop_assert!(!parted, "a call before the border has its result after it");
            let kept: u64 = history[at..].iter().map(tokens).sum();
            prop_assert!(kept >= keep || at == 0);
        }
    }
}
