//! Starting programs in turn and measuring each: time, processor time, peak memory, result.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use crate::loads::{Load, Program};

/// What one program came to.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    /// It is this crate's.
    pub(crate) own: bool,
    /// It did what it should.
    pub(crate) right: bool,
    /// It was ended because it took too long.
    pub(crate) ended: bool,
    pub(crate) runs: Vec<Run>,
}

/// One run. Times in milliseconds, memory in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
    pub(crate) peak: u64,
}

impl Figure {
    pub(crate) fn median(&self, of: impl Fn(&Run) -> f64) -> f64 {
        median(self.runs.iter().map(of).collect())
    }

    /// The median of the rounds' ratios to another program.
    pub(crate) fn ratio(&self, other: &Figure, of: impl Fn(&Run) -> f64) -> f64 {
        median(self.runs.iter().zip(&other.runs).map(|(a, b)| of(a) / of(b).max(1e-3)).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        len if len.is_multiple_of(2) => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// This very program with other words.
pub(crate) fn own<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "compare".into()));
    command.args(words);
    command
}

/// Runs every program of a load `rounds` times, after one round that is not counted. Ends what takes longer than `limit`.
pub(crate) fn rounds(load: &Load, rounds: usize, limit: Duration) -> Vec<Figure> {
    let programs: Vec<&Program> = load.programs.iter().filter(|program| program.is_there()).collect();
    let figure = |program: &&Program| {
        let (name, own) = (program.name, program.own);
        Figure { name, own, right: true, ended: false, runs: Vec::new() }
    };
    let mut figures: Vec<Figure> = programs.iter().map(figure).collect();
    let mut slow = vec![false; programs.len()];
    for round in 0..=rounds {
        for turn in 0..programs.len() {
            let at = (turn + round) % programs.len();
            if slow[at] {
                continue;
            }
            load.make_tree();
            let (run, code) = once(programs[at], load, limit);
            if round == 0 {
                figures[at].right = load.is_right(programs[at], code);
                figures[at].ended = run.wall >= milliseconds(limit);
                // What takes seconds is measured by its first run alone.
                slow[at] = run.wall > 4_000.0;
            }
            if round > 0 || slow[at] {
                figures[at].runs.push(run);
            }
        }
    }
    figures
}

fn once(program: &Program, load: &Load, limit: Duration) -> (Run, Option<i32>) {
    let mut command = program.command(&load.tree());
    command.current_dir(load.tree()).stdout(Stdio::null()).stderr(Stdio::null());
    match load.input(program) {
        Some(input) => command.stdin(File::open(&input).expect("the load was made")),
        None => command.stdin(Stdio::null()),
    };
    // A backtrace would be measured too.
    command.env_remove("RUST_BACKTRACE");
    let begun = Instant::now();
    let ended = command.spawn().and_then(|child| {
        let (done, over) = channel::<()>();
        let pid = child.id().to_string();
        let watch = std::thread::spawn(move || {
            if over.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                let _ended_by_itself = Command::new("kill").args(["-9", &pid]).status();
            }
        });
        let ended = child.wait4();
        drop(done);
        watch.join().expect("it only waits");
        ended
    });
    let wall = begun.elapsed();
    let Ok(ended) = ended else { return (Run { wall: f64::NAN, cpu: f64::NAN, peak: 0 }, None) };
    let used = ended.rusage;
    let run = Run { wall: milliseconds(wall), cpu: milliseconds(used.utime + used.stime), peak: used.maxrss };
    (run, ended.status.code())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Copies a tree of files.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, to) = (entry?.path(), to.to_owned());
        let to = to.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            copy_tree(&entry, &to)?;
        } else {
            fs::copy(&entry, &to)?;
        }
    }
    Ok(())
}
