//! Connection errors worded for scripts, without network details.

use super::resolver::PrivateAddress;
use crate::error::StdError;
use std::error::Error;
use std::time::Duration;

/// Converts a connection error.
pub(super) fn of(error: &reqwest::Error, host: &str) -> StdError {
    if let Some(PrivateAddress(reason)) = find::<PrivateAddress>(error) {
        return StdError::refused(format!("\"{host}\" resolves to a private address"), host, reason.clone());
    }
    if let Some(error) = find::<rustls::Error>(error) {
        return StdError::failed(match error {
            rustls::Error::InvalidCertificate(_) => format!("The certificate of \"{host}\" is not trusted"),
            _ => format!("TLS connection to \"{host}\" failed"),
        });
    }
    if error.is_builder() {
        return StdError::invalid("Invalid request: check the address and the headers");
    }
    let message = if error.is_dns() {
        format!("\"{host}\" has no address: host name not found")
    } else if error.is_connect() {
        format!("\"{host}\" cannot be reached")
    } else {
        return StdError::failed(format!("The answer of \"{host}\" ended early, or is not HTTP"));
    };
    StdError { retryable: true, ..StdError::failed(message) }
}

/// Returns the error of an exchange that took longer than its timeout.
pub(super) fn timed_out(timeout: Duration) -> StdError {
    StdError::timeout(format!("Timed out: no complete answer within {} ms", timeout.as_millis()))
}

/// Finds a source of this type. Those inside an I/O error are not among its sources.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut reason = Some(error);
    while let Some(error) = reason {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        let inner = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        reason = match inner {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    None
}
