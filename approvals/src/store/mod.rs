//! Requests as files, which another process of the same user decides.
//!
//! A run writes its request into `pending/`, and whoever holds the approver's token puts a signed decision into
//! `decided/`. The run believes a decision by its signature alone: a program that can write into the folder can get
//! in the way, and approve nothing.
//!
//! - `folder`: small files that appear whole or not at all.
//! - `token`, `key`, `signed`: making decisions, and verifying them.
//! - `waiting`: the file of a request, for as long as it waits.
//! - `channel`: the side of the run.

mod channel;
mod error;
mod folder;
mod key;
mod signed;
mod token;
mod waiting;

pub use channel::StoreChannel;
pub use error::StoreError;
pub use key::ApproverKey;
pub use token::ApproverToken;

use crate::decision::Decision;
use crate::request::{Request, is_id};
use capability_gen::shown::Shown;
use folder::{Folder, Rights};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signed::SignedDecision;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The largest request that is kept: what is larger nobody reads.
const MAX_REQUEST: usize = 1 << 20;
/// The largest decision.
const MAX_DECISION: usize = 16 << 10;
/// How many requests are listed.
const MAX_LISTED: usize = 1_000;
/// A request that expires sooner is over: the run looks for decisions only so often.
const LAST_MOMENT: Duration = Duration::from_millis(500);

/// The folder of requests that wait. Clones are one.
#[derive(Clone)]
pub struct Store(Arc<Folders>);

struct Folders {
    pending: Folder,
    decided: Folder,
}

/// The requests that wait for a decision.
#[derive(Debug, Default)]
pub struct Listing {
    /// Oldest first.
    pub requests: Vec<Request>,
    /// What is wrong with files that are no requests.
    pub unreadable: Vec<StoreError>,
}

/// A request as it lies in the store.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored<R> {
    /// The public key that its decision must be signed for.
    approver: String,
    request: R,
}

impl Store {
    /// Opens the store in this folder, which is made for its owner alone.
    pub fn open(folder: &Path) -> Result<Store, StoreError> {
        let folder = Folder::open(folder, Rights::Private)?;
        Ok(Store(Arc::new(Folders { pending: folder.inner("pending")?, decided: folder.inner("decided")? })))
    }

    /// The requests that wait for a decision. What expired, or was left behind by a run that crashed, is removed.
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

    /// One request that waits.
    pub fn get(&self, id: &str) -> Result<Request, StoreError> {
        Ok(self.find(id)?.request)
    }

    /// Signs a decision on a request. It is bound to the request as it is given here, which is what the person was
    /// shown: whatever the file says by now, nothing else is approved.
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
        // The run takes the decision away first and its request afterwards. If only the request has gone, it was
        // withdrawn in the meantime.
        match !pending.has(&name)? && decided.remove(&name)? {
            true => Err(StoreError::Gone { id: id() }),
            false => Ok(()),
        }
    }

    fn find(&self, id: &str) -> Result<Stored<Request>, StoreError> {
        // Nothing else may become the name of a file.
        let stored = if is_id(id) { self.read(id)? } else { None };
        stored.ok_or_else(|| StoreError::Gone { id: Shown::line(id, 64).into() })
    }

    /// A request that is what it says.
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

/// Whether it is a request that names its function by a label alone.
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
