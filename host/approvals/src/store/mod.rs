//! File-based store of approval requests, decided by another process of the same user.
//!
//! A run writes its request into `pending/`, and the holder of the approver token writes a signed decision into
//! `decided/`. The run trusts only the signature: a program that can write into the folder can interfere, but not
//! approve.
//!
//! - `folder`: private folder with atomic writes.
//! - `token`, `key`, `signed`: signing and verifying decisions.
//! - `pending_file`: the file of a pending request.
//! - `channel`: the run's side.

mod channel;
mod error;
mod folder;
mod key;
mod pending_file;
mod signed;
mod token;

pub use channel::StoreChannel;
pub use error::StoreError;
pub use key::ApproverKey;
pub use token::ApproverToken;

use crate::decision::Decision;
use crate::request::{Request, is_id};
use agent_spaces_types::shown::Shown;
use folder::{Folder, Rights};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signed::SignedDecision;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Largest request that is stored: nobody reads more.
const MAX_REQUEST: usize = 1 << 20;
/// The largest decision.
const MAX_DECISION: usize = 16 << 10;
/// Most requests that are listed.
const MAX_LISTED: usize = 1_000;
/// Minimum time left to decide a request, since the run polls for decisions.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// Store of pending requests. Clones share state.
#[derive(Clone)]
pub struct Store(Arc<Folders>);

struct Folders {
    pending: Folder,
    decided: Folder,
}

/// Pending requests.
#[derive(Debug, Default)]
pub struct Listing {
    /// Oldest first.
    pub requests: Vec<Request>,
    /// Errors of files that could not be read.
    pub unreadable: Vec<StoreError>,
}

/// A stored request.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<R> {
    /// Public key that its decision must be signed for.
    approver: String,
    request: R,
}

impl Store {
    /// Opens the store in this folder, created private if missing.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let folder = Folder::open(folder, Rights::Private)?;
        Ok(Store(Arc::new(Folders { pending: folder.inner("pending")?, decided: folder.inner("decided")? })))
    }

    /// Lists the pending requests. Expired ones, also of crashed runs, are removed.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let Folders { pending, decided } = &*self.0;
        let mut listing = Listing::default();
        for name in pending.names()?.into_iter().take(MAX_LISTED) {
            let Some(id) = id_of(&name) else { continue };
            match self.read(id) {
                Ok(Some(stored)) if stored.request.time_left().is_none() => {
                    pending.remove(&name)?;
                    decided.remove(&name)?;
                }
                Ok(Some(_)) if decided.has(&name)? => {}
                Ok(Some(stored)) => listing.requests.push(stored.request),
                Ok(None) => {}
                Err(error) => listing.unreadable.push(error),
            }
        }
        for name in decided.names()? {
            // A request is there before its decision; looked for now, it is not one that came since.
            if id_of(&name).is_some() && !pending.has(&name)? {
                decided.remove(&name)?;
            }
        }
        listing.requests.sort_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)));
        Ok(listing)
    }

    /// Returns one pending request.
    pub fn get(&self, id: &str) -> Result<Request, StoreError> {
        Ok(self.find(id)?.request)
    }

    /// Signs a decision on a request. It is bound to the request as given here, which is what the person was shown,
    /// even if the file has changed since.
    pub fn decide(&self, request: &Request, decision: Decision, token: &ApproverToken) -> Result<(), StoreError> {
        let stored = self.find(&request.id)?;
        let id = || request.id.clone();
        if stored.request != *request {
            return Err(StoreError::Changed { id: id() });
        }
        if token.key().text() != stored.approver {
            return Err(StoreError::WrongToken { id: id() });
        }
        if request.time_left().is_none_or(|left| left < LAST_MOMENT) {
            return Err(StoreError::Expired { id: id() });
        }
        let Folders { pending, decided } = &*self.0;
        let name = name_of(&request.id);
        let signed = SignedDecision::new(request, decision, token);
        let bytes = serde_json::to_vec_pretty(&signed).map_err(malformed(decided, &name))?;
        if !decided.create(&name, &bytes)? {
            return Err(StoreError::Decided { id: id() });
        }
        // The run removes the decision first and its request afterwards. If only the request is gone, it was withdrawn
        // meanwhile.
        match !pending.has(&name)? && decided.remove(&name)? {
            true => Err(StoreError::Gone { id: id() }),
            false => Ok(()),
        }
    }

    fn find(&self, id: &str) -> Result<Stored<Request>, StoreError> {
        // Only a valid id may become a file name.
        let stored = if is_id(id) { self.read(id)? } else { None };
        stored.ok_or_else(|| StoreError::Gone { id: Shown::line(id, 64).into() })
    }

    /// Reads a request and verifies its consistency.
    fn read(&self, id: &str) -> Result<Option<Stored<Request>>, StoreError> {
        let (folder, name) = (&self.0.pending, name_of(id));
        let Some(bytes) = folder.read(&name, MAX_REQUEST)? else { return Ok(None) };
        let stored: Stored<Request> = serde_json::from_slice(&bytes).map_err(|error| match is_outdated(&bytes) {
            true => StoreError::Outdated { path: folder.path(&name) },
            false => malformed(folder, &name)(error),
        })?;
        if stored.request.id != id || !stored.request.is_consistent() {
            return Err(StoreError::Changed { id: id.to_owned() });
        }
        Ok(Some(stored))
    }
}

/// True for a request that names its function by label only.
fn is_outdated(bytes: &[u8]) -> bool {
    let stored: Option<Value> = serde_json::from_slice(bytes).ok();
    let request = stored.as_ref().and_then(|stored| stored.get("request"));
    request.is_some_and(|request| request.get("functionId").is_none() && request.get("capability").is_some())
}

fn name_of(id: &str) -> String {
    format!("{id}.json")
}

fn id_of(name: &str) -> Option<&str> {
    name.strip_suffix(".json").filter(|id| is_id(id))
}

fn malformed(folder: &Folder, name: &str) -> impl FnOnce(serde_json::Error) -> StoreError {
    let path = folder.path(name);
    move |error| StoreError::Malformed { path, message: Shown::line(&error.to_string(), 300).into() }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
