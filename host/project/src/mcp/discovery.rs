//! Conversion of a server's configuration and listing to a lock entry.

use super::configured_server::ConfiguredServer;
use agent_spaces_config::{Raw, Transport};
use agent_spaces_mcp::Listing;
use agent_spaces_mcp::lock::{LockedEndpoint, LockedServer, OfferError};
use agent_spaces_secrets::{MASK, Redactor, secrets_in_args};

/// Endpoint of a server without secrets: variables are not expanded.
pub fn locked_endpoint(server: &ConfiguredServer) -> LockedEndpoint {
    endpoint(&server.config.transport)
}

/// Endpoint of a transport, for a server that is in no project yet.
pub fn endpoint(transport: &Transport) -> LockedEndpoint {
    match transport {
        Transport::Stdio { program, args, .. } => LockedEndpoint::stdio(program, safe_words(args)),
        Transport::Remote { url, .. } => LockedEndpoint::remote(url.expose()),
    }
}

/// Arguments as written, with literal secrets masked.
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

/// Lock entry for the listing of a server.
pub fn locked(server: &ConfiguredServer, listing: &Listing, redactor: &Redactor) -> Result<LockedServer, OfferError> {
    listing.locked(locked_endpoint(server), redactor)
}
