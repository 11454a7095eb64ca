//! Which trees a client may reach: the server's own root and what the client says its roots are.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
#[expect(deprecated, reason = "the protocol's newest version keeps roots while it advises against them")]
use rmcp::model::{
    InputRequest, InputRequests, InputRequiredResult, InputResponses, ListRootsRequest, ListRootsResult,
    ProtocolVersion,
};
use rmcp::service::RequestContext;

use super::options::ClientRoots;
use crate::Workspace;

/// How long a client may take to name its roots.
const WAIT: Duration = Duration::from_secs(10);

/// The most roots of a client that are looked at.
const MOST: usize = 64;

/// Under which name the client's answer comes back, where it is asked by way of the answer to its call.
const KEY: &str = "roots";

/// The trees that calls of one client may reach; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trees(Vec<PathBuf>);

impl Trees {
    /// The tree that a path of a call belongs to: the innermost that holds it, or the first.
    pub(super) fn of(&self, path: &str) -> &Path {
        let path = Path::new(path);
        let holds = self.0.iter().filter(|root| path.starts_with(root));
        holds.max_by_key(|root| root.components().count()).unwrap_or(&self.0[0])
    }

    /// The tree that a call names as its root: by its path, or the first when it names none.
    pub(super) fn named(&self, root: &str) -> Option<&Path> {
        let tree = if root.is_empty() { self.0.first() } else { self.0.iter().find(|tree| *tree == Path::new(root)) };
        tree.map(PathBuf::as_path)
    }

    /// All trees, as a call may name them.
    pub(super) fn names(&self) -> String {
        let names: Vec<String> = self.0.iter().map(|tree| format!("`{}`", tree.display())).collect();
        names.join(", ")
    }

    /// One tree.
    #[cfg(test)]
    pub(super) fn only(tree: &Path) -> Self {
        Trees(vec![tree.to_owned()])
    }

    /// Whether answers should say which tree they are about.
    pub(super) fn several(&self) -> bool {
        self.0.len() > 1
    }
}

/// What is known of the roots.
pub(super) enum Known {
    Trees(Arc<Trees>),
    /// The client must be asked first, by way of the answer to its call.
    Ask(InputRequiredResult),
}

/// The roots of one session.
#[derive(Debug)]
pub(super) struct Roots {
    own: PathBuf,
    client: ClientRoots,
    known: Mutex<Option<Arc<Trees>>>,
}

impl Roots {
    pub(super) fn new(own: &Path, client: ClientRoots) -> Self {
        Roots { own: own.to_owned(), client, known: Mutex::new(None) }
    }

    /// The client's roots have changed: they are asked for again when they are needed next.
    pub(super) fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The trees of this call; the client is asked when that has not been done. `Err` is for the model to read.
    pub(super) async fn trees(
        &self,
        context: &RequestContext<RoleServer>,
        told: Option<&InputResponses>,
    ) -> Result<Known, String> {
        if let Some(trees) = &*self.known.lock().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Known::Trees(trees.clone()));
        }
        let capable = context.client_capabilities().is_some_and(|capabilities| capabilities.roots.is_some());
        let named = match (self.client, capable) {
            (ClientRoots::Ignore, _) | (_, false) => Vec::new(),
            _ => match self.ask(context, told).await? {
                Asked::Told(uris) => uris,
                Asked::Later(question) => return Ok(Known::Ask(question)),
            },
        };
        let trees = Arc::new(combine(&self.own, self.client, &named)?);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(trees.clone());
        Ok(Known::Trees(trees))
    }

    /// The addresses of the client's roots.
    #[expect(deprecated, reason = "the protocol's newest version keeps roots while it advises against them")]
    async fn ask(&self, context: &RequestContext<RoleServer>, told: Option<&InputResponses>) -> Result<Asked, String> {
        let refused = |why: String| format!("the client has roots but does not name them: {why}; nothing was done");
        let inline = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let roots = if !inline {
            let answer = tokio::time::timeout(WAIT, context.peer.list_roots()).await;
            answer
                .map_err(|_| refused("no answer in 10 seconds".into()))?
                .map_err(|error| refused(error.to_string()))?
        } else if let Some(value) = told.and_then(|told| told.get(KEY)) {
            serde_json::from_value::<ListRootsResult>(value.clone()).map_err(|error| refused(error.to_string()))?
        } else {
            let question = InputRequest::ListRoots(ListRootsRequest::default());
            let questions = InputRequests::from([(KEY.to_owned(), question)]);
            return Ok(Asked::Later(InputRequiredResult::from_input_requests(questions)));
        };
        Ok(Asked::Told(roots.roots.into_iter().take(MOST).map(|root| root.uri).collect()))
    }
}

