//! Address of a client.

use std::net::IpAddr;

/// Address of the client of a request, or of the proxy in front of it. Every request has it among its extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);
