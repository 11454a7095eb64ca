//! `restitch mcp`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::args::{Profile, open_root, seconds};
use crate::cli::{DONE, output};
use crate::mcp::{ClientRoots, HttpServer, ServeError, ServeOptions, serve_stdio};
use crate::{Format, GENERATED, ParseOptions};

pub(super) const ABOUT: &str = "Serve the tools to an agent by the Model Context Protocol";

pub(super) const HELP: &str = "\
Without --http the client is whoever started the program: it speaks on standard input and output. Its roots, if it has
any, are what is served, unless --root says what may be served at most.

With --http any number of clients are served on the loopback interface, each of which must send the header
`Authorization: Bearer TOKEN`. The token is read from --token-file or the variable RESTITCH_MCP_TOKEN; without them one is
made and printed.

`restitch init --agent NAME` prints the lines that tell an agent of this server.";

/// The variable that holds the token.
const TOKEN: &str = "RESTITCH_MCP_TOKEN";

/// Flags of the program.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The root: nothing outside it is read or written [default: the client's roots, else the current directory]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Do not ask the client for its roots
    #[arg(long)]
    ignore_client_roots: bool,

    /// Serve over HTTP on this port of the loopback interface; 0 takes a free one
    #[arg(long, value_name = "[ADDR:]PORT", value_parser = address)]
    http: Option<SocketAddr>,

    /// The file that holds the token for HTTP
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Offer only the tools that write nothing
    #[arg(long)]
    read_only: bool,

    /// Send answers as text only, without the same as data
    #[arg(long)]
    text_only: bool,

    /// How many patches the tool `undo` can undo; 0 for no such tool
    #[arg(long, value_name = "N", default_value_t = 10)]
    keep_undo: usize,

    /// How long one call may take, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "60")]
    timeout: Duration,

    /// The preset of rules for patches
    #[arg(long, value_enum, default_value_t)]
    profile: Profile,

    /// Refuse to touch paths that match this glob; may be repeated
    #[arg(long, value_name = "GLOB")]
    protect: Vec<String>,

    /// Refuse to touch files that tools generate: lock files, build output, installed packages
    #[arg(long)]
    protect_generated: bool,
}

/// Runs the program and returns its exit code.
pub(super) fn run(args: &Args) -> u8 {
    output::answer(|| go(args))
}

fn go(args: &Args) -> Result<u8, String> {
    let options = options(args)?;
    let served = match args.http {
        None => serve_stdio(&options),
        Some(address) => over_http(args, address, &options)?,
    };
    served.map(|()| DONE).map_err(|error| told(&error))
}

/// An error with what the system says.
fn told(error: &ServeError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

fn over_http(args: &Args, address: SocketAddr, options: &ServeOptions) -> Result<Result<(), ServeError>, String> {
    let given = token(args.token_file.as_deref())?;
    let made = given.is_none();
    let server = HttpServer::bind(address, given).map_err(|error| told(&error))?;
    let mut text = format!("serving {}\n", server.url());
    if made {
        text.push_str(&format!("token {}\n", server.token()));
    }
    output::out(text.as_bytes()).map_err(|error| format!("the address could not be written: {error}"))?;
    Ok(server.serve(options))
}

fn options(args: &Args) -> Result<ServeOptions, String> {
    let root = args.root.as_deref();
    // What cannot be served is better said now than at the first call.
    open_root(root)?;
    let client_roots = match (args.ignore_client_roots, root, args.http) {
        (true, ..) => ClientRoots::Ignore,
        (_, None, None) => ClientRoots::Trust,
        _ => ClientRoots::Within,
    };
    let generated = GENERATED.iter().filter(|_| args.protect_generated).map(|glob| (*glob).to_owned());
    let parse = match args.profile {
        Profile::Default => ParseOptions::default(),
        Profile::Codex => ParseOptions::codex(),
    }
    .format(Format::Auto);
    Ok(ServeOptions::new(root.unwrap_or(Path::new(".")))
        .client_roots(client_roots)
        .read_only(args.read_only)
        .structured(!args.text_only)
        .timeout(args.timeout)
        .keep_undo(args.keep_undo)
        .parse(parse)
        .policy(args.profile.policy().protected(args.protect.iter().cloned().chain(generated))))
}

/// The token that the caller chose, if any.
#[expect(clippy::disallowed_methods, reason = "a program reads its settings")]
fn token(file: Option<&Path>) -> Result<Option<String>, String> {
    let read = |file: &Path| {
        std::fs::read_to_string(file)
            .map_err(|error| format!("the token in `{}` cannot be read: {error}", file.display()))
    };
    match file {
        Some(file) => read(file).map(|text| Some(text.trim().to_owned())),
        None => Ok(std::env::var(TOKEN).ok()),
    }
}

/// A port of the loopback interface, or an address with a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| "write a port, or an address with a port such as 127.0.0.1:8737 or [::1]:8737".to_owned())
}
