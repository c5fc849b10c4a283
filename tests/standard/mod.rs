//! The standard library as scripts meet it, and what holds it: files, network, acceptance, the audit log, the manifest.
//!
//! Every test runs the command in a folder and a home of its own. `AGENT_SPACES_TSC` is the path of `lib/tsc.js` of an
//! installed npm package `typescript`, version 5, with `node` on the path. Without it the tests of declarations say
//! that they were skipped; with `AGENT_SPACES_CI=1` that is a failure. So it is with `AGENT_SPACES_PACKAGES`, a folder in which
//! the packages of `.ci/packages` are installed.
//!
//! - `support`: projects, what a script gives, a web server of the test's own.
//! - `interfaces`: every function of every interface.
//! - `files`, `protected`, `imports`, `quotas`, `workspaces`: what `fs` and imports reach, and how much.
//! - `requests`, `fetching`, `hosts`, `inner`, `caps`: what `http` and `fetch` do, where they go, and how much.
//! - `web_tools`: functions that are answered by requests.
//! - `acceptance`: what a configuration opens once its user accepted it.
//! - `commands`: programs that definitions name.
//! - `log`, `tampering`, `audit_faults`, `audit_served`, `events`: what is told and written of runs.
//! - `manifest`, `explain`, `reach`: what is said before a run.
//! - `packages`: npm packages behind handlers, and packages that define capabilities.
//! - `declarations`, `compiled`: what other programs are given.

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
