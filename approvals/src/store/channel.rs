//! The side of the run: a request lies in the store until a decision on it is believed.

use super::Store;
use super::key::ApproverKey;
use super::waiting::Waiting;
use crate::channel::{Answer, Channel, ChannelError};
use crate::request::Request;
use capability_gen::shown;
use capability_gen::shown::Shown;
use std::sync::Arc;
use std::time::Duration;

/// How often decisions are looked for. A person notices no more.
const EVERY: Duration = Duration::from_millis(200);
/// How many decisions that are not believed are reported for one request.
const MAX_REPORTS: usize = 5;
/// The longest report, in characters: a file or its path may say anything.
const MAX_REPORT: usize = 500;

/// Asks whoever holds the approver's token, through the store.
pub struct StoreChannel {
    store: Store,
    key: Box<KeySource>,
    report: Box<dyn Fn(&Shown) + Send + Sync>,
}

/// The key that verifies decisions at this time, where there is one.
type KeySource = dyn Fn() -> Option<ApproverKey> + Send + Sync;

impl StoreChannel {
    /// Requests go into this store, and decisions are believed that this key verifies. `report` is told of those that
    /// are not, and of what fails.
    pub fn new(store: Store, key: ApproverKey, report: impl Fn(&Shown) + Send + Sync + 'static) -> StoreChannel {
        StoreChannel::looking_up(store, move || Some(key.clone()), report)
    }

    /// The same with the key that there is when a decision is looked for: a token may be made while requests wait, or one
    /// that takes the place of an earlier one.
    pub fn looking_up(
        store: Store,
        key: impl Fn() -> Option<ApproverKey> + Send + Sync + 'static,
        report: impl Fn(&Shown) + Send + Sync + 'static,
    ) -> StoreChannel {
        StoreChannel { store, key: Box::new(key), report: Box::new(report) }
    }

    /// Puts a request into the store for whoever has the token of this key.
    fn put(&self, request: &Arc<Request>, key: &ApproverKey) -> Result<Waiting, ChannelError> {
        Waiting::new(&self.store, Arc::clone(request), key).map_err(|error| {
            (self.report)(&Shown::line(&error.to_string(), MAX_REPORT));
            ChannelError::Nobody("the request could not be put into the store of approvals".to_owned())
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
                        tokio::time::sleep(EVERY.min(left)).await;
                        waiting = (self.key)().map(|key| self.put(&request, &key));
                        continue;
                    }
                };
                match current.look() {
                    Ok(Some(decision)) if (self.key)().as_ref() == Some(current.key()) => return Ok(decision),
                    Err(why) if reports < MAX_REPORTS => {
                        reports += 1;
                        let report = format!("a decision on {} does not count: {why}", request.id);
                        (self.report)(&Shown::line(&report, MAX_REPORT));
                    }
                    Ok(_) | Err(_) => {}
                }
                let left = request.time_left().ok_or(ChannelError::Expired)?;
                tokio::time::sleep(EVERY.min(left)).await;
                // Of another token it takes another request.
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
            "the decision on {} came too late: it had expired",
            Shown::line(&request.id, MAX_REPORT)
        ));
    }
}
