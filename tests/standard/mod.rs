//! Standard library end to end: files, network, trust, the audit log, and the manifest.
//!
//! Every test runs the command in a folder and a home of its own. `AGENT_SPACES_TSC` is the path of `lib/tsc.js` of an
//! installed npm package `typescript`, version 5, with `node` on the path. Without it the tests of declarations say
//! that they were skipped; with `AGENT_SPACES_CI=1` that is a failure. So it is with `AGENT_SPACES_PACKAGES`, a folder in which
//! the packages of `.ci/packages` are installed.
//!
//! - `support`: projects, results of scripts, a local web server.
//! - `interfaces`: every function of every interface.
//! - `files`, `protected`, `imports`, `quotas`, `workspaces`: access of `fs` and imports, and quotas.
//! - `requests`, `fetching`, `hosts`, `inner`, `caps`: `http` and `fetch`, allowed hosts, private addresses, limits.
//! - `web_tools`: functions implemented by HTTP requests.
//! - `acceptance`: access that a configuration grants once trusted.
//! - `commands`: programs that definitions name.
//! - `log`, `tampering`, `audit_faults`, `audit_served`, `events`: audit log and events of runs.
//! - `manifest`, `explain`, `reach`: reports before a run.
//! - `packages`: npm packages behind handlers, and packages that define capabilities.
//! - `declarations`, `compiled`: output for other programs.

mod acceptance;
mod audit_faults;
mod audit_served;
mod caps;
mod commands;
mod compiled;
mod declarations;
mod events;
mod explain;
mod fetching;
mod files;
mod hosts;
mod imports;
mod inner;
mod interfaces;
mod log;
mod manifest;
mod packages;
mod protected;
mod quotas;
mod reach;
mod requests;
pub(crate) mod support;
mod tampering;
mod web_tools;
mod workspaces;
