//! `restitch agent chat`: a conversation in the terminal, questions and approvals inline.

use std::io::{BufRead as _, Write as _};

use super::session::{block_on, stopped, which};
use super::setup::Place;
use super::watch::{Progress, print_answer};
use super::{DONE, Stop, render};
use crate::cli::output;
use crate::harness::session::WaitRow;
use crate::harness::{Answer, Ended, Session, TurnOptions};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(flatten)]
    place: Place,

    /// Go on with this session; `-` is the newest
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

const HELP: &str = "\
An empty line does nothing. /diff shows what was changed, /undo puts it back, /quit or Ctrl-D leaves: the session stays
and `restitch agent chat --session ID` goes on. Ctrl-C stops a turn.
";

/// What the person typed.
enum Typed {
    Line(String),
    End,
}

pub(super) fn run(args: &Args) -> Result<u8, Stop> {
    let (located, agent) = args.place.agent()?;
    let journal = args.place.journal()?;
    let session = match args.session.as_deref() {
        None => Session::start(agent, Box::new(journal), &located.project),
        Some(id) => {
            let id = which(&journal, Some(id))?;
            Session::resume(agent, Box::new(journal), &id)
        }
    };
    let mut session = session.map_err(stopped)?.watch(Box::new(Progress::new()));
    output::err(&format!("session {} (/help)\n", session.id()));
    if session.state().turn.is_some() {
        let ended = block_on(&mut session, async |session| session.go_on().await)?;
        if !rest(&mut session, ended)? {
            return Ok(DONE);
        }
    }
    while let Typed::Line(line) = ask("> ")? {
        let ended = match line.trim() {
            "" => continue,
            "/quit" | "/exit" => break,
            "/help" => {
                output::err(HELP);
                continue;
            }
            "/diff" => {
                match session.diff() {
                    Ok(diff) => drop(output::out(&diff)),
                    Err(error) => output::err(&format!("{error}\n")),
                }
                continue;
            }
            "/undo" => {
                match session.undo() {
                    Ok(paths) => output::err(&format!("{} files were put back\n", paths.len())),
                    Err(error) => output::err(&format!("{error}\n")),
                }
                continue;
            }
            text => {
                let options = TurnOptions::default();
                block_on(&mut session, async |session| session.send(text, &options).await)?
            }
        };
        if !rest(&mut session, ended)? {
            break;
        }
    }
    output::err(&format!("restitch agent chat{} --session {}\n", args.place.flags(), session.id()));
    Ok(DONE)
}

/// Sees a turn through: answers in line what it asks. Whether the person is still there.
fn rest(session: &mut Session, mut ended: Ended) -> Result<bool, Stop> {
    loop {
        match ended {
            Ended::Done { answer } => {
                print_answer(&answer)?;
                return Ok(true);
            }
            Ended::Waiting(waits) => {
                for wait in &waits {
                    let Some(answer) = answer(wait)? else { return Ok(false) };
                    session.answer(wait.id, &answer).map_err(stopped)?;
                }
                ended = block_on(session, async |session| session.go_on().await)?;
            }
            Ended::Stuck { error } => {
                output::err(&format!("{error}\n"));
                match again()? {
                    Some(true) => {}
                    // What was said so far stays; the next message begins a new turn.
                    Some(false) => session.cancel_token().cancel(),
                    None => return Ok(false),
                }
                ended = block_on(session, async |session| session.go_on().await)?;
            }
            Ended::Failed { reason } => {
                output::err(&format!("ended without an answer: {reason}\n"));
                return Ok(true);
            }
            Ended::Cancelled => {
                output::err("stopped\n");
                return Ok(true);
            }
            Ended::Idle => return Ok(true),
        }
    }
}

/// Whether the model shall be asked once more; `None` when the person is gone.
fn again() -> Result<Option<bool>, Stop> {
    loop {
        let Typed::Line(line) = ask("try again? [y/n] ")? else { return Ok(None) };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(true)),
            "n" | "no" => return Ok(Some(false)),
            _ => output::err("`y` asks the model again, `n` ends this turn, Ctrl-D leaves\n"),
        }
    }
}

/// Asks until there is an answer that fits; `None` when the person is gone.
fn answer(wait: &WaitRow) -> Result<Option<Answer>, Stop> {
    output::err(&render::question(wait));
    loop {
        let Typed::Line(line) = ask(&format!("[{}] ", render::choices(wait.kind)))? else { return Ok(None) };
        match Answer::parse(&line, wait) {
            Ok(answer) => return Ok(Some(answer)),
            Err(error) => output::err(&format!("{error}\n")),
        }
    }
}

/// Shows a prompt and reads a line. An interrupt is as good as the end of the input.
fn ask(prompt: &str) -> Result<Typed, Stop> {
    let mut stderr = std::io::stderr().lock();
    // A prompt that cannot be shown is not missed by whoever cannot see it.
    drop(stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush()));
    drop(stderr);
    let wrong = |error: std::io::Error| Stop::failed(format!("standard input cannot be read: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(wrong)?;
    let read = runtime.block_on(async {
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().lock().read_line(&mut line).map(|read| (read, line))
        });
        tokio::select! {
            line = line => line.unwrap_or_else(|error| Err(std::io::Error::other(error))),
            _ = tokio::signal::ctrl_c() => Ok((0, String::new())),
        }
    });
    // A thread that still reads ends with the process.
    runtime.shutdown_background();
    match read.map_err(wrong)? {
        (0, _) => Ok(Typed::End),
        (_, line) => Ok(Typed::Line(line)),
    }
}
