//! Shared fixtures.

mod prerequisites;
mod processes;
mod program;
mod project;
mod serve_client;
mod site;

pub(crate) use prerequisites::{
    browser, hostile, hostile_http_server, hostile_logging, node, odd, published, small, with_python,
};
#[cfg(target_os = "linux")]
pub(crate) use prerequisites::{kernel_confines, reaching};
pub(crate) use processes::{eventually, signal};
pub(crate) use program::{CommandOutput, finish};
pub(crate) use project::{Project, script};
pub(crate) use serve_client::ServeClient;
pub(crate) use site::Site;
