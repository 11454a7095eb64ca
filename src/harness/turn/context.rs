//! Room in the model's window: when the history is compacted, and how that is recorded.

use super::super::compaction::{self, SUMMARISE, SUMMARY};
use super::super::model::{Message, ModelError, ToolChoice, ToolResult};
use super::super::session::{Event, OpKind, OpRow, OpState, Write, to_json};
use super::model::{Heard, spent};
use super::running::{Ended, RunError, Session};
use crate::Digest;

/// The value that keeps what the provider counted: messages covered, tokens.
pub(super) const CONTEXT: &str = "context";

impl Session {
    /// Compacts the history if it fills its share of the window.
    pub(super) async fn make_room(&mut self) -> Result<Option<Ended>, RunError> {
        let compaction = &self.agent.config.compaction;
        let most = share(self.agent.config.model.context_window, compaction.at);
        if !compaction.enabled || most == 0 || self.context_tokens() < most {
            return Ok(None);
        }
        self.shorten()?;
        if self.context_tokens() < most {
            return Ok(None);
        }
        self.summarise(most).await
    }

    /// Compacts the history because the model refused it as too long.
    pub(super) async fn squeeze(&mut self, error: &ModelError) -> Result<Option<Ended>, RunError> {
        if !self.agent.config.compaction.enabled {
            return Ok(Some(Ended::Stuck { error: error.to_string() }));
        }
        let before = self.context_tokens();
        self.shorten()?;
        if self.context_tokens() < before / 2 {
            return Ok(None);
        }
        self.summarise(before).await
    }

    /// Whether the history was compacted for this step's model call because the model refused it.
    pub(super) fn was_squeezed(&self) -> bool {
        let key = self.state.ops.iter().find(|op| op.kind == OpKind::Model).map(|op| op.key.as_str());
        key.is_some() && self.state.value("squeeze") == key
    }

    /// About how many tokens the next request has: what the provider counted last, and an estimate of what came since.
    fn context_tokens(&self) -> u64 {
        let known = self.state.value(CONTEXT).and_then(|value| value.split_once(' '));
        let known = known.and_then(|(count, tokens)| Some((count.parse::<usize>().ok()?, tokens.parse::<u64>().ok()?)));
        let messages = &self.state.messages;
        let (counted, tokens) = match known {
            Some((count, tokens)) if count > 0 && count <= messages.len() => (count, tokens),
            _ => (0, self.frame_tokens()),
        };
        messages[counted..].iter().map(compaction::tokens).fold(tokens, u64::saturating_add)
    }

    /// About how many tokens stand before the history.
    fn frame_tokens(&self) -> u64 {
        let tools: usize =
            self.specs.iter().map(|spec| spec.description.len() + spec.input_schema.to_string().len()).sum();
        (self.prompt.len() + tools) as u64 / 4
    }

    /// How many of the oldest messages may be touched, and how many at the very beginning never are.
    fn old_part(&self) -> std::ops::Range<usize> {
        let fixed = self.agent.preamble.iter().zip(&self.state.messages);
        let fixed =
            fixed.take_while(|(text, message)| matches!(message, Message::User { text: it } if it == *text)).count();
        let end = compaction::border(&self.state.messages, self.agent.config.compaction.keep_tokens);
        fixed.min(end)..end
    }

    /// Shortens older tool results; the originals are kept in files.
    fn shorten(&mut self) -> Result<(), RunError> {
        let old = self.old_part();
        let before = self.context_tokens();
        let mut batch = self.batch();
        let mut saved = 0;
        for long in compaction::long_results(&self.state.messages, old.end) {
            let Message::Tool(result) = &self.state.messages[long.index] else { continue };
            let name = format!("{}.txt", Digest::of(long.original.as_bytes()));
            // What cannot be kept stays as it is.
            let Ok(path) = self.env.keep(&name, long.original.as_bytes()) else { continue };
            let short = compaction::shorten(&long.original, &path);
            saved += (long.original.len() - short.len()) as u64 / 4;
            let short = if result.is_error {
                ToolResult::error(result.call_id.clone(), short)
            } else {
                ToolResult::new(result.call_id.clone(), short)
            };
            let place = self.state.places[long.index];
            batch.push(Write::Replace { from: place, to: place, body: to_json(&Message::Tool(short)) });
        }
        if batch.writes.is_empty() {
            return Ok(());
        }
        let (replaced, after) = (batch.writes.len(), before.saturating_sub(saved));
        batch.push(Write::Value(CONTEXT.into(), format!("{} {after}", self.state.messages.len())));
        batch.event(Event::Compacted { how: "shortened", replaced, before, after });
        self.commit(batch)?;
        Ok(())
    }

