//! What does not change: the agent a session is run with, and what a turn is asked for.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::approval::{ApprovalError, Approvals};
use super::manifest::Config;
use super::model::Model;
use super::sandbox::Seeds;
use super::skills::Skills;
use super::tools::Registry;

/// What a session is run with. Shared by all sessions of one agent.
#[derive(Debug)]
pub struct Agent {
    pub(super) name: String,
    pub(super) manifest: String,
    pub(super) prompt: String,
    pub(super) preamble: Vec<String>,
    pub(super) model: Arc<dyn Model>,
    pub(super) tools: Registry,
    pub(super) skills: Skills,
    pub(super) seeds: Seeds,
    pub(super) variables: BTreeMap<String, String>,
    pub(super) config: Config,
    pub(super) approvals: Approvals,
}

impl Agent {
    /// An agent without instructions and tools.
    ///
    /// # Errors
    /// [`ApprovalError`] when an approval rule of `config` is no glob.
    pub fn new(name: impl Into<String>, model: Arc<dyn Model>, config: Config) -> Result<Self, ApprovalError> {
        Ok(Agent {
            name: name.into(),
            manifest: String::new(),
            prompt: String::new(),
            preamble: Vec::new(),
            model,
            tools: Registry::new(),
            skills: Skills::default(),
            seeds: Seeds::default(),
            variables: BTreeMap::new(),
            approvals: Approvals::new(&config.approvals)?,
            config,
        })
    }

    /// Sets the fingerprint of the manifest it was made from. Default: empty.
    #[must_use]
    pub fn manifest(mut self, hash: impl Into<String>) -> Self {
        self.manifest = hash.into();
        self
    }

    /// Sets the base prompt. A session keeps the one it began with. Default: empty.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// Sets texts that stand as user messages before the first one. Default: none.
    #[must_use]
    pub fn preamble(mut self, texts: Vec<String>) -> Self {
        self.preamble = texts;
        self
    }

    /// Sets the tools. Default: none.
    #[must_use]
    pub fn tools(mut self, tools: Registry) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the skills. Default: none.
    #[must_use]
    pub fn skills(mut self, skills: Skills) -> Self {
        self.skills = skills;
        self
    }

    /// Sets the files that a new session's workspace gets if it lacks them. Default: none.
    #[must_use]
    pub fn seeds(mut self, seeds: Seeds) -> Self {
        self.seeds = seeds;
        self
    }

    /// Sets the environment variables that programs may be given. Default: none.
    #[must_use]
    pub fn variables(mut self, variables: BTreeMap<String, String>) -> Self {
        self.variables = variables;
        self
    }
}

/// What a turn is asked for besides its message.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct TurnOptions {
    /// The JSON Schema that the answer must fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
}

impl TurnOptions {
    /// Sets the JSON Schema that the answer must fit. Default: none, free text.
    #[must_use]
    pub fn output_schema(mut self, schema: Option<Value>) -> Self {
        self.output_schema = schema;
        self
    }
}
