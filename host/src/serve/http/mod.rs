//! Code mode over HTTP, for several callers.
//!
//! - `token`, [`Callers`]: who calls; each has a service and sessions of their own, so that nothing of one can be named
//!   by another
//! - [`Doors`]: from where browsers may call, and under which names
//! - `gate`: what a request must pass before it reaches a service; `answers`: what it hears otherwise
//! - `sessions`, `watched`: sessions, and requests whose client went away
//! - `presence`: whether a caller is still there
//! - `listen`: connections, and the end of all; `connections`: who holds them; `stalled`: peers that do not read

mod answers;
mod callers;
mod connections;
mod doors;
mod gate;
mod listen;
mod presence;
mod sessions;
mod stalled;
mod token;
mod watched;

pub use callers::Callers;
pub use doors::{Doors, DoorsError};
pub use listen::serve_http;
pub use token::{Token, TokenError};

/// Where the server is on its address.
pub const PATH: &str = "/mcp";
