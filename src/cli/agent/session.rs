//! `run`, `resume` and `answer`: a session in this process until it comes to rest.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use super::setup::Place;
use super::watch::{JsonLines, Progress, print_answer};
use super::{DONE, FAILED, Stop, WAITING, render};
use crate::cli::output;
use crate::harness::session::{Journal as _, JournalError, WaitRow};
use crate::harness::{Answer, Ended, RunError, Session, TurnOptions, Watch};

/// The most that is read as a message.
const MOST: u64 = 4 << 20;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Run {
    #[command(flatten)]
    place: Place,

    /// What the agent is to do; `-` or nothing reads it from standard input
    #[arg(value_name = "MESSAGE")]
    message: Option<String>,

    /// Go on with a session instead of beginning one; `-` is the newest
    #[arg(long, value_name = "ID")]
    session: Option<String>,

    /// A file with the JSON Schema that the answer must fit
    #[arg(long, value_name = "FILE")]
    output_schema: Option<PathBuf>,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Resume {
    #[command(flatten)]
    place: Place,

    /// The session: its id, or its beginning or end [default: the newest]
    #[arg(value_name = "ID")]
    session: Option<String>,

    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AnswerArgs {
    #[command(flatten)]
    place: Place,

    /// The session: its id, or its beginning or end; `-` is the newest
    #[arg(value_name = "ID")]
    session: String,

    /// Which of several questions
    #[arg(long, value_name = "NUMBER")]
    wait: Option<u64>,

    /// The answer
    #[arg(value_name = "ANSWER", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    answer: Vec<String>,

    /// Only record the answer; `resume` goes on
    #[arg(long)]
    no_resume: bool,

    #[command(flatten)]
    shown: Shown,
}

/// How what happens is shown.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Shown {
    /// Print every event as one line of JSON
    #[arg(long)]
    json: bool,
}

impl Shown {
    fn watch(self) -> Box<dyn Watch> {
        if self.json { Box::new(JsonLines) } else { Box::new(Progress::new()) }
    }
}

/// `restitch agent run`.
pub(super) fn run(args: &Run) -> Result<u8, Stop> {
    let (located, agent) = args.place.agent()?;
    let message = message(args.message.as_deref())?;
    let options = TurnOptions::default().output_schema(schema(args.output_schema.as_ref())?);
    let journal = Box::new(args.place.journal()?);
    let session = match &args.session {
        Some(id) => {
            let id = which(&*journal, Some(id))?;
            Session::resume(agent, journal, &id)
        }
        None => Session::start(agent, journal, &located.project),
    };
    let mut session = session.map_err(stopped)?.watch(args.shown.watch());
    let ended = block_on(&mut session, async |session| session.send(&message, &options).await)?;
    report(&session, ended, args.shown, &args.place.flags())
}

/// `restitch agent resume`.
pub(super) fn resume(args: &Resume) -> Result<u8, Stop> {
    let journal = args.place.journal()?;
    let id = which(&journal, args.session.as_deref())?;
    let (_, agent) = args.place.agent()?;
    let session = Session::resume(agent, Box::new(journal), &id).map_err(stopped)?;
    go_on(session, args.shown, &args.place.flags())
}

/// `restitch agent answer`.
pub(super) fn answer(args: &AnswerArgs) -> Result<u8, Stop> {
    let mut journal = args.place.journal()?;
    let id = which(&journal, Some(&args.session))?;
    let open: Vec<WaitRow> = journal.waits(&id).map_err(Stop::failed)?;
    let open: Vec<WaitRow> = open.into_iter().filter(|wait| wait.answer.is_none()).collect();
    let wait = pick(&open, args.wait, &args.place.flags(), &id)?;
    let answer = Answer::parse(&args.answer.join(" "), wait).map_err(Stop::configuration)?;
    journal.answer(&id, wait.id, &answer.to_json()).map_err(Stop::failed)?;
    if args.no_resume {
        return Ok(DONE);
    }
    let (_, agent) = args.place.agent()?;
    match Session::resume(agent, Box::new(journal), &id) {
        Ok(session) => go_on(session, args.shown, &args.place.flags()),
        // Whoever runs it will find the answer.
        Err(RunError::Journal(JournalError::Busy { .. })) => Ok(DONE),
        Err(error) => Err(stopped(error)),
    }
}

/// The wait that is meant.
fn pick<'a>(open: &'a [WaitRow], number: Option<u64>, flags: &str, session: &str) -> Result<&'a WaitRow, Stop> {
    match (open, number) {
        ([], _) => Err(Stop::failed(format!("session {session} waits for no answer"))),
        (_, Some(number)) => open
            .iter()
            .find(|wait| wait.id == number)
            .ok_or_else(|| Stop::failed(format!("session {session} waits for no answer with number {number}"))),
        ([only], None) => Ok(only),
        (several, None) => {
            let text = render::how_to_answer(flags, session, several);
            Err(Stop::configuration(format!("there are several questions; name one with --wait\n{text}")))
        }
    }
}

