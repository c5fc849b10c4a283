//! Running the compiler: no shell, next to no environment, bounded time, memory and output.

use super::compiler::Compiler;
use super::folder::SETTINGS;
use super::unavailable::Unavailable;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

/// Most bytes that are kept of what it says. Twenty diagnostics have a few thousand.
const MAX_OUTPUT: u64 = 1024 * 1024;

/// Variables that it is given: where `node` is, and where version managers keep which one that is.
const VARIABLES: [&str; 3] = ["PATH", "HOME", "SYSTEMROOT"];

/// Memory of a compiler in JavaScript, in MiB, and a hint for one in Go. A few types of a few lines can ask for more than
/// any machine has.
const NODE_OPTIONS: &str = "--max-old-space-size=1024";
const GO_MEMORY: &str = "1GiB";

/// Memory that no compiler gets past, where the system can say so.
#[cfg(target_os = "linux")]
const MAX_MEMORY: u64 = 2 * 1024 * 1024 * 1024;

/// Seconds of all its processors together. It is ended by the clock before; this is for when nobody is left to do that.
#[cfg(target_os = "linux")]
const MAX_PROCESSOR_SECONDS: u64 = 300;

/// What a compiler said.
pub(super) struct Ended {
    /// Its output, cut where it is too long.
    pub(super) output: String,
    /// Whether it found nothing wrong.
    pub(super) is_success: bool,
    /// Its end in words.
    pub(super) status: String,
}

/// Runs a compiler in the folder that was made for it. Dropping the future ends it with all that it started.
pub(super) async fn run(compiler: &Compiler, folder: &Path) -> Result<Ended, Unavailable> {
    let mut command = Command::new(&compiler.program);
    command.args(&compiler.script).args(["--project", SETTINGS, "--pretty", "false"]);
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
    Ok(Ended {
        output: String::from_utf8_lossy(&output).into_owned(),
        is_success: status.success(),
        status: status.to_string(),
    })
}

/// Reads to the end and keeps the beginning.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read before an error is judged like anything else.
        let _ = (&mut pipe).take(MAX_OUTPUT).read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    bytes
}

#[cfg(unix)]
mod group {
    use rustix::process::{Pid, Signal, kill_process_group};

    /// The process group of a compiler, which ends with this.
    pub(super) struct Group(Option<Pid>);

    impl Group {
        /// Takes over a process that leads its group, and bounds what it and its children get.
        pub(super) fn of(child: &tokio::process::Child) -> Group {
            let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
            #[cfg(target_os = "linux")]
            if let Some(leader) = leader {
                bound(leader);
            }
            Group(leader)
        }
    }

    /// It has only just begun. Where this fails it is over already.
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
                // Launchers in JavaScript start the compiler as a child.
                let _ = kill_process_group(leader, Signal::KILL);
            }
        }
    }
}
