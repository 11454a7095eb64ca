//! `restitch schema`.

use super::args::FormatArg;
use super::{DONE, USAGE, output};
use crate::{Audience, PatchTool};

pub(super) const ABOUT: &str = "Print the definition of the patch tool that an agent hands its model";

pub(super) const HELP: &str = "\
The definition has a name, a description, how to write what the tool takes with an example, and a JSON schema or, where the
audience takes one, a Lark grammar.";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// Who the definition is for
    #[arg(long = "for", value_enum, default_value_t = AudienceArg::Plain, value_name = "WHO")]
    audience: AudienceArg,

    /// The language that the tool takes
    #[arg(long, value_enum, default_value_t = FormatArg::Envelope)]
    format: FormatArg,

    /// Print the Lark grammar alone
    #[arg(long, conflicts_with = "audience")]
    grammar: bool,
}

/// Who a definition is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AudienceArg {
    /// The Responses API: a custom tool with a grammar, or a function
    Openai,
    /// The Messages API
    Anthropic,
    /// The Model Context Protocol
    Mcp,
    /// Text for a model's instructions
    Plain,
}

impl From<AudienceArg> for Audience {
    fn from(arg: AudienceArg) -> Audience {
        match arg {
            AudienceArg::Openai => Audience::OpenAi,
            AudienceArg::Anthropic => Audience::Anthropic,
            AudienceArg::Mcp => Audience::Mcp,
            AudienceArg::Plain => Audience::Plain,
        }
    }
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    let tool = PatchTool::new(args.format.into());
    let text = match (args.grammar, tool.grammar()) {
        (true, Some(grammar)) => grammar.to_owned(),
        (true, None) => {
            output::err("error: this language has no grammar; its usage and schema say how it is written\n");
            return USAGE;
        }
        (false, _) => tool.definition(args.audience.into()),
    };
    match output::out(text.as_bytes()) {
        Ok(()) => DONE,
        Err(_) => USAGE,
    }
}
