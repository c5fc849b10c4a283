//! Run side of the store: writes a request and polls for a verified decision.

use super::Store;
use super::key::ApproverKey;
use super::pending_file::PendingFile;
use crate::channel::{Answer, Channel, ChannelError};
use crate::request::Request;
use agent_spaces_types::shown;
use agent_spaces_types::shown::Shown;
use std::sync::Arc;
use std::time::Duration;

/// Polling interval for decisions, too short for a person to notice.
const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Most invalid decisions reported for one request.
const MAX_REPORTS: usize = 5;
/// Longest report, in characters: a file or its path may contain anything.
const MAX_REPORT: usize = 500;

/// Channel that asks the holder of the approver token through the store.
pub struct StoreChannel {
    store: Store,
    key: Box<KeySource>,
    report: Box<dyn Fn(&Shown) + Send + Sync>,
}

/// Source of the current key that verifies decisions.
type KeySource = dyn Fn() -> Option<ApproverKey> + Send + Sync;

impl StoreChannel {
    /// Uses this store and this key. `report` receives invalid decisions and errors.
    pub fn new(store: Store, key: ApproverKey, report: impl Fn(&Shown) + Send + Sync + 'static) -> StoreChannel {
        StoreChannel::looking_up(store, move || Some(key.clone()), report)
    }

    /// Like [`StoreChannel::new`], but looks up the key when it polls: a token may be created or replaced while
    /// requests wait.
    pub fn looking_up(
        store: Store,
        key: impl Fn() -> Option<ApproverKey> + Send + Sync + 'static,
        report: impl Fn(&Shown) + Send + Sync + 'static,
    ) -> StoreChannel {
        StoreChannel { store, key: Box::new(key), report: Box::new(report) }
    }

    /// Writes a request into the store for the holder of this key's token.
    fn put(&self, request: &Arc<Request>, key: &ApproverKey) -> Result<PendingFile, ChannelError> {
        PendingFile::new(&self.store, Arc::clone(request), key).map_err(|error| {
            (self.report)(&Shown::line(&error.to_string(), MAX_REPORT));
            ChannelError::Nobody("the request could not be written to the approval store".to_owned())
        })
    }
}

impl Channel for StoreChannel {
    fn ask(&self, request: Arc<Request>) -> Answer<'_> {
        let mut waiting = (self.key)().map(|key| self.put(&request, &key));
        Box::pin(async move {
            let mut reports = 0;
            loop {
                let current = match waiting.take().transpose()? {
                    Some(current) => current,
                    None => {
                        let left = request.time_left().ok_or(ChannelError::Expired)?;
                        tokio::time::sleep(POLL_INTERVAL.min(left)).await;
                        waiting = (self.key)().map(|key| self.put(&request, &key));
                        continue;
                    }
                };
                match current.look() {
                    Ok(Some(decision)) if (self.key)().as_ref() == Some(current.key()) => return Ok(decision),
                    Err(why) if reports < MAX_REPORTS => {
                        reports += 1;
                        let report = format!("a decision on {} is ignored: {why}", request.id);
                        (self.report)(&Shown::line(&report, MAX_REPORT));
                    }
                    Ok(_) | Err(_) => {}
                }
                let left = request.time_left().ok_or(ChannelError::Expired)?;
                tokio::time::sleep(POLL_INTERVAL.min(left)).await;
                // A new key needs a new request.
                waiting = match (self.key)() {
                    Some(key) if key == *current.key() => Some(Ok(current)),
                    other => {
                        drop(current);
                        other.map(|key| self.put(&request, &key))
                    }
                };
            }
        })
    }

    fn has_somebody(&self) -> bool {
        (self.key)().is_some()
    }

    fn too_late(&self, request: &Request) {
        (self.report)(&shown!(
            "the decision on {} came too late: the request had expired",
            Shown::line(&request.id, MAX_REPORT)
        ));
    }
}