fn go_on(session: Session, shown: Shown, flags: &str) -> Result<u8, Stop> {
    let mut session = session.watch(shown.watch());
    let ended = block_on(&mut session, async |session| session.go_on().await)?;
    report(&session, ended, shown, flags)
}

/// The session that is meant; without a word, or with `-`, the newest.
pub(super) fn which(journal: &dyn crate::harness::session::Journal, id: Option<&str>) -> Result<String, Stop> {
    match id.filter(|id| *id != "-") {
        Some(id) => Ok(journal.find(id).map_err(Stop::failed)?.id),
        None => {
            let newest = journal.sessions(1).map_err(Stop::failed)?.pop();
            Ok(newest.ok_or_else(|| Stop::failed("there is no session yet; `restitch agent run` begins one"))?.id)
        }
    }
}

/// Runs a session on a runtime of its own. The first interrupt stops the turn in an orderly way, the second at once.
pub(super) fn block_on(
    session: &mut Session,
    work: impl AsyncFnOnce(&mut Session) -> Result<Ended, RunError>,
) -> Result<Ended, Stop> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|error| Stop::failed(format!("no threads to run on: {error}")))?;
    let cancel = session.cancel_token();
    let ended = runtime.block_on(async {
        let interrupts = async {
            while tokio::signal::ctrl_c().await.is_ok() {
                if cancel.is_cancelled() {
                    return;
                }
                output::err("stopping; once more to stop at once (the session can be resumed)\n");
                cancel.cancel();
            }
            std::future::pending().await
        };
        tokio::select! {
            ended = work(session) => Some(ended),
            () = interrupts => None,
        }
    });
    // Whatever still runs on other threads ends with the process.
    runtime.shutdown_background();
    match ended {
        Some(ended) => ended.map_err(|error| broken_off(error, session.id())),
        None => Err(Stop::failed("stopped; `restitch agent resume` goes on")),
    }
}

/// Why a session that ran does not go on.
fn broken_off(error: RunError, id: &str) -> Stop {
    use JournalError::{Full, Locked, Storage};
    let passes = matches!(&error, RunError::Journal(Full { .. } | Locked { .. } | Storage { .. }));
    let mut stop = stopped(error);
    if passes {
        stop.text.push_str(&format!(
            "\nwhat was recorded until then is safe; when that is mended, `restitch agent resume {id}` goes on"
        ));
    }
    stop
}

/// Tells how a session came to rest, and with what exit code.
fn report(session: &Session, ended: Ended, shown: Shown, flags: &str) -> Result<u8, Stop> {
    let id = session.id();
    match ended {
        Ended::Done { answer } => {
            if !shown.json {
                print_answer(&answer)?;
            }
            Ok(DONE)
        }
        Ended::Waiting(waits) => {
            output::err(&render::how_to_answer(flags, id, &waits));
            Ok(WAITING)
        }
        Ended::Failed { reason } => Err(Stop::failed(reason)),
        Ended::Stuck { error } => {
            Err(Stop::failed(format!("{error}\nnothing is lost: `restitch agent resume{flags} {id}` tries again")))
        }
        Ended::Cancelled => Err(Stop::failed("stopped")),
        Ended::Idle => {
            output::err("nothing is left to do in this session\n");
            Ok(DONE)
        }
    }
}

/// Why a session did not run, with its exit code.
pub(super) fn stopped(error: RunError) -> Stop {
    match &error {
        RunError::Workspace { .. } | RunError::Seeds(_) => Stop { code: super::CONFIGURATION, text: error.to_string() },
        RunError::Journal(JournalError::Busy { session, .. }) => Stop {
            code: FAILED,
            text: format!(
                "{error}\n`restitch agent say {session} \"…\"` tells it something, `restitch agent stop {session}` ends its turn, \
                 `restitch agent show {session} --follow` watches it"
            ),
        },
        error => Stop { code: FAILED, text: error.to_string() },
    }
}

pub(super) fn message(given: Option<&str>) -> Result<String, Stop> {
    let text = match given {
        Some(text) if text != "-" => text.to_owned(),
        // Nobody is told that the program waits for them to type.
        None if std::io::stdin().is_terminal() => String::new(),
        _ => {
            let mut text = String::new();
            let read = std::io::stdin().lock().take(MOST).read_to_string(&mut text);
            read.map_err(|error| Stop::configuration(format!("the message cannot be read: {error}")))?;
            text
        }
    };
    if text.trim().is_empty() {
        return Err(Stop::configuration(
            "the message is empty: write it in quotes behind the command, or give it on standard input",
        ));
    }
    Ok(text)
}

fn schema(file: Option<&PathBuf>) -> Result<Option<serde_json::Value>, Stop> {
    let Some(file) = file else { return Ok(None) };
    let wrong = |why: String| Stop::configuration(format!("the schema {}: {why}", file.display()));
    #[expect(clippy::disallowed_methods, reason = "a file that the command line names")]
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let schema: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    crate::harness::tools::Checked::new(schema.clone()).compile().map_err(wrong)?;
    Ok(Some(schema))
}
