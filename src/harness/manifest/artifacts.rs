//! What a build leaves behind: `artifacts/manifest.json`, `diagnostics.json` and `metadata.json`.
//!
//! All files of a build are written in one transaction. A build with errors writes `diagnostics.json` alone, so the
//! manifest of the last good build and its metadata stay as they are.

use serde_json::{Value, json};

use super::check::FileError;
use super::compile::Compilation;
use super::source::{Source, read};
use super::types::{FileRef, Manifest};
use super::wire::{ManifestError, canonical};
use crate::{ApplyError, ApplyOptions, Digest, Overwrite, PlanOptions, Policy, RelPath, SourceError, Workspace};

/// Bytes of a manifest that is loaded.
const MAX_MANIFEST: u64 = 64 << 20;

/// One file of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// Its name in the directory of artifacts.
    pub name: &'static str,
    /// Its text; ends with a line feed.
    pub text: String,
}

impl Compilation {
    /// The files that this build writes. Equal compilations give equal files.
    #[must_use]
    pub fn artifacts(&self) -> Vec<Artifact> {
        let diagnostics = json!({
            "kind": "restitch-agent-diagnostics",
            "version": 1,
            "diagnostics": serde_json::to_value(&self.diagnostics).expect("findings are texts and numbers"),
        });
        let mut artifacts = vec![Artifact { name: "diagnostics.json", text: canonical(&diagnostics) }];
        if let Some(manifest) = &self.manifest {
            let text = manifest.to_json();
            artifacts.push(Artifact { name: "metadata.json", text: canonical(&metadata(&self.inputs, &text)) });
            artifacts.push(Artifact { name: "manifest.json", text });
        }
        artifacts
    }

    /// Writes the files of this build to `<state>/artifacts/` below the root of `workspace`: all of them, or none.
    ///
    /// # Errors
    /// [`ApplyError`] when they cannot be written; those of the last build are then untouched.
    pub fn write(&self, workspace: &Workspace, state: &RelPath) -> Result<(), ApplyError> {
        hide_state(workspace, state)?;
        let mut patch = String::from("*** Begin Patch\n");
        for Artifact { name, text } in self.artifacts() {
            patch.push_str(&format!("*** Add File: {state}/artifacts/{name}\n"));
            text.lines().for_each(|line| patch.extend(["+", line, "\n"]));
        }
        patch.push_str("*** End Patch\n");
        let policy = Policy::default().overwrite(Overwrite::Allow);
        ApplyOptions::default().plan(PlanOptions::default().policy(policy)).apply(workspace, patch.as_bytes()).map(drop)
    }
}

/// Puts a `.gitignore` into the folder of `state` if there is none, so that what the program keeps there is neither
/// committed nor found by searches of the project.
///
/// # Errors
/// [`ApplyError`] when it cannot be written.
pub fn hide_state(workspace: &Workspace, state: &RelPath) -> Result<(), ApplyError> {
    let folder = state.parts().next().unwrap_or(state.as_str());
    let patch = format!("*** Begin Patch\n*** Add File: {folder}/.gitignore\n+*\n*** End Patch\n");
    let path = RelPath::new(format!("{folder}/.gitignore").as_bytes());
    if path.is_ok_and(|path| matches!(workspace.stat(&path), Ok(Some(_)))) {
        return Ok(());
    }
    ApplyOptions::default().apply(workspace, patch.as_bytes()).map(drop)
}

/// The hashes of all that went in and of what came out.
fn metadata(inputs: &[FileRef], manifest: &str) -> Value {
    json!({
        "kind": "restitch-agent-metadata",
        "version": 1,
        "program": concat!("restitch ", env!("CARGO_PKG_VERSION")),
        "inputs": serde_json::to_value(inputs).expect("files are texts and numbers"),
        "outputs": [{
            "path": "manifest.json",
            "hash": Digest::of(manifest.as_bytes()).to_string(),
            "bytes": manifest.len(),
        }],
    })
}

/// Why the manifest of the last build cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// It cannot be read.
    #[error("{path} {error}; build the agent with `restitch agent build`")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        error: SourceError,
    },
    /// It is no manifest this version runs.
    #[error("{path}: {error}")]
    Manifest {
        /// The file.
        path: String,
        /// Why.
        error: ManifestError,
    },
    /// Files it names are gone or have changed.
    #[error("{path} is out of date: {}; build the agent again with `restitch agent build`", list(files))]
    Files {
        /// The file.
        path: String,
        /// All that is wrong, sorted by path.
        files: Vec<FileError>,
    },
}

fn list(files: &[FileError]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = files.iter().take(SHOWN).map(ToString::to_string).collect();
    if files.len() > SHOWN {
        shown.push(format!("{} more", files.len() - SHOWN));
    }
    shown.join("; ")
}

/// Loads the manifest that the last good build wrote below `state`, and checks all of it: its form, and that the files
/// in `source` are those it was made from. Gives besides the optional features that are not known.
///
/// # Errors
/// [`LoadError`] names the file.
pub fn load(workspace: &Workspace, state: &RelPath, source: &dyn Source) -> Result<(Manifest, Vec<String>), LoadError> {
    let name = format!("{state}/artifacts/manifest.json");
    let unreadable = |error| LoadError::Unreadable { path: name.clone(), error };
    let path = RelPath::new(name.as_bytes()).expect("a checked path with fixed parts");
    let bytes = read(workspace, &path, MAX_MANIFEST).map_err(unreadable)?;
    let (manifest, unknown) =
        Manifest::from_json(&bytes).map_err(|error| LoadError::Manifest { path: name.clone(), error })?;
    let files = manifest.check_files(source);
    if files.is_empty() {
        return Ok((manifest, unknown));
    }
    Err(LoadError::Files { path: name, files })
}
