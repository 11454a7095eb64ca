use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ErrorData, Implementation,
    ProgressNotificationParam, ProtocolVersion,
};
#[expect(deprecated, reason = "roots are still part of the protocol")]
use rmcp::model::{ListRootsResult, Root};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// A directory that is removed at the end of the test.
pub(crate) struct Dir(tempfile::TempDir);

impl Dir {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let dir = Dir(tempfile::tempdir().unwrap());
        for (path, text) in files {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn uri(&self) -> String {
        format!("file://{}", self.path().canonicalize().unwrap().display())
    }
}

/// A client with roots, or without, that hands on the progress it is told.
pub(crate) struct Client {
    pub(crate) roots: Option<Mutex<Vec<String>>>,
    progress: mpsc::UnboundedSender<ProgressNotificationParam>,
}

pub(crate) type Progress = mpsc::UnboundedReceiver<ProgressNotificationParam>;

impl Client {
    pub(crate) fn new(roots: Option<Vec<String>>) -> (Self, Progress) {
        let (progress, heard) = mpsc::unbounded_channel();
        (Client { roots: roots.map(Mutex::new), progress }, heard)
    }
}

#[expect(deprecated, reason = "roots are still part of the protocol")]
impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match &self.roots {
            Some(_) => ClientCapabilities::builder().enable_roots().enable_roots_list_changed().build(),
            None => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let roots = self.roots.as_ref().map(|roots| roots.lock().unwrap().clone()).unwrap_or_default();
        Ok(ListRootsResult::new(roots.into_iter().map(Root::new).collect()))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.send(params).unwrap();
    }
}

pub(crate) type Session = RunningService<RoleClient, Client>;

/// The two ways to begin a session.
pub(crate) fn lifecycles() -> [ClientLifecycleMode; 2] {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    [ClientLifecycleMode::Initialize, ClientLifecycleMode::Discover { preferred_versions }]
}

/// The program, to be run in `dir`.
pub(crate) fn program(dir: &Path, args: &[&str]) -> tokio::process::Command {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_restitch"));
    command.arg("mcp").args(args).current_dir(dir).env_remove("RESTITCH_MCP_TOKEN").kill_on_drop(true);
    command
}

/// Starts a server in `dir` and a session with it.
pub(crate) async fn start(dir: &Path, args: &[&str]) -> Session {
    start_as(Client::new(None).0, dir, args, ClientLifecycleMode::Initialize).await
}

pub(crate) async fn start_as(client: Client, dir: &Path, args: &[&str], lifecycle: ClientLifecycleMode) -> Session {
    let transport = TokioChildProcess::new(program(dir, args)).unwrap();
    client.serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

/// The parameters of a call.
pub(crate) fn params(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}

/// Calls a tool that does what it is asked.
#[track_caller]
pub(crate) fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

pub(crate) async fn call(session: &Session, tool: &str, arguments: Value) -> CallToolResult {
    session.call_tool(params(tool, arguments)).await.unwrap()
}

/// Calls a tool that must do what it is asked: its text and data.
pub(crate) async fn done(session: &Session, tool: &str, arguments: Value) -> (String, Value) {
    let result = call(session, tool, arguments).await;
    assert_eq!(result.is_error, Some(false), "{}", text(&result));
    (text(&result).to_owned(), result.structured_content.unwrap_or_default())
}

/// Calls a tool that must refuse: its text and data.
pub(crate) async fn refused(session: &Session, tool: &str, arguments: Value) -> (String, Value) {
    let result = call(session, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{}", text(&result));
    (text(&result).to_owned(), result.structured_content.unwrap_or_default())
}

/// A patch that replaces a line.
pub(crate) fn patch(path: &str, old: &str, new: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n")})
}

/// A server over HTTP that ends with the test.
pub(crate) struct Http {
    pub(crate) url: String,
    pub(crate) token: String,
    _child: tokio::process::Child,
}

impl Http {
    pub(crate) async fn start(dir: &Path, args: &[&str]) -> Self {
        use tokio::io::{AsyncBufReadExt as _, BufReader};
        let mut child = program(dir, &[&["--http", "0"], args].concat())
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = async |word: &str| {
            let line = lines.next_line().await.unwrap().unwrap();
            line.strip_prefix(word).unwrap_or_else(|| panic!("{word} is expected: {line}")).trim().to_owned()
        };
        Http { url: next("serving").await, token: next("token").await, _child: child }
    }

    pub(crate) async fn session(&self, client: Client, lifecycle: ClientLifecycleMode) -> Session {
        use rmcp::transport::StreamableHttpClientTransport;
        use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
        // With the harness built in, the client's HTTP library is the one that wants to be told how to do TLS.
        #[cfg(feature = "harness")]
        drop(rustls::crypto::ring::default_provider().install_default());
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str()).auth_header(self.token.as_str());
        let transport = StreamableHttpClientTransport::from_config(config);
        client.serve_with_lifecycle(transport, lifecycle).await.unwrap()
    }

    /// Sends raw bytes and returns what comes back until the server closes.
    pub(crate) async fn raw(&self, request: &str) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let address = self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let request = request.replace("HOST", address).replace("TOKEN", &self.token);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        // A server that neither answers nor closes must not hold the test.
        let read = stream.read_to_end(&mut answer);
        tokio::time::timeout(std::time::Duration::from_secs(60), read).await.unwrap().unwrap();
        String::from_utf8(answer).unwrap()
    }
}
