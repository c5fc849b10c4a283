//! MCP client end to end: the command and the library against third-party servers, and against one that misbehaves.
//!
//! `servers/hostile` and `servers/http_hostile.py` need Python 3. Servers from npm and PyPI are looked for in the
//! folder `AGENT_SPACES_MCP_SERVERS`, which holds `node_modules` and `venv`. What is missing is said and skipped; with
//! `AGENT_SPACES_CI=1` it is a failure.
//!
//! - `support`: projects, leftover processes, prerequisites of tests.
//! - `published`, `transports`: servers from npm and PyPI.
//! - `misbehaviour`, `starting`, `remote`: protocol violations, startup failures, broken web servers.
//! - `calling`, `asking`, `offering`: cancellation and timeouts, requests of servers, and server features besides
//!   tools.
//! - `secrets`, `trust`, `isolation`, `accepted`: redaction, trust, isolation of spaces, and the lock file.
//! - `confined`: servers and commands under Landlock and seccomp, with `servers/reaching.py`.
//! - `toolbox`, `proxy`: servers behind `agent-spaces mcp serve`; `through`: fidelity of values and errors.
//! - `crowd`, `endings`: concurrent calls, and process cleanup.
//! - `choices`: selection of the configuration, enabled and disabled servers.
//! - `ungiven`: ungranted servers, missing modules, and unused rules.
//! - `doctor`: `agent-spaces doctor` on all of these.
//! - `verbs`: `agent-spaces mcp` subcommands, and the accounting file.

mod accepted;
mod asking;
mod calling;
mod choices;
#[cfg(target_os = "linux")]
mod confined;
mod crowd;
mod doctor;
mod endings;
mod isolation;
mod misbehaviour;
mod offering;
mod proxy;
mod published;
mod remote;
mod secrets;
mod starting;
pub(crate) mod support;
mod through;
mod toolbox;
mod transports;
mod trust;
mod ungiven;
mod verbs;
