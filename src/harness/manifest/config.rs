//! The part of the manifest that `agent.toml` says: model, limits, compaction, approvals.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::types::FileRef;

/// What one `agent.toml` says, defaults filled in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Config {
    /// What the agent is for, in one or two sentences; a parent's model reads it.
    #[serde(default)]
    pub description: String,
    /// The model.
    #[serde(default)]
    pub model: Model,
    /// Where a session stops or asks.
    #[serde(default)]
    pub limits: Limits,
    /// What becomes of a history that grows too long.
    #[serde(default)]
    pub compaction: Compaction,
    /// When a person is asked before a tool runs; the first rule that fits decides, else the tool's own `ask`, else its
    /// effects.
    #[serde(default)]
    pub approvals: Vec<Approval>,
    /// Whether a reply is cut off while the model still writes a call that certainly cannot work.
    #[serde(default)]
    pub cut_short: bool,
}

/// The model, its routing decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Model {
    /// The id as written: `provider/name`, `mock/script.json`, `bootstrap`, perhaps behind `record:` or `replay:`.
    pub id: String,
    /// The part before the first `/`: whose key and address are used.
    pub provider: String,
    /// The protocol that is spoken.
    pub api: Api,
    /// The name the provider knows the model by.
    #[serde(default)]
    pub target: String,
    /// Where the provider is; `None`: its usual address.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The environment variable that holds the key; `None`: the provider needs none.
    #[serde(default)]
    pub key_env: Option<String>,
    /// The script of a mock model.
    #[serde(default)]
    pub script: Option<FileRef>,
    /// The recording of replies that is written or read instead of asking the provider.
    #[serde(default)]
    pub cassette: Option<Cassette>,
    /// How much the model is to think before it answers; `None`: the provider's default.
    #[serde(default)]
    pub reasoning: Option<Reasoning>,
    /// Tokens the model can take in, its answer included.
    pub context_window: u64,
    /// Tokens of one answer at most; `None`: the provider's default.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
    /// What it costs; without it no cost is counted.
    #[serde(default)]
    pub price: Option<Price>,
}

/// The context window that is assumed when `agent.toml` gives none.
pub const CONTEXT_WINDOW: u64 = 128_000;

impl Default for Model {
    fn default() -> Self {
        Model {
            id: "bootstrap".into(),
            provider: "bootstrap".into(),
            api: Api::Bootstrap,
            target: String::new(),
            base_url: None,
            key_env: None,
            script: None,
            cassette: None,
            reasoning: None,
            context_window: CONTEXT_WINDOW,
            max_output_tokens: None,
            price: None,
        }
    }
}

/// The protocol a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Api {
    /// The built-in echo, which needs nothing.
    Bootstrap,
    /// A script of replies and tool calls.
    Mock,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI chat completions, which many servers speak.
    OpenaiChat,
    /// Anthropic Messages.
    Anthropic,
}

/// A recording of a provider's replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Cassette {
    /// Whether it is written or read.
    pub mode: CassetteMode,
    /// Its path, relative to the agent's directory.
    pub path: String,
}

/// Whether a recording is written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CassetteMode {
    /// The provider is asked and what it says is kept.
    Record,
    /// Only what was kept is told again; the provider is never asked.
    Replay,
}

/// How much a model is to think before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reasoning {
    /// Not at all.
    None,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// The usual amount.
    Medium,
    /// A lot.
    High,
    /// As much as it can.
    Max,
}

/// United States dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens read from the provider's cache.
    pub cached_input: f64,
    /// Tokens written, thoughts included.
    pub output: f64,
}

/// What a session may use up, and what happens then. `None`: no limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct Limits {
    /// Tokens, read and written, of the whole session.
    pub tokens: Option<Limit<u64>>,
    /// Dollars of the whole session; counted only when the model has a price.
    pub cost: Option<Limit<f64>>,
    /// Model calls of one turn.
    pub steps: Option<Limit<u64>>,
    /// Milliseconds of one turn, waiting for people not counted.
    pub wall_ms: Option<Limit<u64>>,
    /// How deep subagents may call subagents.
    pub depth: u32,
    /// How many tool calls of one step run at once.
    pub fan_out: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            tokens: None,
            cost: None,
            steps: Some(Limit { max: 200, then: Then::Ask }),
            wall_ms: None,
            depth: 3,
            fan_out: 8,
        }
    }
}

/// One limit and what happens at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Limit<T> {
    /// The most.
    pub max: T,
    /// What happens when it is reached.
    pub then: Then,
}

/// What happens at a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// A person is asked whether to go on.
    #[default]
    Ask,
    /// The turn ends and names the limit.
    Stop,
}

/// When and how a long history is shortened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct Compaction {
    /// Whether it is done at all.
    pub enabled: bool,
    /// The share of the context window at which it begins, above 0 and at most 1.
    pub at: f64,
    /// The tokens of newest messages that stay as they are.
    pub keep_tokens: u64,
}

impl Default for Compaction {
    fn default() -> Self {
        Compaction { enabled: true, at: 0.9, keep_tokens: 20_000 }
    }
}

/// A rule on tool name and input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Approval {
    /// A glob on the tool's name.
    pub tool: String,
    /// Globs on top-level fields of the input: each named field must be a text that fits.
    #[serde(default)]
    pub input: BTreeMap<String, String>,
    /// When a person is asked.
    pub ask: Ask,
}

/// When a person is asked before a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Never.
    Never,
    /// Before the first call of the session.
    Once,
    /// Before every call.
    Always,
}

/// What a tool call may do to the world; drives replay after a crash, approvals and what may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Effects {
    /// Nothing, and the answer depends on the input alone.
    Pure,
    /// Nothing, but the answer depends on the world.
    Read,
    /// Something, but doing it twice is doing it once.
    Idempotent,
    /// Something that must not be done twice.
    Once,
}
