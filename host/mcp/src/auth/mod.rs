//! Authentication at remote servers: bearer tokens and OAuth.
//!
//! - [`bearer`]: tokens from the configuration, a file or a program.
//! - [`login`]: OAuth login of a person in a browser; the tokens are kept in a [`TokenStore`](crate::token_store::TokenStore).
//! - [`client`], [`access_token`]: connections that use and refresh the tokens of an earlier login.
//! - [`refused`], [`insufficient_scope`]: errors with advice to the operator.
//!
//! rmcp implements the protocol. Here is the rest: files, sockets, the browser, and the check of URLs.

mod bearer;
mod browser;
mod callback;
mod challenge;
mod client_credentials;
mod discovery;
mod login;
mod login_error;
mod scopes;
mod session;
mod target;

#[cfg(test)]
mod fake_server;

pub use bearer::{bearer, learn_file};
pub use browser::{Browser, SystemBrowser};
pub use login::{LoginReport, login};
pub use login_error::LoginError;
pub use session::{access_token, client, insufficient_scope, refused};

use crate::Context;
use std::error::Error;

/// Returns an error and its causes as one line without secrets.
fn plain(context: &Context, error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        cause = error.source();
    }
    crate::trace::one_line(&context.redactor.text(&text))
}
