//! Tests that start the command, in one binary, because linking one takes a minute on a small machine.
//!
//! A test target of the package `agent-spaces-cli` (`host/cli`), so that cargo builds the command for it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests may stop at the first surprise"
)]

#[cfg(unix)]
mod agent;
#[cfg(target_os = "linux")]
mod amplification;
#[cfg(unix)]
mod approvals;
mod command;
#[cfg(unix)]
mod command_output;
#[cfg(unix)]
mod durable_runs;
#[cfg(unix)]
mod init;
#[cfg(unix)]
mod mcp;
mod printed_value;
#[cfg(unix)]
mod providers;
#[cfg(unix)]
mod rest;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serve_http;
#[cfg(unix)]
mod standard;
