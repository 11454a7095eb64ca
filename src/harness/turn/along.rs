//! Reading along while the model writes: calls are checked before they are complete.

use std::collections::BTreeMap;

use super::super::model::{AssistantPart, Event, Reply, StopReason, Text, ToolCall};
use super::super::tools::Preview;
use super::running::Session;

/// What has come of a reply, and who reads along with its calls.
#[derive(Default)]
pub(super) struct Along {
    text: String,
    calls: BTreeMap<usize, Writing>,
}

/// A call that is being written.
struct Writing {
    call: ToolCall,
    preview: Option<Box<dyn Preview>>,
}

impl Along {
    /// Follows what came. The tool of a call that will certainly fail, and why.
    pub(super) fn follow(&mut self, session: &Session, event: &Event) -> Option<(String, String)> {
        match event {
            Event::Text(text) => self.text.push_str(text),
            // What came before is void.
            Event::Retry { .. } => *self = Along::default(),
            Event::ToolCallStarted { call, id, name } => {
                let tool = session.agent.tools.get(name);
                let preview = tool.and_then(|tool| tool.preview(session.call("preview", serde_json::Map::new())));
                let writing = Writing { call: ToolCall::new(id.clone(), name.clone(), ""), preview };
                self.calls.insert(*call, writing);
            }
            Event::ToolCallDelta { call, delta } => {
                let writing = self.calls.get_mut(call)?;
                writing.call.arguments.push_str(delta);
                let why = writing.preview.as_mut()?.feed(delta)?;
                return Some((writing.call.name.clone(), why));
            }
            _ => {}
        }
        None
    }

    /// The reply as far as it came, the newest call last. Reasoning is left out: it cannot be given back unfinished.
    pub(super) fn reply(&mut self) -> Reply {
        let mut content = Vec::new();
        if !self.text.is_empty() {
            content.push(AssistantPart::Text(Text::new(std::mem::take(&mut self.text))));
        }
        let calls = std::mem::take(&mut self.calls);
        content.extend(calls.into_values().map(|writing| AssistantPart::ToolCall(writing.call)));
        Reply::new(content, StopReason::ToolCalls)
    }
}
