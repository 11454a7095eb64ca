//! What the journal must know of the machine: the time, a fresh id, and which process this is.

use std::time::{SystemTime, UNIX_EPOCH};

use super::journal::Owner;
use super::record::SessionRow;

/// Milliseconds since 1970.
#[must_use]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// An id unlike any other; ids of later sessions sort after those of earlier ones.
#[must_use]
pub fn new_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

/// This process, named so that another one on the same system can tell whether it still lives.
#[must_use]
pub fn this_process() -> Owner {
    Owner { place: place(), pid: std::process::id() }
}

/// Names the running system and the space its process numbers belong to; unique when that cannot be found out.
#[cfg(target_os = "linux")]
fn place() -> String {
    let mut boot = [0u8; 36];
    let read = rustix::fs::open(
        "/proc/sys/kernel/random/boot_id",
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )
    .and_then(|file| rustix::io::read(&file, &mut boot));
    let space = rustix::fs::readlink("/proc/self/ns/pid", Vec::new());
    match (read, space) {
        (Ok(36), Ok(space)) => format!("{}/{}", String::from_utf8_lossy(&boot), space.to_string_lossy()),
        _ => new_id(),
    }
}

/// Elsewhere no process is taken for dead; its lease has to run out.
#[cfg(not(target_os = "linux"))]
fn place() -> String {
    new_id()
}

/// Whether `owner` is a process that certainly lives no more.
pub(super) fn is_dead(owner: &Owner) -> bool {
    if owner.place != place() {
        return false;
    }
    let Some(pid) = i32::try_from(owner.pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
}

/// The process that runs a session; `None` when there is none, when it is certainly dead or when its lease has run out.
#[must_use]
pub fn holder(row: &SessionRow) -> Option<Owner> {
    let owner = Owner::parse(row.owner.as_deref()?)?;
    (row.lease_until? > now() && !is_dead(&owner)).then_some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_living_process_is_not_taken_for_dead() {
        let me = this_process();
        assert!(!is_dead(&me));
        assert_eq!(Owner::parse(&me.to_string()), Some(me));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_ended_is_dead_and_one_of_another_system_is_not_judged() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let owner = Owner { pid: child.id(), ..this_process() };
        child.wait().unwrap();
        assert!(is_dead(&owner));
        assert!(!is_dead(&Owner { place: "elsewhere".into(), ..owner }));
    }
}
