//! The door to programs: the only place that starts one.
//!
//! # Guarantees
//! A program gets an argument list, never a shell line; no standard input; of the environment only [`PASSED_ON`] and
//! what the caller adds. It runs in a process group of its own. When it ends, when the deadline passes and when the
//! caller cancels, the whole group is killed, so what it started goes with it. Its output is kept up to a bound; the
//! rest is read and dropped, so a program that prints without end still ends at its deadline.
//!
//! # Limitations
//! A child that leaves the group (`setsid`) is not found again. There is no sandbox here: the program may do what the
//! user may do.

use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::limits::{CancelToken, Deadline};

/// The environment variables a program gets from ours: where programs, homes and caches are, and the language.
pub const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
];

/// How often a running program's deadline, and the caller's wish to cancel, are looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long output that is still on its way is waited for once the group is killed.
const GRACE: Duration = Duration::from_millis(200);
/// Bytes kept of each stream unless the caller says otherwise.
const MAX_OUTPUT: usize = 8 << 20;

/// A program to be run, with its bounds.
#[derive(Clone, Debug)]
#[must_use = "nothing runs before `run`"]
pub struct Program {
    name: OsString,
    args: Vec<OsString>,
    dir: PathBuf,
    env: Vec<(OsString, OsString)>,
    deadline: Deadline,
    cancel: CancelToken,
    max_output: usize,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// Killed at its deadline.
    TimedOut,
    /// Killed because the caller cancelled.
    Cancelled,
}

/// What a program left.
#[derive(Clone, Debug)]
pub struct Output {
    /// How it ended.
    pub end: End,
    /// Its standard output, up to the bound.
    pub stdout: Vec<u8>,
    /// Its standard error, up to the bound.
    pub stderr: Vec<u8>,
    /// Whether either stream was longer than the bound.
    pub cut: bool,
}

/// Why a program could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// There is no such program, in `PATH` or at its path.
    #[error("the program `{0}` was not found")]
    NotFound(String),
    /// The system would not start it, or lost it.
    #[error("the program `{program}` could not be run: {message}")]
    Failed {
        /// The program as it was asked for.
        program: String,
        /// The system's words.
        message: String,
    },
}

impl Program {
    /// A program to be run in `dir`. A `name` with a slash is a path from `dir`; any other is looked up in `PATH`.
    pub fn new(name: impl Into<OsString>, dir: impl Into<PathBuf>) -> Self {
        Program {
            name: name.into(),
            args: Vec::new(),
            dir: dir.into(),
            env: Vec::new(),
            deadline: Deadline::NONE,
            cancel: CancelToken::new(),
            max_output: MAX_OUTPUT,
        }
    }

    /// Appends arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable besides those passed on.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets when it is killed. Default: never.
    pub fn deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the token that kills it. Default: one that nobody holds.
    pub fn cancel(mut self, cancel: CancelToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// Sets how many bytes of each stream are kept. Default: 8 MiB.
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Runs it to its end, its deadline or the caller's cancel; no process of its group is left then.
    ///
    /// # Errors
    /// [`ProcessError`] when it did not start. A program that fails, or is killed, is an [`Output`].
    pub fn run(&self) -> Result<Output, ProcessError> {
        let mut group = Group { child: self.command().spawn().map_err(|error| self.error(&error))?, reaped: false };
        let mut streams = [
            Stream::new(group.child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>)),
            Stream::new(group.child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>)),
        ];
        streams.iter().try_for_each(Stream::unblock).map_err(|error| self.error(&error))?;
        let stopped = self.watch(&group, &mut streams).map_err(|error| self.error(&error))?;
        let status = group.end().map_err(|error| self.error(&error))?;
        let grace = Deadline::after(GRACE);
        while streams.iter().any(Stream::is_open) && !grace.passed() {
            read_some(&mut streams, TICK, self.max_output).map_err(|error| self.error(&error))?;
        }
        let [out, err] = streams;
        Ok(Output {
            end: stopped.unwrap_or_else(|| end_of(status)),
            cut: out.cut || err.cut,
            stdout: out.kept,
            stderr: err.kept,
        })
    }

    /// Reads until the program itself has ended (`None`) or has to be stopped.
    fn watch(&self, group: &Group, streams: &mut [Stream; 2]) -> std::io::Result<Option<End>> {
        loop {
            if self.cancel.is_cancelled() {
                return Ok(Some(End::Cancelled));
            }
            if self.deadline.passed() {
                return Ok(Some(End::TimedOut));
            }
            if group.has_ended()? {
                return Ok(None);
            }
            // With both streams closed only the end is waited for, and it is near.
            let open = streams.iter().any(Stream::is_open);
            read_some(streams, if open { TICK } else { TICK / 10 }, self.max_output)?;
        }
    }

    #[allow(clippy::disallowed_methods, reason = "the door to programs and to their environment")]
    fn command(&self) -> Command {
        // What a relative path means together with a directory to run in differs by system.
        let is_path = self.name.as_encoded_bytes().contains(&b'/');
        let mut command = if is_path { Command::new(self.dir.join(&self.name)) } else { Command::new(&self.name) };
        command.args(&self.args).current_dir(&self.dir).env_clear();
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.env("NO_COLOR", "1").env("TERM", "dumb");
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }

    fn error(&self, error: &std::io::Error) -> ProcessError {
        let program = self.name.to_string_lossy().into_owned();
        match error.kind() {
            std::io::ErrorKind::NotFound => ProcessError::NotFound(program),
            _ => ProcessError::Failed { program, message: error.to_string() },
        }
    }
}

/// A running program and its group; killed and reaped when dropped.
struct Group {
    child: Child,
    reaped: bool,
}

