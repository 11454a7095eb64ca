//! `restitch completions` and `restitch man`: made from the same flags as the programs themselves.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use super::{ApplyPatch, DONE, Restitch, USAGE, output};

/// Flags of `restitch completions`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,

    /// The program to be completed
    #[arg(long, value_enum, default_value_t)]
    program: ProgramName,
}

/// Flags of `restitch man`.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Man {
    /// The page: `restitch`, `apply_patch`, or a command of restitch such as `search`
    #[arg(default_value = "restitch")]
    page: String,
}

/// One of the programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum ProgramName {
    /// The program with all commands
    #[default]
    Restitch,
    /// The patch program alone
    #[value(name = "apply_patch")]
    ApplyPatch,
}

/// Prints a script that completes the program's flags.
pub(super) fn completions(args: &Completions) -> u8 {
    let (mut command, name) = match args.program {
        ProgramName::Restitch => (Restitch::command(), "restitch"),
        ProgramName::ApplyPatch => (ApplyPatch::command(), "apply_patch"),
    };
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    written(&script)
}

/// Prints a man page.
pub(super) fn man(args: &Man) -> u8 {
    let Some(command) = page(&args.page) else {
        let pages: Vec<String> =
            Restitch::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        output::err(&format!(
            "error: there is no page `{}`; there are restitch, apply_patch, {}\n",
            args.page,
            pages.join(", ")
        ));
        return USAGE;
    };
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => written(&page),
        Err(_) => USAGE,
    }
}

fn page(name: &str) -> Option<Command> {
    let mut restitch = Restitch::command();
    // Gives the commands their full names.
    restitch.build();
    match name {
        "restitch" => Some(restitch),
        "apply_patch" => Some(ApplyPatch::command()),
        name => restitch.find_subcommand(name).cloned(),
    }
}

fn written(bytes: &[u8]) -> u8 {
    match output::out(bytes) {
        Ok(()) => DONE,
        Err(_) => USAGE,
    }
}
