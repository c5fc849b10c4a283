//! Child process of a server, and its termination.

use super::environment::environment;
use super::supervises;
use crate::{ProcessSpec, StartError};
use agent_spaces_confine::Kernel;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Time for a server to exit after its stdin is closed, and again after SIGTERM.
pub const GRACE: Duration = Duration::from_secs(2);

/// Extra time for a supervisor beyond the grace period: it kills processes and waits for them.
const SUPERVISOR_SLACK: Duration = Duration::from_secs(6);

/// Child process with all its descendants. Closing or dropping it ends all of them.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    /// PID, which is also its process group id: needed after the process has exited.
    #[cfg(unix)]
    pid: Option<rustix::process::Pid>,
    supervised: bool,
    /// Time to exit after SIGTERM.
    grace: Duration,
    status: Option<ExitStatus>,
}

impl Child {
    /// Returns an error if it is certain, without starting the program, that it cannot be started.
    pub fn check(endpoint: &ProcessSpec) -> Result<(), StartError> {
        checked_environment(endpoint).map(drop)
    }

    /// Starts a program with pipes and a restricted environment. After SIGTERM it has `grace` to exit. Must be called
    /// within a tokio runtime.
    pub fn start(endpoint: &ProcessSpec, grace: Duration) -> Result<Child, StartError> {
        let failed = |message: String| StartError { program: endpoint.program.clone(), message };
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

    /// Takes its stdin, once.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.process.stdin.take()
    }

    /// Takes its stdout, once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.process.stdout.take()
    }

    /// Takes its stderr, once.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.process.stderr.take()
    }

    /// Returns the PID of the running process: of the supervisor, if there is one.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits for the process to exit. Returns the exit status as text. Closes its stdin, unless that was taken.
    pub async fn wait(&mut self) -> String {
        if self.status.is_none() {
            self.status = self.process.wait().await.ok();
            if !self.supervised {
                // Kill the rest of its process group. The PID cannot have been reused so soon.
                self.kill();
            }
        }
        self.status.map_or_else(|| "exit status unknown".to_owned(), describe)
    }

    /// Returns the exit code after [`Child::wait`]: as in shells, 128 plus the signal number after a signal.
    pub fn exit_code(&self) -> Option<i32> {
        let status = self.status?;
        status.code().or_else(|| signal(status).map(|signal| signal.saturating_add(128)))
    }

    /// Returns true if the program could not be started. The reason is on stderr.
    pub fn could_not_start(&self) -> bool {
        #[cfg(unix)]
        let cannot_start = Some(super::CANNOT_START.as_raw());
        #[cfg(not(unix))]
        let cannot_start: Option<i32> = None;
        self.supervised && cannot_start.is_some() && self.status.and_then(signal) == cannot_start
    }

    /// Ends the process: closes its stdin, sends SIGTERM after `patience`, kills it after the grace period. A stdin
    /// that was taken must be dropped before. Returns when all its processes have ended.
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
        // Fails only if the process has ended.
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
        // Fails only if the process has ended.
        let _ = self.process.start_kill();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.status.is_some() {
            return;
        }
        // A supervisor ends all processes by itself, even after we exit.
        if self.supervised {
            self.terminate();
        } else {
            self.kill();
        }
    }
}

/// Returns the environment of a program after checking that it can be started.
fn checked_environment(endpoint: &ProcessSpec) -> Result<BTreeMap<OsString, OsString>, StartError> {
    let failed = |message: String| StartError { program: endpoint.program.clone(), message };
    let environment = environment(endpoint, |name| std::env::var_os(name)).map_err(failed)?;
    if endpoint.args.iter().any(|argument| argument.expose().contains('\0')) {
        return Err(failed("one of its arguments contains a NUL byte".to_owned()));
    }
    #[cfg(unix)]
    super::lookup::check(&endpoint.program, endpoint.cwd.as_deref(), &environment).map_err(failed)?;
    if let Some(profile) = &endpoint.confine {
        Kernel::current().check(profile).map_err(|error| failed(error.to_string()))?;
    }
    Ok(environment)
}

/// Returns the command that runs `program`, and true if that is a supervisor.
#[cfg(unix)]
fn command(program: &str, grace: Duration) -> Result<(Command, bool), String> {
    if !supervises() {
        return Ok((Command::new(program), false));
    }
    // Our file may have been replaced since we were started; /proc/self/exe is still the running one.
    let own = if cfg!(target_os = "linux") {
        "/proc/self/exe".into()
    } else {
        std::env::current_exe().map_err(|error| format!("cannot find our own executable: {error}"))?
    };
    let mut command = Command::new(own);
    if let Some(name) = std::env::args_os().next() {
        command.arg0(name);
    }
    let options = super::supervisor::Options { parent: std::process::id(), grace };
    command.arg(super::MARKER).args(options.arguments()).arg(program);
    Ok((command, true))
}

#[cfg(not(unix))]
fn command(program: &str, _grace: Duration) -> Result<(Command, bool), String> {
    Ok((Command::new(program), supervises()))
}

/// Returns the signal that ended the process.
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
    use crate::ProcessSpec;
    use agent_spaces_confine::Profile;

    /// The test harness does not call `supervise_if_asked`, so there is no supervisor.
    #[test]
    fn a_confined_server_without_supervisor_is_not_started() {
        let confine = Some(Profile { best_effort: true, ..Profile::default() });
        let (args, env) = (Vec::new(), Default::default());
        let endpoint = ProcessSpec { program: "sh".to_owned(), args, env, cwd: None, confine };
        let refused = Child::start(&endpoint, GRACE).unwrap_err().to_string();
        assert!(refused.contains("only a supervisor can confine it"), "{refused}");
    }
}