impl Group {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Whether the program itself has ended. It is not reaped, so its number still names the group.
    fn has_ended(&self) -> std::io::Result<bool> {
        let Some(pid) = self.pid() else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(pid), options)?.is_some())
    }

    /// Kills what is left of the group and reaps the program.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(pid) = self.pid() {
            // The only error there can be is that nobody is left.
            let _nobody_left = kill_process_group(pid, Signal::KILL);
        }
        let status = self.child.wait()?;
        self.reaped = true;
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            let _reaped = self.end();
        }
    }
}

/// A pipe's reading end.
trait Pipe: Read + AsFd {}
impl<T: Read + AsFd> Pipe for T {}

/// One of the program's two streams.
struct Stream {
    /// `None` once it is closed.
    pipe: Option<Box<dyn Pipe>>,
    kept: Vec<u8>,
    cut: bool,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("open", &self.is_open()).field("kept", &self.kept.len()).finish()
    }
}

impl Stream {
    fn new(pipe: Option<Box<dyn Pipe>>) -> Self {
        Stream { pipe, kept: Vec::new(), cut: false }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn unblock(&self) -> std::io::Result<()> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        let flags = rustix::fs::fcntl_getfl(pipe)?;
        Ok(rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?)
    }

    /// Takes one buffer's worth of what is there, keeping no more than `most` bytes in all.
    fn take(&mut self, buffer: &mut [u8], most: usize) -> std::io::Result<()> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        match pipe.read(buffer) {
            Ok(0) => self.pipe = None,
            Ok(read) => {
                let room = most.saturating_sub(self.kept.len()).min(read);
                self.kept.extend_from_slice(&buffer[..room]);
                self.cut |= room < read;
            }
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Waits at most `wait` for output and takes what came.
fn read_some(streams: &mut [Stream; 2], wait: Duration, most: usize) -> std::io::Result<()> {
    let mut fds: Vec<PollFd<'_>> =
        streams.iter().filter_map(|stream| stream.pipe.as_ref()).map(|pipe| PollFd::new(pipe, PollFlags::IN)).collect();
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) as _ };
    match poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    drop(fds);
    let mut buffer = [0; 16 << 10];
    streams.iter_mut().try_for_each(|stream| stream.take(&mut buffer, most))
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Signalled(signal.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("/bin/sh", std::env::temp_dir())
            .args(["-c", script])
            .deadline(Deadline::after(Duration::from_secs(20)))
    }

    /// Whether the process is there and goes on being there. A zombie that its new parent has not reaped yet does no harm,
    /// and the kernel may take a moment to carry out a kill.
    fn stays_alive(pid: &str) -> bool {
        let is_running = || {
            std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
        };
        (0..500).all(|_| {
            std::thread::sleep(Duration::from_millis(10));
            is_running()
        })
    }

    #[test]
    fn end_and_streams_come_back_apart() {
        let output = shell("echo out; echo err >&2; exit 3").run().unwrap();
        assert_eq!((output.end, &*output.stdout, &*output.stderr), (End::Exited(3), &b"out\n"[..], &b"err\n"[..]));
        assert!(!output.cut);
        assert_eq!(shell("kill -TERM $$").run().unwrap().end, End::Signalled(15));
    }

    #[test]
    fn stdin_is_empty_and_the_environment_is_short() {
        let output = shell("cat; env").env("EXTRA", "1").run().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let own = ["EXTRA", "NO_COLOR", "TERM", "PWD", "_", "SHLVL", "OLDPWD"];
        for line in text.lines() {
            let name = line.split('=').next().unwrap();
            assert!(PASSED_ON.contains(&name) || own.contains(&name), "{line}");
        }
        assert!(text.contains("EXTRA=1"), "{text}");
    }

    #[test]
    fn a_hanging_program_is_killed_with_its_children() {
        let program = shell("sleep 600 & echo $!; sleep 600").deadline(Deadline::after(Duration::from_millis(300)));
        let output = program.run().unwrap();
        assert_eq!(output.end, End::TimedOut);
        let child = String::from_utf8(output.stdout).unwrap();
        assert!(!child.trim().is_empty() && !stays_alive(child.trim()), "{child}");
    }

    #[test]
    fn a_child_left_behind_does_not_hold_us_up() {
        let output = shell("sleep 600 & echo $!").run().unwrap();
        assert_eq!(output.end, End::Exited(0));
        let child = String::from_utf8(output.stdout).unwrap();
        assert!(!child.trim().is_empty() && !stays_alive(child.trim()), "{child}");
    }

    #[test]
    fn cancel_kills_too() {
        let token = CancelToken::new();
        token.cancel();
        assert_eq!(shell("sleep 600").cancel(token).run().unwrap().end, End::Cancelled);
    }

    #[test]
    fn output_is_kept_up_to_the_bound_and_the_rest_is_read() {
        let output = shell("head -c 3000000 /dev/zero; echo end >&2").max_output(1000).run().unwrap();
        assert_eq!((output.end, output.stdout.len(), output.cut), (End::Exited(0), 1000, true));
        assert_eq!(output.stderr, b"end\n");
        let endless = shell("yes").max_output(10).deadline(Deadline::after(Duration::from_millis(200)));
        assert_eq!(endless.run().unwrap().end, End::TimedOut);
    }

    #[test]
    fn a_missing_program_is_named() {
        for name in ["no-such-program-here", "./no/such/program"] {
            let error = Program::new(name, std::env::temp_dir()).run().unwrap_err();
            assert_eq!(error, ProcessError::NotFound(name.into()));
        }
    }

    #[test]
    fn a_path_with_a_slash_starts_at_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/bin/sh", dir.path().join("mine")).unwrap();
        let output = Program::new("./mine", dir.path()).args(["-c", "exit 4"]).run().unwrap();
        assert_eq!(output.end, End::Exited(4));
    }
}
