//! From a manifest's model to something that answers.
//!
//! In this order: the bootstrap model, the mock model, a model defined in code, else a provider over HTTP; a
//! cassette wraps any of them.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use reqwest::Url;

use super::bootstrap::BootstrapModel;
use super::cassette::{RecordingModel, ReplayModel};
use super::error::{ErrorKind, ModelError};
use super::http::{Endpoint, HttpModel, HttpOptions};
use super::protocol::Protocol;
use super::scripted::ScriptedModel;
use super::{Model, ModelInfo};
use crate::harness::credentials::Secret;
use crate::harness::manifest::{Api, CassetteMode, Model as Settings};

/// The surroundings in which a model is opened.
pub struct ModelSetup<'a> {
    variable: &'a dyn Fn(&str) -> Option<String>,
    file: &'a dyn Fn(&str) -> std::io::Result<Vec<u8>>,
    directory: &'a Path,
    defined: BTreeMap<String, Arc<dyn Model>>,
    http: HttpOptions,
}

impl<'a> ModelSetup<'a> {
    /// `variable` looks up environment variables, `file` reads files of the agent by path, `directory` is the
    /// agent's, where cassettes are.
    #[must_use]
    pub fn new(
        variable: &'a dyn Fn(&str) -> Option<String>,
        file: &'a dyn Fn(&str) -> std::io::Result<Vec<u8>>,
        directory: &'a Path,
    ) -> Self {
        Self { variable, file, directory, defined: BTreeMap::new(), http: HttpOptions::default() }
    }

    /// Defines the model `id` in code; it comes before any provider of that name. None by default.
    #[must_use]
    pub fn define(mut self, id: impl Into<String>, model: Arc<dyn Model>) -> Self {
        self.defined.insert(id.into(), model);
        self
    }

    /// Sets the bounds of calls over HTTP. See [`HttpOptions`] for their defaults.
    #[must_use]
    pub fn http(mut self, options: HttpOptions) -> Self {
        self.http = options;
        self
    }

    /// Opens a model. Connects to nothing yet; a replayed one needs neither key nor server.
    ///
    /// # Errors
    ///
    /// A key is missing, an address is malformed, or a script or cassette cannot be read. The message is one
    /// sentence that says what to set.
    pub fn open(&self, settings: &Settings) -> Result<Arc<dyn Model>, ModelError> {
        let info = ModelInfo::new(&settings.id).context_window(Some(settings.context_window));
        let Some(cassette) = &settings.cassette else { return self.plain(settings, info) };
        let path = self.directory.join(&cassette.path);
        match cassette.mode {
            CassetteMode::Replay => Ok(Arc::new(ReplayModel::new(info, &path)?)),
            CassetteMode::Record => Ok(Arc::new(RecordingModel::new(self.plain(settings, info)?, &path)?)),
        }
    }

    fn plain(&self, settings: &Settings, info: ModelInfo) -> Result<Arc<dyn Model>, ModelError> {
        let protocol = match settings.api {
            Api::Bootstrap => return Ok(Arc::new(BootstrapModel::default())),
            Api::Mock => return Ok(Arc::new(self.script(settings)?.info(info))),
            Api::OpenaiResponses => Protocol::OpenaiResponses,
            Api::OpenaiChat => Protocol::OpenaiChat,
            Api::Anthropic => Protocol::AnthropicMessages,
        };
        let plain_id = settings.id.trim_start_matches("record:").trim_start_matches("replay:");
        if let Some(model) = self.defined.get(plain_id) {
            return Ok(Arc::clone(model));
        }
        let endpoint = self.endpoint(settings, protocol)?;
        Ok(Arc::new(HttpModel::new(info, &settings.target, endpoint, self.http)?))
    }

    fn script(&self, settings: &Settings) -> Result<ScriptedModel, ModelError> {
        let Some(script) = &settings.script else {
            return Err(ModelError::new(
                ErrorKind::Config,
                "the mock model has no script: set model.script in agent.toml",
            ));
        };
        let bytes = (self.file)(&script.path).map_err(|error| {
            ModelError::new(ErrorKind::Script, format!("the script {} cannot be read: {error}", script.path))
        })?;
        ScriptedModel::parse(&bytes).map_err(|error| ModelError::new(error.kind(), format!("{}: {error}", script.path)))
    }

    fn endpoint(&self, settings: &Settings, protocol: Protocol) -> Result<Endpoint, ModelError> {
        let base_url = base_url(settings, protocol)?;
        let first_party = base_url.host_str() == Url::parse(home(protocol)).ok().as_ref().and_then(Url::host_str);
        Ok(Endpoint {
            provider: settings.provider.clone(),
            protocol,
            key: self.key(settings)?,
            key_variable: settings.key_env.clone(),
            headers: Vec::new(),
            first_party,
            proxy: self.proxy(&base_url),
            base_url,
        })
    }

    fn key(&self, settings: &Settings) -> Result<Option<Secret>, ModelError> {
        let Some(variable) = &settings.key_env else { return Ok(None) };
        match self.set(variable) {
            Some(key) => Ok(Some(Secret::new(&key))),
            None => Err(ModelError::new(ErrorKind::NoKey, no_key(settings, variable))),
        }
    }

    /// A variable that is set to something.
    fn set(&self, variable: &str) -> Option<String> {
        (self.variable)(variable).filter(|value| !value.trim().is_empty())
    }

    /// The proxy that the usual variables name, and the hosts it is not for.
    fn proxy(&self, url: &Url) -> Option<(String, String)> {
        // A server's request header may set HTTP_PROXY in some surroundings, so only the lower case counts.
        let names: &[&str] = match url.scheme() {
            "https" => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
            _ => &["http_proxy", "all_proxy", "ALL_PROXY"],
        };
        let proxy = names.iter().find_map(|name| self.set(name))?;
        Some((proxy, self.set("no_proxy").or_else(|| self.set("NO_PROXY")).unwrap_or_default()))
    }
}

impl std::fmt::Debug for ModelSetup<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let defined: Vec<&String> = self.defined.keys().collect();
        f.debug_struct("ModelSetup")
            .field("directory", &self.directory)
            .field("defined", &defined)
            .finish_non_exhaustive()
    }
}

fn no_key(settings: &Settings, variable: &str) -> String {
    let provider = &settings.provider;
    match settings.base_url {
        Some(_) => format!("no key for {provider}: set the variable {variable}, or take key_env out of agent.toml"),
        None => format!(
            "no key for {provider}: set the variable {variable}, or set base_url in agent.toml to a server that needs none"
        ),
    }
}

/// Where a protocol's maker serves it.
fn home(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiResponses | Protocol::OpenaiChat => "https://api.openai.com/v1",
        Protocol::AnthropicMessages => "https://api.anthropic.com/v1",
    }
}

/// The address below which the protocol's paths are. One without a path gets the usual `/v1`.
fn base_url(settings: &Settings, protocol: Protocol) -> Result<Url, ModelError> {
    let bad = |why: String| ModelError::new(ErrorKind::Config, format!("base_url in agent.toml {why}"));
    let written = match &settings.base_url {
        Some(url) => url.as_str(),
        None if protocol == Protocol::OpenaiChat && settings.provider != "openai" => {
            return Err(bad(format!("is missing: set it to the address of {}", settings.provider)));
        }
        None => home(protocol),
    };
    let mut url = Url::parse(written).map_err(|error| bad(format!("is no address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("must begin with http:// or https://".to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("holds a name or password: put the key in a variable and name it in key_env".to_owned()));
    }
    if url.path() == "/" {
        url.set_path("/v1");
    }
    Ok(url)
}
