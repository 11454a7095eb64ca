//! One call of a tool: its bounds, how it is cancelled, how it tells its progress.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::answer::Answer;
use crate::{CancelToken, Deadline};

/// How long a call that is over may take to end what it had begun.
const GRACE: Duration = Duration::from_secs(15);

/// How often a client that asked for it hears that a call is still running.
const TICK: Duration = Duration::from_secs(1);

/// How many calls run at once.
const AT_ONCE: usize = 4;

/// The call as the tool sees it.
#[derive(Debug)]
pub(super) struct Call {
    deadline: Deadline,
    cancel: CancelToken,
    doing: Arc<Mutex<&'static str>>,
}

impl Call {
    fn new(deadline: Deadline) -> Self {
        Call { deadline, cancel: CancelToken::new(), doing: Arc::new(Mutex::new("waiting for other calls")) }
    }

    /// A call that nobody waits for.
    #[cfg(test)]
    pub(super) fn alone() -> Self {
        Call::new(Deadline::NONE)
    }

    /// The token that is cancelled when the client cancels the call, or its time is over.
    pub(super) fn cancel(&self) -> CancelToken {
        self.cancel.clone()
    }

    /// The time left, at most `most`.
    pub(super) fn left(&self, most: Duration) -> Duration {
        self.deadline.left().unwrap_or(most).min(most)
    }

    /// Tells what is done next; `Err` when the call is over and nothing more must be begun.
    pub(super) fn stage(&self, next: &'static str) -> Result<(), Answer> {
        if self.cancel.is_cancelled() {
            return Err(Answer::refused(format!("the call was cancelled before {next}; nothing was changed")));
        }
        if self.deadline.passed() {
            return Err(Answer::refused(format!("the time of the call was over before {next}; nothing was changed")));
        }
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = next;
        Ok(())
    }
}

/// The bounds that all calls of a server share.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    permits: Arc<Semaphore>,
    timeout: Duration,
}

impl Bounds {
    pub(super) fn new(timeout: Duration) -> Self {
        Bounds { permits: Arc::new(Semaphore::new(AT_ONCE)), timeout }
    }

    /// Runs `work` on a thread of its own, within the bounds.
    pub(super) async fn run(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Call) -> Answer + Send + 'static,
    ) -> Answer {
        let call = Call::new(Deadline::after(self.timeout));
        let end = Instant::now() + self.timeout;
        let permit = tokio::select! {
            permit = self.permits.clone().acquire_owned() => permit,
            () = context.ct.cancelled() => return Answer::refused("the call was cancelled before it began"),
            () = sleep_until(end) => {
                return Answer::refused("the server was busy with other calls all the time; nothing was changed, try again");
            }
        };
        let cancel = call.cancel();
        let token = context.meta.get_progress_token();
        let progress = token.map(|token| Progress::new(token, &context.peer, call.doing.clone()));
        let task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&call)
        });
        Watched { task, cancel, end, context, progress }.finish().await
    }
}

/// What a client that asked for it is told every second: the seconds since the call began, and what is being done.
struct Progress<'c> {
    token: ProgressToken,
    peer: &'c Peer<RoleServer>,
    began: Instant,
    doing: Arc<Mutex<&'static str>>,
}

impl<'c> Progress<'c> {
    fn new(token: ProgressToken, peer: &'c Peer<RoleServer>, doing: Arc<Mutex<&'static str>>) -> Self {
        Progress { token, peer, began: Instant::now(), doing }
    }

    async fn tell(&self) {
        let doing = *self.doing.lock().unwrap_or_else(PoisonError::into_inner);
        let told = ProgressNotificationParam::new(self.token.clone(), self.began.elapsed().as_secs_f64());
        // A client that went away is noticed where its answer is sent.
        let _unheard = self.peer.notify_progress(told.with_message(doing)).await;
    }
}

/// A call that is running, and what can end it.
struct Watched<'c> {
    task: JoinHandle<Answer>,
    cancel: CancelToken,
    end: Instant,
    context: &'c RequestContext<RoleServer>,
    progress: Option<Progress<'c>>,
}

impl Watched<'_> {
    async fn finish(mut self) -> Answer {
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.reset();
        let mut cancelled = false;
        loop {
            tokio::select! {
                biased;
                done = &mut self.task => {
                    return done.unwrap_or_else(|_| Answer::refused("the tool broke; what it changed is not known, read the files"));
                }
                () = self.context.ct.cancelled(), if !cancelled => {
                    cancelled = true;
                    self.cancel.cancel();
                }
                () = sleep_until(self.end), if !self.cancel.is_cancelled() => self.cancel.cancel(),
                () = sleep_until(self.end + GRACE) => {
                    return Answer::refused("the call did not end in its time and goes on; what it changes is not known, read the files");
                }
                _ = ticks.tick(), if self.progress.is_some() => {
                    if let Some(progress) = &self.progress {
                        progress.tell().await;
                    }
                }
            }
        }
    }
}
