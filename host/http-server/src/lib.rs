//! HTTP server for several callers, each with a bearer token. It serves a list of [`Routes`] and knows neither MCP nor
//! REST.
//!
//! The checks of every request are here and nowhere else: size of the head, `Host` and `Origin` checks, CORS,
//! authentication, connection limits, requests in flight, timeouts, graceful shutdown. Routes decide what a path
//! means.
//!
//! # Layout
//! - [`serve`]: accept loop and graceful shutdown; [`Settings`], [`Limits`]; [`StopNotice`]: announcement of a shutdown
//! - [`Routes`]: one part of the server, with [`Access`] and [`Authenticated`]; [`Refusal`]: refusal by the
//!   server itself, rendered by the part
//! - [`Token`], [`Callers`], [`Client`]: bearer-token authentication and identity of a caller
//! - [`Sessions`]: callers in a browser, by cookie, and links that sign in once; [`Peer`]: address of a client;
//!   [`FailedAttempts`]: wrong tokens of an address
//! - [`OriginCheck`]: checks of the `Host` and `Origin` headers; `cors`: CORS headers
//! - [`body`]: request body reader with a size limit and a timeout
//! - [`HttpResponse`], [`text_response`], [`until_sent`]: responses
//! - `server`: order of the checks; `in_flight`: requests that are being answered; `connections`: connection limits;
//!   `held_answers`: refusals that are answered late; `stream_end`: streams that end with their session; `write_timeout`: peers that do not read

pub mod body;
mod callers;
mod client;
mod connections;
mod cors;
mod failed_attempts;
mod held_answers;
mod in_flight;
mod listen;
mod origin_check;
mod peer;
mod refusal;
mod responses;
mod routes;
mod server;
mod sessions;
mod stop_notice;
mod stream_end;
mod token;
mod write_timeout;

pub use callers::Callers;
pub use client::Client;
pub use connections::{ConnectionHold, Limits};
pub use failed_attempts::FailedAttempts;
pub use in_flight::{InFlight, InFlightGuard};
pub use listen::{DRAIN_TIMEOUT, Settings, serve};
pub use origin_check::{OriginCheck, OriginCheckError};
pub use peer::Peer;
pub use refusal::Refusal;
pub use responses::{HttpResponse, response, text_response, until_sent};
pub use routes::{Access, Authenticated, Handling, Routes, Stopping};
pub use sessions::{CONSOLE_HEADER, Sessions, SignInError, SignedIn, is_from_own_page, is_https, link};
pub use stop_notice::StopNotice;
pub use token::{Token, TokenError};
