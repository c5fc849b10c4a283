//! A server's process, and its end.

use super::environment::environment;
use super::supervises;
use crate::{ConnectError, StdioEndpoint};
use agent_spaces_confine::Kernel;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// How long a server may take to end after its input is closed, and again after it is told to.
pub const GRACE: Duration = Duration::from_secs(2);

/// How much longer than its own grace a supervisor may take, which kills and waits for the killed.
const SUPERVISOR_SLACK: Duration = Duration::from_secs(6);

/// A process that was started, with all that it starts. Nothing of it is left when this is closed or dropped.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    /// Its process group has its number, which is needed when it has ended itself.
    #[cfg(unix)]
    pid: Option<rustix::process::Pid>,
    supervised: bool,
    /// What it has to end after it was told to.
    grace: Duration,
    status: Option<ExitStatus>,
}

impl Child {
    /// Says why a program would not start, if that is plain without starting it.
    pub fn check(endpoint: &StdioEndpoint) -> Result<(), ConnectError> {
        checked_environment(endpoint).map(drop)
    }

    /// Starts a program with pipes to its input and outputs and with the environment that is meant for it.
    /// After SIGTERM it has `grace` to end. Must be called within a tokio runtime.
    pub fn start(endpoint: &StdioEndpoint, grace: Duration) -> Result<Child, ConnectError> {
        let failed = |message: String| ConnectError::Start { program: endpoint.program.clone(), message };
        let environment = checked_environment(endpoint)?;
        let (mut command, supervised) = command(&endpoint.program, grace).map_err(failed)?;
        command.args(endpoint.args.iter().map(|argument| argument.expose()));
        command.env_clear().envs(environment);
        #[cfg(unix)]
        match &endpoint.confine {
            Some(_) if !supervised => {
                return Err(failed(
                    "only a supervisor can confine it: call `supervise_if_asked` first in `main`".into(),
                ));
            }
            Some(profile) => command.env(super::PROFILE, super::profile::text(profile).map_err(failed)?),
            None => command.env_remove(super::PROFILE),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &endpoint.cwd {
            command.current_dir(cwd);
        }
        #[cfg(unix)]
        command.process_group(0);
        #[cfg(not(unix))]
        command.kill_on_drop(true);
        let process = command.spawn().map_err(|error| failed(error.to_string()))?;
        Ok(Child {
            #[cfg(unix)]
            pid: process.id().and_then(super::pid),
            process,
            supervised,
            grace,
            status: None,
        })
    }

    /// Its input; once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// Its output; once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.process.stdout.take()
    }

    /// Where it logs; once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.process.stderr.take()
    }

    /// The process that was started, until it ended: the supervisor, where there is one.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits for its end. Returns the exit status as text. Closes its input, unless that was taken.
    pub async fn wait(&mut self) -> String {
        if self.status.is_none() {
            self.status = self.process.wait().await.ok();
            if !self.supervised {
                // What it left behind in its group. Nobody else can have this number so soon.
                self.kill();
            }
        }
        self.status.map_or_else(|| "its exit status is unknown".to_owned(), describe)
    }

    /// What it exited with, once it was waited for: as shells say it, 128 and the signal's number after a signal.
    pub fn exit_code(&self) -> Option<i32> {
        let status = self.status?;
        status.code().or_else(|| signal(status).map(|signal| signal.saturating_add(128)))
    }

    /// Whether it ended because its program could not be started. Then it said why on stderr.
    pub fn could_not_start(&self) -> bool {
        #[cfg(unix)]
        let told = Some(super::CANNOT_START.as_raw());
        #[cfg(not(unix))]
        let told: Option<i32> = None;
        self.supervised && told.is_some() && self.status.and_then(signal) == told
    }

    /// Ends it: closes its input, tells it to end after `patience`, kills it after the grace that it was started with. An
    /// input that was taken must be dropped before.
    /// Returns when everything is gone.
    pub async fn close(&mut self, patience: Duration) {
        if timeout(patience, self.wait()).await.is_ok() {
            return;
        }
        self.terminate();
        let patience = if self.supervised { self.grace + SUPERVISOR_SLACK } else { self.grace };
        if timeout(patience, self.wait()).await.is_ok() {
            return;
        }
        self.kill();
        self.wait().await;
    }

    #[cfg(unix)]
    fn terminate(&self) {
        use rustix::process::{Signal, kill_process, kill_process_group};
        let Some(pid) = self.pid else { return };
        // It cannot fail but by its end.
        let _ = if self.supervised { kill_process(pid, Signal::TERM) } else { kill_process_group(pid, Signal::TERM) };
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        if let Some(pid) = self.pid {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {
        self.kill();
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        // It cannot fail but by its end.
        let _ = self.process.start_kill();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_some() {
            return;
        }
        // A supervisor does all the rest by itself, also after our end.
        if self.supervised {
            self.terminate();
        } else {
            self.kill();
        }
    }
}

/// The environment of a program that can be started, as far as that can be told beforehand.
fn checked_environment(endpoint: &StdioEndpoint) -> Result<BTreeMap<OsString, OsString>, ConnectError> {
    let failed = |message: String| ConnectError::Start { program: endpoint.program.clone(), message };
    let environment = environment(endpoint, |name| std::env::var_os(name)).map_err(failed)?;
    if endpoint.args.iter().any(|argument| argument.expose().contains('\0')) {
        return Err(failed("one of its arguments holds a zero byte".to_owned()));
    }
    #[cfg(unix)]
    super::lookup::check(&endpoint.program, endpoint.cwd.as_deref(), &environment).map_err(failed)?;
    if let Some(profile) = &endpoint.confine {
        Kernel::current().check(profile).map_err(|error| failed(error.to_string()))?;
    }
    Ok(environment)
}

/// What to run so that `program` runs, and whether that is a supervisor.
#[cfg(unix)]
fn command(program: &str, grace: Duration) -> Result<(Command, bool), String> {
    if !supervises() {
        return Ok((Command::new(program), false));
    }
    // The file may have been replaced since we were started; Linux still has the one that runs.
    let own = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().map_err(|error| format!("our own program is not found: {error}"))?
    };
    let mut command = Command::new(own);
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    let order = super::supervisor::Order { parent: std::process::id(), grace };
    command.arg(super::MARKER).args(order.arguments()).arg(program);
    Ok((command, true))
}

#[cfg(not(unix))]
fn command(program: &str, _grace: Duration) -> Result<(Command, bool), String> {
    Ok((Command::new(program), supervises()))
}

/// The signal that ended it.
fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    return None;
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code @ 129..=192) => format!("exit status {code}, as after signal {}", code - 128),
        Some(code) => format!("exit status {code}"),
        None => status.to_string(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Child, GRACE};
    use crate::StdioEndpoint;
    use agent_spaces_confine::Profile;

    /// The test harness does not ask first whether it is a supervisor.
    #[test]
    fn a_server_that_nobody_can_confine_is_not_started() {
        let confine = Some(Profile { best_effort: true, ..Profile::default() });
        let (args, env) = (Vec::new(), Default::default());
        let endpoint = StdioEndpoint { program: "sh".to_owned(), args, env, cwd: None, confine };
        let refused = Child::start(&endpoint, GRACE).unwrap_err().to_string();
        assert!(refused.contains("only a supervisor can confine it"), "{refused}");
    }
}
