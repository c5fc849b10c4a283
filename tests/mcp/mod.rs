//! The MCP client as a whole: the command and the library against servers that others wrote, and against one that
//! does all that a server should not.
//!
//! `servers/hostile` and `servers/http_hostile.py` need Python 3. Servers from npm and PyPI are looked for in the
//! folder `AGENT_SPACES_MCP_SERVERS`, which holds `node_modules` and `venv`. What is missing is said and skipped; with
//! `AGENT_SPACES_CI=1` it is a failure.
//!
//! - `support`: projects in folders of their own, processes that were left, what a test needs.
//! - `published`, `transports`: servers from npm and PyPI.
//! - `misbehaviour`, `starting`, `remote`: servers that break the protocol, do not start, or are broken web servers.
//! - `calling`, `asking`, `offering`: calls that end early, what servers ask of us, what they offer besides tools.
//! - `secrets`, `trust`, `isolation`, `accepted`: what stays apart, and what is inert until it is accepted.
//! - `confined`: servers and commands under Landlock and seccomp, with `servers/reaching.py`.
//! - `toolbox`, `proxy`: servers behind `agent-spaces mcp serve`; `through`: values and errors that come through servers.
//! - `crowd`, `endings`: many calls at once, and nothing left behind.
//! - `choices`: which configuration is used, and what it switches on and off.
//! - `ungiven`: servers that no space is given, modules that are missing, and rules that are about nothing.
//! - `doctor`: what `agent-spaces doctor` says of all of these.
//! - `verbs`: the output of `agent-spaces mcp`, and the accounting file.

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
