//! Standard library end to end: files, network, trust, the audit log, and the manifest.
//!
//! Every test runs the command in a folder and a home of its own. `AGENT_SPACES_TSC` is the path of `lib/tsc.js` of an
//! installed npm package `typescript`, version 5, with `node` on the path. Without it the tests of declarations are
//! skipped with a message; with `AGENT_SPACES_CI=1` they fail. The same holds for `AGENT_SPACES_PACKAGES`, a folder in
//! which the packages of `.ci/packages` are installed.
//!
//! - `support`: projects, results of scripts, a local web server.
//! - `interfaces`: every function of every interface.
//! - `files`, `protected`, `imports`, `quotas`, `workspaces`: access of `fs` and imports, and quotas.
//! - `requests`, `fetch`: `http` and `fetch`.
//! - `allowed_hosts`, `private_addresses`, `request_limits`: network access.
//! - `web_tools`: functions implemented by HTTP requests.
//! - `trust`: access that a configuration grants once trusted.
//! - `commands`: programs that definitions name.
//! - `audit_log`, `audit_verify`, `audit_faults`, `audit_served`, `events`: audit log and events of runs.
//! - `manifest`, `explain`, `space_access`: reports before a run.
//! - `packages`: npm packages behind handlers, and packages that define capabilities.
//! - `declarations`, `compiled`: output for other programs.

mod allowed_hosts;
mod audit_faults;
mod audit_log;
mod audit_served;
mod audit_verify;
mod commands;
mod compiled;
mod declarations;
mod events;
mod explain;
mod fetch;
mod files;
mod imports;
mod interfaces;
mod manifest;
mod packages;
mod private_addresses;
mod protected;
mod quotas;
mod request_limits;
mod requests;
mod space_access;
pub(crate) mod support;
mod trust;
mod web_tools;
mod workspaces;
