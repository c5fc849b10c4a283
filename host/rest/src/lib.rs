//! REST API: spaces, runs, events, approvals, files, capabilities, programs and the audit log, for programs in any
//! language.
//!
//! Every run is durable. The journal has everything that outlives a request; this crate has caches, and what runs in
//! memory need. Nothing here executes scripts or decides about calls: `durable`, `sandbox` and `pipeline` do.
//! Connections, tokens and their limits are `http-server`'s.
//!
//! # Layout
//! - [`Service`]: state of all requests; [`RestRoutes`]: the API as a part of a server; [`document`]: its OpenAPI document
//! - [`source`]: where spaces come from
//! - `spaces`, `runs`, `events`, `approvals`, `files`, `capabilities`, `programs`: the resources, one module each
//! - `me`: the caller itself; `check`, `explain`: what a program, or a call of it, would be told in a space
//! - [`audit`]: actions of callers in the audit log; `audit_route`: their own entries of it
//! - `changes`: stream of the changes of runs and approvals; `change_feed`: their source, which polls the store
//! - [`server_source`]: where MCP servers come from; `servers`: requests about them
//! - `webhooks`: messages to other programs about ended runs and calls that need approval
//! - `who`: the caller of a request; `idempotency`: repeated requests
//! - `body`, `path`, `query`, `etags`, `location`, `pages`, `limits`, `ids`, `time`, `sse`: parts of requests and
//!   responses; `problem`, `run_error`: errors
//! - `approval_request`, `space_documents`: stored data that several modules read
//! - `callers`: locks, permits and activity of each caller; `turns`: concurrency limit on checks and replays
//! - `admission`: concurrency limit on requests that create runs; `queue_estimate`: number of queued runs of a caller
//! - `places`: places of runs in memory, in which tenants take turns; `tenants`: groups of callers with quotas; `quotas`:
//!   their checks; `hosts`: hosts that share the store; `pins`: hosts that have the folders of workspaces
//! - `policy_decision`: decisions of the policy in responses
//! - `live`: runs in memory; `followers`: notification of new entries; `space_cache`: spaces that were made

mod admission;
mod api;
mod approval_request;
mod approvals;
pub mod audit;
mod audit_route;
mod body;
mod callers;
mod capabilities;
mod change_feed;
mod changes;
mod check;
mod etags;
mod events;
mod explain;
mod files;
mod followers;
mod hosts;
mod idempotency;
mod ids;
mod limits;
mod live;
mod location;
mod me;
mod pages;
mod path;
mod pins;
mod places;
mod policy_decision;
mod problem;
mod programs;
mod query;
mod queue_estimate;
mod quotas;
mod routes;
mod run_error;
mod runs;
pub mod server_source;
mod servers;
mod service;
pub mod source;
mod space_cache;
mod space_documents;
mod spaces;
mod sse;
mod tenants;
mod time;
mod turns;
mod webhooks;
mod who;

pub use api::document;
pub use pins::Pins;
pub use places::Load;
pub use routes::{MetricsText, RestRoutes};
pub use runs::INPUT_MODULE;
pub use service::{Service, ServiceSettings};
pub use tenants::{Quotas, Tenants};

#[cfg(test)]
mod api_audit_tests;
