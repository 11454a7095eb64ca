//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::types::Message;
use crate::harness::manifest::Reasoning;
use crate::harness::tools::ToolSpec;

/// One call of a model, borrowed from the session that makes it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The base prompt; the same bytes for the whole session, or the provider's prompt cache is lost.
    pub system: &'a str,
    /// The history, oldest first.
    pub messages: &'a [Message],
    /// The tools on offer, in a fixed order (they are part of the cached prefix).
    pub tools: &'a [ToolSpec],
    /// Whether and how tools may be called.
    pub tool_choice: ToolChoice<'a>,
    /// Whether one answer may hold several calls.
    pub parallel_calls: bool,
    /// A form the answer's text must have.
    pub output: Option<OutputFormat<'a>>,
    /// How hard the model shall think; its own default when absent.
    pub effort: Option<Effort>,
    /// The most tokens the answer may have; the provider's default when absent.
    pub max_output_tokens: Option<u64>,
    /// Sampling temperature; the provider's default when absent.
    pub temperature: Option<f64>,
    /// Names the session, for cache routing. Empty: none.
    pub session: &'a str,
    /// The number of this model call within its session, from 0. It must not change when the call is made
    /// again after a crash: a scripted model finds its line by it.
    pub step: u64,
}

impl<'a> Request<'a> {
    /// A request without tools, with every option at its default.
    #[must_use]
    pub fn new(system: &'a str, messages: &'a [Message]) -> Self {
        Self {
            system,
            messages,
            tools: &[],
            tool_choice: ToolChoice::Auto,
            parallel_calls: true,
            output: None,
            effort: None,
            max_output_tokens: None,
            temperature: None,
            session: "",
            step: 0,
        }
    }

    /// Offers tools. None by default.
    #[must_use]
    pub fn tools(mut self, tools: &'a [ToolSpec]) -> Self {
        self.tools = tools;
        self
    }

    /// Says whether tools may be called. [`ToolChoice::Auto`] by default.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice<'a>) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Says whether one answer may hold several calls. Allowed by default.
    #[must_use]
    pub fn parallel_calls(mut self, allowed: bool) -> Self {
        self.parallel_calls = allowed;
        self
    }

    /// Asks for text of a given form. Free text by default.
    #[must_use]
    pub fn output(mut self, format: Option<OutputFormat<'a>>) -> Self {
        self.output = format;
        self
    }

    /// Sets the reasoning effort. The provider's own by default.
    #[must_use]
    pub fn effort(mut self, effort: Option<Effort>) -> Self {
        self.effort = effort;
        self
    }

    /// Bounds the answer. The provider's own bound by default.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: Option<u64>) -> Self {
        self.max_output_tokens = tokens;
        self
    }

    /// Sets the sampling temperature. The provider's own by default.
    #[must_use]
    pub fn temperature(mut self, temperature: Option<f64>) -> Self {
        self.temperature = temperature;
        self
    }

    /// Names the session and the number of the call in it. No session, call 0 by default.
    #[must_use]
    pub fn call(mut self, session: &'a str, step: u64) -> Self {
        self.session = session;
        self.step = step;
        self
    }
}

/// Whether tools may be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice<'a> {
    /// The model decides.
    #[default]
    Auto,
    /// No tool may be called, though they stay on offer (their removal would cost the prompt cache).
    None,
    /// Some tool must be called.
    Required,
    /// This tool must be called.
    Tool(&'a str),
}

/// A form the answer's text must have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OutputFormat<'a> {
    /// A short name for the form: letters, digits, `_`, `-`.
    pub name: &'a str,
    /// JSON Schema of the whole text. Providers enforce only a part of the language: check the answer too.
    pub schema: &'a Value,
}

impl<'a> OutputFormat<'a> {
    /// Text that is one JSON value of this schema.
    #[must_use]
    pub fn new(name: &'a str, schema: &'a Value) -> Self {
        Self { name, schema }
    }
}

/// How hard a model shall think. Protocols with fewer levels take the nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effort {
    /// Not at all, where the provider lets that be chosen.
    None,
    /// As little as possible.
    Minimal,
    /// A little.
    Low,
    /// The usual amount.
    Medium,
    /// A lot.
    High,
    /// As much as the model can.
    Max,
}

impl From<Reasoning> for Effort {
    fn from(written: Reasoning) -> Self {
        match written {
            Reasoning::None => Self::None,
            Reasoning::Minimal => Self::Minimal,
            Reasoning::Low => Self::Low,
            Reasoning::Medium => Self::Medium,
            Reasoning::High => Self::High,
            Reasoning::Max => Self::Max,
        }
    }
}
