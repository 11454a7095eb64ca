//! `restitch init`.

use super::{USAGE, output};

pub(super) const ABOUT: &str = "Print the lines that tell an agent of `restitch mcp`; edits nothing";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The agent
    #[arg(long, value_enum)]
    agent: Agent,

    /// The program as the agent should start it
    #[arg(long, value_name = "PROGRAM", default_value = "restitch")]
    program: String,
}

/// An agent that takes servers of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Agent {
    ClaudeCode,
    Codex,
    Opencode,
    Zed,
    Goose,
}

impl Agent {
    /// Where the lines belong.
    fn place(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "`.mcp.json` in the project (or run: claude mcp add restitch -- PROGRAM mcp)",
            Agent::Codex => "`~/.codex/config.toml` (or run: codex mcp add restitch -- PROGRAM mcp)",
            Agent::Opencode => "`opencode.json` in the project, or `~/.config/opencode/opencode.json`",
            Agent::Zed => "Zed's `settings.json` (the action `zed: open settings file`)",
            Agent::Goose => "`~/.config/goose/config.yaml`",
        }
    }

    /// The lines. `program` is a JSON string, which TOML and YAML take too.
    fn lines(self, program: &str) -> String {
        match self {
            Agent::ClaudeCode => {
                format!(
                    "{{\n  \"mcpServers\": {{\n    \"restitch\": {{ \"command\": {program}, \"args\": [\"mcp\"] }}\n  }}\n}}\n"
                )
            }
            Agent::Codex => format!("[mcp_servers.restitch]\ncommand = {program}\nargs = [\"mcp\"]\n"),
            Agent::Opencode => format!(
                "{{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {{\n    \"restitch\": {{ \"type\": \"local\", \"command\": [{program}, \"mcp\"], \"enabled\": true }}\n  }}\n}}\n"
            ),
            Agent::Zed => format!(
                "{{\n  \"context_servers\": {{\n    \"restitch\": {{ \"command\": {program}, \"args\": [\"mcp\"], \"env\": {{}} }}\n  }}\n}}\n"
            ),
            Agent::Goose => format!(
                "extensions:\n  restitch:\n    enabled: true\n    type: stdio\n    name: restitch\n    description: Safe patches and fast search\n    cmd: {program}\n    args: [mcp]\n    envs: {{}}\n    timeout: 120\n"
            ),
        }
    }
}

/// Runs the program and returns its exit code. Where the lines belong goes to standard error, so that they can be piped.
pub(super) fn run(args: &Args) -> u8 {
    let program = serde_json::Value::from(args.program.as_str()).to_string();
    output::err(&format!("Add this to {}:\n\n", args.agent.place().replace("PROGRAM", &args.program)));
    if !cfg!(feature = "mcp") {
        output::err("(this build has no `restitch mcp`: install it with --features mcp)\n\n");
    }
    match output::out(args.agent.lines(&program).as_bytes()) {
        Ok(()) => super::DONE,
        Err(_) => USAGE,
    }
}