    /// Replaces the older part of the history by a summary that the model writes. If that is not enough the history
    /// stays as it is.
    async fn summarise(&mut self, most: u64) -> Result<Option<Ended>, RunError> {
        let old = self.old_part();
        let before = self.context_tokens();
        if old.len() < 2 {
            return Ok(Some(too_long(before, most)));
        }
        let op = self.start_summary()?;
        let stream = {
            let mut asked = self.state.messages[..old.end].to_vec();
            asked.push(Message::user(SUMMARISE));
            let request = self.request(&asked, op.index).tool_choice(ToolChoice::None);
            self.agent.model.stream(&request)
        };
        let reply = match self.hear(stream).await? {
            Heard::Reply(reply) | Heard::Cut(reply, _) => reply,
            Heard::Failed(error) => return self.model_failed(&op, &error).map(Some),
            Heard::Stopped => {
                let mut batch = self.batch();
                batch.push(Write::Op { key: op.key, state: OpState::Failed, checkpoint: None, result: None });
                self.commit(batch)?;
                return Ok(None);
            }
        };
        let mut batch = self.batch();
        batch.push(Write::Spent(spent(reply.usage)));
        let summary = Message::notice(format!("{SUMMARY}{}", reply.text().trim()));
        let kept = self.state.messages[..old.start].iter().chain(&self.state.messages[old.end..]);
        let after = kept.map(compaction::tokens).sum::<u64>() + self.frame_tokens() + compaction::tokens(&summary);
        if reply.text().trim().is_empty() || after >= most.min(before) {
            batch.push(Write::Op { key: op.key, state: OpState::Failed, checkpoint: None, result: None });
            self.commit(batch)?;
            return Ok(Some(too_long(before, most)));
        }
        batch.push(Write::Op { key: op.key, state: OpState::Done, checkpoint: None, result: None });
        batch.push(Write::Replace {
            from: self.state.places[old.start],
            to: self.state.places[old.end - 1],
            body: to_json(&summary),
        });
        batch.push(Write::Value(CONTEXT.into(), "0 0".into()));
        batch.event(Event::Compacted { how: "summarised", replaced: old.len(), before, after });
        self.commit(batch)?;
        Ok(None)
    }

    /// Records that a summary is asked for, or is asked for again.
    fn start_summary(&mut self) -> Result<OpRow, RunError> {
        let earlier = self.state.ops.iter().find(|op| op.kind == OpKind::Compact).cloned();
        let mut batch = self.batch();
        let op = match earlier {
            Some(op) => {
                batch.push(Write::Op { key: op.key.clone(), state: OpState::Started, checkpoint: None, result: None });
                op
            }
            None => {
                let op = self.model_op(OpKind::Compact, "c");
                batch.push(Write::Intended(op.clone()));
                op
            }
        };
        self.commit(batch)?;
        Ok(op)
    }
}

/// A share of a window in tokens.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share between 0 and 1 of a window of some million tokens"
)]
fn share(window: u64, at: f64) -> u64 {
    (window as f64 * at.clamp(0.0, 1.0)) as u64
}

fn too_long(tokens: u64, most: u64) -> Ended {
    Ended::Stuck {
        error: format!(
            "the history does not fit the model ({tokens} tokens, {most} are allowed) and cannot be made short enough; it was left as it is. Begin a new session, or use a model with a larger window"
        ),
    }
}
