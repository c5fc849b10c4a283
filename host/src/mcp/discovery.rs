//! What a server offers, as the lock records it.

use super::configured::ConfiguredServer;
use crate::config::{Raw, Transport};
use agent_spaces_mcp::Listing;
use agent_spaces_mcp::lock::{LockedEndpoint, LockedServer, OfferError};
use agent_spaces_mcp::secrets::{MASK, Redactor, secrets_in_args};

/// How a server is reached, without anything secret: variables are not filled in.
pub fn locked_endpoint(server: &ConfiguredServer) -> LockedEndpoint {
    endpoint(&server.config.transport)
}

/// The same of a server that is in no project yet.
pub fn endpoint(transport: &Transport) -> LockedEndpoint {
    match transport {
        Transport::Stdio { program, args, .. } => LockedEndpoint::stdio(program, safe_words(args)),
        Transport::Remote { url, .. } => LockedEndpoint::remote(url.expose()),
    }
}

/// Arguments as they are written, but for what is a secret literally.
fn safe_words(args: &[Raw]) -> Vec<String> {
    let words: Vec<String> = args.iter().map(|arg| arg.expose().to_owned()).collect();
    let is_literal = |secret: &str| !secret.starts_with("${");
    let secrets = secrets_in_args(&words);
    let mask = |word: &String| {
        let secrets = secrets.iter().map(|secret| secret.expose()).filter(|secret| is_literal(secret));
        secrets.fold(word.clone(), |word, secret| word.replace(secret, MASK))
    };
    words.iter().map(mask).collect()
}

/// What was found of a server, as the lock records it.
pub fn locked(server: &ConfiguredServer, listing: &Listing, redactor: &Redactor) -> Result<LockedServer, OfferError> {
    listing.locked(locked_endpoint(server), redactor)
}
