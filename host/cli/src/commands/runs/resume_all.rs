//! `agent-spaces runs resume --all`: each run in a process of its own, because runs have their own folder and
//! confinement.

use crate::commands::failure::Failure;
use crate::commands::journal::{OpenJournal, now_ms};
use crate::commands::run_command::RunCommand;
use crate::commands::{confinement, store_choice, terminal};
use agent_spaces::Code;
use agent_spaces::durable::details::{header, is_imported};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashSet;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// Due runs that are looked at beyond those that are known.
const LOOKED_AT: usize = 32;
/// Runs that are executed at once: each has its own MCP servers.
const AT_ONCE: usize = 8;
/// Interval at which the journal and the processes are looked at.
const TICK: Duration = Duration::from_millis(500);
/// Exit status of a run that waits.
const PARKED: u8 = 6;

/// Continues all runs that can go on; with `watch` until the process is ended.
pub(super) fn execute(watch: bool) -> u8 {
    match resume_all(watch) {
        Ok(status) => status,
        Err(failure) => failure.show(),
    }
}

fn resume_all(watch: bool) -> Result<u8, Failure> {
    let journal = OpenJournal::open()?;
    let mut running: Vec<(String, Child)> = Vec::new();
    // A run that could go on and did not: the next attempt would fail in the same way.
    let mut failed: HashSet<String> = HashSet::new();
    // Runs of servers, which continue them, and imported ones, whose rights a person names.
    let mut skipped: HashSet<String> = HashSet::new();
    let mut seen_skipped = 0;
    let signals = signals();
    let mut status = 0;
    let mut stopped = None;
    loop {
        while let Ok(signal) = signals.try_recv() {
            stopped.get_or_insert(signal);
            forward(signal, &running);
        }
        let mut ended = Vec::new();
        for (index, (_, child)) in running.iter_mut().enumerate() {
            if let Some(code) = child.try_wait().map_err(broken)? {
                ended.push((index, code.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(5)));
            }
        }
        for (index, code) in ended.into_iter().rev() {
            let (run, _) = running.remove(index);
            if code != PARKED {
                status = status.max(code);
                failed.insert(run);
            }
        }
        if let Some(signal) = stopped {
            if running.is_empty() {
                return Ok(if signal == Signal::INT { 130 } else { 143 });
            }
            std::thread::sleep(TICK);
            continue;
        }
        let limit = failed.len() + running.len() + skipped.len() + LOOKED_AT;
        for run in journal.wait(journal.store.due(now_ms(), limit))? {
            let is_known = failed.contains(&run) || skipped.contains(&run);
            if running.len() >= AT_ONCE || is_known || running.iter().any(|(known, _)| *known == run) {
                continue;
            }
            if is_for_others(&journal, &run) {
                skipped.insert(run);
                continue;
            }
            let child = start(&run)?;
            running.push((run, child));
        }
        if skipped.len() > seen_skipped {
            // More may be behind them.
            seen_skipped = skipped.len();
            continue;
        }
        if running.is_empty() && !watch {
            return Ok(status);
        }
        std::thread::sleep(TICK);
    }
}

/// Returns true if a run is not for this command. One that cannot be read is: `runs resume` says why it fails.
fn is_for_others(journal: &OpenJournal, run: &str) -> bool {
    let is_of_server =
        journal.wait(header(&*journal.store, run)).is_ok_and(|header| RunCommand::read(&header.command).is_none());
    is_of_server || journal.wait(is_imported(&*journal.store, run)).unwrap_or_default()
}

/// Receives SIGINT and SIGTERM. If that is not possible, they end this process as usual.
fn signals() -> Receiver<Signal> {
    let (sender, receiver) = channel();
    // If no thread can be started, signals end this process.
    drop(std::thread::Builder::new().name("signals".into()).spawn(move || listen(&sender)));
    receiver
}

fn listen(sender: &Sender<Signal>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
    runtime.block_on(async {
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        loop {
            let received = tokio::select! {
                _ = interrupt.recv() => Signal::INT,
                _ = terminate.recv() => Signal::TERM,
            };
            if sender.send(received).is_err() {
                return;
            }
        }
    });
}

/// Sends a signal to the processes of the runs.
fn forward(signal: Signal, running: &[(String, Child)]) {
    // A terminal sends it to all processes of the group; a second one would end them at once.
    if signal == Signal::INT && terminal::is_stderr_terminal() {
        return;
    }
    for (_, child) in running {
        // It may have ended.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

/// Starts `runs resume` with the other options of this command.
fn start(run: &str) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(broken)?;
    let options = store_choice::without_option(confinement::arguments()).into_iter().skip(3);
    let options = options.filter(|option| option != "--all" && option != "--watch");
    let mut command = Command::new(program);
    command.args(["runs", "resume", run]).args(options).envs(store_choice::of_children());
    command.spawn().map_err(broken)
}

fn broken(error: std::io::Error) -> Failure {
    Failure::new(Code::HostProgram, format!("this program cannot start itself: {error}"), None)
}
