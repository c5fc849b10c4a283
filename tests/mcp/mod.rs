//! MCP client end to end: the command and the library against third-party servers, and against one that misbehaves.
//!
//! `servers/hostile` and `servers/http_hostile.py` need Python 3. Servers from npm and PyPI are looked for in the
//! folder `AGENT_SPACES_MCP_SERVERS`, which holds `node_modules` and `venv`. A test without its prerequisites is skipped
//! with a message; with `AGENT_SPACES_CI=1` it fails.
//!
//! - `support`: projects, leftover processes, prerequisites of tests.
//! - `third_party_servers`, `transports`: servers from npm and PyPI.
//! - `protocol_violations`, `startup`, `http_servers`: misbehaving, failing and broken web servers.
//! - `cancellation_and_timeouts`, `server_requests`: cancelled calls and timeouts; requests of servers to the client.
//! - `server_features`: tool pages, instructions, prompts and resources.
//! - `secrets`, `trust`, `isolation`, `lock_file`: redaction, trust, isolation of spaces, and the lock file.
//! - `confinement`: servers and commands under Landlock and seccomp, with `servers/reaching.py`.
//! - `toolbox`, `toolbox_approvals`, `proxy`: servers behind `agent-spaces mcp serve`; `fidelity`: values and errors pass
//!   unchanged.
//! - `concurrency`, `process_cleanup`: runs that share a session; no process is left.
//! - `config_selection`: selection of the configuration, enabled and disabled servers.
//! - `ungranted_servers`: servers that no space is granted, missing modules, and unused rules.
//! - `doctor`: `agent-spaces doctor` on all of these.
//! - `subcommands`: `agent-spaces mcp` subcommands, and the accounting file.

mod cancellation_and_timeouts;
mod concurrency;
mod config_selection;
#[cfg(target_os = "linux")]
mod confinement;
mod doctor;
mod fidelity;
mod http_servers;
mod isolation;
mod lock_file;
mod process_cleanup;
mod protocol_violations;
mod proxy;
mod secrets;
mod server_features;
mod server_requests;
mod startup;
mod subcommands;
pub(crate) mod support;
mod third_party_servers;
mod toolbox;
mod toolbox_approvals;
mod transports;
mod trust;
mod ungranted_servers;
