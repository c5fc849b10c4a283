//! Supervisor: a process between us and a server that ends the server and its descendants, whatever happens to us.

use super::{CANNOT_START, parent, pid, profile};
use agent_spaces_confine::Profile;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep, sleep_until};

/// Longest wait for killed processes: some cannot be killed at once, or by us.
const UNKILLABLE: Duration = Duration::from_secs(5);

/// Pause after killing children before their orphans are killed.
const ROUND: Duration = Duration::from_millis(20);

/// Options of a supervisor.
pub(super) struct Options {
    /// PID of the process that started it.
    pub(super) parent: u32,
    /// Time for the server to exit.
    pub(super) grace: Duration,
}

impl Options {
    /// Returns the command line arguments; the program and its arguments follow.
    pub(super) fn arguments(&self) -> [String; 2] {
        [self.parent.to_string(), self.grace.as_millis().to_string()]
    }

    fn parse(arguments: &mut impl Iterator<Item = OsString>) -> Option<Options> {
        let parent = arguments.next()?.to_str()?.parse().ok()?;
        let grace = Duration::from_millis(arguments.next()?.to_str()?.parse().ok()?);
        Some(Options { parent, grace })
    }
}

/// Runs and supervises the program in the arguments. Returns the exit code.
pub(super) fn run(mut arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(options) = Options::parse(&mut arguments) else {
        return refuse("a supervisor is started by its host only");
    };
    let Some(program) = arguments.next() else { return refuse("no program given") };
    let confine = match profile::from_environment() {
        Ok(confine) => confine,
        Err(error) => return refuse(&error),
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(supervise(command, confine.as_ref(), &options)),
        Err(error) => refuse(&error.to_string()),
    }
}

/// Writes the reason to stderr and ends with the signal [`CANNOT_START`](super::CANNOT_START), as no program's end can.
fn refuse(why: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{why}");
    let _ = rustix::process::kill_process(rustix::process::getpid(), CANNOT_START);
    // Reached only if the signal is ignored, which is inherited from whoever started the host.
    1
}

async fn supervise(command: Command, confine: Option<&Profile>, options: &Options) -> i32 {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        return refuse(&error.to_string());
    }
    // Listen before there is a child, so that no signal is missed.
    let (mut ended, mut stop) = match (signal(SignalKind::child()), StopSignals::listen()) {
        (Ok(ended), Ok(stop)) => (ended, stop),
        (Err(error), _) | (_, Err(error)) => return refuse(&error.to_string()),
    };
    let gone = match parent::watch(options.parent) {
        Ok(gone) => gone,
        Err(error) => return refuse(&error.to_string()),
    };
    let server = match profile::start(command, confine) {
        Ok(child) => child.id(),
        Err(error) => return refuse(&error.to_string()),
    };
    let Some(server) = pid(server) else { return refuse("the process has no PID") };
    release_pipes();
    let mut children = Children { server, status: None };
    while children.reap() && children.status.is_none() {
        tokio::select! {
            _ = ended.recv() => {}
            () = stop.received() => break,
            () = gone.cancelled() => break,
        }
    }
    children.end(&mut ended, options.grace).await;
    children.status.unwrap_or(0)
}

/// Closes our copies of the server's pipes: the host must see them close when the server exits.
fn release_pipes() {
    if let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Signals to stop. The host sends SIGTERM; the others would otherwise end only this process.
struct StopSignals([Signal; 4]);

impl StopSignals {
    fn listen() -> std::io::Result<StopSignals> {
        Ok(StopSignals([
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::quit())?,
        ]))
    }

    async fn received(&mut self) {
        let [terminate, interrupt, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

/// The server, and on Linux all orphaned descendants.
struct Children {
    server: Pid,
    status: Option<i32>,
}

impl Children {
    /// Reaps ended children. Returns true if there are others.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((child, status))) if child == self.server => self.status = Some(code(status)),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Ends all children: with SIGTERM, and after the grace period with SIGKILL.
    async fn end(&mut self, ended: &mut Signal, grace: Duration) {
        if self.reap() {
            self.terminate();
            let deadline = Instant::now() + grace;
            while self.reap() && Instant::now() < deadline {
                tokio::select! {
                    _ = ended.recv() => {}
                    () = sleep_until(deadline) => {}
                }
            }
        }
        let deadline = Instant::now() + UNKILLABLE;
        self.kill();
        while self.reap() && Instant::now() < deadline {
            self.kill();
            tokio::select! {
                _ = ended.recv() => {}
                () = sleep(ROUND) => {}
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn terminate(&self) {
        super::descendants::signal_all(rustix::process::Signal::TERM);
    }

    #[cfg(target_os = "linux")]
    fn kill(&self) {
        super::descendants::kill_children();
    }

    #[cfg(not(target_os = "linux"))]
    fn terminate(&self) {
        let _ = rustix::process::kill_process_group(self.server, rustix::process::Signal::TERM);
    }

    #[cfg(not(target_os = "linux"))]
    fn kill(&self) {
        let _ = rustix::process::kill_process_group(self.server, rustix::process::Signal::KILL);
    }
}

/// Converts a status to an exit code as in shells.
fn code(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => signal.saturating_add(128),
        (None, None) => 0,
    }
}
