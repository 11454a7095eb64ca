//! Drives `restitch mcp` through every tool, as an agent would: looks around, sends a patch that is refused, mends it,
//! checks it, applies it and undoes it.
//!
//! `cargo run --features mcp-client --example mcp_client` builds the server, too. Another program that speaks the protocol
//! can be given as the argument, with its own arguments.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "an example makes its own tree and talks")]

use std::path::{Path, PathBuf};

use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Value, json};

type Error = Box<dyn std::error::Error>;
type Session = RunningService<RoleClient, ()>;

const FILE: &str = "def greet(name):\n    return \"Hello \" + name\n";

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Error> {
    let mut words = std::env::args_os().skip(1);
    let program = words.next().map_or_else(beside, |word| Ok(PathBuf::from(word)))?;
    let mut args: Vec<_> = words.collect();
    if args.is_empty() {
        args.push("mcp".into());
    }
    let root = std::env::temp_dir().join(format!("restitch-client-{}", std::process::id()));
    std::fs::create_dir_all(&root)?;
    std::fs::write(root.join("greet.py"), FILE)?;
    let mut command = tokio::process::Command::new(program);
    command.args(args).current_dir(&root);
    drive(command, &root).await?;
    std::fs::remove_dir_all(&root)?;
    println!("every tool did what it should");
    Ok(())
}

/// The `restitch` that was built together with this example.
fn beside() -> Result<PathBuf, Error> {
    let example = std::env::current_exe()?;
    let target = example.parent().and_then(Path::parent).ok_or("the example lies in no build directory")?;
    let program = target.join("restitch");
    let built = program.exists().then_some(program);
    built.ok_or_else(|| "build the server first: cargo build --features mcp".into())
}

/// Uses every tool of the server in a tree with the one file.
pub(crate) async fn drive(command: tokio::process::Command, root: &Path) -> Result<(), Error> {
    let session = ().serve(TokioChildProcess::new(command)?).await?;
    let tools = session.list_all_tools().await?;
    let mut unused: Vec<String> = tools.iter().map(|tool| tool.name.to_string()).collect();
    println!("tools: {}", unused.join(", "));
    let mut call = async |tool: &str, arguments: Value, works: bool| {
        unused.retain(|name| name != tool);
        called(&session, tool, arguments, works).await
    };

    call("glob", json!({"pattern": "*.py"}), true).await?;
    call("grep", json!({"pattern": "Hello", "mode": "content"}), true).await?;
    let read = call("read_file", json!({"path": "greet.py"}), true).await?;
    let hash = read["hash"].as_str().ok_or("reading a file gives its hash")?.to_owned();

    // Written from memory, and wrong: the answer shows the line as it is.
    let refused = call("apply_patch", json!({"patch": patch("    return 'Hello ' + name")}), false).await?;
    assert_eq!(refused["status"], "refused");
    assert_eq!(std::fs::read_to_string(root.join("greet.py"))?, FILE);

    let right = patch("    return \"Hello \" + name");
    call("check_patch", json!({"patch": right}), true).await?;
    call("apply_patch", json!({"patch": right, "expect": {"greet.py": hash}}), true).await?;
    assert!(std::fs::read_to_string(root.join("greet.py"))?.contains("Hello, {name}!"));
    call("undo", json!({}), true).await?;
    let edit = json!({"path": "greet.py", "old_string": "Hello ", "new_string": "Good day, "});
    call("edit", json!({"edits": [edit]}), true).await?;
    call("undo", json!({}), true).await?;
    assert_eq!(std::fs::read_to_string(root.join("greet.py"))?, FILE);

    assert!(unused.is_empty(), "not used: {unused:?}");
    session.cancel().await?;
    Ok(())
}

fn patch(old: &str) -> String {
    format!(
        "*** Begin Patch\n*** Update File: greet.py\n@@ def greet(name):\n-{old}\n+    return f\"Hello, {{name}}!\"\n*** End Patch\n"
    )
}

/// Calls a tool, shows what it says, and gives the same as data.
async fn called(session: &Session, tool: &str, arguments: Value, works: bool) -> Result<Value, Error> {
    let Value::Object(arguments) = arguments else { return Err("arguments are an object".into()) };
    let CallToolResult { content, structured_content, is_error, .. } =
        session.call_tool(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)).await?;
    let text = content.first().and_then(|block| block.as_text()).map(|block| block.text.clone()).unwrap_or_default();
    println!("\n== {tool}\n{}", text.trim_end());
    if is_error == Some(works) {
        return Err(format!("{tool} should have {}", if works { "worked" } else { "refused" }).into());
    }
    Ok(structured_content.unwrap_or_default())
}
