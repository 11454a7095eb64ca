//! What a person answers, as the journal keeps it and as it is typed.

use serde::{Deserialize, Serialize};

use super::session::{WaitKind, WaitRow};

/// An answer to a wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Yes. `always`: for the rest of the session.
    Yes {
        /// Whether equal calls need not be asked about again.
        #[serde(default)]
        always: bool,
    },
    /// No, and perhaps why; the model reads it.
    No {
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// Words: the answer to a question.
    Text {
        /// The words.
        text: String,
    },
    /// A call of which nobody knew whether it ran: it did not, run it.
    Again,
    /// It did.
    Happened,
    /// Whether it did or not, it is not run.
    Skip,
}

/// An answer that does not fit what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no answer to that: {expected}")]
pub struct AnswerError {
    given: String,
    expected: &'static str,
}

impl Answer {
    /// The answer as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        super::session::to_json(self)
    }

    /// Reads what was typed as an answer to `wait`.
    ///
    /// # Errors
    /// What could have been typed.
    pub fn parse(typed: &str, wait: &WaitRow) -> Result<Self, AnswerError> {
        let word = typed.trim();
        let (first, rest) = word.split_once(char::is_whitespace).unwrap_or((word, ""));
        let error = |expected| AnswerError { given: word.chars().take(80).collect(), expected };
        let lower = first.trim_end_matches([':', ',']).to_lowercase();
        match wait.kind {
            WaitKind::Question if word.is_empty() => Err(error("say something")),
            WaitKind::Question => Ok(Answer::Text { text: choice(word, wait) }),
            WaitKind::Approval | WaitKind::Limit => match lower.as_str() {
                "y" | "yes" if rest.is_empty() => Ok(Answer::Yes { always: false }),
                "a" | "always" if rest.is_empty() && wait.kind == WaitKind::Approval => {
                    Ok(Answer::Yes { always: true })
                }
                "n" | "no" => Ok(Answer::No { reason: rest.trim().to_owned() }),
                _ if wait.kind == WaitKind::Limit => Err(error("`yes` or `no`")),
                _ => Err(error("`yes`, `always` (for the rest of the session) or `no`, with a reason if you like")),
            },
            WaitKind::Unknown => match lower.as_str() {
                "again" | "happened" | "skip" if !rest.is_empty() => {
                    Err(error("one word: `again`, `happened`, `skip`"))
                }
                "again" => Ok(Answer::Again),
                "happened" => Ok(Answer::Happened),
                "skip" => Ok(Answer::Skip),
                _ => Err(error("`again` (it did not run, run it), `happened` (it ran) or `skip` (go on without it)")),
            },
        }
    }
}

/// The option of that number, if the question has options; else the words themselves.
fn choice(word: &str, wait: &WaitRow) -> String {
    let prompt: serde_json::Value = serde_json::from_str(&wait.prompt).unwrap_or_default();
    let options = prompt.get("options").and_then(serde_json::Value::as_array);
    let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let chosen = options.zip(number).and_then(|(options, at)| options.get(at)).and_then(|option| option.as_str());
    chosen.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(kind: WaitKind) -> WaitRow {
        let prompt = r#"{"question": "which?", "options": ["left", "right"]}"#.into();
        WaitRow { id: 1, turn: 1, kind, key: String::new(), prompt, answer: None }
    }

    #[test]
    fn what_is_typed_is_understood_or_refused_by_kind() {
        use WaitKind::{Approval, Limit, Question, Unknown};
        let text = |text: &str| Some(Answer::Text { text: text.into() });
        let no = |reason: &str| Some(Answer::No { reason: reason.into() });
        let table = [
            (Approval, "yes", Some(Answer::Yes { always: false })),
            (Approval, " Y ", Some(Answer::Yes { always: false })),
            (Approval, "always", Some(Answer::Yes { always: true })),
            (Approval, "no, too risky", no("too risky")),
            (Approval, "n", no("")),
            (Approval, "maybe", None),
            (Approval, "yes but only once", None),
            (Limit, "always", None),
            (Limit, "yes", Some(Answer::Yes { always: false })),
            (Question, "2", text("right")),
            (Question, "3", text("3")),
            (Question, "up the middle", text("up the middle")),
            (Question, " ", None),
            (Unknown, "again", Some(Answer::Again)),
            (Unknown, "happened", Some(Answer::Happened)),
            (Unknown, "skip", Some(Answer::Skip)),
            (Unknown, "yes", None),
        ];
        for (kind, typed, want) in table {
            assert_eq!(Answer::parse(typed, &wait(kind)).ok(), want, "{kind} {typed:?}");
        }
    }

    #[test]
    fn answers_survive_the_journal() {
        for answer in [Answer::Again, Answer::No { reason: "x".into() }, Answer::Yes { always: true }] {
            assert_eq!(serde_json::from_str::<Answer>(&answer.to_json()).unwrap(), answer);
        }
    }
}