enum Asked {
    Told(Vec<String>),
    Later(InputRequiredResult),
}

/// The trees that follow from the server's own root and the client's.
fn combine(own: &Path, client: ClientRoots, uris: &[String]) -> Result<Trees, String> {
    let resolved = resolve(own).map_err(|why| format!("the server's root {why}"))?;
    if uris.is_empty() {
        return Ok(Trees(vec![resolved]));
    }
    let mut trees: Vec<PathBuf> = Vec::new();
    let mut problems = Vec::new();
    for uri in uris {
        let found = path_of(uri).and_then(|path| resolve(&path)).and_then(|root| match client {
            ClientRoots::Trust => Ok(root),
            _ if root.starts_with(&resolved) => Ok(root),
            _ if resolved.starts_with(&root) => Ok(resolved.clone()),
            _ => Err(format!("`{}` has nothing in common with the server's root", root.display())),
        });
        match found {
            Ok(root) if trees.contains(&root) => {}
            Ok(root) => trees.push(root),
            Err(why) => problems.push(why),
        }
    }
    if trees.is_empty() {
        let own = resolved.display();
        let why = problems.join("; ");
        return Err(format!(
            "none of the client's roots can be served ({why}); the server's root is `{own}`, start it with another --root"
        ));
    }
    Ok(Trees(trees))
}

/// A directory with its links resolved.
fn resolve(root: &Path) -> Result<PathBuf, String> {
    let workspace = Workspace::open(root).map_err(|error| format!("`{}` cannot be opened: {error}", root.display()))?;
    Ok(workspace.path().to_owned())
}

/// The path that a `file:` address names.
fn path_of(uri: &str) -> Result<PathBuf, String> {
    use std::os::unix::ffi::OsStringExt as _;
    let wrong = || format!("`{uri}` is no address of a local directory");
    let rest = uri.strip_prefix("file://").ok_or_else(wrong)?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(wrong());
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let plain = if byte == b'%' {
            let digits = [rest.next().unwrap_or(b' '), rest.next().unwrap_or(b' ')];
            let digits = str::from_utf8(&digits).map_err(|_| wrong())?;
            u8::from_str_radix(digits, 16).map_err(|_| wrong())?
        } else {
            byte
        };
        bytes.push(plain);
    }
    Ok(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_decoded() {
        let cases = [
            ("file:///a/b", Some("/a/b")),
            ("file://localhost/a", Some("/a")),
            ("file:///a%20b/%C3%A9", Some("/a b/é")),
            ("file:///", Some("/")),
            ("file:///a%2", None),
            ("file:///a%zz", None),
            ("file://elsewhere/a", None),
            ("https://a/b", None),
            ("/a/b", None),
            ("", None),
        ];
        for (uri, want) in cases {
            assert_eq!(path_of(uri).ok().as_deref(), want.map(Path::new), "{uri}");
        }
    }

    #[test]
    fn a_path_belongs_to_the_innermost_tree_that_holds_it() {
        let trees = Trees(["/a", "/b", "/b/c"].map(PathBuf::from).to_vec());
        for (path, want) in [("x", "/a"), ("/b/x", "/b"), ("/b/c/x", "/b/c"), ("/bb/x", "/a"), ("/elsewhere", "/a")] {
            assert_eq!(trees.of(path), Path::new(want), "{path}");
        }
    }

    #[test]
    fn roots_of_the_client_narrow_the_own_root_or_replace_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = resolve(dir.path()).unwrap();
        for name in ["own/inner", "other"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        let own = base.join("own");
        let uri = |name: &str| format!("file://{}", base.join(name).display());
        let combined = |client, names: &[&str]| {
            combine(&own, client, &names.iter().map(|name| uri(name)).collect::<Vec<_>>()).map(|trees| {
                trees
                    .0
                    .iter()
                    .map(|tree| tree.strip_prefix(&base).unwrap().to_str().unwrap().to_owned())
                    .collect::<Vec<_>>()
            })
        };
        use ClientRoots::{Trust, Within};
        assert_eq!(combined(Within, &[]).unwrap(), ["own"]);
        assert_eq!(combined(Within, &["own/inner", "other", "gone"]).unwrap(), ["own/inner"]);
        assert_eq!(combined(Within, &["", "own"]).unwrap(), ["own"]);
        assert_eq!(combined(Trust, &["other", "own/inner"]).unwrap(), ["other", "own/inner"]);
        let error = combined(Within, &["other"]).unwrap_err();
        assert!(error.contains("other") && error.contains("--root"), "{error}");
        combined(Trust, &["gone"]).unwrap_err();
    }
}
