//! The harness's door to programs: each in a process group of its own, with a named environment, ended as a group.

use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// A program to run.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) name: &'a Path,
    pub(super) args: Vec<&'a str>,
    pub(super) dir: &'a Path,
    pub(super) env: Vec<(&'a str, &'a str)>,
}

impl Program<'_> {
    /// The command, in a group of its own, with nothing of this process's environment.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(self.name);
        command
            .args(&self.args)
            .current_dir(self.dir)
            .env_clear()
            .envs(self.env.iter().copied())
            .stdin(Stdio::null())
            .process_group(0);
        command
    }
}

/// A running group, killed when it is dropped.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) child: Child,
    pid: Option<Pid>,
}

impl Group {
    pub(super) fn new(child: Child) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Group { child, pid }
    }

    /// Waits for the first process of the group; the others are ended with it.
    pub(super) async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        let status = self.child.wait().await;
        self.end();
        status
    }

    /// The number of the group, to be told.
    pub(super) fn number(&self) -> i32 {
        self.pid.map_or(0, |pid| pid.as_raw_nonzero().get())
    }

    /// Lets the group live on when this is dropped.
    pub(super) fn let_go(mut self) {
        self.pid = None;
    }

    fn end(&mut self) {
        if let Some(pid) = self.pid.take() {
            // It may be gone already.
            let _gone = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// Whether a process group of that number has a process.
pub(super) fn is_alive(group: i32) -> bool {
    let pid = Pid::from_raw(group);
    pid.is_some_and(|pid| rustix::process::test_kill_process_group(pid) != Err(rustix::io::Errno::SRCH))
}
