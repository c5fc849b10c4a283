//! The process between us and a server: it ends the server and all that came of it, whatever happens to us.

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

/// Some processes cannot be killed at once, or by us. They are not waited for longer than this.
const UNKILLABLE: Duration = Duration::from_secs(5);

/// How long to wait for the killed before those that they left behind are looked for.
const ROUND: Duration = Duration::from_millis(20);

/// What a supervisor is to do.
pub(super) struct Order {
    /// The process that started it.
    pub(super) parent: u32,
    /// How long the server may take to end.
    pub(super) grace: Duration,
}

impl Order {
    /// As arguments of a supervisor; the program and its arguments follow.
    pub(super) fn arguments(&self) -> [String; 2] {
        [self.parent.to_string(), self.grace.as_millis().to_string()]
    }

    fn parse(arguments: &mut impl Iterator<Item = OsString>) -> Option<Order> {
        let parent = arguments.next()?.to_str()?.parse().ok()?;
        let grace = Duration::from_millis(arguments.next()?.to_str()?.parse().ok()?);
        Some(Order { parent, grace })
    }
}

/// Runs a program as ordered by the arguments. Returns what to exit with.
pub(super) fn run(mut arguments: impl Iterator<Item = OsString>) -> i32 {
    let Some(order) = Order::parse(&mut arguments) else { return refuse("it is not started by hand") };
    let Some(program) = arguments.next() else { return refuse("no program is named") };
    let confine = match profile::given() {
        Ok(confine) => confine,
        Err(error) => return refuse(&error),
    };
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(supervise(command, confine.as_ref(), &order)),
        Err(error) => refuse(&error.to_string()),
    }
}

/// Says why nothing was started, and ends as nothing that was started can. Only the host reads it, and it may be gone.
fn refuse(why: &str) -> i32 {
    let _ = writeln!(std::io::stderr(), "{why}");
    let _ = rustix::process::kill_process(rustix::process::getpid(), CANNOT_START);
    // Who started the host may have it ignore this signal.
    1
}

async fn supervise(command: Command, confine: Option<&Profile>, order: &Order) -> i32 {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::set_child_subreaper(Some(rustix::process::getpid())) {
        return refuse(&error.to_string());
    }
    // All are listened to before there is a child, so that nothing is missed.
    let (mut ended, mut stop) = match (signal(SignalKind::child()), Stop::listen()) {
        (Ok(ended), Ok(stop)) => (ended, stop),
        (Err(error), _) | (_, Err(error)) => return refuse(&error.to_string()),
    };
    let gone = match parent::watch(order.parent) {
        Ok(gone) => gone,
        Err(error) => return refuse(&error.to_string()),
    };
    let server = match profile::start(command, confine) {
        Ok(child) => child.id(),
        Err(error) => return refuse(&error.to_string()),
    };
    let Some(server) = pid(server) else { return refuse("it has no number") };
    let_go_of_the_pipes();
    let mut children = Children { server, status: None };
    while children.reap() && children.status.is_none() {
        tokio::select! {
            _ = ended.recv() => {}
            () = stop.wanted() => break,
            () = gone.cancelled() => break,
        }
    }
    children.end(&mut ended, order.grace).await;
    children.status.unwrap_or(0)
}

/// Leaves the server's pipes to the server: the host must see them close with it.
fn let_go_of_the_pipes() {
    if let Ok(null) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

/// Somebody wants this to end. The host sends SIGTERM; the others would otherwise end this process and nothing else.
struct Stop([Signal; 4]);

impl Stop {
    fn listen() -> std::io::Result<Stop> {
        Ok(Stop([
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::hangup())?,
            signal(SignalKind::quit())?,
        ]))
    }

    async fn wanted(&mut self) {
        let [terminate, interrupt, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

/// The server, and on Linux all that lost its parent below it.
struct Children {
    server: Pid,
    status: Option<i32>,
}

impl Children {
    /// Takes note of those that ended. Returns whether there are others.
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

    /// Ends all there is: politely, and after a grace not so.
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
        super::family::signal_all(rustix::process::Signal::TERM);
    }

    #[cfg(target_os = "linux")]
    fn kill(&self) {
        super::family::kill_children();
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

/// A status as shells say it.
fn code(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => signal.saturating_add(128),
        (None, None) => 0,
    }
}
