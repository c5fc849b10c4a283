//! What stands behind capabilities and needs nothing of the sandbox: one module to a kind.
//!
//! A provider here takes parameters that were checked and gives a value or says why there is none. A definition says what
//! is sent or started; what it is given for that is the configuration's to say. Who may call it, what the caller is told
//! and what is written down is the host's.
//!
//! # Layout
//! - [`http`]: requests to web servers; `error`: why a call gave no value.
//! - [`command`]: programs that are started for each call.

pub mod command;
mod error;
pub mod http;

pub use error::ProviderError;
