//! What was accepted of a server, and how it differs from what it offers now.
//!
//! `capabilities.lock` holds, for each server, where it is and what it offered when the operator accepted it. A tool
//! that is new, or whose schema or annotations changed, is refused until it is accepted; a description that changed is
//! not served, and told. A server that is somewhere else than it was is refused whole.
//!
//! - [`Lock`], [`LockError`]: the file.
//! - [`LockedServer`], [`Offer`], [`OfferError`]: one server in it, made from what the server offers, within bounds.
//! - [`compare`], [`Change`], [`Differences`]: what changed, in words.
//! - [`verdict`], [`server_warnings`]: what follows from it.
//! - [`package_of`], [`Package`]: which package a command line runs, and whether it is pinned.

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
