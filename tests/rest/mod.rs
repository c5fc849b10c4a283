//! `agent-spaces serve` end to end: spaces, runs, events, approvals and files over HTTP.
//!
//! - `server`: the server in a temporary project; `client`: requests; `event_stream`: server-sent events.
//! - `spaces`, `space_bounds`: spaces of the configuration and of callers, and what they cannot be given.
//! - `runs`, `run_control`, `programs`: runs, their cancellation and queue, and stored programs; `capabilities`.
//! - `checks`: programs and calls that are only looked at; `replays`: runs that are repeated offline.
//! - `events`, `interrupted_streams`: events as pages and streams, over lost connections and killed servers; `changes`:
//!   the stream of changes.
//! - `approvals`: decisions; `agent_approvals`: those on calls of agents; `in_doubt`: calls of killed servers.
//! - `isolation`, `audit`: callers; `tenants`: quotas and turns of groups of callers.
//! - `files`, `file_bounds`: files of spaces, and paths and sizes that are refused.
//! - `servers`: MCP servers and the acceptance of their tools.
//! - `webhooks`: changes of webhooks, and messages to a local receiver.
//! - `bad_requests`, `operations`: wrong requests to every operation of the OpenAPI document.
//! - `shutdown`: SIGTERM with runs in progress; `data_folder`: what a server keeps.
//! - `console`: the page for people, its sessions, and the command that opens it.
//! - `document`: the checked-in OpenAPI document, and MCP at the same server.

mod agent_approvals;
mod approvals;
mod audit;
mod bad_requests;
mod capabilities;
mod changes;
mod checks;
pub(crate) mod client;
mod console;
mod data_folder;
mod document;
pub(crate) mod event_stream;
mod events;
mod file_bounds;
mod files;
mod in_doubt;
mod interrupted_streams;
mod isolation;
mod operations;
mod programs;
mod replays;
mod run_control;
mod runs;
pub(crate) mod server;
mod servers;
mod shutdown;
mod space_bounds;
mod spaces;
mod tenants;
mod webhooks;
