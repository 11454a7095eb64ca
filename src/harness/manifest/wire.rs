//! The manifest as bytes: canonical JSON out, and every reason to refuse what comes in.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::check;
use super::fields::clip;
use super::types::{KIND, Manifest, VERSION};

/// The features this version knows, sorted.
pub const FEATURES: &[&str] = &[
    "channels",
    "connections",
    "executables",
    "hooks",
    "modules",
    "remotes",
    "sandbox",
    "schedules",
    "skills",
    "subagents",
    "workspace",
];

/// Why bytes are no manifest that this version runs. Each says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Not JSON, or an object with one key twice.
    #[error("line {line}, column {column}: {message}; build the agent again")]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// JSON, but something else than a manifest.
    #[error("its `kind` is {0}, not \"restitch-agent-manifest\"; is it the right file?")]
    Kind(String),
    /// A manifest of another version.
    #[error(
        "it has version {0}, and this program reads version 1; build the agent again with this program, or run it with the one that built it"
    )]
    Version(String),
    /// It uses something this version does not know and must not leave out.
    #[error(
        "it requires the feature `{0}`, which this version does not know; a newer version of the program is needed"
    )]
    Feature(String),
    /// It does not have the form of a manifest.
    #[error("`{path}`: {message}; build the agent again")]
    Form {
        /// Where, as a JSON pointer.
        path: String,
        /// What is wrong there.
        message: String,
    },
    /// Its parts do not fit together.
    #[error("{0}; build the agent again")]
    Structure(String),
}

impl Manifest {
    /// The manifest as canonical JSON: keys sorted, two spaces a level, one line feed at the end. Equal manifests give
    /// equal bytes.
    #[must_use]
    pub fn to_json(&self) -> String {
        canonical(&serde_json::to_value(self).expect("a manifest has text keys and finite numbers only"))
    }

    /// Reads a manifest and checks it: kind, version, features, form, and that its parts fit together. Fields it does
    /// not know are passed over. Gives besides the optional features that are not known.
    ///
    /// Whether the files it names are still what they were is for [`Manifest::check_files`].
    ///
    /// # Errors
    /// [`ManifestError`] names the first reason to refuse it.
    pub fn from_json(bytes: &[u8]) -> Result<(Self, Vec<String>), ManifestError> {
        let Strict(value) = serde_json::from_slice(bytes).map_err(|error| ManifestError::Json {
            line: error.line(),
            column: error.column(),
            message: before(&error.to_string(), " at line "),
        })?;
        let unknown = envelope(&value)?;
        if let Err(error) = validator().validate(&value) {
            let path = error.instance_path().to_string();
            let path = if path.is_empty() { "/".to_owned() } else { path };
            return Err(ManifestError::Form { path, message: clip(&error.to_string()) });
        }
        let manifest: Manifest = serde_json::from_value(value)
            .map_err(|error| ManifestError::Form { path: "/".into(), message: clip(&error.to_string()) })?;
        check::structure(&manifest).map_err(ManifestError::Structure)?;
        Ok((manifest, unknown))
    }

    /// The JSON Schema of manifests of this version.
    #[must_use]
    pub fn schema() -> Value {
        let mut schema = schemars::schema_for!(Manifest);
        schema.insert("$id".into(), "urn:restitch:agent-manifest:1".into());
        for (field, value) in [("kind", Value::from(KIND)), ("version", Value::from(VERSION))] {
            if let Some(property) = schema.pointer_mut(&format!("/properties/{field}")).and_then(Value::as_object_mut) {
                property.insert("const".into(), value);
            }
        }
        schema.to_value()
    }
}

/// Any value as canonical JSON.
pub(super) fn canonical(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&value).expect("a JSON value can be written");
    text.push('\n');
    text
}

/// Checks kind, version and features before the form, which another version may have changed.
fn envelope(value: &Value) -> Result<Vec<String>, ManifestError> {
    let shown = |value: Option<&Value>| value.map_or_else(|| "missing".to_owned(), |value| clip(&value.to_string()));
    if value.get("kind").and_then(Value::as_str) != Some(KIND) {
        return Err(ManifestError::Kind(shown(value.get("kind"))));
    }
    if value.get("version").and_then(Value::as_u64) != Some(VERSION.into()) {
        return Err(ManifestError::Version(shown(value.get("version"))));
    }
    let mut unknown = Vec::new();
    for feature in value.get("features").and_then(Value::as_array).into_iter().flatten() {
        let name = feature.get("name").and_then(Value::as_str).unwrap_or_default();
        if FEATURES.contains(&name) {
            continue;
        }
        // Without a word on it, leaving it out may be wrong.
        if feature.get("required").and_then(Value::as_bool) != Some(false) {
            return Err(ManifestError::Feature(clip(name)));
        }
        unknown.push(clip(name));
    }
    Ok(unknown)
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&Manifest::schema()).expect("the schema of a Rust type is a JSON Schema")
}

fn before(text: &str, mark: &str) -> String {
    text.split_once(mark).map_or(text, |(before, _)| before).to_owned()
}

/// A JSON value of which no object has a key twice.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Strict(value)) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some((key, Strict(value))) = map.next_entry::<String, Strict>()? {
            if values.contains_key(&key) {
                return Err(de::Error::custom(format_args!("the key `{}` is there twice", clip(&key))));
            }
            values.insert(key, value);
        }
        Ok(Value::Object(values))
    }
}
