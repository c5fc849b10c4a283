//! Lock file: a record of what was accepted of each server, and its comparison with what the server offers now.
//!
//! `capabilities.lock` records, for each server, its endpoint and what it offered when the operator accepted it. A tool
//! that is new, or whose schema or annotations changed, is refused until it is accepted. A changed description causes a
//! warning, and the accepted one is served. A server with another endpoint is refused as a whole.
//!
//! - [`Lock`], [`LockError`]: the file.
//! - [`LockedServer`], [`Offer`], [`OfferError`]: the entry of one server, made from what it offers, with size limits.
//! - [`compare`], [`Change`], [`Differences`]: the changes, with texts.
//! - [`verdict`], [`server_warnings`]: refusals and warnings that follow from changes.
//! - [`package_of`], [`Package`]: the package that a command line runs, and whether it is pinned.

mod change;
mod compare;
mod difference;
mod file;
mod offer;
mod package;
mod schema;
mod server;
mod verdict;

pub use change::Change;
pub use compare::compare;
pub use difference::{Difference, Differences};
pub use file::{Lock, LockError, MAX_LOCK};
pub use offer::{MAX_DESCRIPTION, MAX_TOOLS, Offer, OfferError};
pub use package::{Manager, Package, package_of};
pub use server::{LockedEndpoint, LockedServer, ServerIdentity};
pub use verdict::{Verdict, server_warnings, verdict};
