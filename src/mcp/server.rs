//! The server of one session: which tools there are, and their calls.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool as Described,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};

use super::answer::Answer;
use super::call::Bounds;
use super::options::ServeOptions;
use super::roots::{Known, Roots};
use super::tools::{self, Place, Tool};

/// What a client may tell its model about the whole.
const INSTRUCTIONS: &str = "Tools to change files safely and to find things. A patch is applied as a whole or not at all; a \
refusal says why and shows the file as it is now. Paths are relative to the workspace, or absolute and inside it. Long \
answers are cut and say how to go on.";

/// The server of one session.
#[derive(Debug)]
pub(super) struct Server {
    options: Arc<ServeOptions>,
    bounds: Bounds,
    roots: Roots,
}

impl Server {
    /// The server of a session that shares its bounds with others.
    pub(super) fn new(options: Arc<ServeOptions>, bounds: Bounds) -> Self {
        let roots = Roots::new(&options.root, options.client_roots);
        Server { options, bounds, roots }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let identity = Implementation::new("restitch", env!("CARGO_PKG_VERSION")).with_title("restitch");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(identity)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let offered = tools::ALL.iter().filter(|tool| tool.offered(&self.options));
        Ok(ListToolsResult::with_all_items(offered.map(Tool::described).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Described> {
        tools::find(name).filter(|tool| tool.offered(&self.options)).map(Tool::described)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name).filter(|tool| tool.offered(&self.options)) else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        };
        let structured = self.options.structured;
        let trees = match self.roots.trees(&context, request.input_responses.as_ref()).await {
            Ok(Known::Trees(trees)) => trees,
            Ok(Known::Ask(question)) => return Ok(question.into()),
            Err(why) => return Ok(Answer::refused(why).result(structured).into()),
        };
        let options = self.options.clone();
        let input = request.arguments.unwrap_or_default();
        let work = move |call: &_| tool.run(input, &Place { trees: &trees, options: &options }, call);
        Ok(self.bounds.run(&context, work).await.result(structured).into())
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.roots.forget();
    }
}
