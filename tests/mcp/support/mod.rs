//! Shared fixtures.

mod needs;
mod processes;
mod program;
mod project;
mod served;
mod site;

pub(crate) use needs::{browser, hostile, hostile_logging, node, odd, published, small, web_hostile, with_python};
#[cfg(target_os = "linux")]
pub(crate) use needs::{kernel_confines, reaching};
pub(crate) use processes::{eventually, signal};
pub(crate) use program::{Done, finish};
pub(crate) use project::{Project, script};
pub(crate) use served::Served;
pub(crate) use site::Site;
