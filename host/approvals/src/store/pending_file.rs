//! File of a pending request.

use super::error::StoreError;
use super::key::ApproverKey;
use super::signed::SignedDecision;
use super::{MAX_DECISION, MAX_REQUEST, Store, Stored, malformed, name_of};
use crate::decision::Decision;
use crate::request::{Request, is_id};
use std::sync::Arc;

/// File of a pending request. Dropping this withdraws it.
pub(super) struct PendingFile {
    store: Store,
    name: String,
    request: Arc<Request>,
    key: ApproverKey,
}

impl PendingFile {
    pub(super) fn new(store: &Store, request: Arc<Request>, key: &ApproverKey) -> Result<PendingFile, StoreError> {
        let (folder, name) = (&store.0.pending, name_of(&request.id));
        if !is_id(&request.id) {
            return Err(StoreError::NotFile { path: folder.path("") });
        }
        let stored = Stored { approver: key.text(), request: &*request };
        let bytes = serde_json::to_vec(&stored).map_err(malformed(folder, &name))?;
        if bytes.len() > MAX_REQUEST {
            return Err(StoreError::TooLarge { path: folder.path(&name), limit: MAX_REQUEST });
        }
        match folder.create(&name, &bytes)? {
            true => Ok(PendingFile { store: store.clone(), name, request, key: key.clone() }),
            false => Err(StoreError::Decided { id: request.id.clone() }),
        }
    }

    /// Returns the key that verifies its decision.
    pub(super) fn key(&self) -> &ApproverKey {
        &self.key
    }

    /// Returns the decision once there is one. An invalid one is removed to make room for the approver's.
    pub(super) fn look(&self) -> Result<Option<Decision>, String> {
        let folder = &self.store.0.decided;
        let found = match folder.read(&self.name, MAX_DECISION) {
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => {
                let signed = serde_json::from_slice::<SignedDecision>(&bytes).map_err(|error| error.to_string());
                signed.and_then(|signed| signed.verify(&self.request, &self.key).map_err(|error| error.to_string()))
            }
            Err(error) => Err(error.to_string()),
        };
        let removed = folder.remove(&self.name);
        match (found, removed) {
            (Ok(decision), _) => Ok(Some(decision)),
            (Err(why), Ok(_)) => Err(why),
            (Err(why), Err(error)) => Err(format!("{why}; {error}")),
        }
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        // If removal fails, listing removes it after expiry.
        let _ = self.store.0.pending.remove(&self.name);
        let _ = self.store.0.decided.remove(&self.name);
    }
}
