//! How a remote server is told who we are.
//!
//! - [`bearer`]: tokens from the configuration, a file or a program.
//! - [`login`]: a person logs in once, in a browser; what comes of it is kept in a [`TokenStore`].
//! - [`client`], [`access_token`]: connections that use, and renew, the tokens of an earlier login.
//! - [`unauthorized`], [`insufficient_scope`]: what the operator is told to do when that was not enough.
//!
//! The protocol itself is rmcp's. Here are its edges: files, sockets, the browser, and which addresses are trusted.

mod advice;
mod bearer;
mod browser;
mod callback;
mod challenge;
mod discovery;
mod entry;
mod login;
mod login_error;
mod machine;
mod private_file;
mod record;
mod scopes;
mod session;
mod store;
mod store_error;
mod target;

#[cfg(test)]
mod fake;

pub use advice::{refused, unauthorized};
pub use bearer::{bearer, learn_file};
pub use browser::{Browser, SystemBrowser};
pub use login::{LoginReport, login};
pub use login_error::LoginError;
pub use session::{access_token, client, insufficient_scope};
pub use store::{Login, TokenStore};
pub use store_error::TokenStoreError;

use crate::Context;
use std::error::Error;

/// An error and its causes as one line without secrets.
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
