//! Compiler process: no shell, minimal environment, limited time, memory and output.

use super::compiler::Compiler;
use super::folder::TSCONFIG;
use super::unavailable::Unavailable;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

/// Maximum size of the output. Twenty diagnostics take a few kilobytes.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// Inherited variables: the location of `node`, and of the state of version managers.
const VARIABLES: [&str; 3] = ["PATH", "HOME", "SYSTEMROOT"];

/// Memory limit of a compiler in JavaScript, and soft limit for one in Go. A few lines of types can take any amount of
/// memory.
const NODE_OPTIONS: &str = "--max-old-space-size=1024";
const GO_MEMORY: &str = "1GiB";

/// Hard memory limit, on Linux.
#[cfg(target_os = "linux")]
const MAX_MEMORY: u64 = 2 * 1024 * 1024 * 1024;

/// CPU time limit in seconds. The deadline comes first; this applies if our process is gone.
#[cfg(target_os = "linux")]
const MAX_PROCESSOR_SECONDS: u64 = 300;

/// Result of a compiler process.
pub(super) struct CompilerRun {
    /// Output, truncated to the maximum size.
    pub(super) output: String,
    /// True if the exit status is zero.
    pub(super) is_success: bool,
    /// Exit status as text.
    pub(super) status: String,
}

/// Runs a compiler in a folder. Dropping the future kills its process group.
pub(super) async fn run(compiler: &Compiler, folder: &Path) -> Result<CompilerRun, Unavailable> {
    let mut command = Command::new(&compiler.program);
    command.args(&compiler.script).args(["--project", TSCONFIG, "--pretty", "false"]);
    command.current_dir(folder).env_clear();
    command.envs(VARIABLES.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
    command.env("NODE_OPTIONS", NODE_OPTIONS).env("GOMEMLIMIT", GO_MEMORY);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| Unavailable::Start(error.to_string()))?;
    #[cfg(unix)]
    let _group = group::Group::of(&child);
    let stdout = child.stdout.take();
    let (status, output) = tokio::join!(child.wait(), read(stdout));
    let status = status.map_err(|error| Unavailable::NoAnswer(error.to_string()))?;
    Ok(CompilerRun {
        output: String::from_utf8_lossy(&output).into_owned(),
        is_success: status.success(),
        status: status.to_string(),
    })
}

/// Reads to the end and keeps the first [`MAX_OUTPUT`] bytes.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // Output before a read error is used as it is.
        let _ = (&mut pipe).take(MAX_OUTPUT).read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    bytes
}

#[cfg(unix)]
mod group {
    use rustix::process::{Pid, Signal, kill_process_group};

    /// Process group of a compiler, killed on drop.
    pub(super) struct Group(Option<Pid>);

    impl Group {
        /// Takes over a group leader, and limits its resources and those of its children.
        pub(super) fn of(child: &tokio::process::Child) -> Group {
            let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
            #[cfg(target_os = "linux")]
            if let Some(leader) = leader {
                bound(leader);
            }
            Group(leader)
        }
    }

    /// Sets resource limits. Fails only if the process has already ended.
    #[cfg(target_os = "linux")]
    fn bound(leader: Pid) {
        use rustix::process::{Resource, Rlimit, prlimit};
        for (resource, most) in [(Resource::Data, super::MAX_MEMORY), (Resource::Cpu, super::MAX_PROCESSOR_SECONDS)] {
            let limit = Rlimit { current: Some(most), maximum: Some(most) };
            let _ = prlimit(Some(leader), resource, limit);
        }
    }

    impl Drop for Group {
        fn drop(&mut self) {
            if let Some(leader) = self.0 {
                // JavaScript launchers start the compiler as a child process.
                let _ = kill_process_group(leader, Signal::KILL);
            }
        }
    }
}
